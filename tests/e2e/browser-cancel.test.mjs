// A script that does not end is ended when whoever runs it gives up: the next command of the session runs at once.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, unique, within } from './harness.mjs';

const REVISION = '2025-11-25';
// Much less than the minute that a script may take, and more than a busy machine needs.
const soon = 20_000;

describe('a script that does not end', () => {
  let server;
  let site;
  let origin;
  before(async () => {
    site = http.createServer((request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end('<title>Script</title><p>still here</p>');
      if (request.url === '/began') site.emit('began');
    });
    await new Promise((ready) => site.listen(0, '127.0.0.1', ready));
    origin = `http://127.0.0.1:${site.address().port}`;
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
  });
  after(async () => {
    await server.dispose();
    site.closeAllConnections();
    site.close();
  });

  const began = `const asked = new XMLHttpRequest(); asked.open('GET', '/began', false); asked.send();`;
  const scripts = {
    'a loop': `() => { ${began} while (true); }`,
    'a promise': `() => { ${began} return new Promise(() => {}); }`,
    'a loop that catches': `() => { ${began} for (;;) { try { for (;;); } catch { } finally { } } }`,
  };
  const connect = async () => {
    const headers = { Accept: 'application/json, text/event-stream' };
    const post = (message) => server.call('POST', '/mcp', { jsonrpc: '2.0', ...message }, headers, { deadline: 60_000 });
    const answer = await post({ id: 1, method: 'initialize', params: { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'cancel', version: '1' } } });
    Object.assign(headers, { 'Mcp-Session-Id': answer.headers['mcp-session-id'], 'MCP-Protocol-Version': REVISION });
    return post;
  };
  const create = async () => {
    const session = await server.create({ app: unique('cancel'), status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { capture: 'none' }, {}, 201);
    const gone = await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_navigate`, { url: origin }, {}, 200);
    assert.ok(gone.ok, JSON.stringify(gone));
    return session;
  };
  const evaluate = (id, script) => ({ method: 'tools/call', params: { name: 'browser_evaluate', arguments: { session: id, function: script } } });

  for (const [kind, script] of Object.entries(scripts)) {
    it(`is ended when its client cancels it: ${kind}`, async () => {
      const session = await create();
      const post = await connect();
      const running = once(site, 'began');
      const call = post({ id: 7, ...evaluate(session.id, script) });
      await running;
      await post({ method: 'notifications/cancelled', params: { requestId: 7 } });
      await within(call, soon, 'the cancelled call');
      // Nothing of the page is lost, and none of its later scripts is ended for the one that was.
      const later = await within(server.ok('POST', `/v1/sessions/${session.id}/tools/browser_evaluate`,
        { function: `() => [1, 2].map((n) => n + document.querySelector('p').textContent.length)` }, {}, 200), soon, 'the next command');
      assert.deepEqual(later.result, [11, 12], JSON.stringify(later));
      const { commands } = await server.ok('GET', `/v1/sessions/${session.id}/commands?tool=browser_evaluate`);
      assert.deepEqual(commands.map(({ ok, error }) => [ok, error?.code]), [[false, 'cancelled'], [true, undefined]]);
    });

    it(`ends with its session: ${kind}`, async () => {
      const session = await create();
      const running = once(site, 'began');
      const call = server.call('POST', `/v1/sessions/${session.id}/tools/browser_evaluate`, { function: script }, {}, { deadline: 60_000 });
      await running;
      await server.ok('POST', `/v1/sessions/${session.id}/cancel`, {});
      const answer = await within(call, soon, 'the call');
      assert.notEqual(answer.body.ok, true);
    });
  }

  it('is ended when its client hangs up', async () => {
    const session = await create();
    const running = once(site, 'began');
    const message = { jsonrpc: '2.0', id: 1, ...evaluate(session.id, scripts['a loop']) };
    message.params._meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'leaver', version: '1' } };
    const leaving = http.request({ host: server.host, port: server.port, path: '/mcp', method: 'POST', agent: false, headers: {
      'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call', 'Mcp-Name': 'browser_evaluate' } });
    leaving.on('error', () => {});
    leaving.end(JSON.stringify(message));
    await running;
    leaving.destroy();
    const later = await within(server.ok('POST', `/v1/sessions/${session.id}/tools/browser_evaluate`, { function: '() => 40 + 2' }, {}, 200), soon, 'the next command');
    assert.equal(later.result, 42, JSON.stringify(later));
  });

  it('that has come to its end by itself costs the page nothing', async () => {
    const session = await create();
    const post = await connect();
    for (let i = 0; i < 5; i += 1) {
      const running = once(site, 'began');
      const call = post({ id: 10 + i, ...evaluate(session.id, `() => { ${began} return new Promise((done) => setTimeout(done, ${i})); }`) });
      await running;
      await post({ method: 'notifications/cancelled', params: { requestId: 10 + i } });
      await within(call, soon, 'the cancelled call');
      const later = await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_evaluate`, { function: '() => 40 + 2' }, {}, 200);
      assert.equal(later.result, 42, JSON.stringify(later));
    }
  });
});
