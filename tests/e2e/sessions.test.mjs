// Sessions: create, get-or-create by key, patch, list, delete.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TIME, UUID_V7, startServer, unique, until } from './harness.mjs';

const FIELDS = [
  'id', 'key', 'app', 'name', 'graphId', 'ownerAgent', 'status', 'pauseReason', 'createdAt',
  'updatedAt', 'lastActivityAt', 'expiresAt', 'ttlSeconds', 'messageCount', 'isActive',
  'subscriberCount', 'lastSeq', 'lastError', 'activeTabId', 'pendingInteractions', 'metadata',
  'etag',
];

// The record's etag as an If-Match value.
const quoted = (etag) => (/^(W\/)?"/.test(etag) ? etag : `"${etag}"`);

describe('sessions', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  // Time must have moved between two things whose times are compared.
  const laterThan = (time, ms = 5) => until(() => Date.now() > Date.parse(time) + ms);

  it('creates a session with all defaults and says where it is', async () => {
    const answer = await server.call('POST', '/v1/sessions', {});
    assert.equal(answer.status, 201, answer.text);
    const record = answer.body;
    for (const field of FIELDS) assert.ok(field in record, `${field} is missing`);
    assert.match(record.id, UUID_V7);
    assert.equal(record.app, 'default');
    assert.equal(record.graphId, 'default');
    assert.equal(record.status, 'INITIALIZING');
    assert.equal(record.messageCount, 0);
    assert.equal(record.subscriberCount, 0);
    assert.equal(typeof record.isActive, 'boolean');
    assert.equal(typeof record.etag, 'string');
    for (const field of ['createdAt', 'updatedAt', 'lastActivityAt']) {
      assert.match(record[field], TIME, field);
    }
    const location = new URL(answer.headers.location, server.url);
    assert.equal((await server.ok('GET', location.pathname)).id, record.id);
  });

  it('creates a session without a body', async () => {
    const answer = await server.call('POST', '/v1/sessions');
    assert.equal(answer.status, 201, answer.text);
  });

  it('keeps everything a caller gives', async () => {
    const app = unique('app');
    const given = {
      app, name: 'all', graphId: 'g-1', ownerAgent: 'agent-7', status: 'ACTIVE',
      ttlSeconds: 600, maxLifetimeSeconds: 3600, onWorkerLost: 'keep',
      metadata: { title: 'Grüße 🌍', nested: { list: [1, 2.5, null, true] } },
    };
    const { id } = await server.create(given);
    const record = await server.get(id);
    for (const field of ['app', 'name', 'graphId', 'ownerAgent', 'status', 'ttlSeconds']) {
      assert.equal(record[field], given[field], field);
    }
    assert.deepEqual(record.metadata, given.metadata);
    assert.equal(record.key, `${app}:all`);
    assert.match(record.expiresAt, TIME);
    assert.equal(record.isActive, true);
  });

  it('starts as ACTIVE if asked, in any vocabulary, and as nothing else', async () => {
    assert.equal((await server.create({ status: 'ACTIVE' })).status, 'ACTIVE');
    assert.equal((await server.create({ status: 'running' })).status, 'ACTIVE');
    assert.equal((await server.create({ status: 'INITIALIZING' })).status, 'INITIALIZING');
    for (const status of ['PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED', 'CLEANUP', 'nonsense']) {
      await server.refused(422, undefined, 'POST', '/v1/sessions', { status });
    }
  });

  it('refuses unknown fields and wrong types with 422 and a pointer', async () => {
    const app = unique('app');
    const wrong = [
      [{ app, nmae: 'x' }, '/nmae'], [{ app, name: 5 }, '/name'],
      [{ app, ttlSeconds: '60' }, '/ttlSeconds'], [{ app, ttlSeconds: -1 }, '/ttlSeconds'],
      [{ app, ttlSeconds: 1.5 }, '/ttlSeconds'], [{ app, metadata: [] }, '/metadata'],
      [{ app, onWorkerLost: 'explode' }, '/onWorkerLost'], [{ app, ownerAgent: {} }, '/ownerAgent'],
      [{ app, maxLifetimeSeconds: 'x' }, '/maxLifetimeSeconds'],
    ];
    for (const [body, pointer] of wrong) {
      const problem = await server.refused(422, undefined, 'POST', '/v1/sessions', body);
      const pointers = problem.errors.map((error) => error.pointer.replace(/^#/, ''));
      assert.ok(pointers.includes(pointer), `${pointer} not in ${JSON.stringify(problem.errors)}`);
    }
    assert.deepEqual(await server.list(`app=${app}`), []);
  });

  it('refuses unknown query parameters with 400', async () => {
    const { id } = await server.create();
    for (const path of ['/v1/sessions?stauts=ACTIVE', `/v1/sessions/${id}?x=1`,
      `/v1/sessions/${id}/events?afetr=1`, `/v1/sessions/${id}/events/stream?afetr=1`]) {
      await server.refused(400, 'unknown_parameter', 'GET', path);
    }
  });

  it('answers 404 for a session that does not exist, by UUID and by key', async () => {
    const uuid = '01890a5d-ac96-774b-bcce-b302099a8057';
    for (const name of [uuid, 'nobody:here', 'nobody']) {
      await server.refused(404, 'session_not_found', 'GET', `/v1/sessions/${name}`);
      await server.refused(404, 'session_not_found', 'DELETE', `/v1/sessions/${name}`);
      await server.refused(404, 'session_not_found', 'PATCH', `/v1/sessions/${name}`, {});
      await server.refused(404, 'session_not_found', 'GET', `/v1/sessions/${name}/events`);
    }
  });

  describe('keys', () => {
    it('splits a key at its first colon', async () => {
      const made = await server.call('PUT', '/v1/sessions/slack:C01:thread-9');
      assert.equal(made.status, 201, made.text);
      assert.equal(made.body.app, 'slack');
      assert.equal(made.body.name, 'C01:thread-9');
      assert.equal(made.body.key, 'slack:C01:thread-9');
      assert.equal(made.body.graphId, 'slack');
      assert.equal(made.body.status, 'INITIALIZING');
      for (const spelling of ['slack:C01:thread-9', 'slack%3AC01%3Athread-9']) {
        assert.equal((await server.get(spelling)).id, made.body.id);
      }
    });

    it('takes a bare name as one of the default app', async () => {
      const name = unique('bare');
      const made = await server.ok('PUT', `/v1/sessions/${name}`, undefined, {}, 201);
      assert.equal(made.app, 'default');
      assert.equal(made.name, name);
      assert.equal((await server.get(`default:${name}`)).id, made.id);
      assert.equal((await server.get(name)).id, made.id);
    });

    it('refuses an empty app and an empty name with 400', async () => {
      for (const key of [':name', 'app:', ':', '%3Aname', 'app%3A']) {
        await server.refused(400, undefined, 'PUT', `/v1/sessions/${key}`);
        await server.refused(400, undefined, 'GET', `/v1/sessions/${key}`);
      }
      await server.refused([400, 422], undefined, 'POST', '/v1/sessions', { app: '', name: 'x' });
      await server.refused([400, 422], undefined, 'POST', '/v1/sessions', { app: 'x', name: '' });
    });

    it('refuses a UUID in PUT with 400, whether it exists or not', async () => {
      const { id } = await server.create();
      await server.refused(400, undefined, 'PUT', `/v1/sessions/${id}`);
      const other = '01890a5d-ac96-774b-bcce-b302099a8057';
      await server.refused(400, undefined, 'PUT', `/v1/sessions/${other}`);
      await server.refused(404, undefined, 'GET', `/v1/sessions/${other}`);
    });

    it('refuses malformed escapes and control characters', async () => {
      for (const key of ['app:%zz', 'app:a%', 'app:%00', 'app:a%0Ab', 'app:%ff%fe']) {
        await server.refused(400, undefined, 'PUT', `/v1/sessions/${key}`);
      }
    });

    it('finds what it made, with 200, and touches its activity', async () => {
      const key = `${unique('app')}:again`;
      const first = await server.ok('PUT', `/v1/sessions/${key}`, undefined, {}, 201);
      await laterThan(first.lastActivityAt);
      const second = await server.ok('PUT', `/v1/sessions/${key}`, undefined, {}, 200);
      assert.equal(second.id, first.id);
      assert.ok(second.lastActivityAt > first.lastActivityAt);
    });

    it('refuses to create under the key of a living session with 409', async () => {
      const app = unique('app');
      const { id } = await server.create({ app, name: 'held' });
      await server.refused(409, 'key_taken', 'POST', '/v1/sessions', { app, name: 'held' });
      assert.equal((await server.get(`${app}:held`)).id, id);
      assert.equal((await server.list(`app=${app}`)).length, 1);
    });

    it('makes a new session under the key of an ended one; the old stays readable', async () => {
      const app = unique('app');
      const key = `${app}:reused`;
      const ids = [];
      for (const end of ['COMPLETED', 'FAILED', 'CANCELLED']) {
        const { id } = await server.ok('PUT', `/v1/sessions/${key}`, undefined, {}, 201);
        await server.ok('POST', `/v1/sessions/${id}/status`, { status: 'ACTIVE' });
        await server.ok('POST', `/v1/sessions/${id}/status`, { status: end });
        ids.push([id, end]);
      }
      const last = await server.create({ app, name: 'reused' });
      assert.equal((await server.get(key)).id, last.id);
      for (const [id, end] of ids) assert.equal((await server.get(id)).status, end);
      assert.equal((await server.list(`app=${app}`)).length, 4);
    });
  });

  describe('patch', () => {
    const patch = (id, body, headers) => server.ok('PATCH', `/v1/sessions/${id}`, body, headers);

    it('merges metadata as RFC 7396 says', async () => {
      const { id } = await server.create({ metadata: { keep: 1, drop: 2, deep: { a: 1, b: 2 } } });
      await patch(id, { metadata: { drop: null, deep: { b: null, c: [3] }, fresh: 'x' } });
      const { metadata } = await server.get(id);
      assert.deepEqual(metadata, { keep: 1, deep: { a: 1, c: [3] }, fresh: 'x' });
    });

    it('changes the TTL and the owner', async () => {
      const { id } = await server.create({ ttlSeconds: 1000 });
      await patch(id, { ttlSeconds: 5000, ownerAgent: 'agent-2' });
      const record = await server.get(id);
      assert.equal(record.ttlSeconds, 5000);
      assert.equal(record.ownerAgent, 'agent-2');
      const left = Date.parse(record.expiresAt) - Date.now();
      assert.ok(left > 4_000_000 && left <= 5_001_000, `expires in ${left} ms`);
    });

    it('refuses what cannot be patched with 422 and changes nothing', async () => {
      const { id } = await server.create({ metadata: { a: 1 } });
      const before = await server.get(id);
      for (const body of [{ status: 'ACTIVE' }, { app: 'x' }, { id: 'x' }, { metadata: 5 },
        { ttlSeconds: 'x' }, { metadata: { a: 2 }, unknown: 1 }]) {
        await server.refused(422, undefined, 'PATCH', `/v1/sessions/${id}`, body);
      }
      const now = await server.get(id);
      assert.deepEqual(now.metadata, { a: 1 });
      assert.equal(now.etag, before.etag);
    });

    it('obeys If-Match: the present etag passes, any other is 412', async () => {
      const { id, etag } = await server.create({ metadata: { n: 0 } });
      await patch(id, { metadata: { n: 1 } }, { 'If-Match': quoted(etag) });
      const changed = await server.get(id);
      assert.notEqual(changed.etag, etag);
      for (const stale of [quoted(etag), '"nonsense"', `${quoted(etag)}, "other"`]) {
        await server.refused(412, 'precondition_failed', 'PATCH', `/v1/sessions/${id}`,
          { metadata: { n: 2 } }, { 'If-Match': stale });
      }
      assert.deepEqual((await server.get(id)).metadata, { n: 1 });
      await patch(id, { metadata: { n: 3 } }, { 'If-Match': '*' });
      assert.deepEqual((await server.get(id)).metadata, { n: 3 });
    });

    it('lets exactly one of many racing patches with the same If-Match win', async () => {
      const { id, etag } = await server.create({ metadata: {} });
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => server.call('PATCH',
        `/v1/sessions/${id}`, { metadata: { winner: n } }, { 'If-Match': quoted(etag) })));
      const won = answers.flatMap((answer, n) => (answer.status === 200 ? [n] : []));
      assert.equal(won.length, 1);
      assert.ok(answers.every(({ status }) => status === 200 || status === 412));
      assert.deepEqual((await server.get(id)).metadata, { winner: won[0] });
    });

    it('leaves the etag alone when events are appended', async () => {
      const { id, etag } = await server.create();
      await server.append(id, { type: 'message', data: { text: 'hi' } });
      assert.equal((await server.get(id)).etag, etag);
    });
  });

  describe('delete', () => {
    it('removes the session, its events and its key', async () => {
      const app = unique('app');
      const { id } = await server.create({ app, name: 'gone' });
      await server.append(id, { type: 'log', data: { a: 1 } });
      const answer = await server.call('DELETE', `/v1/sessions/${app}:gone`);
      assert.equal(answer.status, 204, answer.text);
      assert.equal(answer.text, '');
      for (const path of ['', '/events', '/events/stream']) {
        await server.refused(404, 'session_not_found', 'GET', `/v1/sessions/${id}${path}`);
      }
      await server.refused(404, 'session_not_found', 'DELETE', `/v1/sessions/${id}`);
      await server.refused(404, 'session_not_found', 'GET', `/v1/sessions/${app}:gone`);
      assert.deepEqual(await server.list(`app=${app}`), []);
      const again = await server.ok('PUT', `/v1/sessions/${app}:gone`, undefined, {}, 201);
      assert.notEqual(again.id, id);
      assert.equal((await server.events(again.id)).filter((e) => e.type === 'log').length, 0);
    });

    it('removes an ended session without touching the living one of the same key', async () => {
      const key = `${unique('app')}:twice`;
      const old = await server.ok('PUT', `/v1/sessions/${key}`, undefined, {}, 201);
      await server.ok('POST', `/v1/sessions/${old.id}/cancel`);
      const living = await server.ok('PUT', `/v1/sessions/${key}`, undefined, {}, 201);
      await server.ok('DELETE', `/v1/sessions/${old.id}`, undefined, {}, 204);
      assert.equal((await server.get(key)).id, living.id);
    });
  });

  it('counts subscribers of a stream and names them', async () => {
    const { id } = await server.create();
    const readers = await Promise.all([1, 2].map(() => server.reader(id)));
    await until(async () => (await server.get(id)).subscriberCount === 2);
    await server.ok('GET', `/v1/sessions/${id}/subscribers`, undefined, {}, 200);
    for (const reader of readers) reader.close();
  });

  it('keeps every session over a restart', async () => {
    const app = unique('app');
    const made = await server.create({ app, name: 'kept', metadata: { a: [1, { b: 2 }] } });
    await server.append(made.id, { type: 'message', data: { text: 'one' } });
    const before = await server.get(made.id);
    await server.restart();
    const now = await server.get(`${app}:kept`);
    for (const field of ['id', 'key', 'status', 'createdAt', 'metadata', 'etag', 'lastSeq',
      'messageCount', 'graphId', 'ownerAgent']) {
      assert.deepEqual(now[field], before[field], field);
    }
  });
});
