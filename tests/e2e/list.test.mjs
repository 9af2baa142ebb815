// The list of sessions: filters, order, cursors, counts.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startServer, unique, until } from './harness.mjs';

describe('the list', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  const page = (query) => server.ok('GET', `/v1/sessions?${query}`, undefined, {}, 200);
  const names = (rows) => rows.map((row) => row.name);

  // Makes sessions one after the other, each in a later millisecond than the one before.
  async function makeInOrder(app, wanted, more = {}) {
    const made = [];
    for (const name of wanted) {
      const last = made.at(-1);
      if (last) await until(() => Date.now() > Date.parse(last.createdAt) + 3);
      made.push(await server.create({ app, name, ...more }));
    }
    return made;
  }

  it('gives rows, a cursor, a monitor id and counts', async () => {
    const app = unique('app');
    await makeInOrder(app, ['a', 'b']);
    const answer = await page(`app=${app}`);
    assert.equal(answer.sessions.length, 2);
    assert.ok(!answer.nextCursor, 'the last page has no cursor');
    assert.equal(typeof answer.monitorId, 'string');
    assert.ok(answer.countsByStatus.INITIALIZING >= 2);
    const row = answer.sessions[0];
    const fields = ['id', 'key', 'app', 'name', 'status', 'createdAt', 'lastSeq', 'metadata'];
    for (const field of fields) assert.ok(field in row, field);
  });

  it('shows the newest first', async () => {
    const app = unique('app');
    await makeInOrder(app, ['one', 'two', 'three', 'four']);
    assert.deepEqual(names(await server.list(`app=${app}`)), ['four', 'three', 'two', 'one']);
  });

  it('pages with a cursor: every row once, also while sessions are made meanwhile', async () => {
    const app = unique('app');
    const wanted = Array.from({ length: 23 }, (_, n) => `n${n}`);
    await Promise.all(wanted.map((name) => server.create({ app, name })));
    const seen = [];
    let cursor = '';
    for (let pages = 0; pages < 40; pages += 1) {
      const answer = await page(`app=${app}&limit=5${cursor}`);
      assert.ok(answer.sessions.length <= 5);
      seen.push(...names(answer.sessions));
      if (!answer.nextCursor) break;
      cursor = `&cursor=${encodeURIComponent(answer.nextCursor)}`;
      await server.create({ app, name: `late${pages}` });
    }
    const early = seen.filter((name) => name.startsWith('n'));
    assert.deepEqual([...early].sort(), [...wanted].sort());
    assert.equal(new Set(seen).size, seen.length, 'a row came twice');
  });

  it('gives 50 rows unless told and at most 500', async () => {
    const app = unique('app');
    const all = Array.from({ length: 60 }, (_, n) => server.create({ app, name: `m${n}` }));
    await Promise.all(all);
    assert.equal((await page(`app=${app}`)).sessions.length, 50);
    assert.equal((await page(`app=${app}&limit=500`)).sessions.length, 60);
    for (const limit of ['-1', 'abc', '1.5', '', '99999999999999999999']) {
      await server.refused(400, undefined, 'GET', `/v1/sessions?app=${app}&limit=${limit}`);
    }
  });

  it('refuses a cursor it did not make and one made for another query', async () => {
    const app = unique('app');
    await makeInOrder(app, ['a', 'b', 'c']);
    const { nextCursor } = await page(`app=${app}&limit=1`);
    const cursor = encodeURIComponent(nextCursor);
    await server.refused(400, 'bad_cursor', 'GET', `/v1/sessions?app=other&cursor=${cursor}`);
    const broken = [`${cursor}x`, cursor.slice(0, -3), 'AAAA', '%00', 'x'.repeat(5000)];
    for (const wrong of broken) {
      await server.refused(400, undefined, 'GET', `/v1/sessions?app=${app}&cursor=${wrong}`);
    }
  });

  it('filters by app, graph, owner, status and start of the name, also together', async () => {
    const [app, other, graph, owner] = ['app', 'app', 'graph', 'agent'].map(unique);
    const red = { name: 'red-1', graphId: graph, status: 'ACTIVE' };
    await server.create({ app, ownerAgent: owner, ...red });
    await server.create({ app, name: 'red-2', graphId: graph });
    await server.create({ app, name: 'blue-1', ownerAgent: owner });
    await server.create({ app: other, ...red });
    const count = async (query) => (await server.list(query)).length;
    assert.equal(await count(`app=${app}`), 3);
    assert.equal(await count(`app=${other}`), 1);
    assert.equal(await count(`graphId=${graph}`), 3);
    assert.equal(await count(`ownerAgent=${owner}`), 2);
    assert.equal(await count(`app=${app}&status=ACTIVE`), 1);
    assert.equal(await count(`graphId=${graph}&status=ACTIVE`), 2);
    assert.equal(await count(`app=${app}&q=red`), 2);
    assert.equal(await count(`app=${app}&q=red-2`), 1);
    assert.equal(await count(`app=${app}&q=ed`), 0);
    assert.equal(await count(`app=${app}&graphId=${graph}&ownerAgent=${owner}&q=red`), 1);
    assert.equal(await count(`app=${app}&status=FAILED`), 0);
    assert.equal(await count('app=nobody-has-this'), 0);
  });

  it('follows a session from one status, owner or graph to another', async () => {
    const app = unique('app');
    const { id } = await server.create({ app, name: 'mover', ownerAgent: 'first' });
    const count = async (query) => (await server.list(`app=${app}&${query}`)).length;
    await server.ok('POST', `/v1/sessions/${id}/status`, { status: 'ACTIVE' });
    assert.equal(await count('status=INITIALIZING'), 0);
    assert.equal(await count('status=ACTIVE'), 1);
    await server.ok('PATCH', `/v1/sessions/${id}`, { ownerAgent: 'second' });
    assert.equal(await count('ownerAgent=first'), 0);
    assert.equal(await count('ownerAgent=second'), 1);
  });

  it('filters by creation time', async () => {
    const app = unique('app');
    const [a, b, c] = await makeInOrder(app, ['a', 'b', 'c']);
    const after = (time) => new Date(Date.parse(time) + 1).toISOString();
    const found = async (query) => names(await server.list(`app=${app}&${query}`));
    assert.deepEqual(await found(`createdAfter=${after(a.createdAt)}`), ['c', 'b']);
    assert.deepEqual(await found(`createdBefore=${after(b.createdAt)}`), ['b', 'a']);
    const between = `createdAfter=${after(a.createdAt)}&createdBefore=${after(b.createdAt)}`;
    assert.deepEqual(await found(between), ['b']);
    assert.deepEqual(await found(`createdAfter=${after(c.createdAt)}`), []);
    await server.refused(400, undefined, 'GET', '/v1/sessions?createdAfter=yesterday');
  });

  it('refuses unknown statuses and bad values with 400', async () => {
    for (const query of ['status=NONSENSE', 'createdBefore=2026-13-45T00:00:00Z', 'sort=sideways',
      'waiting=perhaps', 'vocabulary=klingon']) {
      await server.refused(400, undefined, 'GET', `/v1/sessions?${query}`);
    }
  });

  it('speaks the vocabulary asked for', async () => {
    const app = unique('app');
    await server.create({ app, name: 'spoken', status: 'ACTIVE' });
    const rows = (await page(`app=${app}&vocabulary=connection`)).sessions;
    assert.equal(rows[0].status, 'CONNECTED');
  });

  it('counts by status', async () => {
    const app = unique('app');
    for (const name of ['a', 'b', 'c']) await server.create({ app, name, status: 'ACTIVE' });
    const done = await server.create({ app, name: 'd', status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${done.id}/status`, { status: 'FAILED', error: 'x' });
    const { countsByStatus } = await page(`app=${app}`);
    assert.ok(countsByStatus.ACTIVE >= 3);
    assert.ok(countsByStatus.FAILED >= 1);
    const statuses = ['INITIALIZING', 'ACTIVE', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED',
      'CLEANUP'];
    for (const status of Object.keys(countsByStatus)) assert.ok(statuses.includes(status), status);
  });

  it('is the same after a restart', async () => {
    const app = unique('app');
    await makeInOrder(app, ['x', 'y', 'z']);
    const before = await server.list(`app=${app}`);
    await server.restart({ how: 'kill' });
    const now = await server.list(`app=${app}`);
    assert.deepEqual(now.map((row) => row.id), before.map((row) => row.id));
  });
});
