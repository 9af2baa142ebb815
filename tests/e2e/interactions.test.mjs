// Questions to people, through the binary: races, waiting, deadlines and restarts.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startServer, unique, until } from './harness.mjs';

describe('interactions', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  const start = () => server.create({ app: unique('ask'), status: 'ACTIVE' });
  const ask = (session, question) =>
    server.ok('POST', `/v1/sessions/${session.id}/interactions`, question, {}, 201);
  const answer = (session, id, body) =>
    server.call('POST', `/v1/sessions/${session.id}/interactions/${id}/response`, body);
  const read = (session, id, query = '') =>
    server.ok('GET', `/v1/sessions/${session.id}/interactions/${id}${query}`);

  it('take one of many answers at once, and all of them agree on which', async () => {
    const session = await start();
    for (let round = 0; round < 10; ++round) {
      const { id } = await ask(session, { kind: 'waitForInput' });
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => answer(session, id, { input: n })));
      const taken = answers.filter(({ status }) => status === 200);
      assert.equal(taken.length, 1);
      const refused = answers.filter(({ status }) => status === 409);
      assert.equal(refused.length, 19);
      for (const { body } of refused) {
        assert.equal(body.code, 'already_answered');
        assert.deepEqual(body.interaction.response, taken[0].body.response);
      }
    }
    const types = (await server.events(session.id)).map(({ type }) => type);
    assert.equal(types.filter((type) => type === 'input_received').length, 10);
  });

  it('wake the agent that waits at once, and let it wait no longer than it wants', async () => {
    const session = await start();
    const { id } = await ask(session, { kind: 'confirm' });
    const waiting = read(session, id, '?waitMs=60000');
    const short = await read(session, id, '?waitMs=50');
    assert.equal(short.state, 'pending');
    // Other events of the session do not end the wait.
    await server.append(session.id, { type: 'log', data: {} });
    assert.equal((await answer(session, id, { confirmed: true })).status, 200);
    const { state, response } = await waiting;
    assert.equal(state, 'answered');
    assert.deepEqual(response, { confirmed: true });
  });

  it('are replayed to a reader that comes later, and told to one that is there', async () => {
    const session = await start();
    const { id } = await ask(session, { kind: 'waitForInput', prompt: 'Name?' });
    const reader = await server.reader(session.id);
    await reader.waitFor(({ event }) => event === 'replayComplete');
    const asked = reader.frames.map(({ data }) => data && JSON.parse(data)).find((one) => one?.type === 'input_required');
    assert.equal(asked.data.id, id);
    await answer(session, id, { input: 'Ada' });
    const frame = await reader.waitFor(({ data }) => data?.includes('input_received'));
    assert.deepEqual(JSON.parse(frame.data).data.response, { input: 'Ada' });
    await reader.waitFor(({ data }) => data?.includes('"to":"ACTIVE"'));
    reader.close();
  });

  it('are in the monitor while they are open', async () => {
    const session = await start();
    const monitor = await server.monitor(`?app=${session.app}&waiting=true`);
    await monitor.waitFor(({ event }) => event === 'snapshotComplete');
    const { id } = await ask(session, { kind: 'confirm', prompt: 'Sure?' });
    const frame = await monitor.waitFor(({ event }) => event === 'session');
    assert.equal(JSON.parse(frame.data).pendingInteractions[0].id, id);
    await answer(session, id, { confirmed: false });
    await monitor.waitFor(({ event }) => event === 'removed');
    monitor.close();
  });

  it('survive kill -9, open and answered, with the deadline as it was', async () => {
    const session = await start();
    const open = await ask(session, { kind: 'waitForInput', schema: { type: 'integer' } });
    const done = await ask(session, { kind: 'confirm' });
    await answer(session, done.id, { confirmed: true });
    const late = await ask(session, { kind: 'confirm', deadlineMs: 1500, onDeadline: { default: false } });
    await server.restart({ how: 'kill' });
    assert.deepEqual((await read(session, done.id)).response, { confirmed: true });
    assert.equal((await server.get(session.id)).pauseReason, 'input');
    assert.equal((await answer(session, open.id, { input: 'seven' })).status, 422);
    assert.equal((await answer(session, open.id, { input: 7 })).status, 200);
    // Nobody asks: the server keeps the deadline by itself.
    const reader = await server.reader(session.id);
    await reader.waitFor(({ data }) => data?.includes('"expired"'));
    reader.close();
    const expired = await read(session, late.id);
    assert.deepEqual(expired.response, { confirmed: false });
    assert.ok(expired.resolvedAt >= late.deadlineAt, `${expired.resolvedAt} is before ${late.deadlineAt}`);
    await until(async () => (await server.get(session.id)).status === 'ACTIVE');
  });

  it('that pass their deadline while the server is down end the session when it is back', async () => {
    const failing = await start();
    await ask(failing, { kind: 'confirm', deadlineMs: 1, onDeadline: 'failSession' });
    const cancelling = await start();
    await ask(cancelling, { kind: 'confirm', deadlineMs: 1, onDeadline: 'cancelSession' });
    await server.restart({ how: 'kill' });
    await until(async () => (await server.get(failing.id)).status === 'FAILED');
    const record = await server.get(cancelling.id);
    assert.equal(record.status, 'CANCELLED');
    assert.match(record.lastError, /in time/);
    assert.deepEqual(record.pendingInteractions, []);
  });

  it('end a long wait when the server stops', async () => {
    const session = await start();
    const { id } = await ask(session, { kind: 'confirm' });
    const waiting = read(session, id, '?waitMs=60000');
    await until(async () => /^reprise_hub_subscribers [1-9]/m.test((await server.call('GET', '/metrics')).text));
    await server.stop({ deadline: 5_000 });
    assert.equal((await waiting).state, 'pending');
    await server.start();
  });

  it('leave nothing behind when the session is deleted', async () => {
    const session = await start();
    const { id } = await ask(session, { kind: 'confirm' });
    await server.ok('DELETE', `/v1/sessions/${session.id}`);
    assert.equal((await server.call('GET', `/v1/sessions/${session.id}/interactions/${id}`)).status, 404);
  });
});
