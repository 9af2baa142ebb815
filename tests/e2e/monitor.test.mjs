// The monitor: GET /v1/sessions as a stream of snapshot and changes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { randomFrom, seedFor, startServer, unique, until } from './harness.mjs';

describe('the monitor', () => {
  let server;
  before(async () => { server = await startServer({ args: ['--heartbeat-ms', '500'] }); });
  after(() => server.dispose());

  const isSession = (id, more = () => true) => (frame) => frame.event === 'session'
    && frame.json.id === id && more(frame.json);
  const isStatus = (id, status) => isSession(id, (record) => record.status === status);
  const isDeleted = (id) => (frame) => frame.event === 'deleted' && frame.json.id === id;
  const isRemoved = (id) => (frame) => frame.event === 'removed' && frame.json.id === id;
  const move = (id, status) => server.ok('POST', `/v1/sessions/${id}/status`, { status });

  async function open(query, headers) {
    const monitor = await server.monitor(query, headers);
    await monitor.snapshotComplete();
    return monitor;
  }

  it('shows the snapshot, says snapshotComplete, then every change', async () => {
    const app = unique('app');
    const old = await Promise.all(['a', 'b', 'c'].map((name) => server.create({ app, name })));
    const monitor = await open(`?app=${app}`);
    const snapshot = monitor.frames.slice(0, -1);
    assert.equal(monitor.frames.at(-1).event, 'snapshotComplete');
    assert.ok(snapshot.every((frame) => frame.event === 'session'));
    const ids = snapshot.map((frame) => frame.json.id);
    assert.deepEqual([...ids].sort(), old.map((session) => session.id).sort());
    assert.ok(monitor.frames.at(-1).id, 'snapshotComplete has an id');

    const { id } = await server.create({ app, name: 'new' });
    await monitor.waitFor(isSession(id));
    await move(id, 'ACTIVE');
    await monitor.waitFor(isStatus(id, 'ACTIVE'));
    await server.ok('PATCH', `/v1/sessions/${id}`, { metadata: { colour: 'red' } });
    await monitor.waitFor(isSession(id, (record) => record.metadata?.colour === 'red'));
    await server.ok('PATCH', `/v1/sessions/${id}`, { ownerAgent: 'a-1' });
    await monitor.waitFor(isSession(id, (record) => record.ownerAgent === 'a-1'));
    await server.ok('PATCH', `/v1/sessions/${id}`, { ttlSeconds: 4321 });
    await monitor.waitFor(isSession(id, (record) => record.ttlSeconds === 4321));
    await server.ok('DELETE', `/v1/sessions/${id}`);
    await monitor.waitFor(isDeleted(id));
    const live = monitor.frames.slice(snapshot.length);
    assert.ok(live.every((frame) => frame.id !== undefined), 'every later frame has an id');
    assert.deepEqual(monitor.garbage, []);
    monitor.close();
  });

  it('makes no frame of counters and activity', async () => {
    const app = unique('app');
    const { id } = await server.create({ app, name: 'busy', ttlSeconds: 1000 });
    const monitor = await open(`?app=${app}`);
    const before = monitor.frames.length;
    await server.append(id, [{ type: 'message', data: {} }, { type: 'log', data: {} }]);
    await server.ok('POST', `/v1/sessions/${id}/touch`);
    await move(id, 'ACTIVE');
    await monitor.waitFor(isStatus(id, 'ACTIVE'));
    const later = monitor.frames.slice(before).filter((frame) => frame.event === 'session');
    assert.equal(later.length, 1, JSON.stringify(later));
    monitor.close();
  });

  it('shows only what the filter lets through, and says removed when it leaves', async () => {
    const app = unique('app');
    const inside = await server.create({ app, name: 'in', status: 'ACTIVE' });
    const monitor = await open(`?app=${app}&status=ACTIVE`);
    const outside = await server.create({ app: unique('app'), name: 'out', status: 'ACTIVE' });
    const later = await server.create({ app, name: 'later' });
    await move(inside.id, 'PAUSED');
    await monitor.waitFor(isRemoved(inside.id));
    await move(later.id, 'ACTIVE');
    await monitor.waitFor(isStatus(later.id, 'ACTIVE'));
    await move(inside.id, 'ACTIVE');
    await monitor.when(() => monitor.frames.filter(isStatus(inside.id, 'ACTIVE')).length === 2);
    await server.ok('DELETE', `/v1/sessions/${inside.id}`);
    await monitor.waitFor(isDeleted(inside.id));
    assert.ok(monitor.frames.every((frame) => !frame.data.includes(outside.id)));
    const early = monitor.frames.find(isSession(later.id));
    assert.equal(early.json.status, 'ACTIVE');
    monitor.close();
  });

  it('goes on from a list without a snapshot', async () => {
    const app = unique('app');
    const old = await server.create({ app, name: 'old' });
    const { monitorId } = await server.ok('GET', `/v1/sessions?app=${app}`);
    const between = await server.create({ app, name: 'between' });
    const cursor = encodeURIComponent(monitorId);
    const monitor = await server.monitor(`?app=${app}&snapshot=false&after=${cursor}`);
    await monitor.waitFor(isSession(between.id));
    const later = await server.create({ app, name: 'later' });
    await monitor.waitFor(isSession(later.id));
    assert.ok(!monitor.frames.some(isSession(old.id)), 'a snapshot came though none was asked for');
    monitor.close();
  });

  it('resumes at Last-Event-ID without a snapshot and without a miss', async () => {
    const app = unique('app');
    const old = await server.create({ app, name: 'old' });
    const monitor = await open(`?app=${app}`);
    const seen = await server.create({ app, name: 'seen' });
    const last = await monitor.waitFor(isSession(seen.id));
    monitor.close();
    await move(seen.id, 'ACTIVE');
    const missed = await server.create({ app, name: 'missed' });
    await server.ok('DELETE', `/v1/sessions/${old.id}`);
    const again = await server.monitor(`?app=${app}`, { 'Last-Event-ID': last.id });
    await again.waitFor(isStatus(seen.id, 'ACTIVE'));
    await again.waitFor(isSession(missed.id));
    await again.waitFor(isDeleted(old.id));
    assert.ok(!again.frames.some(isSession(old.id)));
    again.close();
  });

  for (const how of ['stop', 'kill']) {
    it(`resumes over a restart of the server (${how}) without a miss`, async () => {
      const app = unique('app');
      const made = [];
      for (let n = 0; n < 30; n += 1) made.push(await server.create({ app, name: `s${n}` }));
      const monitor = await open(`?app=${app}`);
      await move(made[0].id, 'ACTIVE');
      const last = await monitor.waitFor(isStatus(made[0].id, 'ACTIVE'));
      await Promise.all(made.slice(1, 15).map(({ id }) => move(id, 'ACTIVE')));
      await server.restart({ how });
      await Promise.all(made.slice(15).map(({ id }) => move(id, 'ACTIVE')));
      const again = await server.monitor(`?app=${app}`, { 'Last-Event-ID': last.id });
      for (const { id } of made.slice(1)) await again.waitFor(isStatus(id, 'ACTIVE'));
      assert.ok(!again.frames.some(isSession(made[0].id)), 'what was seen came again');
      again.close();
    });
  }

  it('shows racing changes to monitors that come and go, none missed', async () => {
    const random = randomFrom(seedFor());
    const app = unique('app');
    const count = 60;
    const finals = ['COMPLETED', 'FAILED', 'CANCELLED'];
    const expected = new Map();
    const writing = Promise.all(Array.from({ length: 6 }, async (_, writer) => {
      for (let n = 0; n < count / 6; n += 1) {
        const { id } = await server.create({ app, name: `w${writer}-${n}` });
        await move(id, 'ACTIVE');
        const status = finals[random.below(3)];
        await move(id, status);
        expected.set(id, status);
      }
    }));
    let written = false;
    writing.then(() => { written = true; }, () => { written = true; });
    const watching = Array.from({ length: 4 }, async () => {
      const state = new Map();
      const isDone = () => written && [...expected].every(([id, s]) => state.get(id) === s);
      const path = `?app=${app}`;
      let cursor;
      while (!isDone()) {
        const headers = cursor === undefined ? {} : { 'Last-Event-ID': cursor };
        const monitor = await server.monitor(path, headers);
        let read = 0;
        const goal = 1 + random.below(25);
        await until(() => {
          for (; read < monitor.frames.length; read += 1) {
            const frame = monitor.frames[read];
            if (frame.event === 'session') state.set(frame.json.id, frame.json.status);
          }
          return (read >= goal && monitor.lastEventId !== undefined) || isDone();
        }, 20_000, 'further changes');
        cursor = monitor.lastEventId ?? cursor;
        monitor.close();
      }
      return state;
    });
    await writing;
    for (const state of await Promise.all(watching)) {
      assert.deepEqual(new Map([...state].sort()), new Map([...expected].sort()));
    }
  });

  it('moves the cursor of a quiet filter on with its heartbeats', async () => {
    const app = unique('app');
    const monitor = await open(`?app=${app}`);
    const first = monitor.lastEventId;
    await Promise.all(Array.from({ length: 20 }, () => server.create({ app: unique('other') })));
    await monitor.when(() => monitor.lastEventId !== first, 10_000, 'an id without a frame');
    const cursor = monitor.lastEventId;
    assert.equal(monitor.frames.filter((frame) => frame.event === 'session').length, 0);
    monitor.close();
    const again = await server.monitor(`?app=${app}`, { 'Last-Event-ID': cursor });
    const { id } = await server.create({ app, name: 'late' });
    await again.waitFor(isSession(id));
    again.close();
  });

  it('refuses bad filters as the list does', async () => {
    const accept = { Accept: 'text/event-stream' };
    for (const query of ['?stauts=ACTIVE', '?status=NONSENSE', '?snapshot=maybe']) {
      await server.refused(400, undefined, 'GET', `/v1/sessions${query}`, undefined, accept);
    }
  });

  it('does not fall over a cursor it did not make', async () => {
    const accept = { Accept: 'text/event-stream' };
    await server.refused(400, undefined, 'GET', '/v1/sessions?snapshot=false&after=garbage!',
      undefined, accept);
    await server.assertAlive();
  });
});
