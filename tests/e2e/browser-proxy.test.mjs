// A session's own proxy: what its pages ask for goes on to it, with its password, which is nowhere in the clear.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, unique, until } from './harness.mjs';

const password = 'pw-very-secret';
const listen = (handler) => new Promise((ready) => {
  const made = http.createServer(handler);
  made.listen(0, '127.0.0.1', () => ready(made));
});

describe("a user's own proxy", () => {
  let server;
  let proxy;
  let site;
  const asked = [];
  before(async () => {
    proxy = await listen((request, response) => {
      const [, basic] = /^Basic (.+)$/.exec(request.headers['proxy-authorization'] ?? '') ?? [];
      const isKnown = basic && Buffer.from(basic, 'base64').toString() === `ada:${password}`;
      asked.push({ url: request.url, isKnown: Boolean(isKnown) });
      response.writeHead(isKnown ? 200 : 407, { 'Content-Type': 'text/html', ...(isKnown ? {} : { 'Proxy-Authenticate': 'Basic' }) });
      response.end('<title>By proxy</title>');
    });
    site = await listen((request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end(`<title>Direct ${request.headers['proxy-authorization'] ?? ''}</title>`);
    });
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
  });
  after(async () => {
    await server.dispose();
    for (const one of [proxy, site]) {
      one.closeAllConnections();
      one.close();
    }
  });

  const open = async (options) => {
    const session = await server.create({ app: unique('proxy'), status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { capture: 'none', ...options }, {}, 201);
    return session;
  };
  const navigate = (session, url) => server.ok('POST', `/v1/sessions/${session.id}/tools/browser_navigate`, { url }, {}, 200);
  const everyFile = (directory) => readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? everyFile(join(directory, entry.name)) : [join(directory, entry.name)]);

  it('is asked for what pages want, except where it is passed by, also after a restart', async () => {
    const options = { proxy: { server: `http://127.0.0.1:${proxy.address().port}`, username: 'ada', password, bypass: '127.0.0.1, .direct.test' } };
    const session = await open(options);
    assert.equal((await navigate(session, 'http://shop.test/a')).page.title, 'By proxy');
    assert.deepEqual(asked.at(-1), { url: 'http://shop.test/a', isKnown: true });
    const count = asked.length;
    assert.equal((await navigate(session, `http://127.0.0.1:${site.address().port}/`)).page.title, 'Direct', 'and hears nothing of the password');
    assert.equal(asked.length, count);
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { capture: 'none', ...options }, {}, 200);
    await server.refused(409, 'conflict', 'POST', `/v1/sessions/${session.id}/browser`, { capture: 'none', proxy: { ...options.proxy, password: 'other' } });
    await server.restart();
    await until(async () => (await navigate(session, 'http://shop.test/b')).page?.title === 'By proxy');
    assert.deepEqual(asked.at(-1), { url: 'http://shop.test/b', isKnown: true });
    await server.stop();
    assert.deepEqual(everyFile(server.data).filter((path) => readFileSync(path).includes(password)), []);
    assert.ok(!server.stderr.includes(password));
    await server.start();
    assert.ok(!JSON.stringify(await server.events(session.id)).includes(password));
  });

  it('is never gone around', async () => {
    const refused = await open({ proxy: { server: `ada:wrong@127.0.0.1:${proxy.address().port}` } });
    const count = asked.length;
    await navigate(refused, 'http://shop.test/c');
    assert.deepEqual(asked.slice(count).map(({ isKnown }) => isKnown), [false]);
    const gone = await open({ proxy: { server: 'http://127.0.0.1:9' } });
    const answer = await navigate(gone, `http://127.0.0.1:${site.address().port}/`);
    assert.ok(!answer.ok || answer.page.title !== 'Direct');
  });

  it('is checked before a browser is opened', async () => {
    const session = await server.create({ app: unique('proxy'), status: 'ACTIVE' });
    for (const wrong of [{}, { server: 'socks4://a:1' }, { server: 'a:1', password: 'x' }, { server: 'a:1', bypass: 'a/b' }, { server: 'a:1', more: 1 }, 'a:1']) {
      const problem = await server.refused(422, 'invalid', 'POST', `/v1/sessions/${session.id}/browser`, { proxy: wrong });
      assert.match(problem.errors[0].pointer, /^\/proxy/, JSON.stringify(wrong));
    }
  });
});
