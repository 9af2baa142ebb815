// What sites keep in a session's browser: cookies and local storage go in and out as storage states, outlive the
// context, the browser and the server, and are never on the disk as they are.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, temporaryDirectory, unique, until } from './harness.mjs';

// A site whose pages say what they find, and whose login page keeps something and goes elsewhere at once.
function startSite() {
  const hits = [];
  const cookies = [];  // as they were sent
  const site = http.createServer((request, response) => {
    const url = new URL(request.url, 'http://site');
    hits.push(url.pathname);
    cookies.push(request.headers.cookie);
    const headers = { 'Content-Type': 'text/html; charset=utf-8' };
    let body = `<title>Shown</title><h1>keeps</h1><script>
      document.querySelector('h1').textContent = JSON.stringify([document.cookie, localStorage.getItem('who')]);</script>`;
    if (url.pathname === '/login') {
      headers['Set-Cookie'] = [`sid=kept-${url.searchParams.get('as')}; HttpOnly; Max-Age=3600`];
      body = `<title>Login</title><script>localStorage.setItem('who', 'kept-${url.searchParams.get('as')}');
        const next = new URL(location).searchParams.get('next'); if (next) location.href = next;</script>`;
    }
    response.writeHead(200, headers);
    response.end(body);
  });
  return new Promise((ready) => site.listen(0, '127.0.0.1', () => ready({ site, hits, cookies, port: site.address().port })));
}

// What the page found when it was loaded; a tab that was opened again may still be loading.
const shownBy = (tool) => until(async () => {
  const { result } = await tool('evaluate', { function: `() => document.querySelector('h1')?.textContent ?? ''` });
  return result?.startsWith('[') && JSON.parse(result);
});

describe('storage states', () => {
  let server;
  let web;
  let origin;  // of the site
  let other;   // the same site by another name: another origin
  before(async () => {
    web = await startSite();
    origin = `http://127.0.0.1:${web.port}`;
    other = `http://localhost:${web.port}`;
    server = await startServer({ args: ['--browser-dir', browserDirectory(), '--hibernate-seconds', '1'] });
  });
  after(async () => {
    await server.dispose();
    web.site.closeAllConnections();
    web.site.close();
  });

  const start = () => server.create({ app: unique('state'), status: 'ACTIVE' });
  const tool = (session, name, args = {}) =>
    server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
  const done = async (session, name, args) => {
    const answer = await tool(session, name, args);
    assert.ok(answer.ok, JSON.stringify(answer.error));
    return answer.result;
  };
  const open = (session, url) => done(session, 'navigate', { url });
  const shown = (session) => shownBy((name, args) => tool(session, name, args));
  const titleOf = (session) => done(session, 'evaluate', { function: '() => document.title' });
  const stateOf = (session) => server.ok('GET', `/v1/sessions/${session.id}/browser/storage-state`);
  const browserOf = (session) => server.ok('GET', `/v1/sessions/${session.id}/browser`);
  const cookie = (value) => ({ name: 'sid', value, domain: '127.0.0.1', path: '/', expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' });
  const state = (value) => ({
    cookies: [cookie(value)],
    origins: [{ origin, localStorage: [{ name: 'who', value }] }, { origin: other, localStorage: [{ name: 'who', value: 'elsewhere' }] }],
  });

  it('come in with a new browser, before any page, and go out as they came', async () => {
    const session = await start();
    const before = web.hits.length;
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { storageState: state('ada') }, {}, 201);
    assert.equal(web.hits.length, before, 'nothing is asked of the network');
    assert.deepEqual(await stateOf(session), state('ada'));
    const tabs = (await server.ok('GET', `/v1/sessions/${session.id}/tabs`)).tabs;
    assert.equal(tabs.length, 1, 'the page that wrote it is not seen');
    await open(session, `${origin}/`);
    assert.equal(web.cookies.at(-1), 'sid=ada');
    assert.deepEqual(await shown(session), ['', 'ada']);
    await open(session, `${other}/`);
    assert.deepEqual(await shown(session), ['', 'elsewhere']);
    await server.refused(409, 'conflict', 'POST', `/v1/sessions/${session.id}/browser`, { storageState: state('eve') });
    // Another session has nothing of it.
    const stranger = await start();
    await open(stranger, `${origin}/`);
    assert.deepEqual(await shown(stranger), ['', null]);
    assert.deepEqual(await stateOf(stranger), { cookies: [], origins: [] });
  });

  it('are checked before anything is opened', async () => {
    const session = await start();
    const refused = async (storageState, pointer) => {
      const problem = await server.refused(422, 'invalid', 'POST', `/v1/sessions/${session.id}/browser`, { storageState });
      assert.ok(problem.errors.some((error) => error.pointer === pointer), JSON.stringify(problem.errors));
    };
    await refused({ cookies: [{ name: 'a' }] }, '/storageState/cookies/0/domain');
    await refused({ cookies: [{ ...cookie('x'), sameSite: 'lax' }] }, '/storageState/cookies/0/sameSite');
    await refused({ cookies: [{ ...cookie('x'), value: 'a;b' }] }, '/storageState/cookies/0/value');
    await refused({ origins: [{ origin: 'file:///etc/passwd', localStorage: [] }] }, '/storageState/origins/0/origin');
    await refused({ origins: [{ origin, localStorage: [{ name: 1, value: '' }] }] }, '/storageState/origins/0/localStorage/0/name');
    await refused({ sessions: [] }, '/storageState/sessions');
    await refused([], '/storageState');
    await server.refused(404, 'node_not_found', 'GET', `/v1/sessions/${session.id}/browser`);
  });

  it('hold what a page kept before it went elsewhere at once', async () => {
    const session = await start();
    await open(session, `${origin}/login?as=bob&next=${encodeURIComponent(`${other}/`)}`);
    await until(async () => (await titleOf(session)) === 'Shown');
    const before = web.hits.length;
    const found = await stateOf(session);
    assert.equal(web.hits.length, before, 'nothing is asked of the network');
    assert.deepEqual(found.cookies.map(({ name, value, httpOnly }) => ({ name, value, httpOnly })), [{ name: 'sid', value: 'kept-bob', httpOnly: true }]);
    assert.ok(found.cookies[0].expires > Date.now() / 1000);
    assert.deepEqual(found.origins, [{ origin, localStorage: [{ name: 'who', value: 'kept-bob' }] }]);
  });

  it('come back after sleep', async () => {
    const session = await start();
    await open(session, `${origin}/login?as=dora`);
    await open(session, `${origin}/`);
    await server.ok('POST', `/v1/sessions/${session.id}/pause`);
    await until(async () => (await browserOf(session)).status === 'hibernated');
    // Told without waking it.
    assert.equal((await stateOf(session)).origins[0].localStorage[0].value, 'kept-dora');
    assert.equal((await browserOf(session)).status, 'hibernated');
    await server.ok('POST', `/v1/sessions/${session.id}/resume`);
    assert.deepEqual(await shown(session), ['', 'kept-dora']);
    await server.ok('DELETE', `/v1/sessions/${session.id}/browser`, undefined, {}, 204);
    // A browser that was given up leaves nothing to the next.
    await open(session, `${origin}/`);
    assert.deepEqual(await shown(session), ['', null]);
  });

  it('are saved to an artifact and restored from one, whole or not at all', async () => {
    const session = await start();
    await open(session, `${origin}/login?as=erin`);
    const saved = await done(session, 'storage_state', { filename: 'logins/erin.json' });
    assert.deepEqual([saved.artifact, saved.cookies, saved.origins], ['logins/erin.json', 1, 1]);
    const file = await server.call('GET', `/v1/sessions/${session.id}/artifacts/logins/erin.json`);
    assert.deepEqual(JSON.parse(file.text), await stateOf(session));
    await open(session, `${other}/login?as=frank`);
    await done(session, 'set_storage_state', { filename: 'logins/erin.json' });
    assert.deepEqual(await stateOf(session), JSON.parse(file.text), 'what it does not name is gone');
    await open(session, `${origin}/`);
    assert.deepEqual(await shown(session), ['', 'kept-erin']);

    const put = (name, body) => server.ok('PUT', `/v1/sessions/${session.id}/artifacts/${name}`, JSON.stringify(body), { 'Content-Type': 'application/json' }, 201);
    await put('bad.json', { cookies: [cookie('x'), { name: 'no domain' }], origins: [] });
    for (const filename of ['bad.json', 'missing.json', '/etc/passwd', '../../etc/passwd'])
      assert.equal((await tool(session, 'set_storage_state', { filename })).ok, false, filename);
    // The browser itself refuses this one, after the check: what was there comes back.
    await put('refused.json', { cookies: [cookie('x'), { ...cookie('y'), name: '__Host-a', domain: '.127.0.0.1' }], origins: [] });
    assert.equal((await tool(session, 'set_storage_state', { filename: 'refused.json' })).ok, false);
    assert.deepEqual(await stateOf(session), JSON.parse(file.text));
  });

  it('are read and changed by tools, and recorded without their values', async () => {
    const session = await start();
    await open(session, `${origin}/`);
    await done(session, 'cookie_set', { name: 'theme', value: 'very-dark', path: '/' });
    await done(session, 'cookie_set', { name: 'plan', value: 'gold', domain: 'example.com', secure: true, sameSite: 'None' });
    const list = async (args) => (await done(session, 'cookie_list', args)).cookies.map(({ name }) => name).sort();
    assert.deepEqual(await list(), ['plan', 'theme']);
    assert.deepEqual(await list({ domain: 'example.com' }), ['plan']);
    assert.deepEqual(await list({ domain: 'ample.com' }), []);
    assert.equal((await done(session, 'cookie_get', { name: 'theme' })).cookies[0].value, 'very-dark');
    assert.equal((await done(session, 'cookie_delete', { name: 'plan' })).deleted, 1);
    assert.deepEqual(await list(), ['theme']);
    await done(session, 'cookie_clear');
    assert.deepEqual(await list(), []);

    for (const kind of ['localstorage', 'sessionstorage']) {
      await done(session, `${kind}_set`, { key: 'k', value: 'hidden-value' });
      await done(session, `${kind}_set`, { key: 'l', value: '2' });
      assert.equal((await done(session, `${kind}_get`, { key: 'k' })).value, 'hidden-value');
      assert.equal((await done(session, `${kind}_get`, { key: 'none' })).value, null);
      assert.deepEqual((await done(session, `${kind}_list`)).items.map(({ key }) => key).sort(), ['k', 'l']);
      await done(session, `${kind}_delete`, { key: 'k' });
      assert.equal((await done(session, `${kind}_list`)).items.length, 1);
      await done(session, `${kind}_clear`);
      assert.deepEqual((await done(session, `${kind}_list`)).items, []);
    }
    await open(session, 'about:blank');
    assert.equal((await tool(session, 'localstorage_list')).error.code, 'no_storage');
    assert.equal((await tool(session, 'cookie_set', { name: 'a', value: 'b' })).error.code, 'no_domain');

    const { commands } = await server.ok('GET', `/v1/sessions/${session.id}/commands?limit=100`);
    const set = commands.find(({ tool: name }) => name === 'browser_cookie_set');
    assert.deepEqual(set.args.value, { redacted: true, length: 9 });
    const text = JSON.stringify(await server.events(session.id));
    assert.ok(!text.includes('very-dark') && !text.includes('hidden-value'));
  });
});

describe('kept storage states', () => {
  let web;
  let origin;
  before(async () => {
    web = await startSite();
    origin = `http://127.0.0.1:${web.port}`;
  });
  after(() => {
    web.site.closeAllConnections();
    web.site.close();
  });
  const run = async (body) => {
    const keys = temporaryDirectory('reprise-keys-');
    const server = await startServer({ args: ['--browser-dir', browserDirectory(), '--state-key-file', join(keys, 'key')] });
    const tool = (name, args = {}) => server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
    let session;
    try {
      session = await server.create({ app: unique('kept'), status: 'ACTIVE' });
      await server.ok('POST', `/v1/sessions/${session.id}/browser`, { capture: 'none' }, {}, 201);
      assert.ok((await tool('navigate', { url: `${origin}/login?as=gretassecret` })).ok);
      // It is made when the first state is stored, a moment after the command.
      await until(() => existsSync(join(keys, 'key')));
      assert.ok((await tool('navigate', { url: `${origin}/` })).ok);
      await body({ server, session, tool, shown: () => shownBy(tool), key: join(keys, 'key') });
    } finally {
      await server.dispose();
    }
  };
  const everyFile = (directory) => readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? everyFile(path) : [path];
  });

  it('come back after a crash of the browser, and are in no event and no log', () => run(async ({ server, session, tool, shown, key }) => {
    const browserOf = () => server.ok('GET', `/v1/sessions/${session.id}/browser`);
    process.kill((await server.ok('GET', '/v1/pools')).pools[0].browsers[0].pid, 'SIGKILL');
    await until(async () => (await browserOf()).status === 'orphaned');
    assert.deepEqual(await shown(), ['', 'kept-gretassecret']);
    assert.equal((await browserOf()).reason, 'revived');
    assert.equal(web.cookies.at(-1), 'sid=kept-gretassecret');
    assert.ok(!JSON.stringify(await server.events(session.id)).includes('kept-gretassecret'));
    assert.ok(!server.stderr.includes('gretassecret'));
    assert.equal(statSync(key).mode & 0o777, 0o600);
    assert.match(readFileSync(key, 'utf8'), /^[0-9a-f]{64}\n$/);
  }));

  it('outlive the server, unreadable on its disk, and go with the session', () => run(async ({ server, session, shown, key }) => {
    await server.restart();
    assert.deepEqual(await shown(), ['', 'kept-gretassecret']);
    await server.stop();
    assert.ok(existsSync(key));
    assert.ok(!existsSync(`${server.data}.state-key`));
    const holders = everyFile(server.data).filter((path) => readFileSync(path).includes('kept-gretassecret'));
    assert.deepEqual(holders, []);
    await server.start();
    await server.ok('DELETE', `/v1/sessions/${session.id}`, undefined, {}, 204);
  }));

  it('are left behind where the key is another, is gone, or is open to all; the session goes on', () => run(async ({ server, session, shown, key }) => {
    const reasonOf = async () => (await server.ok('GET', `/v1/sessions/${session.id}/browser`)).reason;
    await server.stop();
    writeFileSync(key, `${'ab'.repeat(32)}\n`);
    await server.start();
    // The page is opened again; it has nothing.
    assert.deepEqual(await shown(), ['', null]);
    assert.match(await reasonOf(), /^revived, without its cookies and storage/);
    await server.stop();
    rmSync(key);
    await server.start();
    assert.deepEqual(await shown(), ['', null]);
    await server.stop();
    chmodSync(key, 0o644);
    await server.start();
    assert.deepEqual(await shown(), ['', null]);
    assert.match(await reasonOf(), /only its owner/);
    assert.match(server.stderr, /did not come back/);
    assert.ok(!server.stderr.includes('gretassecret'));
  }));

  it('have no key inside the data directory', async () => {
    const data = temporaryDirectory();
    await assert.rejects(startServer({ data, args: ['--state-key-file', join(data, 'key')] }), /inside the data directory/);
  });
});
