// The MCP endpoint through the binary and real Chromium, message by message: both kinds of revisions, sessions by handle
// and by transport, what a model reads, what is recorded, who may do what.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { UUID_V7, browserDirectory, startServer, temporaryDirectory, unique, until } from './harness.mjs';

const page = `<title>Shop</title><button onclick="document.querySelector('output').textContent = 'bought'">Buy</button><output></output>
  <button onclick="confirm('Sure?')">Ask</button>`;
const startSite = () => new Promise((ready) => {
  const site = http.createServer((request, response) => {
    if (request.url === '/hang') return site.emit('hang');
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(page);
  });
  site.listen(0, '127.0.0.1', () => ready(site));
});

const OLDER = '2025-11-25';
const NEWER = '2026-07-28';
const json = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

// A client of one message at a time, as both kinds of revisions have it.
class McpClient {
  constructor(server, headers = {}, path = '/mcp') {
    Object.assign(this, { server, headers, path, next: 0 });
  }

  async post(message, headers = {}) {
    const answer = await this.server.call('POST', this.path, message, { ...json, ...this.headers, ...headers }, { deadline: 60_000 });
    if (!answer.headers['content-type']?.startsWith('text/event-stream')) return answer;
    const frames = answer.text.split('\n\n').filter((frame) => frame.includes('data:'));
    if (frames.length === 0) return answer;
    return { ...answer, frames, body: JSON.parse(frames.at(-1).split('\n').find((line) => line.startsWith('data:')).slice(5)) };
  }

  request(method, params = {}, headers = {}) {
    this.next += 1;
    return this.post({ jsonrpc: '2.0', id: this.next, method, params }, headers);
  }

  async initialize(name = 'tester') {
    const answer = await this.request('initialize', { protocolVersion: OLDER, capabilities: {}, clientInfo: { name, version: '3' } });
    assert.equal(answer.status, 200, answer.text);
    this.headers = { ...this.headers, 'Mcp-Session-Id': answer.headers['mcp-session-id'], 'MCP-Protocol-Version': OLDER };
    return answer.body.result;
  }

  // The result of a tool call; of a client without a session it carries all that the newer revision wants.
  async tool(name, args = {}) {
    const isStateless = !this.headers['Mcp-Session-Id'];
    const params = { name, arguments: args };
    if (isStateless) {
      params._meta = { 'io.modelcontextprotocol/protocolVersion': NEWER, 'io.modelcontextprotocol/clientCapabilities': {},
                       'io.modelcontextprotocol/clientInfo': { name: 'stateless', version: '4' } };
    }
    const headers = isStateless ? { 'MCP-Protocol-Version': NEWER, 'Mcp-Method': 'tools/call', 'Mcp-Name': name } : {};
    const answer = await this.request('tools/call', params, headers);
    assert.ok(answer.body?.result, `${name}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return answer.body.result;
  }

  async text(name, args) {
    const result = await this.tool(name, args);
    assert.equal(result.isError, false, JSON.stringify(result));
    return result.content[0].text;
  }
}

describe('the MCP endpoint', () => {
  let server;
  let site;
  let url;
  before(async () => {
    site = await startSite();
    url = `http://127.0.0.1:${site.address().port}/`;
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
  });
  after(async () => {
    await server.dispose();
    site.closeAllConnections();
    site.close();
  });
  const commandsOf = async (session) => (await server.ok('GET', `/v1/sessions/${session}/commands`)).commands;

  it('agrees on a revision and lists the tools that can run, and no others', async () => {
    const client = new McpClient(server);
    const told = await client.initialize();
    assert.equal(told.protocolVersion, OLDER);
    assert.equal(told.serverInfo.name, 'reprise');
    const { tools } = (await client.request('tools/list')).body.result;
    const names = tools.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const name of ['start', 'call', 'end', 'list', 'tabs', 'inspect', 'new_tab', 'close_tab', 'set_active_page']) {
      assert.ok(names.includes(`playwright_session_${name}`), name);
    }
    const key = unique('mcp-all');
    // Whatever is listed is a tool of REST too, and the other way round: what it is not is 404 there.
    for (const name of names.filter((one) => one.startsWith('browser_'))) {
      const answer = await server.call('POST', `/v1/sessions/${key}/tools/${name}`, { nonsense: true });
      assert.ok([404, 422].includes(answer.status) && answer.body.code !== 'tool_not_found', `${name}: ${answer.text}`);
    }
    const unknown = await client.request('tools/call', { name: 'browser_run_code_unsafe', arguments: {} });
    assert.equal(unknown.body.error.code, -32602);
  });

  it('works in the session that belongs to the transport, and records who did it', async () => {
    const client = new McpClient(server);
    await client.initialize('painter');
    assert.match(await client.text('browser_navigate', { url }), /### Page\n- Page URL: http.*\n- Page Title: Shop/);
    const seen = await client.text('browser_snapshot');
    assert.match(seen, /### Snapshot\n```yaml\n[^]*- button "Buy" \[ref=(\w+)\][^]*```/);
    const [, ref] = /button "Buy" \[ref=(\w+)\]/.exec(seen);
    await client.text('browser_click', { element: 'buy', target: ref });
    assert.match(await client.text('browser_snapshot'), /bought/);
    const shot = await client.tool('browser_take_screenshot', { type: 'jpeg' });
    const image = shot.content.find(({ type }) => type === 'image');
    assert.equal(image.mimeType, 'image/jpeg');
    assert.equal(Buffer.from(image.data, 'base64').subarray(0, 2).toString('hex'), 'ffd8');

    const found = await client.tool('playwright_session_inspect', { commands: 3 });
    const { session, commands, browser } = found.structuredContent;
    assert.match(session.key, /^default:mcp-[0-9a-f-]{36}$/);
    assert.equal(browser.status, 'open');
    assert.deepEqual(commands.map(({ tool }) => tool), ['browser_take_screenshot', 'browser_snapshot', 'browser_click']);
    for (const command of await commandsOf(session.id)) {
      assert.equal(command.source, 'mcp');
      assert.equal(command.client, 'painter 3');
    }
  });

  it('makes a session by its key on first use, for whoever names it, and a new one once that has ended', async () => {
    const key = `${unique('mcp')}:one`;
    const stateless = new McpClient(server);
    await stateless.text('browser_navigate', { session: key, url });
    const record = await server.get(key);
    assert.equal(record.status, 'ACTIVE');
    const older = new McpClient(server);
    await older.initialize();
    assert.match(await older.text('browser_snapshot', { session: key }), /button "Buy"/);
    assert.match(await older.text('browser_snapshot', { session: record.id }), /button "Buy"/);
    assert.deepEqual((await commandsOf(record.id)).map(({ client }) => client), ['stateless 4', 'tester 3', 'tester 3']);
    // The address of the endpoint may name it too.
    const addressed = new McpClient(server, {}, `/mcp?session=${encodeURIComponent(key)}`);
    assert.match(await addressed.text('browser_snapshot'), /button "Buy"/);

    assert.match(await stateless.text('playwright_session_end', { session: key }), /Status: COMPLETED/);
    assert.equal((await server.get(record.id)).status, 'COMPLETED');
    const gone = await stateless.tool('browser_snapshot', { session: record.id });
    assert.equal(gone.isError, true);
    assert.equal(gone._meta['reprise/error'].code, 'session_ended');
    await stateless.text('browser_snapshot', { session: key });
    assert.notEqual((await server.get(key)).id, record.id);
    const unknown = await stateless.tool('playwright_session_inspect', { session: `${key}-never` });
    assert.equal(unknown._meta['reprise/error'].code, 'session_not_found');
  });

  it('starts sessions with options, and looks after their tabs by id and by index', async () => {
    const client = new McpClient(server);
    const key = `${unique('mcp')}:tabs`;
    const started = await client.tool('playwright_session_start', { session: key, url, ttlSeconds: 900, viewport: { width: 640, height: 480 } });
    assert.equal(started.isError, false, JSON.stringify(started));
    const { session, tabs: [first] } = started.structuredContent;
    assert.equal(session.ttlSeconds, 900);
    assert.equal(first.url, url);
    assert.match(await client.text('browser_evaluate', { session: key, function: '() => [innerWidth, innerHeight]' }), /\[640,480\]/);
    // As it is, for who asks for nothing else; other options do not fit.
    assert.equal((await client.tool('playwright_session_start', { session: key })).structuredContent.session.id, session.id);
    const other = await client.tool('playwright_session_start', { session: key, locale: 'de-CH' });
    assert.equal(other._meta['reprise/error'].code, 'conflict');

    const opened = await client.tool('playwright_session_new_tab', { session: key, url: `${url}second` });
    assert.match(opened.content[0].text, /- 1: \(current\) \[Shop\]\(.*second\)/);
    const [, second] = opened.structuredContent.tabs;
    assert.ok(second.isActive);
    const chosen = await client.tool('playwright_session_set_active_page', { session: key, tab: first.id });
    assert.ok(chosen.structuredContent.tabs.find(({ id }) => id === first.id).isActive);
    await client.text('playwright_session_set_active_page', { session: key, index: 1 });
    assert.equal((await server.get(key)).activeTabId, second.id);
    await client.text('playwright_session_close_tab', { session: key, tab: second.id });
    assert.deepEqual((await client.tool('playwright_session_tabs', { session: key })).structuredContent.tabs.map(({ id }) => id), [first.id]);
    const gone = await client.tool('playwright_session_close_tab', { session: key, tab: second.id });
    assert.equal(gone.isError, true);
    assert.match(gone.content[0].text, /### Error\n.*no open tab/);
    assert.ok((await commandsOf(key)).every(({ source }) => source === 'mcp'));

    const listed = await client.tool('playwright_session_list', { app: session.app, status: 'active' });
    assert.deepEqual(listed.structuredContent.sessions.map(({ id }) => id), [session.id]);
    // Without any handle there is a new one, which its id names from then on.
    const nameless = await client.tool('playwright_session_start', {});
    assert.match(nameless.structuredContent.session.id, UUID_V7);
    assert.equal(nameless.structuredContent.session.key, null);
    await client.text('playwright_session_end', { session: nameless.structuredContent.session.id });
  });

  it('calls by name what a model is not shown, and tells what is wrong in words', async () => {
    const client = new McpClient(server);
    const session = `${unique('mcp')}:call`;
    assert.match(await client.text('playwright_session_call', { session, tool: 'browser_navigate', arguments: { url } }), /Page Title: Shop/);
    const wrong = await client.tool('browser_click', { session, element: 'buy' });
    assert.equal(wrong.isError, true);
    assert.match(wrong.content[0].text, /\/target: is needed/);
    const missing = await client.tool('browser_click', { session, target: '#nowhere' });
    assert.match(missing.content[0].text, /### Error\nnot_found: /);
    await client.text('browser_click', { session, target: 'text=Ask' });
    const blocked = await client.tool('browser_click', { session, target: 'text=Buy' });
    assert.match(blocked.content[0].text, /### Modal state\n- \["confirm" dialog with message "Sure\?"\]/);
    await client.text('browser_handle_dialog', { session, accept: true });
    const refused = await client.tool('browser_navigate', { session, url: 'file:///etc/passwd' });
    assert.match(refused.content[0].text, /### Error\nurl_refused: /);
    const noSession = await client.tool('browser_snapshot');
    assert.match(noSession.content[0].text, /\/session: is needed/);
  });

  it('gives up what its client cancels', async () => {
    const client = new McpClient(server);
    await client.initialize();
    const hanging = once(site, 'hang');
    const long = client.request('tools/call', { name: 'browser_navigate', arguments: { url: `${url}hang` } });
    const waiting = client.next;
    await hanging;
    const cancelled = await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: waiting } });
    assert.equal(cancelled.status, 202);
    const answer = await long;
    assert.ok(!answer.body?.result, JSON.stringify(answer.body));
    // What was given up is over: the session goes on, and it is on record.
    await client.text('browser_navigate', { url });
    const { session } = (await client.tool('playwright_session_inspect')).structuredContent;
    const [first] = await commandsOf(session.id);
    assert.equal(first.ok, false);
    assert.equal(first.error.code, 'cancelled');
    const metrics = (await server.call('GET', '/metrics')).text;
    assert.match(metrics, /^reprise_mcp_cancelled_total [1-9]/m);
    assert.match(metrics, /^reprise_mcp_sessions [1-9]/m);
  });

  it('forgets a transport session that was ended and keeps the browser session', async () => {
    const client = new McpClient(server);
    await client.initialize();
    await client.text('browser_navigate', { url });
    const { session } = (await client.tool('playwright_session_inspect')).structuredContent;
    const ended = await server.call('DELETE', '/mcp', undefined, client.headers);
    assert.equal(ended.status, 204);
    const late = await client.request('tools/list');
    assert.equal(late.status, 404);
    assert.equal(late.body.error.data.reason, 'ended');
    assert.equal((await server.get(session.id)).status, 'ACTIVE');
    assert.match(await new McpClient(server).text('browser_snapshot', { session: session.id }), /button "Buy"/);
  });

  it('takes no call from a page of another origin, and streams nothing unasked', async () => {
    const client = new McpClient(server, { Origin: 'https://evil.example' });
    assert.equal((await client.request('tools/list')).status, 403);
    const get = await server.call('GET', '/mcp', undefined, { Accept: 'text/event-stream' });
    assert.equal(get.status, 405);
  });

  it('ends calls that run when the server stops', async () => {
    const own = await startServer({ args: ['--browser-dir', browserDirectory(), '--drain-timeout-ms', '500'] });
    const client = new McpClient(own);
    const waiting = client.tool('browser_wait_for', { session: 'stop:one', time: 60 }).catch((error) => error);
    await until(async () => (await own.call('GET', '/metrics')).text.match(/^reprise_mcp_running (\d+)$/m)[1] === '1', 'the call runs');
    await own.dispose();
    await waiting;
  });
});

describe('the MCP endpoint with tokens', () => {
  let server;
  before(async () => {
    const file = join(temporaryDirectory(), 'tokens.json');
    const token = (name, scopes, apps) => ({ name, sha256: createHash('sha256').update(name).digest('hex'), scopes, apps });
    writeFileSync(file, JSON.stringify({ tokens: [token('all', ['admin'], ['*']), token('shop', ['write'], ['shop']), token('reader', ['read'], ['*'])] }));
    server = await startServer({ args: ['--tokens-file', file, '--browser-dir', browserDirectory()], headers: { Authorization: 'Bearer all' } });
  });
  after(() => server.dispose());
  const as = (name) => new McpClient(server, name ? { Authorization: `Bearer ${name}` } : { Authorization: 'nothing' });

  it('is for those who may write, and for the apps they may use', async () => {
    assert.equal((await as(null).request('tools/list')).status, 401);
    assert.equal((await as('reader').request('tools/list')).status, 403);
    const other = await server.create({ app: 'bank', name: 'vault', status: 'ACTIVE' });
    const shop = as('shop');
    for (const session of ['bank:vault', 'bank:new']) {
      const refused = await shop.tool('browser_snapshot', { session });
      assert.equal(refused._meta['reprise/error'].code, 'forbidden');
    }
    const hidden = await shop.tool('playwright_session_inspect', { session: other.id });
    assert.equal(hidden._meta['reprise/error'].code, 'session_not_found');
    await shop.text('playwright_session_tabs', { session: 'shop:mine' });
    const listed = (await shop.tool('playwright_session_list')).structuredContent.sessions;
    assert.deepEqual(listed.map(({ key }) => key), ['shop:mine']);
    // Its transport session stands for one in an app that it may use.
    await shop.initialize();
    await shop.text('browser_tabs', { action: 'list' });
    const { session } = (await shop.tool('playwright_session_inspect')).structuredContent;
    assert.equal(session.app, 'shop');
    assert.equal((await server.ok('GET', `/v1/sessions/${session.id}/commands`)).commands[0].by, 'shop');
    // What one token was given is of no use to another.
    const thief = new McpClient(server, { ...shop.headers, Authorization: 'Bearer all' });
    assert.equal((await thief.request('tools/list')).status, 404);
  });
});
