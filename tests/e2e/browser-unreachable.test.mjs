// What cannot be reached, and what may not be, fails as a command with its reason, and as a request in the page.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, unique } from './harness.mjs';

const listen = (made) => new Promise((ready) => made.listen(0, '127.0.0.1', () => ready(made)));
// A port at which nobody listens: it was free a moment ago, and nobody is given it soon.
const closedPort = async () => {
  const made = await listen(net.createServer());
  const { port } = made.address();
  await new Promise((closed) => made.close(closed));
  return port;
};

describe('what a browser cannot reach', () => {
  let server;
  let site;
  let silent;
  let origin;
  let nowhere;
  before(async () => {
    nowhere = await closedPort();
    silent = await listen(net.createServer((socket) => socket.once('data', () => socket.end())));
    site = await listen(http.createServer((request, response) => {
      const [, to] = /^\/to\?(.*)$/.exec(request.url) ?? [];
      response.writeHead(to ? 302 : 200, { 'Content-Type': 'text/html', ...(to ? { Location: decodeURIComponent(to) } : {}) });
      response.end('<title>Here</title>');
    }));
    origin = `http://127.0.0.1:${site.address().port}`;
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
  });
  after(async () => {
    await server.dispose();
    site.closeAllConnections();
    site.close();
    silent.close();
  });

  const start = async (app = unique('unreachable')) => {
    const session = await server.create({ app, status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { capture: 'none' }, {}, 201);
    return session;
  };
  const tool = (session, name, args = {}) =>
    server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
  const fails = async (session, url) => {
    const answer = await tool(session, 'navigate', { url });
    assert.equal(answer.ok, false, `${url}: ${JSON.stringify(answer.result)}`);
    return answer.error;
  };

  it('fails as a command, with the reason, by http and by https, and stands so on record', async () => {
    const session = await start();
    for (const scheme of ['http', 'https']) {
      const refused = await fails(session, `${scheme}://127.0.0.1:${nowhere}/a`);
      assert.equal(refused.code, 'net_error');
      assert.match(refused.message, new RegExp(`^${scheme}://127\\.0\\.0\\.1:${nowhere}/a could not be reached: .*Connection refused`));
      const unknown = await fails(session, `${scheme}://nowhere.invalid/`);
      assert.equal(unknown.code, 'net_error');
      assert.match(unknown.message, /name not resolved/);
    }
    const { commands } = await server.ok('GET', `/v1/sessions/${session.id}/commands?ok=false`);
    assert.deepEqual(commands.map(({ error }) => error.code), Array(4).fill('net_error'));
    // A server that hangs up says as little as one that is not there.
    assert.equal((await fails(session, `http://127.0.0.1:${silent.address().port}/`)).code, 'net_error');
    const answer = await tool(session, 'navigate', { url: origin });
    assert.equal(answer.result.title, 'Here', JSON.stringify(answer));
  });

  it('is told by where redirects have led', async () => {
    const session = await start();
    const to = (url) => `${origin}/to?${encodeURIComponent(url)}`;
    const refused = await fails(session, to(`http://127.0.0.1:${nowhere}/there`));
    assert.equal(refused.code, 'net_error');
    assert.match(refused.message, new RegExp(`^http://127\\.0\\.0\\.1:${nowhere}/there `));
    assert.equal((await fails(session, to('http://169.254.169.254/latest'))).code, 'url_refused');
    assert.equal((await fails(session, to(`${server.url}/healthz`))).code, 'url_refused');
  });

  it('is another thing than what an app forbids', async () => {
    const app = unique('forbidden');
    // By its address alone: before the name is looked up, nobody can tell.
    await server.ok('PUT', `/v1/apps/${app}/url-policy`, { allow: ['*.localhost', '192.0.2.0/24'], deny: ['127.0.0.0/8', '::1'] }, {}, 200);
    const session = await start(app);
    for (const scheme of ['http', 'https']) {
      const refused = await fails(session, `${scheme}://site.localhost:${site.address().port}/`);
      assert.equal(refused.code, 'url_refused');
      assert.match(refused.message, /deny_list/);
    }
  });

  it('is a failed request to the page, and no answer', async () => {
    const session = await start();
    await tool(session, 'navigate', { url: origin });
    const { result } = await tool(session, 'evaluate', { function: `async () => {
      const image = (src) => new Promise((done) => { const made = new Image(); made.onload = () => done('loaded'); made.onerror = () => done('failed'); made.src = src; });
      const asked = await Promise.all(['http://127.0.0.1:${nowhere}/', 'http://169.254.169.254/', '/'].map((url) =>
        fetch(url, { mode: 'no-cors' }).then(() => 'answered', () => 'failed')));
      return [...asked, await image('http://127.0.0.1:${nowhere}/a.png')];
    }` });
    assert.deepEqual(result, ['failed', 'failed', 'answered', 'failed']);
    const { result: seen } = await tool(session, 'network_requests', { filter: `:${nowhere}/` });
    assert.match(seen.requests, /net::ERR_/);
  });
});
