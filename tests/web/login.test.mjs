// The page where tokens are on: a token for a cookie, and back.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertProblem, browserDirectory, removeDirectory, startServer, temporaryDirectory, until } from '../e2e/harness.mjs';
import { LiveClient } from '../e2e/live-client.mjs';
import { Sample } from './sample.mjs';
import { openBrowser, visit } from './visitor.mjs';

describe('the login', () => {
  const tokens = { admin: 'admin-token-91c2', reader: 'reader-token-44d0' };
  let directory;
  let server;
  let browser;
  let sample;
  before(async () => {
    directory = temporaryDirectory();
    const file = join(directory, 'tokens.json');
    const entry = (name, scopes) => ({
      name, scopes, apps: ['*'], sha256: createHash('sha256').update(tokens[name]).digest('hex'),
    });
    writeFileSync(file, JSON.stringify({ tokens: [entry('admin', ['admin']), entry('reader', ['read'])] }));
    server = await startServer({ args: ['--tokens-file', file, '--browser-dir', browserDirectory()] });
    sample = new Sample(server.url, { Authorization: `Bearer ${tokens.admin}` });
    await sample.put('shop:one');
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await server?.dispose();
    removeDirectory(directory);
  });

  const logIn = async (page, token) => {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  const cookieOf = async (visitor) => (await visitor.context.cookies()).find(({ name }) => name === 'reprise_login');

  it('shows nothing before it, refuses a wrong token, and shows everything after', async () => {
    const visitor = await visit(browser, server, { path: '#/sessions?app=shop' });
    const { page } = visitor;
    visitor.allow(/status of 401/);
    await page.getByLabel('Token').waitFor();
    assert.ok(!(await page.content()).includes('shop:one'));
    for (const theme of ['light', 'dark']) {
      await visitor.setTheme(theme);
      await logIn(page, 'wrong');
      await page.getByText('This token is not known here.').waitFor();
      await visitor.assertAccessible();
    }
    await logIn(page, tokens.admin);
    await page.getByRole('link', { name: 'shop:one' }).waitFor();
    await page.getByText('Connected').waitFor({ state: 'attached' });
    const cookie = await cookieOf(visitor);
    assert.equal(cookie.httpOnly, true);
    assert.equal(cookie.sameSite, 'Strict');
    assert.ok(!cookie.value.includes(tokens.admin));
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
    assert.ok(!kept.includes(tokens.admin) && !kept.includes(cookie.value));
    await visitor.leave();
  });

  it('lets a logged-in page write, and a reader only read', async () => {
    const writer = await visit(browser, server);
    writer.allow(/status of 401/);
    await logIn(writer.page, tokens.admin);
    await writer.page.getByRole('button', { name: 'New session' }).click();
    await writer.page.getByRole('dialog').getByLabel('App', { exact: true }).fill('written');
    await writer.page.getByRole('button', { name: 'Create session' }).click();
    await writer.page.waitForURL(/#\/session\//);
    await writer.leave();
    const reader = await visit(browser, server);
    reader.allow(/status of 401/);
    await logIn(reader.page, tokens.reader);
    await reader.page.getByRole('link', { name: 'shop:one' }).waitFor();
    assert.equal(await reader.page.getByRole('button', { name: 'New session' }).count(), 0);
    assert.equal(await reader.page.getByRole('button', { name: /Delete/ }).count(), 0);
    await reader.leave();
  });

  it('is all that a live view needs: pictures and the mouse of whoever may write, pictures alone for a reader', async () => {
    const { id } = await sample.put('shop:watched');
    const html = '<!doctype html><title>Watched</title><body onclick="document.title=\'Clicked\'" style="margin:0;height:100vh;background:teal">';
    await sample.tool(id, 'browser_navigate', { url: `data:text/html,${encodeURIComponent(html)}` });
    const open = async (token) => {
      const visitor = await visit(browser, server, { path: `#/session/${id}/browser` });
      visitor.allow(/status of 401/);
      const sockets = [];
      visitor.page.on('websocket', (socket) => sockets.push(socket.url()));
      await logIn(visitor.page, token);
      await visitor.page.waitForFunction(() => document.querySelector('canvas.screen-picture')?.width > 300);
      assert.deepEqual(sockets, [`${server.url.replace('http', 'ws')}/v1/sessions/${id}/live`], 'no token is in the address');
      return visitor;
    };
    const reader = await open(tokens.reader);
    assert.equal(await reader.page.getByRole('button', { name: 'Take over' }).count(), 0);
    await reader.leave();
    const writer = await open(tokens.admin);
    await writer.page.getByRole('button', { name: 'Take over' }).click();
    await writer.page.getByRole('button', { name: 'Hand back' }).waitFor();
    await writer.page.locator('canvas.screen-picture').click();
    const title = async () => (await sample.call('GET', `/v1/sessions/${id}/tabs`)).tabs[0].title;
    await until(async () => await title() === 'Clicked', 10_000, 'the click');
    await writer.page.getByRole('button', { name: 'Hand back' }).click();
    await writer.page.getByRole('button', { name: 'Take over' }).waitFor();
    const { commands } = await sample.call('GET', `/v1/sessions/${id}/commands`);
    assert.deepEqual(commands.filter(({ source }) => source === 'operator').map(({ by }) => by), ['admin']);
    // Without the cookie there is no socket, and with it only for the server's own page.
    const { value } = await cookieOf(writer);
    const refused = (headers) => assert.rejects(LiveClient.open(server, id, { headers }), ({ status }) => status === 401 || status === 403);
    await refused({});
    await refused({ Cookie: `reprise_login=${value}` });
    await refused({ Cookie: `reprise_login=${value}`, Origin: 'http://127.0.0.1:1' });
    const own = await LiveClient.open(server, id, { headers: { Cookie: `reprise_login=${value}`, Origin: server.url } });
    own.socket.destroy();
    await writer.leave();
  });

  it('outlives a reload and a restart of the server, and ends when it is asked to', async () => {
    const visitor = await visit(browser, server);
    const { page } = visitor;
    visitor.allow(/status of 401|ERR_|Failed to load resource/);
    await logIn(page, tokens.admin);
    await page.getByRole('link', { name: 'shop:one' }).waitFor();
    await server.restart({ samePort: true });
    await page.reload();
    await page.getByRole('link', { name: 'shop:one' }).waitFor();
    const { value } = await cookieOf(visitor);
    await page.getByRole('button', { name: 'Log out admin' }).click();
    await page.getByLabel('Token').waitFor();
    assert.equal(await cookieOf(visitor), undefined);
    assertProblem(await server.call('GET', '/v1/sessions', undefined, { Cookie: `reprise_login=${value}` }), 401);
    await visitor.leave();
  });

  it('is of no use to other pages', async () => {
    const visitor = await visit(browser, server);
    visitor.allow(/status of 401/);
    await logIn(visitor.page, tokens.admin);
    const { value } = await until(() => cookieOf(visitor), 10_000, 'the cookie');
    const Cookie = `reprise_login=${value}`;
    const Origin = server.url;
    await server.ok('POST', '/v1/sessions', {}, { Cookie, Origin }, 201);
    await server.ok('GET', '/v1/sessions', undefined, { Cookie }, 200);
    await server.refused(403, 'origin_refused', 'POST', '/v1/sessions', {}, { Cookie });
    await server.refused(403, 'origin_refused', 'DELETE', '/v1/sessions/shop:one', undefined, { Cookie });
    await server.refused(403, 'origin_refused', 'POST', '/v1/sessions', {}, { Cookie, Origin: 'http://127.0.0.1:1' });
    await server.refused(403, 'origin_refused', 'GET', '/v1/sessions', undefined, { Cookie, 'Sec-Fetch-Site': 'same-site' });
    await visitor.leave();
  });

  it('leaves the page itself open, and nothing else', async () => {
    const page = await server.call('GET', '/');
    assert.equal(page.status, 200);
    const script = /src="(\/assets\/[^"]+)"/.exec(page.text)[1];
    assert.equal((await server.call('GET', script)).status, 200);
    assertProblem(await server.call('GET', '/v1/login'), 401);
    assertProblem(await server.call('GET', '/metrics'), 401);
    for (const token of Object.values(tokens)) assert.ok(!server.stderr.includes(token));
  });
});
