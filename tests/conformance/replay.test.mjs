// reprise replay of what programs did with the DevTools protocol: what tools can do is done again, and the rest is told.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { chromium } from 'playwright-core';
import { browserDirectory, run, startServer, unique, until } from '../e2e/harness.mjs';

const page = `<title>Site</title><style>* { margin: 0 } button, input, div { display: block; width: 300px; height: 40px }</style>
  <button ondblclick="document.title += ' twice'" onclick="document.title += ' once'">Press</button>
  <input id=name oninput="document.title = 'typed ' + this.value" onkeydown="if (event.key === 'Enter') document.title = 'sent ' + this.value">
  <button onclick="document.title = 'said ' + prompt('who?')">Ask</button>
  <div style="background: teal" onmousedown="this.from = event.clientX" onmouseup="document.title = 'dragged ' + (event.clientX - this.from)"></div>
  <input type=file><iframe name=inner src="/inner"></iframe>`;

describe('reprise replay of a program\'s commands', () => {
  let server;
  let site;
  let origin;
  before(async () => {
    site = http.createServer((request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(request.url === '/' ? page : `<title>${request.url}</title>`);
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
  const commandsOf = async (id) => (await server.ok('GET', `/v1/sessions/${id}/commands?limit=500`)).commands;

  it('does what tools can do, in order, and says what it skips and why', async () => {
    const session = await server.create({ app: unique('replay-cdp'), status: 'ACTIVE' });
    const browser = await chromium.connectOverCDP(`${server.url}/v1/sessions/${session.id}/cdp`);
    const [tab] = browser.contexts()[0].pages();
    await tab.goto(`${origin}/`);
    await tab.mouse.click(100, 20);
    await tab.mouse.dblclick(100, 20);
    assert.equal(await tab.title(), 'Site once once once twice');
    await tab.mouse.click(100, 60);
    await tab.keyboard.type('Adda');
    await tab.keyboard.press('Backspace');
    await tab.keyboard.press('Backspace');
    await tab.keyboard.type('a');
    await tab.keyboard.press('Enter');
    assert.equal(await tab.title(), 'sent Ada');
    tab.once('dialog', (dialog) => dialog.accept('nobody'));
    await tab.mouse.click(100, 100);
    await tab.mouse.move(50, 140);
    await tab.mouse.down();
    await tab.mouse.move(110, 140, { steps: 3 });
    await tab.mouse.up();
    assert.equal(await tab.title(), 'dragged 60');
    await tab.reload();
    const other = await browser.contexts()[0].newPage();
    await other.goto(`${origin}/other`);
    await other.close();
    // What no tool does, or nobody knows enough of.
    await tab.frame('inner').goto(`${origin}/elsewhere`);
    await tab.goto(`${origin}/next`);
    await tab.goBack();
    const protocol = await browser.contexts()[0].newCDPSession(tab);
    await protocol.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: 10, y: 400 }] });
    await browser.close();
    await until(async () => (await commandsOf(session.id)).some(({ tool }) => tool === 'Input.dispatchTouchEvent'));
    const recorded = await commandsOf(session.id);
    const typed = recorded.find(({ args }) => args.order);
    assert.deepEqual(typed.args.order, [4, 'Backspace', 'Backspace', 1, 'Enter']);

    const stopped = await run(['replay', session.id, '--server', server.url]);
    assert.match(stopped.stderr, new RegExp(`needs_secret: command ${typed.seq} \\(Input.dispatchKeyEvent\\) needs 'text'`));
    const again = await run(['replay', session.id, '--json', '--keep', '--secret', `${typed.seq}=Addaa`, '--secret', 'promptText=nobody',
      '--server', server.url]);
    const lines = again.stdout.trim().split('\n').map((line) => JSON.parse(line));
    const end = lines.pop();
    const shown = again.stdout + again.stderr;
    assert.equal(lines.length, recorded.length);
    const skipped = lines.filter(({ verdict }) => verdict === 'skipped');
    assert.deepEqual(skipped.map(({ tool }) => tool), ['Page.navigate', 'Page.navigateToHistoryEntry', 'Input.dispatchTouchEvent'], shown);
    assert.deepEqual(skipped.map(({ why }) => why[0]), ['it sent a frame of the page elsewhere',
      'which page of the history it was is not on record', 'no tool does the same']);
    assert.deepEqual([end.different, end.skipped, again.code], [0, 3, 4], shown);
    assert.ok(lines.some(({ verdict, why }) => verdict === 'merged' && /^it is part of \d+$/.test(why[0])), shown);
    const titles = (await commandsOf(end.session)).map(({ page: seen }) => seen?.title);
    for (const title of ['Site once once once twice', 'sent Ada', 'said nobody', 'dragged 60', '/other', '/next']) {
      assert.ok(titles.includes(title), `${title} is not among ${titles}; ${shown}`);
    }
    assert.equal((await server.ok('GET', `/v1/sessions/${end.session}/tabs`)).tabs.length, 1);
    const words = await run(['replay', session.id, '--secret', `${typed.seq}=Addaa`, '--secret', 'promptText=nobody', '--server', server.url]);
    assert.equal(words.code, 4);
    assert.match(words.stdout, /Input.dispatchTouchEvent skipped: no tool does the same\n/);
    assert.match(words.stdout, /: 0 differ, 3 skipped\n$/);
  });
});
