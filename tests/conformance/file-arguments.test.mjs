// Whatever a caller calls a file, through tools, MCP and the DevTools protocol: it is an artifact of the session, or it is
// refused; no file of the machine arrives in a page or in an artifact, and nothing is written where a caller says.
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, randomFrom, seedFor, startServer, temporaryDirectory, unique, until } from '../e2e/harness.mjs';
import { RawClient, socketUrl } from './cdp-site.mjs';

const NEWER = '2026-07-28';
const page = `<title>Files</title><style>* { margin: 0 }</style><div id=drop style="width:200px;height:100px;background:#ccc">drop here</div>
  <input type=file id=one multiple><a id=get href="/file">get</a><script>
  var got = [];
  const read = (files) => { for (const file of files) file.text().then((text) => got.push(text), (error) => got.push(String(error))) };
  one.onchange = () => read(one.files);
  drop.ondragenter = drop.ondragover = (event) => event.preventDefault();
  drop.ondrop = (event) => { event.preventDefault(); read(event.dataTransfer.files) };
  </script>`;

describe('file arguments', () => {
  let server;
  let site;
  let origin;
  // A directory that anybody can read, with a file whose content must never be seen, and a link to it.
  const outside = temporaryDirectory('reprise-outside-');
  const marker = `never-${Math.random().toString(36).slice(2)}`;
  before(async () => {
    chmodSync(outside, 0o777);
    writeFileSync(join(outside, 'secret.txt'), marker, { mode: 0o644 });
    symlinkSync(join(outside, 'secret.txt'), join(outside, 'link.txt'));
    site = http.createServer((request, response) => {
      response.writeHead(200, request.url === '/file' ? { 'Content-Type': 'application/octet-stream', 'Content-Disposition': 'attachment; filename="got.txt"' }
        : { 'Content-Type': 'text/html' });
      response.end(request.url === '/file' ? 'downloaded' : page);
    });
    await new Promise((ready) => { site.listen(0, '127.0.0.1', ready); });
    origin = `http://127.0.0.1:${site.address().port}`;
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
  });
  after(async () => {
    await server.dispose();
    site.closeAllConnections();
    site.close();
  });

  // Names that lead to a file that is there, in the ways that names do.
  const hostile = ({ below }) => {
    const real = [join(outside, 'secret.txt'), join(outside, 'link.txt'), '/etc/passwd'][below(3)];
    const ups = '../'.repeat(1 + below(12));
    return [real, ups + real.slice(1), `mine.txt/${ups}${real.slice(1)}`, `workspace/${ups}${real.slice(1)}`, `file://${real}`, `//${real}`,
      `./${real}`, `/proc/self/root${real}`, encodeURIComponent(real), real.replaceAll('/', '%2f'), real.replaceAll('/', '\\'), `mine.txt\0${real}`,
      `${real}\0.txt`, real.replaceAll('/', '\uff0f').replaceAll('.', '\uff0e') + '/', `${'a/'.repeat(400)}${ups.repeat(40)}${real.slice(1)}`, `~${real}`,
      ` ${real}`, `mine.txt/../${'x'.repeat(300)}`, '/dev/fd/0', '..', '.', ''][below(22)];
  };
  const tool = (session, name, args) => server.call('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args);
  const mcp = (session, name, args) => server.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: `browser_${name}`,
    arguments: { session: session.id, ...args }, _meta: { 'io.modelcontextprotocol/protocolVersion': NEWER,
      'io.modelcontextprotocol/clientCapabilities': {}, 'io.modelcontextprotocol/clientInfo': { name: 'hostile', version: '1' } } } },
  { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': NEWER, 'Mcp-Method': 'tools/call', 'Mcp-Name': `browser_${name}` });

  it('name artifacts and nothing else, whatever they look like', async () => {
    const seed = seedFor('REPRISE_FILES_SEED');
    const random = randomFrom(seed);
    const session = await server.create({ app: unique('hostile'), status: 'ACTIVE' });
    await server.ok('PUT', `/v1/sessions/${session.id}/artifacts/mine.txt`, 'mine', { 'Content-Type': 'text/plain' }, 201);
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { capture: 'none' }, {}, 201);
    assert.ok((await tool(session, 'navigate', { url: origin })).body.ok);
    const client = await RawClient.connect(socketUrl(server, session));
    const { targetInfos } = await client.call('Target.getTargets');
    const { sessionId } = await client.call('Target.attachToTarget', { targetId: targetInfos.find(({ type }) => type === 'page').targetId, flatten: true });
    const { root } = await client.call('DOM.getDocument', {}, sessionId);
    const { nodeId } = await client.call('DOM.querySelector', { nodeId: root.nodeId, selector: '#one' }, sessionId);
    const drag = async (files) => {
      let reply;
      for (const type of ['dragEnter', 'dragOver', 'drop']) {
        reply = await client.send('Input.dispatchDragEvent', { type, x: 50, y: 50, data: { items: [], files, dragOperationsMask: 1 } }, sessionId);
        if (reply.error) return false;
      }
      return true;
    };
    // Each says whether it was taken.
    const ways = {
      'browser_drop by REST': async (name) => (await tool(session, 'drop', { target: '#drop', paths: [name] })).body.ok === true,
      'browser_drop by MCP': async (name) => (await mcp(session, 'drop', { target: '#drop', paths: [name] })).body?.result?.isError === false,
      'DOM.setFileInputFiles': async (name) => !(await client.send('DOM.setFileInputFiles', { nodeId, files: [name] }, sessionId)).error,
      'Input.dispatchDragEvent': (name) => drag([name]),
    };
    for (const [way, take] of Object.entries(ways)) assert.ok(await take('mine.txt'), `${way} takes an artifact`);
    const got = async () => (await tool(session, 'evaluate', { function: '() => got' })).body.result;
    await until(async () => (await got()).length === 4);
    assert.deepEqual(await got(), ['mine', 'mine', 'mine', 'mine']);
    const artifacts = new Set(['mine.txt']);
    for (let round = 0; round < 40; ++round) {
      const [way, take] = Object.entries(ways)[round % 4];
      const name = hostile(random);
      assert.equal(await take(name), artifacts.has(name), `${way} ${JSON.stringify(name)} (REPRISE_FILES_SEED=${seed})`);
      // What a tool answers goes into an artifact, or nowhere.
      const filename = hostile(random);
      const kept = await (round % 2 ? tool : mcp)(session, 'snapshot', { filename });
      assert.ok([200, 400, 404, 422].includes(kept.status), `${JSON.stringify(filename)}: ${kept.text} (REPRISE_FILES_SEED=${seed})`);
      if (kept.body?.ok || kept.body?.result?.isError === false) artifacts.add(filename);
      // Where a client wants downloads to go is not where they go.
      const folder = random.below(2) ? outside : hostile(random);
      await (round % 2 ? client.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder })
        : client.send('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: folder }, sessionId));
    }
    const seen = await got();
    assert.ok(seen.every((text) => !text.includes(marker) && !text.includes('root:x:0')), `${seen} (REPRISE_FILES_SEED=${seed})`);
    await client.call('Runtime.evaluate', { expression: "document.querySelector('#get').click()" }, sessionId);
    const listed = async () => (await server.ok('GET', `/v1/sessions/${session.id}/artifacts?limit=500`)).artifacts;
    await until(async () => (await listed()).some(({ path }) => path === 'downloads/got.txt'));
    const all = new Set((await listed()).map(({ path }) => path));
    for (const name of artifacts) assert.ok(all.has(name), `${JSON.stringify(name)} was kept, and is no artifact`);
    for (const path of all) {
      assert.ok(!path.startsWith('/') && !path.split('/').some((part) => ['', '.', '..'].includes(part)), path);
      const { text } = await server.call('GET', `/v1/sessions/${session.id}/artifacts/${path.split('/').map(encodeURIComponent).join('/')}`);
      assert.ok(!text.includes(marker) && !text.includes('root:x:0'), path);
    }
    assert.deepEqual(readdirSync(outside).sort(), ['link.txt', 'secret.txt']);
    assert.equal(readFileSync(join(outside, 'secret.txt'), 'utf8'), marker);
    await client.close();
  });
});
