// Apps through the binary: settings that hold for their sessions, also after a restart, and closing all of them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startServer, TIME, unique, until } from './harness.mjs';

describe('apps', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  const putApp = (id, settings, status = 201) => server.ok('PUT', `/v1/apps/${id}`, settings, {}, status);
  const getApp = (id) => server.ok('GET', `/v1/apps/${id}`, undefined, {}, 200);

  it('come with their first session, or with settings', async () => {
    const used = unique('used');
    assert.equal((await server.call('GET', `/v1/apps/${used}`)).body.code, 'app_not_found');
    await server.create({ app: used });
    const app = await getApp(used);
    assert.equal(app.countsByStatus.INITIALIZING, 1);
    assert.equal(app.defaultTtlSeconds, null);
    assert.match(app.createdAt, TIME);
    const made = unique('made');
    await putApp(made, { description: 'made first', maxSessions: 7 });
    assert.equal((await getApp(made)).maxSessions, 7);
    await putApp(made, { description: 'changed' }, 200);
    assert.equal((await getApp(made)).maxSessions, null);
    const { apps } = await server.ok('GET', '/v1/apps?limit=500', undefined, {}, 200);
    assert.deepEqual(apps.map(({ id }) => id).filter((id) => [used, made].includes(id)), [used, made].sort());
  });

  it('refuse what is no setting', async () => {
    for (const settings of [{ maxSessions: 0 }, { defaultTtlSeconds: 'x' }, { unknown: 1 }]) {
      const refused = await server.call('PUT', '/v1/apps/x', settings);
      assert.equal(refused.status, 422);
      assert.ok(refused.body.errors[0].pointer.startsWith('/'));
    }
    assert.equal((await server.call('PUT', '/v1/apps/a%3Ab', {})).status, 400);
  });

  it('give their sessions clocks, a limit and a retention, which a killed server still knows', async () => {
    const own = await startServer();
    try {
      await own.ok('PUT', '/v1/apps/shop', { defaultTtlSeconds: 600, retentionSeconds: 1, maxSessions: 2 });
      await own.restart({ how: 'kill' });
      const first = await own.create({ app: 'shop', name: 'one' });
      assert.equal(first.ttlSeconds, 600);
      const second = await own.create({ app: 'shop', ttlSeconds: 50 });
      assert.equal(second.ttlSeconds, 50);
      assert.equal((await own.call('POST', '/v1/sessions', { app: 'shop' })).status, 429);
      await own.ok('POST', `/v1/sessions/${second.id}/close`);
      await until(async () => (await own.call('GET', `/v1/sessions/${second.id}`)).status === 404, 30_000,
        'the end of its retention');
      assert.equal((await own.get(first.id)).status, 'INITIALIZING');
    } finally {
      await own.dispose();
    }
  });

  it('are closed whole', async () => {
    const app = unique('closing');
    const sessions = await Promise.all(Array.from({ length: 150 }, (_, i) =>
      server.create({ app, name: `s${i}`, status: i % 2 ? 'ACTIVE' : 'INITIALIZING' })));
    const asked = await server.ok('POST', `/v1/sessions/${sessions[0].id}/interactions`, { kind: 'confirm' });
    assert.equal((await server.call('DELETE', `/v1/apps/${app}`)).status, 409);
    const report = await server.ok('POST', `/v1/apps/${app}/close`, { reason: 'over' }, {}, 200);
    assert.deepEqual(report, { closed: 150, failed: 0, failures: [] });
    assert.deepEqual((await getApp(app)).countsByStatus.COMPLETED, 150);
    const question = await server.ok('GET', `/v1/sessions/${sessions[0].id}/interactions/${asked.id}`, undefined, {}, 200);
    assert.equal(question.state, 'cancelled');
    assert.equal((await server.call('DELETE', `/v1/apps/${app}`)).status, 204);
  });

  it('must be made first where the server is strict', async () => {
    const strict = await startServer({ args: ['--strict-apps'] });
    try {
      const refused = await strict.call('PUT', '/v1/sessions/shop:one');
      assert.equal(refused.status, 404);
      assert.equal(refused.body.code, 'app_not_found');
      await strict.ok('PUT', '/v1/apps/shop');
      await strict.ok('PUT', '/v1/sessions/shop:one', undefined, {}, 201);
    } finally {
      await strict.dispose();
    }
  });
});
