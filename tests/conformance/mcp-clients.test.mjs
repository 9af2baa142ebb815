// The public MCP clients (npm's @modelcontextprotocol/sdk for revisions with sessions, @modelcontextprotocol/client for
// those without) against /mcp: they connect, list, call, hear of progress, cancel and end, unmodified.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as modern from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { browserDirectory, startServer } from '../e2e/harness.mjs';

const errors = [];
let server;
let url;
before(async () => {
  server = await startServer({ args: ['--browser-dir', browserDirectory()] });
  url = new URL('/mcp', server.url);
});
after(() => server.dispose());

async function withSession(options = {}) {
  const transport = new StreamableHTTPClientTransport(url, options);
  const client = new Client({ name: 'older', version: '1' });
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  return { client, transport };
}

async function withoutSession(mode) {
  const client = new modern.Client({ name: 'newer', version: '2' }, { versionNegotiation: { mode } });
  client.onerror = (error) => errors.push(error);
  await client.connect(new modern.StreamableHTTPClientTransport(url));
  return client;
}

const wait = (time, session) => ({ name: 'browser_wait_for', arguments: { time, ...(session && { session }) } });

describe('a client with a session of the transport', () => {
  let client;
  let transport;
  before(async () => ({ client, transport } = await withSession()));
  after(() => client.close());

  it('is told who answers and agrees on a revision', async () => {
    assert.equal(client.getServerVersion().name, 'reprise');
    assert.equal(transport.protocolVersion, '2025-11-25');
    assert.match(transport.sessionId, /^[\w-]{43}$/);
    assert.ok(client.getInstructions().includes('session'));
    await client.ping();
  });

  it('lists tools that its own schema accepts', async () => {
    const { tools } = await client.listTools();
    assert.ok(tools.length >= 38);
    const click = tools.find((tool) => tool.name === 'browser_click');
    assert.deepEqual(click.inputSchema.required, ['target']);
    assert.equal(click.annotations.openWorldHint, true);
  });

  it('calls a tool in the session that belongs to its transport, or in one that it names', async () => {
    const own = await client.callTool({ name: 'playwright_session_tabs', arguments: {} });
    assert.ok(!own.isError, JSON.stringify(own));
    const named = await client.callTool({ name: 'playwright_session_tabs', arguments: { session: 'mcp:named' } });
    assert.ok(!named.isError, JSON.stringify(named));
  });

  it('sees a page as text and as a picture', async () => {
    const page = 'data:text/html,<title>Hi</title><button>Press</button>';
    const went = await client.callTool({ name: 'browser_navigate', arguments: { url: page } });
    assert.match(went.content[0].text, /- Page Title: Hi/);
    const seen = await client.callTool({ name: 'browser_snapshot', arguments: {} });
    assert.match(seen.content[0].text, /- button "Press" \[ref=\w+\]/);
    const shot = await client.callTool({ name: 'browser_take_screenshot', arguments: {} });
    const image = shot.content.find(({ type }) => type === 'image');
    assert.equal(Buffer.from(image.data, 'base64').subarray(1, 4).toString(), 'PNG');
  });

  it('hears of progress while a call takes its time', async () => {
    const heard = [];
    const outcome = await client.callTool(wait(2.5), undefined, { onprogress: (progress) => heard.push(progress.progress) });
    assert.ok(!outcome.isError);
    assert.ok(heard.length >= 1 && heard.every((value, index) => value === index + 1), heard.join());
  });

  it('cancels a call, soon or late, and goes on', async () => {
    for (const ms of [10, 1300]) {
      const controller = new AbortController();
      setTimeout(() => controller.abort('enough'), ms);
      await assert.rejects(client.callTool(wait(60), undefined, { signal: controller.signal }));
      const next = await client.callTool({ name: 'playwright_session_tabs', arguments: {} });
      assert.ok(!next.isError, JSON.stringify(next));
    }
  });

  it('has several calls under way at once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => client.callTool(wait(0.1, `mcp:s${index}`))));
    assert.ok(outcomes.every((outcome) => !outcome.isError));
  });

  it('is told what it did wrong', async () => {
    await assert.rejects(client.callTool({ name: 'browser_fly', arguments: {} }), /no tool/);
    const wrong = await client.callTool({ name: 'browser_click', arguments: { element: 'a button' } });
    assert.equal(wrong.isError, true);
    assert.match(wrong.content[0].text, /\/target: is needed/);
  });

  it('ends its session, and a session that has ended is 404', async () => {
    const { client: second, transport: ending } = await withSession();
    const { sessionId } = ending;
    await ending.terminateSession();
    await second.close();
    const again = new StreamableHTTPClientTransport(url, { sessionId });
    const late = new Client({ name: 'older', version: '1' });
    await late.connect(again);
    await assert.rejects(late.ping(), (error) => error.code === 404 && /was ended/.test(error.message));
    await late.close();
  });

  it('met no error that nobody asked for', () => assert.deepEqual(errors, []));
});

for (const mode of [{ pin: '2026-07-28' }, 'auto']) {
  describe(`a client without sessions (${JSON.stringify(mode)})`, () => {
    let client;
    before(async () => { client = await withoutSession(mode); });
    after(() => client.close());

    it('lists and calls', async () => {
      assert.equal(client.getServerVersion()?.name, 'reprise');
      const { tools } = await client.listTools();
      assert.ok(tools.length >= 38);
      const outcome = await client.callTool({ name: 'playwright_session_tabs', arguments: { session: 'mcp:stateless' } });
      assert.ok(!outcome.isError, JSON.stringify(outcome));
    });

    it('names its session in every call, or is told to', async () => {
      const outcome = await client.callTool({ name: 'playwright_session_tabs', arguments: {} });
      assert.equal(outcome.isError, true);
      assert.match(outcome.content[0].text, /\/session: is needed/);
    });

    it('hears of progress, and cancels by hanging up', async () => {
      const heard = [];
      await client.callTool(wait(2.5, 'mcp:stateless'), { onprogress: (progress) => heard.push(progress.progress) });
      assert.ok(heard.length >= 1, heard.join());
      const controller = new AbortController();
      setTimeout(() => controller.abort('enough'), 50);
      await assert.rejects(client.callTool(wait(60, 'mcp:stateless'), { signal: controller.signal }));
      const next = await client.callTool({ name: 'playwright_session_tabs', arguments: { session: 'mcp:stateless' } });
      assert.ok(!next.isError);
    });
  });
}
