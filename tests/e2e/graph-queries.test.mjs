// Ready-made questions to the graph, through the binary and real Chromium: what each finds, page by page, and what a token
// for some apps is not told.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertProblem, browserDirectory, startServer, temporaryDirectory, unique, until } from './harness.mjs';

const token = (name, apps) => ({ name, sha256: createHash('sha256').update(name).digest('hex'), scopes: ['admin'], apps });
const far = '2100-01-01T00:00:00.000Z';
const past = '2000-01-01T00:00:00.000Z';

describe('queries of the graph', () => {
  let server;
  before(async () => {
    const file = join(temporaryDirectory(), 'tokens.json');
    writeFileSync(file, JSON.stringify({ tokens: [token('all', ['*']), token('shop', ['shop']), token('bank', ['bank'])] }));
    server = await startServer({
      args: ['--browser-dir', browserDirectory(), '--tokens-file', file, '--pool', 'fragile=headless-shell'], headers: { Authorization: 'Bearer all' },
    });
  });
  after(() => server.dispose());

  const as = (name) => ({ Authorization: `Bearer ${name}` });
  const path = (name, parameters) => `/v1/graph/queries/${name}?${new URLSearchParams(parameters)}`;
  const ask = (name, parameters = {}, who = 'all') => server.ok('GET', path(name, parameters), undefined, as(who), 200);
  // All pages of a query, with cursors as they are given.
  const all = async (name, parameters = {}, who = 'all') => {
    const found = [];
    const cursors = [];
    for (let cursor; ;) {
      const page = await ask(name, { ...parameters, ...(cursor && { cursor }) }, who);
      found.push(...(page.nodes ?? page.edges));
      cursor = page.nextCursor;
      if (cursor === null) return { found, cursors };
      cursors.push(cursor);
    }
  };
  const ids = async (...args) => (await all(...args)).found.map(({ id }) => id);
  const start = async (app, more = {}, browser = {}) => {
    const session = await server.create({ app, name: unique('s'), status: 'ACTIVE', ...more });
    const { tabs, id } = await server.ok('POST', `/v1/sessions/${session.id}/browser`, browser, {}, 201);
    return { ...session, context: id, tab: tabs[0].id };
  };

  it('find sessions by pool, owner and status', async () => {
    const mine = await start('shop', { ownerAgent: 'shop:ann' });
    const other = await start('bank', { ownerAgent: 'shop:ann' });
    const ofPool = await ids('sessionsOfPool', { poolKey: 'default' });
    assert.ok(ofPool.includes(mine.id) && ofPool.includes(other.id));
    assert.deepEqual((await ids('sessionsByOwner', { ownerAgent: 'shop:ann' })).sort(), [mine.id, other.id].sort());
    assert.deepEqual(await ids('sessionsByOwner', { ownerAgent: 'shop:ann' }, 'shop'), [mine.id]);
    await server.ok('POST', `/v1/sessions/${mine.id}/pause`, {});
    assert.ok((await ids('sessionsByStatus', { status: 'PAUSED' })).includes(mine.id));
    assert.deepEqual((await all('sessionsOfPool', { poolKey: 'default' }, 'bank')).found.map(({ properties }) => properties.app), ['bank']);
    const listed = await server.ok('GET', '/v1/sessions?poolKey=default&limit=500');
    assert.deepEqual(listed.sessions.map(({ id }) => id).sort(), ofPool.sort());
    assert.deepEqual((await server.ok('GET', '/v1/sessions?poolKey=nowhere')).sessions, []);
    for (const { id } of [mine, other]) await server.ok('POST', `/v1/sessions/${id}/close`, {});
  });

  it('find tabs and commands', async () => {
    const session = await start('shop');
    const tool = (name, args) => server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
    await tool('navigate', { url: 'data:text/html,<title>One</title><button>Press</button>' });
    await tool('click', { target: '#nowhere' });
    await tool('tabs', { action: 'new', url: 'data:text/html,<title>Two</title>' });
    const tabs = (await all('tabsOfSession', { session: session.id })).found;
    assert.deepEqual(tabs.map(({ properties }) => properties.title), ['One', 'Two']);
    const open = await ids('openTabs');
    for (const { id } of tabs) assert.ok(open.includes(id));
    assert.deepEqual((await ids('openTabs', {}, 'bank')).filter((id) => open.includes(id) && tabs.some((tab) => tab.id === id)), []);
    const { found: commands, cursors } = await all('commandsOfSession', { session: session.id, limit: 1 });
    assert.deepEqual(commands.map(({ properties }) => properties.tool), ['browser_navigate', 'browser_click', 'browser_tabs']);
    assert.equal(cursors.length, 2);
    assert.deepEqual((await all('commandsOfTab', { tab: session.tab })).found.map(({ properties }) => properties.tool), ['browser_navigate', 'browser_click']);
    const [failed] = (await all('failedCommands', { session: session.key })).found;
    assert.equal(failed.properties.error.code, 'not_found');
    assert.equal(failed.to, session.tab);
    const { counts, isExact } = await ask('counts', { session: session.id });
    assert.deepEqual(counts, { contexts: 1, tabs: 2, commands: 3, failedCommands: 1 });
    assert.ok(isExact);

    await server.ok('DELETE', `/v1/sessions/${session.id}/tabs/${tabs[1].id}`, undefined, {}, 204);
    assert.ok((await ids('closedTabs')).includes(tabs[1].id));
    assert.ok(!(await ids('closedTabs', { before: past })).includes(tabs[1].id));
    assert.ok(!(await ids('openTabs')).includes(tabs[1].id));
    // The audit survives the tab.
    assert.equal((await all('commandsOfTab', { tab: tabs[1].id })).found.length, 1);
    await server.ok('DELETE', `/v1/sessions/${session.id}/browser`, undefined, {}, 204);
    assert.ok((await ids('closedContexts', { before: far })).includes(session.context));
  });

  it('find what is over, and what is about to be', async () => {
    const session = await server.create({ app: 'shop', status: 'ACTIVE', ttlSeconds: 3600 });
    assert.ok(!(await ids('expiredSessions')).includes(session.id));
    assert.ok((await ids('expiredSessions', { before: far })).includes(session.id));
    assert.ok(!(await ids('endedSessions', { before: far })).includes(session.id));
    await server.ok('POST', `/v1/sessions/${session.id}/status`, { status: 'FAILED', error: 'broken' });
    for (const name of ['endedSessions', 'failedSessions']) {
      assert.ok((await ids(name)).includes(session.id));
      assert.ok(!(await ids(name, { before: past })).includes(session.id));
      assert.ok(!(await ids(name, {}, 'bank')).includes(session.id));
    }
    const completed = await server.create({ app: 'shop', status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${completed.id}/close`, {});
    assert.ok((await ids('endedSessions')).includes(completed.id));
    assert.ok(!(await ids('failedSessions')).includes(completed.id));
  });

  it('find contexts whose browser died, and pools that fell silent', async () => {
    const session = await start('shop', {}, { poolKey: 'fragile' });
    const { browsers } = await server.ok('GET', '/v1/pools/fragile');
    process.kill(browsers[0].pid, 'SIGKILL');
    await until(async () => (await ids('orphanedContexts')).includes(session.context), 'it is orphaned');
    assert.ok((await ids('contextsByStatus', { status: 'orphaned' })).includes(session.context));
    assert.ok(!(await ids('orphanedContexts', {}, 'bank')).includes(session.context));
    assert.ok((await ask('counts')).counts.contexts.orphaned >= 1);
    assert.equal((await ask('counts', {}, 'bank')).counts.contexts.orphaned, 0);

    const keys = [unique('silent'), unique('silent')];
    for (const key of keys) await server.ok('PUT', `/v1/pools/${key}`, { maxContexts: 1, heartbeatSeconds: 1 }, {}, 201);
    await until(async () => (await all('stalePools', { limit: 1 })).found.length === 2, 'both are stale');
    assert.deepEqual((await all('stalePools', { limit: 1 })).found.map(({ key }) => key), keys);
    assert.equal((await ask('counts')).counts.pools.stale, 2);
  });

  it('go page by page, and no cursor names what the caller may not see', async () => {
    const sessions = [];
    for (let i = 0; i < 8; ++i) sessions.push(await server.create({ app: i % 2 ? 'shop' : 'bank', status: 'ACTIVE' }));
    for (const { id } of sessions) await server.ok('POST', `/v1/sessions/${id}/status`, { status: 'FAILED' });
    const mine = sessions.filter(({ app }) => app === 'shop').map(({ id }) => id);
    const { found, cursors } = await all('failedSessions', { limit: 1 }, 'shop');
    assert.deepEqual(found.map(({ id }) => id).filter((id) => mine.includes(id)), mine);
    assert.equal(new Set(found.map(({ id }) => id)).size, found.length, 'none twice');
    const foreign = sessions.filter(({ app }) => app === 'bank').map(({ id }) => id.replaceAll('-', ''));
    for (const cursor of cursors) {
      const shown = Buffer.from(cursor, 'base64url').toString('hex');
      assert.ok(foreign.every((id) => !shown.includes(id)));
    }
    // The same of the edges of a pool.
    const opened = [await start('shop'), await start('bank'), await start('shop')];
    const edges = [];
    for (let cursor = ''; cursor !== null;) {
      const page = await server.ok('GET', `/v1/graph/nodes/pool:default/out/PoolHasSession?limit=1${cursor && `&cursor=${cursor}`}`, undefined, as('shop'));
      edges.push(...page.edges.map(({ to }) => to));
      cursor = page.nextCursor;
      if (cursor) assert.ok(!Buffer.from(cursor, 'base64url').toString('hex').includes(opened[1].id.replaceAll('-', '')));
    }
    assert.ok(edges.includes(opened[0].id) && edges.includes(opened[2].id) && !edges.includes(opened[1].id));
  });

  it('are refused where they are none, or ask for what there is not', async () => {
    const refused = async (status, code, name, parameters = {}, who = 'all') =>
      assertProblem(await server.call('GET', path(name, parameters), undefined, as(who)), status, code);
    const problem = await refused(404, 'not_found', 'everything');
    assert.match(problem.detail, /openTabs/);
    await refused(400, 'unknown_parameter', 'openTabs', { session: 'x' });
    await refused(400, 'bad_parameter', 'sessionsOfPool');
    await refused(400, 'bad_parameter', 'closedTabs', { before: 'yesterday' });
    await refused(400, 'bad_parameter', 'sessionsByStatus', { status: 'odd' });
    await refused(400, 'bad_parameter', 'contextsByStatus', { status: 'closed' });
    await refused(400, 'bad_cursor', 'openTabs', { cursor: 'YWJj' });
    await refused(400, 'bad_cursor', 'openTabs', { cursor: '!' });
    await refused(400, 'bad_parameter', 'openTabs', { limit: 501 });
    const other = await server.create({ app: 'bank', name: unique('s') });
    await refused(404, 'session_not_found', 'tabsOfSession', { session: other.id }, 'shop');
    await refused(404, 'session_not_found', 'counts', { session: other.key }, 'shop');
    await refused(404, 'tab_not_found', 'commandsOfTab', { tab: other.id });
  });
});
