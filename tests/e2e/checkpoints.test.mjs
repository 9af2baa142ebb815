// Checkpoints, through the binary: another worker takes over, also after a crash.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TIME, assertProblem, startServer, unique } from './harness.mjs';

const MIB = 1024 * 1024;

describe('checkpoints', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  const start = (more = {}) => server.create({ app: unique('save'), status: 'ACTIVE', ...more });
  const path = (session, name = 'state') => `/v1/sessions/${session.id}/checkpoints/${encodeURIComponent(name)}`;
  const save = (session, data, headers = {}, name = 'state') => server.call('PUT', path(session, name), { data }, headers);
  const read = (session, query = '', name = 'state') => server.call('GET', path(session, name) + query);

  it('are saved, versioned, listed and deleted, and told in the stream', async () => {
    const session = await start();
    const first = await save(session, { step: 1 });
    assert.equal(first.status, 201);
    assert.match(first.body.at, TIME);
    assert.equal(first.headers.etag, '"1"');
    const second = await save(session, { step: 2 });
    assert.equal(second.status, 200);
    assert.deepEqual((await read(session)).body, { ...second.body, data: { step: 2 } });
    assert.deepEqual((await read(session, '?version=1')).body.data, { step: 1 });
    await save(session, null, {}, 'a/b ü');
    const list = await server.ok('GET', `/v1/sessions/${session.id}/checkpoints`);
    assert.deepEqual(list.checkpoints.map(({ name, version }) => [name, version]), [['a/b ü', 1], ['state', 2]]);
    assert.equal(list.nextCursor, null);
    const events = (await server.events(session.id)).filter(({ type }) => type === 'checkpoint');
    assert.deepEqual(events[1].data, { name: 'state', version: 2, size: 10 });
    assert.equal(events[1].seq, second.body.seq);
    assert.equal((await server.call('DELETE', path(session))).status, 204);
    assertProblem(await read(session), 404, 'checkpoint_not_found');
  });

  it('let one of many workers that race for a version win', async () => {
    const session = await start();
    await save(session, 0);
    for (let version = 1; version <= 5; ++version) {
      const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => save(session, n, { 'If-Match': `"${version}"` })));
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      for (const lost of answers.filter(({ status }) => status !== 200)) assertProblem(lost, 412, 'precondition_failed');
    }
    const created = await Promise.all(Array.from({ length: 8 }, () => save(session, 1, { 'If-None-Match': '*' }, 'once')));
    assert.equal(created.filter(({ status }) => status === 201).length, 1);
  });

  it('of up to 1 MiB survive kill -9, and another worker goes on from them', async () => {
    const session = await start();
    const large = 'x'.repeat(MIB - 2);
    for (let n = 1; n <= 20; ++n) await save(session, n);
    await save(session, large, {}, 'large');
    assertProblem(await save(session, `${large}x`, {}, 'large'), 413, 'body_too_large');
    await server.restart({ how: 'kill' });
    assert.equal((await read(session)).body.data, 20);
    assert.equal((await read(session, '?version=5')).body.data, 5);
    assert.equal((await read(session, '?version=4')).status, 404);
    assert.equal((await read(session, '', 'large')).body.data, large);
    assert.equal((await save(session, 21)).body.version, 21);
  });

  it('of a worker that lost the session are fenced', async () => {
    const agent = unique('worker');
    const join = async () => (await server.ok('PUT', `/v1/agents/${agent}`)).generation;
    const old = await join();
    const session = await start({ ownerAgent: agent });
    assert.equal((await save(session, 1, { 'Reprise-Lease': `${old}` })).status, 201);
    const present = await join();
    assertProblem(await save(session, 2, { 'Reprise-Lease': `${old}` }), 409, 'fenced');
    assert.equal((await save(session, 3, { 'Reprise-Lease': `${present}` })).status, 200);
  });

  it('are hidden by a reset, kept by an end and gone with the session', async () => {
    const session = await start();
    await save(session, 1);
    await server.ok('POST', `/v1/sessions/${session.id}/reset`);
    assert.equal((await read(session)).status, 404);
    assert.equal((await save(session, 2)).body.version, 1);
    await server.ok('POST', `/v1/sessions/${session.id}/close`);
    assertProblem(await save(session, 3), 409, 'session_ended');
    assert.equal((await read(session)).body.data, 2);
    await server.ok('DELETE', `/v1/sessions/${session.id}`);
    assertProblem(await read(session), 404, 'session_not_found');
  });
});
