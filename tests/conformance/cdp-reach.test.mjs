// What a DevTools client makes pages and the browser load is judged as everything else: no files, no pages of the browser,
// neither our own listener nor a DevTools port, and nothing that the app's policy denies.
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, temporaryDirectory, unique, until } from '../e2e/harness.mjs';
import { RawClient, socketUrl } from './cdp-site.mjs';

// A site that counts who comes, and answers everybody.
function startSite() {
  const site = { hits: 0 };
  const server = http.createServer((request, response) => {
    site.hits += 1;
    if (request.url === '/held') {
      site.held = { response, at: Date.now() };
      return;
    }
    const isFile = request.url === '/file';
    response.writeHead(200, { 'Content-Type': isFile ? 'application/octet-stream' : 'text/html', 'Access-Control-Allow-Origin': '*',
      ...(isFile ? { 'Content-Disposition': 'attachment; filename="got.txt"' } : {}) });
    response.end(isFile ? 'got' : '<title>Site</title>site-content<a id=get href="/file">get</a>');
  });
  return new Promise((ready) => server.listen(0, '127.0.0.1', () => {
    site.origin = `http://127.0.0.1:${server.address().port}`;
    site.close = () => { server.closeAllConnections(); server.close(); };
    ready(site);
  }));
}

describe('what a DevTools client may reach', () => {
  let server;
  let here;
  let denied;
  const directory = browserDirectory();
  const marker = `never-${Math.random().toString(36).slice(2)}`;
  const file = join(temporaryDirectory(), 'secret.html');
  before(async () => {
    chmodSync(join(file, '..'), 0o755);
    writeFileSync(file, `<title>Secret</title>${marker}`, { mode: 0o644 });
    [here, denied] = [await startSite(), await startSite()];
    server = await startServer({ args: ['--browser-dir', directory] });
  });
  after(async () => {
    await server.dispose();
    here.close();
    denied.close();
  });

  // A client with its session and its page.
  const attach = async (more = {}) => {
    const session = await server.create({ app: unique('reach'), status: 'ACTIVE', ...more });
    const client = await RawClient.connect(socketUrl(server, session));
    const { targetInfos } = await client.call('Target.getTargets');
    const { targetId } = targetInfos.find(({ type }) => type === 'page');
    const { sessionId } = await client.call('Target.attachToTarget', { targetId, flatten: true });
    const page = { session, client, targetId, sessionId, send: (method, params) => client.send(method, params, sessionId),
      call: (method, params) => client.call(method, params, sessionId) };
    page.evaluate = async (expression) => (await page.call('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })).result.value;
    await page.call('Page.enable');
    return page;
  };
  // A document that goes meanwhile answers with an error.
  const loaded = (page) => until(async () =>
    (await page.send('Runtime.evaluate', { expression: 'document.readyState' })).result?.result.value === 'complete');
  const go = async (page, url) => {
    const reply = await page.send('Page.navigate', { url });
    if (reply.error || reply.result.errorText) return '';
    await loaded(page);
    return page.evaluate('document.documentElement.outerHTML');
  };
  // All the ways to load an address; each gives what came of it, as text.
  const ways = {
    navigate: go,
    createTarget: async (page, url) => {
      const reply = await page.client.send('Target.createTarget', { url });
      if (reply.error) return '';
      const { sessionId } = await page.client.call('Target.attachToTarget', { targetId: reply.result.targetId, flatten: true });
      const inner = { ...page, sessionId };
      await until(async () => (await page.client.call('Runtime.evaluate', { expression: 'document.readyState' }, inner.sessionId)).result.value === 'complete');
      const { result } = await page.client.call('Runtime.evaluate', { expression: 'document.documentElement.outerHTML' }, sessionId);
      await page.client.call('Target.closeTarget', { targetId: reply.result.targetId });
      return result.value;
    },
    loadNetworkResource: async (page, url) => {
      const { frameTree } = await page.call('Page.getFrameTree');
      const reply = await page.send('Network.loadNetworkResource', { frameId: frameTree.frame.id, url, options: { disableCache: true, includeCredentials: false } });
      if (reply.error || !reply.result.resource.stream) return '';
      const { data, base64Encoded } = await page.call('IO.read', { handle: reply.result.resource.stream, size: 100_000 });
      return base64Encoded ? Buffer.from(data, 'base64').toString() : data;
    },
    setDocumentContent: async (page, url) => {
      const { frameTree } = await page.call('Page.getFrameTree');
      await page.call('Page.setDocumentContent', { frameId: frameTree.frame.id,
        html: `<iframe src="${url}" onload="loaded = true"></iframe><script>var loaded = false; addEventListener('error', () => { loaded = true }, true)</script>` });
      // A frame that is blocked may never say that it has loaded.
      await until(() => page.evaluate('loaded'), 1500).catch(() => {});
      const { result } = await page.send('Page.captureSnapshot', {});
      return result?.data ?? '';
    },
    continueRequest: async (page, url) => {
      await page.call('Fetch.enable', { patterns: [{ urlPattern: '*rewritten*' }] });
      const load = page.evaluate(`fetch('${here.origin}/rewritten').then((response) => response.text(), String)`);
      const paused = await until(() => page.client.events.findLast(({ method, params }) => method === 'Fetch.requestPaused' && !params.taken));
      paused.params.taken = true;
      const reply = await page.send('Fetch.continueRequest', { requestId: paused.params.requestId, url });
      if (reply.error) await page.send('Fetch.failRequest', { requestId: paused.params.requestId, errorReason: 'Failed' });
      const text = await load;
      await page.call('Fetch.disable');
      return text;
    },
    fulfillRequest: async (page, url) => {
      await page.call('Fetch.enable', { patterns: [{ urlPattern: '*redirected*' }] });
      const went = page.send('Page.navigate', { url: `${here.origin}/redirected` });
      const paused = await until(() => page.client.events.findLast(({ method, params }) => method === 'Fetch.requestPaused' && !params.taken));
      paused.params.taken = true;
      await page.send('Fetch.fulfillRequest', { requestId: paused.params.requestId, responseCode: 302, responseHeaders: [{ name: 'Location', value: url }] });
      await went;
      await page.call('Fetch.disable');
      await loaded(page);
      const text = await page.evaluate('document.documentElement.outerHTML');
      await go(page, here.origin);
      return text;
    },
  };

  it('is no file, no page of the browser, not us, and no DevTools port', async () => {
    const page = await attach();
    const profile = readdirSync(join(directory, 'profiles')).map((name) => join(directory, 'profiles', name, 'data', 'DevToolsActivePort'))
      .map((path) => { try { return readFileSync(path, 'utf8'); } catch { return ''; } }).find(Boolean);
    const devtools = Number(profile.split('\n')[0]);
    assert.ok(devtools > 0);
    assert.match(await (await fetch(`http://127.0.0.1:${devtools}/json/version`)).text(), /webSocketDebuggerUrl/, 'it is there, for others');
    await go(page, here.origin);
    for (const [way, load] of Object.entries(ways)) {
      assert.match(await load(page, `${here.origin}/`), /site-content|Site/, `${way} reaches a site`);
      for (const url of [`file://${file}`, 'file:///etc/passwd', 'chrome://version', `${server.url}/v1/health`, `http://localhost:${server.port}/v1/health`,
        `http://127.0.0.1:${devtools}/json/version`, `view-source:file://${file}`]) {
        const text = await load(page, url);
        assert.doesNotMatch(text, new RegExp(`${marker}|root:x:0|webSocketDebuggerUrl|"sandbox"|"status":|Command.?[Ll]ine`), `${way} ${url}`);
      }
    }
    await page.client.close();
  });

  it('is nothing that the app\'s policy denies', async () => {
    const app = unique('listed');
    await server.ok('PUT', `/v1/apps/${app}/url-policy`, { allow: [new URL(here.origin).host] }, {}, 200);
    const page = await attach({ app });
    await go(page, here.origin);
    for (const [way, load] of Object.entries(ways)) {
      assert.match(await load(page, `${here.origin}/`), /site-content|Site/, `${way} reaches what is allowed`);
      const text = await load(page, `${denied.origin}/`);
      assert.doesNotMatch(text, /site-content/, way);
      assert.equal(denied.hits, 0, way);
    }
    await page.client.close();
  });

  it('does not decide about downloads of others', async () => {
    const [mine, theirs] = [await attach(), await attach()];
    await mine.client.call('Browser.setDownloadBehavior', { behavior: 'deny' });
    await mine.call('Browser.setDownloadBehavior', { behavior: 'deny' });
    await mine.call('Page.setDownloadBehavior', { behavior: 'deny' });
    const got = async ({ session }) => (await server.ok('GET', `/v1/sessions/${session.id}/artifacts?prefix=downloads/`)).artifacts.length;
    for (const page of [mine, theirs]) {
      await go(page, here.origin);
      await page.evaluate("document.querySelector('#get').click()");
    }
    await until(async () => (await got(theirs)) === 1);
    assert.equal(await got(mine), 0);
    await mine.client.close();
    await theirs.client.close();
  });

  it('keeps its session while a command takes long, and no longer', async () => {
    const page = await attach({ ttlSeconds: 1 });
    await go(page, here.origin);
    const answer = page.evaluate("fetch('/held').then((response) => response.text())");
    const held = await until(() => here.held);
    await until(() => Date.now() - held.at > 3000);  // three times as long as it would live
    held.response.end('42');
    assert.equal(await answer, '42');
    assert.equal((await server.get(page.session.id)).status, 'ACTIVE');
    const { code } = await page.client.closed;
    assert.equal(code, 4001);
  });
});
