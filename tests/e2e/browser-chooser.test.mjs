// A file chooser that a page has opened is a state of its own: tools say so until it is answered, and nobody else is kept from
// anything.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, unique, until } from './harness.mjs';
import { LiveClient } from './live-client.mjs';

const page = `<title>Chooser</title><input type=file id=files onchange="document.title = 'got ' + [...this.files].map((file) => file.name)">
  <button onclick="document.title = 'pressed'">Press</button>`;

describe('an open file chooser', () => {
  let server;
  let site;
  let origin;
  before(async () => {
    site = http.createServer((request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end(page);
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

  const tool = (session, name, args = {}) =>
    server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
  const done = async (session, name, args) => {
    const answer = await tool(session, name, args);
    assert.ok(answer.ok, `${name}: ${JSON.stringify(answer.error)}`);
    return answer;
  };
  const start = async () => {
    const session = await server.create({ app: unique('chooser'), status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { capture: 'none' }, {}, 201);
    await done(session, 'navigate', { url: origin });
    return session;
  };
  const choosing = async () => {
    const session = await start();
    await done(session, 'click', { target: '#files' });
    return session;
  };

  it('is told by other tools until it is answered', async () => {
    const session = await choosing();
    for (const [name, args] of [['snapshot'], ['click', { target: 'text=Press' }], ['type', { target: '#files', text: 'x' }],
      ['evaluate', { function: '() => 1' }], ['take_screenshot'], ['press_key', { key: 'a' }], ['navigate_back']]) {
      const answer = await tool(session, name, args);
      assert.equal(answer.error?.code, 'file_chooser', name);
      assert.match(answer.error.message, /browser_file_upload/);
    }
    const { commands } = await server.ok('GET', `/v1/sessions/${session.id}/commands?ok=false`);
    assert.ok(commands.every(({ error }) => error.code === 'file_chooser'));
    await server.ok('PUT', `/v1/sessions/${session.id}/artifacts/a.txt`, 'hello', { 'Content-Type': 'text/plain' }, 201);
    await done(session, 'file_upload', { paths: ['a.txt'] });
    await until(async () => (await done(session, 'evaluate', { function: '() => document.title' })).result === 'got a.txt');
  });

  it('is cancelled by an upload without paths, and then nothing is chosen', async () => {
    const session = await choosing();
    await done(session, 'file_upload');
    await done(session, 'click', { target: 'text=Press' });
    assert.equal((await done(session, 'evaluate', { function: `() => document.getElementById('files').files.length` })).result, 0);
    assert.equal((await tool(session, 'file_upload')).error.code, 'no_file_chooser');
  });

  it('does not keep a session from tabs, from waiting and from going elsewhere, and goes with its document', async () => {
    const session = await choosing();
    await done(session, 'wait_for', { text: 'Press' });
    await done(session, 'tabs', { action: 'list' });
    await done(session, 'navigate', { url: `${origin}/next` });
    await done(session, 'snapshot');
    assert.equal((await tool(session, 'file_upload')).error.code, 'no_file_chooser');
    // Nor is one tab's chooser another's.
    await done(session, 'click', { target: '#files' });
    await done(session, 'tabs', { action: 'new', url: origin });
    await done(session, 'click', { target: 'text=Press' });
    await done(session, 'tabs', { action: 'select', index: 0 });
    assert.equal((await tool(session, 'snapshot')).error.code, 'file_chooser');
  });

  it('is in what a model reads', async () => {
    const session = await start();
    const headers = { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'browser_click' };
    const params = { name: 'browser_click', arguments: { session: session.id, target: '#files' },
      _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'chooser', version: '1' } } };
    const answer = await server.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers);
    assert.match(answer.text, /### Modal state\\n- \[File chooser\]: can be handled by browser_file_upload/);
  });

  it('is the business of a person who has taken over, and of a program that is attached', async () => {
    const attached = await start();
    const program = await LiveClient.open(server, attached.id, { path: `/v1/sessions/${attached.id}/cdp` });
    await done(attached, 'click', { target: '#files' });
    await done(attached, 'snapshot');
    await program.close();
    await until(async () => (await tool(attached, 'snapshot')).error?.code === 'file_chooser');
    await done(attached, 'file_upload');

    const taken = await start();
    await done(taken, 'navigate', { url: `${origin}/next` });
    await done(taken, 'click', { target: '#files' });
    const viewer = await LiveClient.open(server, taken.id);
    const { leaseId } = await server.ok('POST', `/v1/sessions/${taken.id}/browser/takeover`, undefined, {}, 201);
    assert.deepEqual(await viewer.ask({ type: 'claim', leaseId }), { ok: true });
    assert.ok((await viewer.state((state) => state.fileChooser)).fileChooser);
    assert.deepEqual(await viewer.ask({ type: 'back' }), { ok: true });
    await viewer.state((state) => state.fileChooser === null);
    await server.ok('DELETE', `/v1/sessions/${taken.id}/browser/takeover`, undefined, {}, 204);
    await done(taken, 'snapshot');
    await viewer.close();
  });
});
