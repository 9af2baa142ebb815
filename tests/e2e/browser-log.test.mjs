// What is kept of what a page says and asks for: with the command that it happened in and no other, and without secrets.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, unique, until } from './harness.mjs';
import { LiveClient } from './live-client.mjs';

const secret = 'planted-secret-7';
const page = `<!doctype html><title>Shop</title><style>body{margin:0}input,button{position:absolute;left:20px;width:200px;height:30px}</style>
<button id=load style="top:10px" onclick="console.log('clicked', 3); fetch('/api?q=shoes&access_token=${secret}',
  { headers: { Authorization: 'Bearer ${secret}', 'X-Api-Key': '${secret}' } }).then(() => console.warn('password=${secret} was taken'))">Load</button>
<button id=quiet style="top:50px" onclick="document.title = 'Quiet'">Quiet</button>
<button id=away style="top:90px" onclick="console.log('bye'); fetch('/left', { keepalive: true }); location = '/next'">Away</button>
<button id=fails style="top:130px" onclick="fetch('/missing').then(() => fetch('http://127.0.0.1:1/')).catch(() => {}); console.error('oh no')">Fail</button>
<button id=much style="top:170px" onclick="for (let n = 0; n < 300; n += 1) console.log('line ' + n)">Much</button>
<input id=word type=password style="top:210px" oninput="console.log('it is ' + value); fetch('/check?v=' + encodeURIComponent(value))">
<input id=search style="top:250px" onkeydown="if (event.key === 'Enter') fetch('/search?q=' + value); else console.log('key ' + event.key)">`;

describe('what a page says and asks for', () => {
  let server;
  let site;
  let origin;
  before(async () => {
    site = http.createServer((request, response) => {
      const { pathname } = new URL(request.url, 'http://x');
      if (pathname === '/missing') response.writeHead(404, { 'Content-Type': 'text/plain' }).end('no');
      else if (pathname === '/') response.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
      else if (pathname === '/next') response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>Next</title><script>console.info("hello from next")</script>');
      else response.writeHead(200, { 'Content-Type': 'application/json', 'Set-Cookie': `sid=${secret}` }).end('{}');
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

  async function shop(options) {
    const { id } = await server.create({ app: unique('log'), status: 'ACTIVE' });
    if (options) await server.ok('POST', `/v1/sessions/${id}/browser`, options, {}, 201);
    const tool = (name, args = {}) => server.ok('POST', `/v1/sessions/${id}/tools/browser_${name}`, args, {}, 200);
    const artifact = async (path) => {
      const answer = await until(async () => {
        const got = await server.call('GET', `/v1/sessions/${id}/artifacts/${path}`);
        return got.status === 200 && got;
      }, 10_000, path);
      return answer;
    };
    const commands = async () => (await server.ok('GET', `/v1/sessions/${id}/commands?limit=500`)).commands;
    // What was kept of the last command that this describes.
    const logOf = async (isWanted) => {
      const command = (await commands()).findLast(isWanted);
      assert.ok(command, 'no such command');
      return command.capture?.log ? (await artifact(command.capture.log)).body : null;
    };
    const clicked = async (target) => {
      const answer = await tool('click', { target });
      assert.ok(answer.ok, JSON.stringify(answer.error));
      return logOf(({ seq }) => seq === answer.seq);
    };
    const opened = await tool('navigate', { url: `${origin}/` });
    assert.ok(opened.ok, JSON.stringify(opened.error));
    return { id, tool, artifact, commands, logOf, clicked };
  }

  it('is kept with its command and with no other', async () => {
    const { clicked, logOf } = await shop();
    const opened = await logOf(({ tool }) => tool === 'browser_navigate');
    const [document] = opened.requests;
    assert.deepEqual({ ...document, durationMs: 0 },
      { method: 'GET', url: `${origin}/`, kind: 'document', status: 200, type: 'text/html', error: null, durationMs: 0 });
    assert.ok(Number.isInteger(document.durationMs));

    const log = await clicked('#load');
    assert.deepEqual(log.console.map(({ level, text }) => [level, text]),
      [['info', 'clicked 3'], ['warning', 'password=[redacted] was taken']]);
    assert.match(log.console[0].place, new RegExp(`^${origin}/:\\d+$`));
    assert.equal(log.consoleOmitted, 0);
    assert.deepEqual(log.requests.map(({ method, url, kind, status, type, error }) => ({ method, url, kind, status, type, error })),
      [{ method: 'GET', url: `${origin}/api?q=shoes&access_token=[redacted]`, kind: 'fetch', status: 200, type: 'application/json', error: null }]);

    assert.equal(await clicked('#quiet'), null, 'a page that said nothing has no log');
    const failed = await clicked('#fails');
    assert.deepEqual(failed.console.map(({ level }) => level).includes('error'), true);
    const refused = failed.requests.find(({ url }) => url === 'http://127.0.0.1:1/');
    assert.equal(failed.requests.find(({ url }) => url === `${origin}/missing`).status, 404);
    assert.ok(refused.error !== null || refused.status >= 400, JSON.stringify(refused));
    assert.ok(!JSON.stringify(failed).includes('clicked'));
  });

  it('outlives the page it was said by', async () => {
    const { clicked } = await shop();
    const log = await clicked('#away');
    assert.deepEqual(log.console.map(({ text }) => text), ['bye', 'hello from next']);
    const urls = log.requests.map(({ url }) => url);
    assert.ok(urls.includes(`${origin}/left`), urls.join());
    assert.ok(urls.includes(`${origin}/next`), urls.join());
  });

  it('holds no secret of an address, a header, a text, or of what was typed', async () => {
    const { id, clicked, tool, logOf, artifact, commands } = await shop();
    await clicked('#load');
    const typed = 'tr0ub4dor & 3';
    const answer = await tool('type', { target: '#word', text: typed });
    assert.ok(answer.ok, JSON.stringify(answer.error));
    const log = await logOf(({ seq }) => seq === answer.seq);
    assert.deepEqual(log.console.at(-1), { level: 'info', text: '[redacted]', place: `${origin}[redacted]` });
    assert.equal(log.requests.at(-1).url, `${origin}[redacted]`);
    assert.equal(log.requests.at(-1).status, 200);
    const slowly = await tool('type', { target: '#word', text: typed, slowly: true });
    const pieces = JSON.stringify(await logOf(({ seq }) => seq === slowly.seq));
    assert.ok(!pieces.includes('tr0u'), pieces);
    const stored = [JSON.stringify(await commands()), JSON.stringify(await server.events(id))];
    for (const { capture } of await commands())
      for (const path of [capture?.snapshot, capture?.log]) if (path) stored.push((await artifact(path)).text);
    for (const text of stored) {
      assert.ok(!text.includes(secret), text);
      assert.ok(!text.includes(typed) && !text.includes(encodeURIComponent(typed)), text);
    }
  });

  it('is bounded: of much the newest', async () => {
    const { clicked } = await shop();
    const log = await clicked('#much');
    assert.equal(log.console.length, 200);
    assert.equal(log.console.at(-1).text, 'line 299');
    assert.equal(log.consoleOmitted, 100);
  });

  it('is kept of what captures are kept of', async () => {
    const none = await shop({ capture: 'none' });
    assert.equal(await none.clicked('#load'), null);
    assert.deepEqual((await none.commands()).map(({ capture }) => capture), [null, null]);
    const failures = await shop({ capture: 'failures' });
    assert.equal(await failures.clicked('#load'), null);
    const answer = await failures.tool('evaluate', { function: "() => { console.log('before it broke'); throw new Error('broken') }" });
    assert.equal(answer.ok, false);
    const log = await failures.logOf(({ seq }) => seq === answer.seq);
    assert.deepEqual(log.console.map(({ text }) => text), ['before it broke']);
  });

  it('is told with the gesture of a person that set it off', async () => {
    const { id, logOf, commands } = await shop();
    const { leaseId } = await server.ok('POST', `/v1/sessions/${id}/browser/takeover`, undefined, {}, 201);
    const viewer = await LiveClient.open(server, id);
    await viewer.state(({ browser }) => browser === 'open');
    const done = async (input) => assert.equal((await viewer.ask(input)).ok, true, JSON.stringify(input));
    await done({ type: 'claim', leaseId });
    const at = { x: 100, y: 265, button: 'left', clickCount: 1 };
    await done({ type: 'mouse', action: 'down', ...at });
    await done({ type: 'mouse', action: 'up', ...at });
    await done({ type: 'key', key: 'a' });
    await done({ type: 'key', key: 'b' });
    await done({ type: 'key', key: 'Enter' });
    const own = ({ source }) => source === 'operator';
    await until(async () => (await commands()).filter(own).length === 3, 10_000, 'the gestures on record');
    assert.deepEqual((await commands()).filter(own).map(({ tool }) => tool), ['browser_mouse_click_xy', 'browser_type', 'browser_press_key']);
    assert.equal(await logOf(({ tool }) => tool === 'browser_mouse_click_xy'), null);
    const text = await logOf(({ tool }) => tool === 'browser_type');
    assert.deepEqual(text.console.map((message) => message.text), ['key a', 'key b']);
    assert.deepEqual(text.requests, []);
    const enter = await logOf(({ tool }) => tool === 'browser_press_key');
    assert.deepEqual(enter.requests.map(({ url }) => url), [`${origin}/search?q=ab`]);
    viewer.socket.destroy();
  });
});
