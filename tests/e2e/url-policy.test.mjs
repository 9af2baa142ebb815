// What the pages of an app's browsers may reach, through the binary, real Chromium and two apps: lists and switches hold for
// navigating tools and for everything that a page loads.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, temporaryDirectory, unique } from './harness.mjs';

const startSite = (answer) => new Promise((ready) => {
  const site = http.createServer(answer);
  site.listen(0, '127.0.0.1', () => ready(site));
});

describe('the URL policy of an app', () => {
  let server;
  let site;
  let other;
  let here;
  let there;
  before(async () => {
    other = await startSite((request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html', 'Access-Control-Allow-Origin': '*' });
      response.end('<title>There</title>');
    });
    there = `127.0.0.1:${other.address().port}`;
    site = await startSite((request, response) => {
      if (request.url === '/go') response.writeHead(302, { Location: `http://${there}/` });
      else response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end('<title>Here</title>');
    });
    here = `127.0.0.1:${site.address().port}`;
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
  });
  after(async () => {
    await server.dispose();
    for (const one of [site, other]) {
      one.closeAllConnections();
      one.close();
    }
  });

  const policy = (app, body) => server.ok('PUT', `/v1/apps/${app}/url-policy`, body, {}, 200);
  const start = (app) => server.create({ app, status: 'ACTIVE' });
  const tool = (session, name, args) => server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
  const goes = async (session, url) => {
    const { ok, error } = await tool(session, 'navigate', { url });
    return ok ? 'there' : error.code;
  };
  const loads = async (session, url) =>
    (await tool(session, 'evaluate', { function: `() => fetch('${url}').then((answer) => answer.text(), () => 'refused')` })).result;

  it('is each app\'s own: what one denies another may reach', async () => {
    const [strict, free] = [unique('strict'), unique('free')];
    assert.deepEqual((await policy(strict, { deny: [there] })).deny, [there]);
    const [narrow, wide] = [await start(strict), await start(free)];
    for (const session of [narrow, wide]) assert.equal(await goes(session, `http://${here}/`), 'there');
    assert.equal(await goes(narrow, `http://${there}/`), 'url_refused');
    assert.equal(await goes(wide, `http://${there}/`), 'there');
    // A redirect and what a page loads are judged by the proxy.
    const redirected = await tool(narrow, 'navigate', { url: `http://${here}/go` });
    assert.equal(redirected.error?.code, 'url_refused', JSON.stringify(redirected));
    assert.equal((await tool(wide, 'navigate', { url: `http://${here}/go` })).result.title, 'There');
    await goes(narrow, `http://${here}/`);
    await goes(wide, `http://${here}/`);
    assert.equal(await loads(narrow, `http://${there}/`), 'refused');
    assert.equal(await loads(wide, `http://${there}/`), '<title>There</title>');
    const tab = await tool(narrow, 'tabs', { action: 'new', url: `http://${there}/` });
    assert.equal(tab.error.code, 'url_refused');
  });

  it('allows nothing but what its list names, if it has one', async () => {
    const app = unique('listed');
    await policy(app, { allow: [here] });
    const session = await start(app);
    assert.equal(await goes(session, `http://${here}/`), 'there');
    assert.equal(await goes(session, `http://${there}/`), 'url_refused');
    assert.equal(await goes(session, 'data:text/html,hi'), 'there');
  });

  it('has switches for schemes and kinds of addresses', async () => {
    const [files, closed, plain] = [unique('files'), unique('closed'), unique('plain')];
    const file = join(temporaryDirectory(), 'page.html');
    writeFileSync(file, '<title>File</title>');
    await policy(files, { schemes: ['file'] });
    await policy(closed, { allowLoopback: false });
    assert.notEqual(await goes(await start(files), `file://${file}`), 'url_refused');
    assert.equal(await goes(await start(plain), `file://${file}`), 'url_refused');
    assert.equal(await goes(await start(closed), `http://${here}/`), 'url_refused');
    assert.equal(await goes(await start(plain), 'http://169.254.169.254/'), 'url_refused');
    // Our own listener is refused whatever an app says.
    await policy(plain, { allow: [`${server.host}:${server.port}`] });
    assert.equal(await goes(await start(plain), `${server.url}/healthz`), 'url_refused');
  });

  it('holds for contexts opened from then on, survives a restart, and goes with its app', async () => {
    const app = unique('lasting');
    const session = await start(app);
    assert.equal(await goes(session, `http://${there}/`), 'there');
    await policy(app, { deny: [there] });
    await server.ok('DELETE', `/v1/sessions/${session.id}/browser`, undefined, {}, 204);
    assert.equal(await goes(session, `http://${there}/`), 'url_refused');
    await server.restart({ how: 'kill' });
    assert.deepEqual((await server.ok('GET', `/v1/apps/${app}/url-policy`)).deny, [there]);
    assert.equal(await goes(session, `http://${there}/`), 'url_refused');
    await server.ok('POST', `/v1/sessions/${session.id}/close`, {});
    await server.ok('DELETE', `/v1/apps/${app}`, undefined, {}, 204);
    assert.deepEqual((await server.ok('GET', `/v1/apps/${app}/url-policy`)).deny, []);
    await policy(app, { allowPrivate: false });
    await server.ok('DELETE', `/v1/apps/${app}/url-policy`, undefined, {}, 204);
    assert.equal((await server.ok('GET', `/v1/apps/${app}/url-policy`)).allowPrivate, true);
  });

  it('is refused where it is wrong, with its place', async () => {
    const put = async (body) => (await server.refused(422, 'invalid', 'PUT', '/v1/apps/a/url-policy', body)).errors[0].pointer;
    assert.equal(await put({ deny: ['http://'] }), '/deny');
    assert.equal(await put({ allow: 'everything' }), '/allow');
    assert.equal(await put({ schemes: ['File!'] }), '/schemes');
    assert.equal(await put({ allowLoopback: 1 }), '/allowLoopback');
    assert.equal(await put({ nonsense: true }), '/nonsense');
    await server.refused(422, 'invalid', 'PUT', '/v1/apps/a/url-policy', []);
  });

  it('is not for those who may only write', async () => {
    const file = join(temporaryDirectory(), 'tokens.json');
    const token = (name, scopes, apps) => ({ name, sha256: createHash('sha256').update(name).digest('hex'), scopes, apps });
    writeFileSync(file, JSON.stringify({ tokens: [token('writer', ['write'], ['*']), token('owner', ['admin'], ['mine'])] }));
    const guarded = await startServer({ args: ['--tokens-file', file] });
    const as = (name) => ({ Authorization: `Bearer ${name}` });
    await guarded.refused(403, 'forbidden', 'PUT', '/v1/apps/mine/url-policy', {}, as('writer'));
    await guarded.refused(403, 'forbidden', 'PUT', '/v1/apps/yours/url-policy', {}, as('owner'));
    await guarded.ok('PUT', '/v1/apps/mine/url-policy', {}, as('owner'), 200);
    await guarded.ok('GET', '/v1/apps/mine/url-policy', undefined, as('writer'), 200);
    await guarded.dispose();
  });
});
