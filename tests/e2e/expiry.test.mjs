// The two clocks: ttlSeconds slides with activity, maxLifetimeSeconds does not.
//
// A read may count as activity, so the tests watch the monitor, which reads no single session.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startServer, unique, until } from './harness.mjs';

describe('expiry', { concurrency: true }, () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  async function watched(body) {
    const app = unique('app');
    const monitor = await server.monitor(`?app=${app}`);
    await monitor.snapshotComplete();
    const record = await server.create({ app, name: 'mortal', status: 'ACTIVE', ...body });
    const expired = (deadline) => monitor.waitFor((frame) => frame.event === 'session'
      && frame.json.id === record.id && frame.json.status === 'CANCELLED', deadline, 'expiry')
      .finally(() => monitor.close());
    return { id: record.id, record, expired };
  }

  async function assertExpired(id) {
    const record = await server.get(id);
    assert.equal(record.status, 'CANCELLED');
    assert.equal(record.lastError, 'expired');
    assert.equal(record.isActive, false);
    const path = `/v1/sessions/${id}/events`;
    await server.refused(409, 'session_ended', 'POST', path, { type: 'log', data: {} });
    return record;
  }

  // Does `action` again and again for a while; gives the time just before the last one.
  async function keepDoing(action, forMs) {
    const start = Date.now();
    let last = start;
    let due = start;
    await until(async () => {
      if (Date.now() >= due) {
        last = Date.now();
        due = last + 200;
        await action();
      }
      return Date.now() - start > forMs;
    }, forMs + 5_000);
    return last;
  }

  it('cancels an idle session at the end of its TTL, not before', async () => {
    const { id, record, expired } = await watched({ ttlSeconds: 1 });
    const wait = Date.parse(record.expiresAt) - Date.parse(record.createdAt);
    assert.ok(wait >= 1000 && wait <= 1100, `expires after ${wait} ms`);
    await expired();
    assert.ok(Date.now() >= Date.parse(record.expiresAt) - 5, 'it expired early');
    await assertExpired(id);
    const events = await server.events(id);
    assert.equal(events.at(-1).type, 'status_change');
  });

  it('ends the streams of an expired session', async () => {
    const { id } = await watched({ ttlSeconds: 1 });
    const reader = await server.reader(id);
    await reader.waitFor((frame) => frame.event === 'end');
    await reader.closed();
  });

  it('slides with touch', async () => {
    const { id, expired } = await watched({ ttlSeconds: 1 });
    const last = await keepDoing(() => server.ok('POST', `/v1/sessions/${id}/touch`), 3_000);
    await expired();
    assert.ok(Date.now() >= last + 1000 - 5, 'it expired early');
    await assertExpired(id);
  });

  it('slides with appends', async () => {
    const { id, expired } = await watched({ ttlSeconds: 1 });
    const last = await keepDoing(() => server.append(id, { type: 'log', data: {} }), 3_000);
    await expired();
    assert.ok(Date.now() >= last + 1000 - 5, 'it expired early');
    const before = await assertExpired(id);
    assert.ok(before.lastSeq > 5);
  });

  it('slides with get-or-create by key', async () => {
    const { record, expired } = await watched({ ttlSeconds: 1 });
    const put = () => server.ok('PUT', `/v1/sessions/${record.key}`, undefined, {}, 200);
    await keepDoing(put, 2_500);
    await expired();
    await assertExpired(record.id);
  });

  it('ends at maxLifetimeSeconds, whatever its activity', async () => {
    const { id, record, expired } = await watched({ ttlSeconds: 3600, maxLifetimeSeconds: 2 });
    const lifetime = Date.parse(record.expiresAt) - Date.parse(record.createdAt);
    assert.ok(Math.abs(lifetime - 2000) <= 10, `lives ${lifetime} ms`);
    await server.ok('POST', `/v1/sessions/${id}/touch`);
    await server.append(id, { type: 'log', data: {} });
    assert.equal((await server.get(id)).expiresAt, record.expiresAt);
    await expired();
    await assertExpired(id);
  });

  it('frees the key of an expired session at once', async () => {
    const { record, expired } = await watched({ ttlSeconds: 1 });
    await expired();
    const next = await server.ok('PUT', `/v1/sessions/${record.key}`, undefined, {}, 201);
    assert.notEqual(next.id, record.id);
  });

  it('leaves sessions without a clock alone', async () => {
    const forever = await server.create();
    const { expired } = await watched({ ttlSeconds: 1 });
    await expired();
    assert.equal((await server.get(forever.id)).status, 'INITIALIZING');
  });

  it('expires what fell due while the server was down', async () => {
    const other = await startServer();
    try {
      const { id, expiresAt } = await other.create({ ttlSeconds: 1, status: 'ACTIVE' });
      const kept = await other.create({ ttlSeconds: 1000, status: 'ACTIVE' });
      await other.kill();
      await until(() => Date.now() > Date.parse(expiresAt) + 100);
      await other.start();
      await until(async () => (await other.get(id)).status === 'CANCELLED');
      assert.equal((await other.get(id)).lastError, 'expired');
      assert.equal((await other.get(kept.id)).status, 'ACTIVE');
    } finally {
      await other.dispose();
    }
  });

  it('removes ended sessions after the retention, and leaves the living', async () => {
    const other = await startServer({ args: ['--retention-seconds', '1'] });
    try {
      const living = await other.create({ app: 'kept', name: 'living', status: 'ACTIVE' });
      const ended = await other.create({ app: 'kept', name: 'ended', status: 'ACTIVE' });
      await other.ok('POST', `/v1/sessions/${ended.id}/close`);
      const path = `/v1/sessions/${ended.id}`;
      await until(async () => (await other.call('GET', path)).status === 404, 20_000);
      await other.refused(404, undefined, 'GET', `${path}/events`);
      assert.deepEqual((await other.list('app=kept')).map((row) => row.id), [living.id]);
    } finally {
      await other.dispose();
    }
  });
});
