// Sessions in one browser: none sees or reaches another through the DevTools endpoint, and what becomes of clients when
// a session, its browser or a limit ends them.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { chromium } from 'playwright-core';
import WebSocket from 'ws';
import { browserDirectory, randomFrom, seedFor, startServer, temporaryDirectory, unique, until, within } from '../e2e/harness.mjs';
import { RawClient, socketUrl, startSite } from './cdp-site.mjs';

const CLIENTS = 6;

describe('isolation over the DevTools endpoint', () => {
  let server;
  let site;
  const directory = browserDirectory();
  before(async () => {
    site = await startSite();
    server = await startServer({ args: ['--browser-dir', directory, '--threads', '3', '--pool-clients', String(CLIENTS), '--hibernate-seconds', '1'] });
  });
  after(async () => {
    await server.dispose();
    site.close();
  });

  const start = (more = {}) => server.create({ app: unique('apart'), status: 'ACTIVE', ...more });
  const raw = (session, options) => RawClient.connect(socketUrl(server, session), options);
  const playwright = (session) => chromium.connectOverCDP(`${server.url}/v1/sessions/${session.id}/cdp`);
  const watch = async (client) => {
    await client.call('Target.setDiscoverTargets', { discover: true, filter: [{}] });
    await client.call('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
  };
  const pageOf = async (client) => {
    const { targetInfos } = await client.call('Target.getTargets');
    const page = targetInfos.find(({ type }) => type === 'page');
    const { sessionId } = await client.call('Target.attachToTarget', { targetId: page.targetId, flatten: true });
    return { ...page, sessionId };
  };

  it('shows a client its own session alone, whatever happens in others', async () => {
    const [one, two] = [await start(), await start()];
    const first = await raw(one);
    await watch(first);
    const mine = await pageOf(first);
    const other = await playwright(two);
    const page = other.contexts()[0].pages()[0];
    await page.goto(`${site.origin}/cookie#two`);
    const inner = await (await other.newContext()).newPage();
    await inner.goto(site.origin);
    await page.goto(site.origin);
    await Promise.all([page.waitForEvent('popup'), page.click('#popup')]);

    const { targetInfos } = await first.call('Target.getTargets');
    assert.deepEqual(targetInfos.filter(({ type }) => type === 'page').map(({ targetId }) => targetId), [mine.targetId]);
    assert.deepEqual((await first.call('Target.getBrowserContexts')).browserContextIds, []);
    assert.deepEqual((await first.call('Storage.getCookies')).cookies, []);
    const strange = first.events.filter(({ params }) => params?.targetInfo && params.targetInfo.type !== 'browser' &&
      params.targetInfo.browserContextId !== mine.browserContextId);
    assert.deepEqual(strange, []);
    assert.ok(!JSON.stringify(first.events).includes(site.origin));
    await other.close();
    await first.close();
  });

  it('answers "not found" to every id of another session that a client guesses', async () => {
    const seed = seedFor('REPRISE_CDP_SEED');
    const random = randomFrom(seed);
    const [one, two] = [await start(), await start()];
    const victim = await raw(two);
    await watch(victim);
    const { browserContextId } = await victim.call('Target.createBrowserContext');
    await victim.call('Target.createTarget', { url: `${site.origin}/next`, browserContextId });
    const page = await pageOf(victim);
    const { targetInfos } = await victim.call('Target.getTargets');
    const targets = targetInfos.filter(({ type }) => type !== 'browser').map(({ targetId }) => targetId);
    const contexts = [page.browserContextId, browserContextId];
    const sessions = victim.events.filter(({ method }) => method === 'Target.attachedToTarget').map(({ params }) => params.sessionId).concat(page.sessionId);
    assert.ok(targets.length >= 2 && sessions.length >= 2);

    const hostile = await raw(one);
    await watch(hostile);
    const nested = (await hostile.call('Target.attachToBrowserTarget')).sessionId;
    const own = await pageOf(hostile);
    const pick = (list) => list[random.below(list.length)];
    const byTarget = ['Target.attachToTarget', 'Target.closeTarget', 'Target.activateTarget', 'Target.getTargetInfo', 'Target.autoAttachRelated', 'Browser.getWindowForTarget'];
    const byContext = ['Target.createTarget', 'Target.disposeBrowserContext', 'Storage.getCookies', 'Storage.setCookies', 'Storage.clearCookies',
      'Browser.grantPermissions', 'Browser.resetPermissions', 'Browser.setDownloadBehavior', 'Browser.setPermission'];
    const inSession = ['Runtime.evaluate', 'Page.navigate', 'Network.getCookies', 'Target.getTargets', 'Runtime.runIfWaitingForDebugger', 'Page.close'];
    const extra = { expression: '1', url: 'about:blank', flatten: true, cookies: [{ name: 'x', value: 'x', url: site.origin }], permissions: ['geolocation'],
      behavior: 'deny', permission: { name: 'geolocation' }, setting: 'granted', waitForDebuggerOnStart: false };
    for (let round = 0; round < 300; ++round) {
      const kind = random.below(3);
      const from = kind === 2 ? pick(sessions) : pick([undefined, nested, own.sessionId]);
      const method = pick([byTarget, byContext, inSession][kind]);
      const named = kind === 0 ? { targetId: pick(targets) } : kind === 1 ? { browserContextId: pick(contexts) } : {};
      const reply = await hostile.send(method, { ...extra, ...named }, from);
      const shown = `${method} ${JSON.stringify(named)} in ${from}: ${JSON.stringify(reply)} (REPRISE_CDP_SEED=${seed})`;
      assert.ok(reply.error, shown);
      // What is somebody else's is refused in the words in which what does not exist is.
      const made = 'F00D'.repeat(8);
      const unknown = await hostile.send(method, { ...extra, ...(kind === 0 ? { targetId: made } : kind === 1 ? { browserContextId: made } : {}) },
        kind === 2 ? made : from);
      const plain = ({ code, message }) => `${code} ${message.replaceAll(/[0-9A-F]{32}/g, 'ID')}`;
      assert.equal(plain(reply.error), plain(unknown.error ?? {}), shown);
    }
    const left = await victim.call('Target.getTargets');
    assert.deepEqual(left.targetInfos.map(({ targetId }) => targetId).sort(), targetInfos.map(({ targetId }) => targetId).sort());
    assert.deepEqual((await victim.call('Storage.getCookies')).cookies, []);
    assert.equal((await victim.call('Runtime.evaluate', { expression: 'location.href' }, page.sessionId)).result.value, 'about:blank');
    for (const id of [...targets, ...contexts, ...sessions]) assert.ok(!JSON.stringify(hostile.events).includes(id), id);
    await hostile.close();
    await victim.close();
  });

  it('closes with a code and a reason when the session ends, its browser is released, or the browser dies', async () => {
    const session = await start();
    const released = await raw(session);
    await server.ok('DELETE', `/v1/sessions/${session.id}/browser`);
    assert.deepEqual(await within(released.closed, 5000, 'a close'), { code: 4002, reason: 'asked for' });

    const ended = await raw(session);
    await server.ok('POST', `/v1/sessions/${session.id}/close`);
    assert.deepEqual(await within(ended.closed, 5000, 'a close'), { code: 4001, reason: 'the session ended' });
    await assert.rejects(raw(session), { status: 409 });

    const another = await start();
    const orphan = await raw(another);
    const { pools } = await server.ok('GET', '/v1/pools');
    process.kill(pools[0].browsers.find((browser) => !browser.isDraining).pid, 'SIGKILL');
    assert.equal((await within(orphan.closed, 5000, 'a close')).code, 4003);
    // And a new one is there for whoever comes back.
    const back = await raw(another);
    assert.equal((await back.call('Runtime.evaluate', { expression: '1 + 1' }, (await pageOf(back)).sessionId)).result.value, 2);
    await back.close();
  });

  it('disposes of contexts that clients made when their session ends, and keeps pages from the port behind it', async () => {
    const session = await start();
    const client = await raw(session);
    const { browserContextId } = await client.call('Target.createBrowserContext');
    await client.call('Target.createTarget', { url: 'about:blank', browserContextId });
    const own = await pageOf(client);
    await client.close();
    // The browser itself, as no client of ours may see it.
    const files = readdirSync(directory, { recursive: true }).filter((name) => name.endsWith('DevToolsActivePort'));
    const ports = files.map((name) => readFileSync(join(directory, name), 'utf8').split('\n'));
    // A browser that was killed before may not have been swept yet.
    const found = await Promise.any(ports.map(async ([port, path]) =>
      ({ port, path, behind: await RawClient.connect(`ws://127.0.0.1:${port}${path}`) })));
    const { port, path, behind } = found;
    const contexts = async () => (await behind.call('Target.getBrowserContexts')).browserContextIds;
    assert.ok((await contexts()).includes(browserContextId) && (await contexts()).includes(own.browserContextId));

    const page = (await playwright(session)).contexts()[0].pages()[0];
    await assert.rejects(page.goto(`http://127.0.0.1:${port}/json/version`), /own/);
    await page.goto(site.origin);
    assert.match(await page.evaluate((url) => new Promise((told) => {
      const socket = new WebSocket(url);
      socket.onopen = () => told('open');
      socket.onerror = () => told('refused');
    }), `ws://127.0.0.1:${port}${path}`), /refused/);

    await server.ok('POST', `/v1/sessions/${session.id}/close`);
    await until(async () => {
      const left = await contexts();
      return !left.includes(browserContextId) && !left.includes(own.browserContextId);
    }, 5000, 'both contexts to go');
    await behind.close();
  });

  it('keeps a paused session awake while a client is attached, and its commands keep it from expiring', async () => {
    const session = await start({ ttlSeconds: 2 });
    const client = await raw(session);
    await server.ok('POST', `/v1/sessions/${session.id}/pause`, {});
    const end = Date.now() + 4000;
    const page = await pageOf(client);
    await until(async () => {
      await client.call('Runtime.evaluate', { expression: '1' }, page.sessionId);
      return Date.now() > end;
    }, 10_000, 'twice its time to live');
    assert.equal((await server.get(session.id)).status, 'PAUSED');
    assert.equal((await server.ok('GET', `/v1/sessions/${session.id}/browser`)).status, 'open');
    await client.close();
  });

  it('lets so many clients in and no more', async () => {
    const session = await start();
    const clients = [];
    for (let i = 0; i < CLIENTS; ++i) clients.push(await raw(session));
    assert.ok((await server.ok('GET', '/v1/pools')).pools[0].browsers.some((browser) => browser.clients === CLIENTS));
    await assert.rejects(raw(session), (error) => error.status === 429 && Number(error.headers['retry-after']) > 0);
    await clients.pop().close();
    await until(() => raw(session).then((client) => clients.push(client), () => false), 5000, 'a seat');
    for (const client of clients) await client.close();
  });

  it('takes messages of any size, both ways', async () => {
    const session = await start();
    const client = await raw(session);
    const page = await pageOf(client);
    const big = 'x'.repeat(12 * 1024 * 1024);
    const { result } = await client.call('Runtime.evaluate', { expression: `'${big}'.length` }, page.sessionId);
    assert.equal(result.value, big.length);
    const back = await client.call('Runtime.evaluate', { expression: `'y'.repeat(${3 * big.length})`, returnByValue: true }, page.sessionId);
    assert.equal(back.result.value.length, 3 * big.length);
    const kMaxCdpClientMessageBytes = 64 * 1024 * 1024;  // src/api/limits.h
    client.socket.send('x'.repeat(kMaxCdpClientMessageBytes + 1));
    assert.equal((await within(client.closed, 20_000, 'a close')).code, 1009);
  });

  it('loses nothing of what a client does faster than it is stored', async () => {
    const kMaxUnstored = 256;  // src/browser/limits.h
    const session = await start();
    const client = await raw(session);
    const page = await pageOf(client);
    const presses = Array.from({ length: 3 * kMaxUnstored }, (_, i) => client.send('Input.dispatchMouseEvent',
      { type: i % 2 ? 'mouseReleased' : 'mousePressed', x: i, y: 1, button: 'left', clickCount: 1 }, page.sessionId));
    await within(Promise.all(presses), 60_000, 'all of them');
    await client.close();
    const pressed = await until(async () => {
      const all = (await server.events(session.id)).filter(({ type }) => type === 'command');
      return all.length === presses.length / 2 && all;
    }, 10_000, 'all of them on record');
    assert.deepEqual(pressed.map(({ data }) => data.args.x), Array.from(pressed, (_, i) => 2 * i));
  });

  it('is not held up, and does not grow, by a client that takes nothing', async () => {
    const kMaxCdpBacklogBytes = 32 * 1024 * 1024;  // src/api/limits.h
    const [slow, busy] = [await start(), await start()];
    const stuck = await raw(slow);
    await watch(stuck);
    const page = await pageOf(stuck);
    await stuck.call('Runtime.enable', {}, page.sessionId);
    stuck.socket.pause();
    stuck.socket.send(JSON.stringify({ id: 900, sessionId: page.sessionId, method: 'Runtime.evaluate',
      params: { expression: `for (let i = 0; i < ${Math.ceil(kMaxCdpBacklogBytes / 10_000)}; ++i) console.log('z'.repeat(20000))` } }));
    // Others open pages meanwhile, each of which that client is told of as well.
    const other = await playwright(busy);
    for (let i = 0; i < 3; ++i) {
      const fresh = await within(other.contexts()[0].newPage(), 15_000, 'a page of another session');
      await fresh.goto(`${site.origin}/next`);
    }
    await other.close();
    // It has been sent away, and hears why when it listens again.
    const seats = async () => (await server.ok('GET', '/v1/pools')).pools[0].browsers.reduce((sum, { clients }) => sum + clients, 0);
    await until(async () => await seats() === 0, 20_000, 'its seat to be free');
    stuck.socket.resume();
    assert.equal((await within(stuck.closed, 20_000, 'a close')).code, 4008);
  });

  it('asks for a token as every route does', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'tokens.json');
    const sha256 = (text) => createHash('sha256').update(text).digest('hex');
    writeFileSync(file, JSON.stringify({ tokens: [
      { name: 'writer', sha256: sha256('write-me'), scopes: ['read', 'write'], apps: ['*'] },
      { name: 'reader', sha256: sha256('read-me'), scopes: ['read'], apps: ['*'] }] }));
    const headers = { Authorization: 'Bearer write-me' };
    const guarded = await startServer({ args: ['--tokens-file', file, '--browser-dir', browserDirectory()], headers });
    try {
      const session = await guarded.create({ app: 'guarded', status: 'ACTIVE' });
      const url = socketUrl(guarded, session);
      await assert.rejects(RawClient.connect(url), { status: 401 });
      await assert.rejects(RawClient.connect(url, { headers: { Authorization: 'Bearer read-me' } }), { status: 403 });
      const browser = await chromium.connectOverCDP(`${guarded.url}/v1/sessions/${session.id}/cdp`, { headers });
      await browser.contexts()[0].pages()[0].goto(site.origin);
      await browser.close();
      const commands = await until(async () => {
        const all = (await guarded.ok('GET', `/v1/sessions/${session.id}/commands`)).commands;
        return all.length > 0 && all;
      }, 5000, 'a command');
      assert.equal(commands[0].by, 'writer');
    } finally {
      await guarded.dispose();
    }
  });

  it('closes with 1001 when the server stops', async () => {
    const stopping = await startServer({ args: ['--browser-dir', browserDirectory()] });
    const session = await stopping.create({ app: 'stop', status: 'ACTIVE' });
    const client = await RawClient.connect(socketUrl(stopping, session));
    await Promise.all([stopping.dispose(), within(client.closed, 10_000, 'a close')]);
    assert.equal((await client.closed).code, 1001);
    assert.equal(client.socket.readyState, WebSocket.CLOSED);
  });
});
