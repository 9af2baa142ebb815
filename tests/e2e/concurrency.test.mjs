// Races: one key, one session; one expected head, one winner.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { assertGapFree, request, startServer, unique } from './harness.mjs';

describe('concurrency', () => {
  let server;
  let agent;
  before(async () => {
    server = await startServer();
    agent = new http.Agent({ keepAlive: true, maxSockets: 1000 });
  });
  after(async () => {
    agent?.destroy();
    await server.dispose();
  });

  const race = (count, call) => Promise.all(Array.from({ length: count }, (_, n) => call(n)));
  const put = (key) => request(server.url, 'PUT', `/v1/sessions/${key}`, {
    agent, deadline: 60_000,
  });

  it('makes one session for a thousand concurrent callers of one key', async () => {
    const app = unique('app');
    const answers = await race(1000, () => put(`${app}:one`));
    const count = (status) => answers.filter((answer) => answer.status === status).length;
    assert.equal(count(201), 1);
    assert.equal(count(200), 999);
    assert.equal(new Set(answers.map((answer) => answer.body.id)).size, 1);
    assert.equal((await server.list(`app=${app}`)).length, 1);
  });

  it('makes one living session a key while it ends again and again', async () => {
    const app = unique('app');
    const key = `${app}:phoenix`;
    for (let round = 0; round < 10; round += 1) {
      const answers = await race(30, async (n) => {
        const answer = await put(key);
        if (n % 10 === 0) await server.call('POST', `/v1/sessions/${answer.body.id}/close`);
        return answer;
      });
      assert.ok(answers.every(({ status }) => status === 200 || status === 201));
      const living = (await server.list(`app=${app}`)).filter((row) => row.isActive
        || ['INITIALIZING', 'ACTIVE', 'PAUSED'].includes(row.status));
      assert.ok(living.length <= 1, `${living.length} living sessions hold ${key}`);
    }
  });

  it('lets one of many racing creations of a key win', async () => {
    const app = unique('app');
    const answers = await race(100, () => server.call('POST', '/v1/sessions',
      { app, name: 'contested' }));
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.ok(answers.every(({ status, body }) => status === 201 || body.code === 'key_taken'));
  });

  it('lets exactly one of the racing appends with the same expectedSeq win', async () => {
    const { id, lastSeq } = await server.create({ status: 'ACTIVE' });
    for (let round = 0; round < 20; round += 1) {
      const expectedSeq = lastSeq + round;
      const answers = await race(20, (n) => server.call('POST', `/v1/sessions/${id}/events`,
        { type: 'log', data: { round, n }, expectedSeq }));
      const won = answers.flatMap((answer, n) => (answer.status === 201 ? [n] : []));
      assert.equal(won.length, 1);
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        assert.equal(answer.body.code, 'wrong_sequence');
        assert.equal(answer.body.head ?? answer.body.lastSeq, expectedSeq + 1);
      }
      const [event] = await server.events(id, expectedSeq);
      assert.deepEqual(event.data, { round, n: won[0] });
    }
  });

  it('numbers the appends of many writers without gap or duplicate', async () => {
    const { id, lastSeq } = await server.create({ status: 'ACTIVE' });
    const answers = await race(500, (n) => server.append(id, [
      { type: 'log', data: { n, part: 0 } }, { type: 'message', data: { n, part: 1 } },
    ]));
    const ranges = answers.sort((a, b) => a.firstSeq - b.firstSeq);
    assertGapFree(ranges.flatMap(({ firstSeq }) => [firstSeq, firstSeq + 1]), lastSeq + 1,
      lastSeq + 1000);
    const events = await server.events(id, lastSeq);
    for (let at = 0; at < events.length; at += 2) {
      assert.equal(events[at].data.n, events[at + 1].data.n, 'a batch was torn apart');
    }
    assert.equal((await server.get(id)).messageCount, 500);
  });

  it('creates and deletes in parallel and keeps nothing of what was deleted', async () => {
    const app = unique('app');
    await race(100, async (n) => {
      const { id } = await server.create({ app, name: `n${n}` });
      await server.append(id, { type: 'log', data: {} });
      if (n % 2 === 0) await server.ok('DELETE', `/v1/sessions/${id}`, undefined, {}, 204);
    });
    const rows = await server.list(`app=${app}`);
    assert.equal(rows.length, 50);
    assert.ok(rows.every((row) => Number(row.name.slice(1)) % 2 === 1));
  });
});
