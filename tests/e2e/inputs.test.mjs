// Inputs, through the binary: who waits, who takes over, and what a worker learns of it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertProblem, randomFrom, seedFor, startServer, unique, until } from './harness.mjs';

describe('inputs', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  const start = () => server.create({ app: unique('input'), status: 'ACTIVE' });
  const base = (session) => `/v1/sessions/${session.id}/inputs`;
  const submit = (session, data, whenBusy, headers) => server.call('POST', base(session), { data, whenBusy }, headers);
  const submitted = async (session, data, whenBusy) => {
    const answer = await submit(session, data, whenBusy);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const next = (session, query = '') => server.call('GET', `${base(session)}/next${query}`);
  const read = (session, id, query = '') => server.ok('GET', `${base(session)}/${id}${query}`);
  const finish = (session, id, body = { status: 'success' }) => server.call('POST', `${base(session)}/${id}/finish`, body);
  const watched = (count) => until(async () => {
    const { text } = await server.call('GET', '/metrics');
    return Number(/^reprise_hub_subscribers (\d+)/m.exec(text)[1]) >= count;
  });

  it('reach a worker that waits, and their end whoever gave them', async () => {
    const session = await start();
    assert.equal((await next(session)).status, 204);
    const waiting = next(session, '?waitMs=60000');
    await watched(1);
    const input = await submitted(session, { text: 'hi' });
    assert.equal(input.state, 'active');
    const taken = await waiting;
    assert.equal(taken.status, 200);
    assert.deepEqual(taken.body.data, { text: 'hi' });
    assert.equal((await next(session)).body.id, input.id);
    const ended = read(session, input.id, '?waitMs=60000');
    assert.equal((await read(session, input.id, '?waitMs=20')).state, 'active');
    const done = await finish(session, input.id, { status: 'failure', error: 'no luck' });
    assert.equal(done.status, 200, done.text);
    const end = await ended;
    assert.equal(end.state, 'finished');
    assert.equal(end.outcome, 'failure');
    assert.equal(end.error, 'no luck');
  });

  it('that reject race: one is taken', async () => {
    const session = await start();
    for (let round = 0; round < 5; ++round) {
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => submit(session, n, 'reject')));
      const taken = answers.filter(({ status }) => status === 201);
      assert.equal(taken.length, 1);
      for (const lost of answers.filter(({ status }) => status !== 201)) {
        const problem = assertProblem(lost, 409, 'session_busy');
        assert.equal(problem.retryable, true);
        assert.equal(problem.activeInput, taken[0].body.id);
      }
      await finish(session, taken[0].body.id);
    }
  });

  it('that interrupt go ahead, and the worker learns of it', async () => {
    const session = await start();
    const first = await submitted(session, 1);
    const second = await submitted(session, 2);
    const reader = await server.reader(session.id);
    await server.append(session.id, { type: 'log', data: 'half done' });
    const third = await submitted(session, 3, 'interrupt');
    const frame = await reader.waitFor(({ data }) => data?.includes('"input_finished"'));
    assert.equal(JSON.parse(frame.data).data.outcome, 'interrupted');
    reader.close();
    const problem = assertProblem(await finish(session, first.id), 409, 'input_not_active');
    assert.equal(problem.input.state, 'interrupted');
    assert.equal((await next(session)).body.id, third.id);
    await finish(session, third.id);
    assert.equal((await next(session)).body.id, second.id);
  });

  it('that roll back make the work void, checkpoints too', async () => {
    const session = await start();
    const checkpoint = `/v1/sessions/${session.id}/checkpoints/state`;
    await server.ok('PUT', checkpoint, { data: 'before' });
    const first = await submitted(session, 1);
    const question = await server.ok('POST', `/v1/sessions/${session.id}/interactions`, { kind: 'confirm' });
    const { lastSeq } = await server.append(session.id, { type: 'message', data: 'wrong' });
    for (let n = 0; n < 20; ++n) await server.ok('PUT', checkpoint, { data: n });
    const second = await submitted(session, 2, 'rollback');
    const events = await server.events(session.id);
    const end = events.find(({ type }) => type === 'input_finished').data;
    assert.deepEqual([end.id, end.outcome], [first.id, 'rolledBack']);
    assert.ok(end.fromSeq < lastSeq && lastSeq < end.toSeq);
    assert.equal(events.find(({ seq }) => seq === end.fromSeq).type, 'input_started');
    assert.equal((await server.ok('GET', checkpoint)).data, 'before');
    const { state } = await server.ok('GET', `/v1/sessions/${session.id}/interactions/${question.id}`);
    assert.equal(state, 'cancelled');
    assert.equal((await server.get(session.id)).status, 'ACTIVE');
    await server.restart({ how: 'kill' });
    assert.equal((await server.ok('GET', checkpoint)).data, 'before');
    assert.equal((await next(session)).body.id, second.id);
  });

  it('keep their order over kill -9, and none is lost', async () => {
    const random = randomFrom(seedFor());
    const session = await start();
    const queue = [];
    for (let n = 0; n < 40; ++n) {
      const interrupts = random.below(5) === 0;
      const { id } = await submitted(session, n, interrupts ? 'interrupt' : 'enqueue');
      if (interrupts) queue.splice(0, Math.min(1, queue.length), id);
      else queue.push(id);
      if (random.below(3) === 0) assert.equal((await finish(session, queue.shift())).status, 200);
      if (n === 20) await server.restart({ how: 'kill' });
    }
    const { inputs } = await server.ok('GET', `${base(session)}?state=queued&limit=200`);
    assert.deepEqual(inputs.map(({ id }) => id), queue.slice(1));
    while (queue.length > 0) {
      assert.equal((await next(session)).body.id, queue[0]);
      assert.equal((await finish(session, queue.shift())).status, 200);
    }
    const all = await server.ok('GET', `${base(session)}?limit=200`);
    assert.equal(all.inputs.length, 40);
    assert.ok(all.inputs.every(({ state }) => state === 'finished' || state === 'interrupted'));
  });

  it('are cancelled: one that waits by a call, all of them with the session', async () => {
    const session = await start();
    const first = await submitted(session, 1);
    const second = await submitted(session, 2);
    const third = await submitted(session, 3);
    assert.equal((await server.call('DELETE', `${base(session)}/${second.id}`)).status, 204);
    assertProblem(await server.call('DELETE', `${base(session)}/${first.id}`), 409, 'conflict');
    const waiting = read(session, third.id, '?waitMs=60000');
    await server.ok('POST', `/v1/sessions/${session.id}/close`);
    assert.equal((await waiting).state, 'cancelled');
    assertProblem(await next(session, '?waitMs=60000'), 409, 'session_ended');
    assertProblem(await submit(session, 4), 409, 'session_ended');
  });

  it('that are repeated with their key are taken once', async () => {
    const session = await start();
    const headers = { 'Idempotency-Key': unique('key') };
    const answers = await Promise.all(Array.from({ length: 6 }, () => submit(session, 1, 'reject', headers)));
    assert.equal(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size, 1);
    assert.equal(answers[0].status, 201);
  });

  it('end a long wait when the session is deleted or the server stops', async () => {
    const session = await start();
    const other = await start();
    const gone = next(session, '?waitMs=60000');
    const stopped = next(other, '?waitMs=60000');
    await watched(2);
    await server.ok('DELETE', `/v1/sessions/${session.id}`);
    assertProblem(await gone, 404, 'session_not_found');
    await server.stop({ deadline: 5_000 });
    assert.equal((await stopped).status, 204);
    await server.start();
  });
});
