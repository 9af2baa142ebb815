// Agents through the binary: who falls silent is lost, its sessions are treated, and its writes are fenced; also when
// the server is killed in between.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startServer, TIME, unique, until, run } from './harness.mjs';

const lease = (generation) => ({ 'Reprise-Lease': String(generation) });
const log = (data) => ({ type: 'log', data });

const register = (server, id, heartbeatSeconds) => server.ok('PUT', `/v1/agents/${id}`,
  heartbeatSeconds === undefined ? undefined : { heartbeatSeconds });
const read = (server, id) => server.ok('GET', `/v1/agents/${id}`, undefined, {}, 200);
const lost = (server, id) => until(async () => {
  const agent = await read(server, id);
  return agent.status === 'lost' && agent;
}, 20_000, `the loss of ${id}`);
const paused = (server, session) => until(async () => {
  const record = await server.get(session);
  return record.status === 'PAUSED' && record;
}, 20_000, `the pause of ${session}`);
const isLoss = (event) => event.type === 'status_change' && /fell silent/.test(event.data.reason ?? '');
const work = (server, ownerAgent, more = {}) => server.create({ status: 'ACTIVE', ownerAgent, ...more });

describe('agents', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  it('register, beat, are read, listed and deleted', async () => {
    const id = unique('demo:worker');
    const made = await server.ok('PUT', `/v1/agents/${id}`, { heartbeatSeconds: 20 }, {}, 201);
    assert.equal(made.id, id);
    assert.equal(made.status, 'alive');
    assert.equal(made.heartbeatSeconds, 20);
    assert.ok(Number.isInteger(made.generation));
    assert.match(made.registeredAt, TIME);
    assert.equal(made.lostAt, null);
    const again = await server.ok('PUT', `/v1/agents/${id}`, undefined, {}, 200);
    assert.ok(again.generation > made.generation);
    assert.equal(again.heartbeatSeconds, 15);
    const beat = `/v1/agents/${id}/heartbeat`;
    await server.ok('POST', beat, undefined, {}, 200);
    await server.ok('POST', beat, { generation: again.generation }, {}, 200);
    await server.ok('POST', beat, undefined, lease(again.generation), 200);
    await server.refused(409, 'fenced', 'POST', beat, { generation: made.generation });
    await server.refused(409, 'fenced', 'POST', beat, undefined, lease(made.generation));
    const { agents, countsByStatus } = await server.ok('GET', '/v1/agents?status=alive&limit=500');
    assert.ok(agents.some((agent) => agent.id === id));
    assert.equal(countsByStatus.alive, agents.length);
    await server.ok('DELETE', `/v1/agents/${id}`, undefined, {}, 204);
    await server.refused(404, 'agent_not_found', 'GET', `/v1/agents/${id}`);
    await server.refused(404, 'agent_not_found', 'POST', beat);
    assert.ok((await register(server, id)).generation > again.generation);
  });

  it('are refused with a heartbeat that is out of bounds, and with members nobody knows', async () => {
    for (const body of [{ heartbeatSeconds: 0 }, { heartbeatSeconds: 3601 }, { seconds: 1 }]) {
      await server.refused(422, 'invalid', 'PUT', '/v1/agents/x', body);
    }
    await server.refused(400, 'bad_parameter', 'GET', '/v1/agents?status=dead');
    await server.refused(400, 'unknown_parameter', 'GET', '/v1/agents?app=x');
  });

  it('page through the list in order, whatever changes meanwhile', async () => {
    const ids = Array.from({ length: 12 }, (_, i) => unique(`page:${String(i).padStart(2, '0')}`));
    await Promise.all(ids.map((id) => register(server, id, 3600)));
    const seen = [];
    let cursor = '';
    do {
      const page = await server.ok('GET', `/v1/agents?limit=5${cursor}`);
      seen.push(...page.agents.map((agent) => agent.id));
      cursor = page.nextCursor && `&cursor=${page.nextCursor}`;
    } while (cursor);
    assert.deepEqual(seen.filter((id) => ids.includes(id)), ids);
    assert.deepEqual(seen, [...seen].sort());
  });

  it('that fall silent are lost, and each session is treated by its policy', async () => {
    const id = unique('w');
    const { generation } = await register(server, id, 1);
    const [pause, fail, keep] = await Promise.all([
      work(server, id), work(server, id, { onWorkerLost: 'fail' }),
      work(server, id, { onWorkerLost: 'keep' })]);
    const { lostAt } = await lost(server, id);
    assert.match(lostAt, TIME);
    const record = await paused(server, pause.id);
    assert.equal(record.pauseReason, 'workerLost');
    await until(async () => (await server.get(fail.id)).status === 'FAILED');
    assert.equal((await server.get(fail.id)).lastError, 'workerLost');
    assert.equal((await server.get(keep.id)).status, 'ACTIVE');
    const list = await server.ok('GET', '/v1/agents?status=lost');
    assert.ok(list.agents.some((agent) => agent.id === id && agent.generation === generation));
    const metrics = (await server.call('GET', '/metrics')).text;
    assert.match(metrics, /^reprise_agents_lost [1-9]/m);
    assert.match(metrics, /^reprise_agent_losses_total [1-9]/m);
    assert.ok((await server.ok('GET', '/v1/health')).agents.lost >= 1);
  });

  it('that beat are not lost', async () => {
    const [beating, silent] = [unique('beating'), unique('silent')];
    const { generation } = await register(server, beating, 1);
    await register(server, silent, 1);
    const start = Date.now();
    await until(async () => {
      await server.ok('POST', `/v1/agents/${beating}/heartbeat`, { generation });
      return (await read(server, silent)).status === 'lost' && Date.now() - start > 4_000;
    }, 20_000, 'the loss of the silent one');
    assert.equal((await read(server, beating)).status, 'alive');
  });

  it('that were lost cannot write until they register again', async () => {
    const id = unique('w');
    const { generation } = await register(server, id, 1);
    const session = await work(server, id);
    const key = { 'Idempotency-Key': unique('k') };
    const first = await server.append(session.id, log(1), { ...lease(generation), ...key });
    await lost(server, id);
    await paused(server, session.id);
    const path = `/v1/sessions/${session.id}`;
    const { lastSeq } = await server.get(session.id);
    const stale = lease(generation);
    await server.refused(409, 'fenced', 'POST', `/v1/agents/${id}/heartbeat`, { generation });
    await server.refused(409, 'fenced', 'POST', `/v1/agents/${id}/heartbeat`);
    await server.refused(409, 'fenced', 'POST', `${path}/events`, log(2), stale);
    await server.refused(409, 'fenced', 'POST', `${path}/events`, { ...log(2), ephemeral: true }, stale);
    await server.refused(409, 'fenced', 'POST', `${path}/resume`, undefined, stale);
    await server.refused(409, 'fenced', 'POST', `${path}/status`, { status: 'COMPLETED' }, stale);
    await server.refused(409, 'fenced', 'PATCH', path, { metadata: { a: 1 } }, stale);
    await server.refused(409, 'fenced', 'POST', `${path}/reset`, undefined, stale);
    await server.refused(409, 'fenced', 'DELETE', path, undefined, stale);
    assert.equal((await server.get(session.id)).lastSeq, lastSeq);
    // The answer of a call that was accepted is still given.
    assert.deepEqual(await server.append(session.id, log(1), { ...stale, ...key }), first);
    const next = await register(server, id, 60);
    assert.ok(next.generation > generation);
    await server.refused(409, 'fenced', 'POST', `${path}/events`, log(3), stale);
    await server.append(session.id, log(3), lease(next.generation));
    await server.ok('POST', `${path}/resume`, undefined, lease(next.generation));
    assert.equal((await server.get(session.id)).status, 'ACTIVE');
  });

  it('take over each other\'s sessions', async () => {
    const [first, second] = [unique('w'), unique('w')];
    const old = await register(server, first, 1);
    const { generation } = await register(server, second, 60);
    const session = await work(server, first);
    const path = `/v1/sessions/${session.id}`;
    await server.refused(409, 'fenced', 'POST', `${path}/events`, log(1), lease(generation));
    await lost(server, first);
    await paused(server, session.id);
    await server.ok('PATCH', path, { ownerAgent: second }, {}, 200);
    const resumed = await server.ok('POST', `${path}/resume`, undefined, lease(generation), 200);
    assert.equal(resumed.status, 'ACTIVE');
    assert.equal(resumed.pauseReason, null);
    await server.append(session.id, log(1), lease(generation));
    const back = await register(server, first, 60);
    for (const stale of [old, back]) {
      await server.refused(409, 'fenced', 'POST', `${path}/events`, log(2), lease(stale.generation));
    }
  });

  it('that write while they are lost have every write either before the loss or refused', async () => {
    const id = unique('w');
    const { generation } = await register(server, id, 1);
    const sessions = await Promise.all(Array.from({ length: 8 }, () => work(server, id)));
    const writers = sessions.map(async ({ id: session }) => {
      const accepted = [];
      for (let refusals = 0; refusals < 5;) {
        const answer = await server.call('POST', `/v1/sessions/${session}/events`, log(1),
          lease(generation));
        if (answer.status === 201) {
          assert.equal(refusals, 0, 'accepted after it was fenced');
          accepted.push(answer.body.lastSeq);
        } else {
          assert.equal(answer.body.code, 'fenced', answer.text);
          refusals += 1;
        }
      }
      return accepted;
    });
    const written = await Promise.all(writers);
    for (let i = 0; i < sessions.length; i += 1) {
      const record = await paused(server, sessions[i].id);
      assert.equal(record.pauseReason, 'workerLost');
      const events = await server.events(sessions[i].id);
      const pause = events.find(isLoss);
      assert.ok(written[i].length > 0 && written[i].every((seq) => seq < pause.seq));
      assert.equal(events.filter((event) => event.type === 'log').length, written[i].length);
    }
  });

  it('are listed by the command line', async () => {
    const id = unique('cli');
    await register(server, id, 3600);
    const json = await run(['agents', '--json', '--all', '--server', server.url]);
    assert.equal(json.code, 0, json.stderr);
    assert.ok(JSON.parse(json.stdout).agents.some((agent) => agent.id === id));
    const text = await run(['agents', '--status', 'alive', '--limit', '500', '--server', server.url]);
    assert.match(text.stdout, new RegExp(`${id} +alive +\\d+ +3600 s`));
    assert.notEqual((await run(['agents', '--status', 'dead', '--server', server.url])).code, 0);
  });
});

describe('agents of a server that is killed', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  it('keep their generation and their lease, and get their full time again', async () => {
    const id = unique('w');
    const { generation } = await register(server, id, 1);
    const session = await work(server, id);
    const gone = unique('w');
    const last = await register(server, gone, 1);
    await server.ok('DELETE', `/v1/agents/${gone}`);
    const started = Date.now();
    await server.restart({ how: 'kill' });
    await server.append(session.id, log(1), lease(generation));
    const agent = await read(server, id);
    assert.equal(agent.generation, generation);
    assert.equal(agent.lastHeartbeatAt, null);
    await server.refused(404, 'agent_not_found', 'GET', `/v1/agents/${gone}`);
    assert.ok((await register(server, gone, 3600)).generation > last.generation);
    const { lostAt } = await lost(server, id);
    assert.ok(Date.parse(lostAt) - started >= 3_000, `lost ${lostAt}`);
    await paused(server, session.id);
    await server.restart({ how: 'kill' });
    assert.equal((await read(server, id)).lostAt, lostAt);
    await server.refused(409, 'fenced', 'POST', `/v1/sessions/${session.id}/events`, log(2),
      lease(generation));
  });

  it('have all their sessions treated once, however often the server dies over it', async () => {
    const id = unique('w');
    await register(server, id, 1);
    const sessions = [];
    for (let round = 0; round < 20; round += 1) {
      await server.ok('POST', `/v1/agents/${id}/heartbeat`);
      const some = Array.from({ length: 40 }, (_, i) => work(server, id,
        { onWorkerLost: i % 4 === 0 ? 'fail' : 'pause' }));
      sessions.push(...await Promise.all(some));
    }
    await lost(server, id);
    const treated = async () => (await server.list(`ownerAgent=${id}`))
      .filter(({ status }) => status !== 'ACTIVE').length;
    // Killed at once, and then each time some more have been treated.
    for (let kills = 0; kills < 3; kills += 1) {
      await server.restart({ how: 'kill' });
      assert.equal((await read(server, id)).status, 'lost');
    }
    await until(async () => (await treated()) === sessions.length, 20_000, 'all sessions treated');
    for (const session of sessions) {
      const events = await server.events(session.id);
      assert.equal(events.filter(isLoss).length, 1);
      assert.equal(events.length, 2);
    }
    // Registering comes after all of it, and resuming lasts.
    const { generation } = await register(server, id, 60);
    const one = sessions[1].id;
    await server.ok('POST', `/v1/sessions/${one}/resume`, undefined, lease(generation));
    await server.restart({ how: 'kill' });
    assert.equal((await server.get(one)).status, 'ACTIVE');
  });
});
