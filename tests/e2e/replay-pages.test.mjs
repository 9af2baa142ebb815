// reprise replay, where pages make it hard: elements in frames, tabs that pages open, what a person did by hand, files,
// and pages that are not what they were.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, run, startServer, unique, until } from './harness.mjs';
import { LiveClient } from './live-client.mjs';

// Pages by path; `version` is what they are at the moment.
function startSite() {
  const site = { version: 1 };
  const isNew = () => site.version > 1;
  const pages = {
    // In its next version the frames stand in another order and have other names, and what is in them is elsewhere.
    '/framed': () => {
      const card = `<iframe ${isNew() ? 'id=card' : 'name=payment'} title=Card src="http://localhost:${site.port}/card"></iframe>`;
      const other = `<iframe ${site.version > 2 ? 'id=o title=Else' : 'name=other title=Other'} src="/card?other"></iframe>`;
      return `<title>Framed</title><button>Pay</button>${isNew() ? `${other}<p>New here</p>${card}` : card + other}
        <script>addEventListener('message', ({ data }) => { document.title = data })</script>`;
    },
    '/card': (query) => `${isNew() ? '<p>Cards</p>' : ''}<label>Number <input id=number${site.version}></label>
      <iframe srcdoc="<button onclick=&quot;parent.parent.postMessage('confirmed${query}', '*')&quot;>Confirm</button>"></iframe>
      <button id=pay${site.version} onclick="parent.postMessage('paid${query} ' + document.querySelector('input').value, '*')">${query ? 'Decline' : 'Pay'}</button>`,
    '/opener': () => `<title>Opener</title><button onclick="window.open('/popup?' + (this.count = (this.count ?? 0) + 1))">Open</button>`,
    '/popup': (query) => `<title>Popup ${query}</title><button onclick="document.title = 'pressed ${query}'">Press</button>`,
    '/hands': () => `<title>Hands</title><style>* { margin: 0 } button, input, select, div { position: absolute; left: ${isNew() ? 200 : 0}px; width: 300px; height: 40px }</style>
      <button style="top: 0" onclick="document.title = 'pressed'">Press</button>
      <input aria-label=Name style="top: 50px"><input aria-label=Pin type=password style="top: 100px">
      <select aria-label=Colour style="top: 150px"><option value=r>Red</option><option value=g>Green</option></select>
      <button style="top: 200px" onclick="document.title = ['Name', 'Pin', 'Colour'].map((name) => document.querySelector('[aria-label=' + name + ']').value).join(' ')">Sum</button>
      <div style="top: 250px; left: 0; background: teal" onmousedown="this.from = event.clientX" onmouseup="document.title = 'dragged ' + (event.clientX - this.from)">drag</div>
      <p style="position: absolute; top: 3000px">far down</p><script>onscroll = () => { document.title = 'scrolled ' + Math.round(scrollY) }</script>`,
    '/upload': () => `<title>Upload</title><input type=file aria-label=File onchange="this.files[0].text().then((text) => { document.title = text })">`,
    '/shop': () => `<title>Shop</title><button id=buy onclick="document.title = 'Bought'">${isNew() ? 'Purchase' : 'Buy'}</button>
      ${isNew() ? '' : '<a href="#">Terms</a>'}<p>${Date.now()}</p>`,
  };
  const server = http.createServer((request, response) => {
    const url = new URL(request.url, 'http://site');
    const body = pages[url.pathname]?.(url.search.slice(1));
    response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(body ?? 'nothing');
  });
  return new Promise((ready) => server.listen(0, '127.0.0.1', () => {
    site.port = server.address().port;
    site.origin = `http://127.0.0.1:${site.port}`;
    site.close = () => { server.closeAllConnections(); server.close(); };
    ready(site);
  }));
}

describe('reprise replay', () => {
  let server;
  let site;
  before(async () => {
    site = await startSite();
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
  });
  after(async () => {
    await server.dispose();
    site.close();
  });

  const start = async (path, options = {}) => {
    site.version = 1;
    const session = await server.create({ app: unique('replay'), status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, options, {}, 201);
    if (path) await done(session, 'navigate', { url: site.origin + path });
    return session;
  };
  const tool = (session, name, args = {}) => server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
  const done = async (session, name, args) => {
    const answer = await tool(session, name, args);
    assert.ok(answer.ok, `${name} ${JSON.stringify(args)}: ${JSON.stringify(answer.error)}`);
    return answer;
  };
  const refOf = (text, line) => new RegExp(`${line}.*\\[ref=(\\w+)\\]`).exec(text)?.[1] ?? assert.fail(`${line} is not in\n${text}`);
  const commandsOf = async (id) => (await server.ok('GET', `/v1/sessions/${id}/commands?limit=500`)).commands;
  // What `reprise replay --json` says: {code, lines, end, told(tool)}.
  const replay = async (session, ...args) => {
    const { code, stdout, stderr } = await run(['replay', session.id, '--json', '--keep', ...args, '--server', server.url],
      { deadline: 90_000 });
    const lines = stdout.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
    const end = lines.at(-1);
    return { code, lines: lines.slice(0, -1), end, shown: stdout + stderr,
      told: (name) => lines.filter((line) => line.tool === `browser_${name}`) };
  };

  it('finds elements in frames again, where frames and what is in them have moved', async () => {
    const session = await start('/framed');
    const text = (await done(session, 'snapshot')).result.snapshot;
    const card = text.slice(text.indexOf('iframe "Card"'), text.indexOf('iframe "Other"'));
    await done(session, 'type', { target: refOf(card, 'textbox "Number"'), text: '4711' });
    const paid = await done(session, 'click', { target: refOf(card, 'button "Pay"') });
    assert.equal(paid.page.title, 'paid 4711', 'the one in the frame, not that of the page');
    assert.equal((await done(session, 'click', { target: refOf(card, 'button "Confirm"') })).page.title, 'confirmed');
    const [, , typed, clicked, confirmed] = await commandsOf(session.id);
    assert.deepEqual(typed.target.frames, [{ role: 'iframe', name: 'Card', nth: 0, selector: 'iframe[name="payment"]' }]);
    assert.equal(clicked.target.frames.length, 1);
    assert.equal(confirmed.target.frames.length, 2);

    const same = await replay(session);
    assert.equal(same.code, 0, same.shown);
    assert.ok((await commandsOf(same.end.session)).every(({ source }) => source === 'replay'));

    site.version = 2;
    const moved = await replay(session, '--no-snapshots');
    assert.equal(moved.code, 0, moved.shown);
    const clicks = (await commandsOf(moved.end.session)).filter(({ tool: name }) => name === 'browser_click');
    assert.deepEqual(clicks.map(({ page }) => page.title), ['paid 4711', 'confirmed'], moved.shown);
  });

  it('finds an element in whichever frame it is, as long as it is one', async () => {
    const clicked = async (name) => {
      const session = await start('/framed');
      const text = (await done(session, 'snapshot')).result.snapshot;
      await done(session, 'click', { target: refOf(text.slice(text.indexOf('iframe "Other"')), `button "${name}"`) });
      return session;
    };
    const [decline, confirm] = [await clicked('Decline'), await clicked('Confirm')];
    site.version = 3;  // the frame has neither its name nor its title
    const found = await replay(decline, '--no-snapshots');
    assert.equal(found.code, 0, found.shown);
    const lost = await replay(confirm, '--no-snapshots');
    assert.equal(lost.code, 1, lost.shown);
    assert.match(lost.told('click')[0].why.join(), /failed with not_(found|unique)/);
  });

  it('takes selectors that enter frames', async () => {
    const session = await start('/framed', { capture: 'none' });
    await done(session, 'type', { target: 'frame=iframe[name=payment] >> #number1', text: '12' });
    assert.equal((await done(session, 'click', { target: 'frame=iframe[name=payment] >> role=button[name="Pay"]' })).page.title, 'paid 12');
    const both = 'frame=iframe[name=other] >> frame=iframe >> text=Confirm';
    assert.equal((await done(session, 'click', { target: both })).page.title, 'confirmedother');
    assert.equal((await done(session, 'click', { target: 'frame=* >> text=Decline' })).page.title, 'paidother');
    assert.equal((await tool(session, 'click', { target: 'frame=* >> text=Confirm' })).error.code, 'not_unique');
    assert.equal((await tool(session, 'click', { target: 'frame=button >> text=Pay' })).error.code, 'not_found');
    assert.equal((await tool(session, 'click', { target: 'frame=iframe[name=other]' })).error.code, 'invalid');
  });

  it('works in the tabs that pages open, as it was done', async () => {
    const session = await start('/opener');
    const tabs = async (id) => (await server.ok('GET', `/v1/sessions/${id}/tabs`)).tabs;
    const open = async (count) => {
      await done(session, 'click', { target: 'text=Open' });
      await until(async () => (await tabs(session.id)).length === count && (await tabs(session.id)).at(-1).isActive);
    };
    await open(2);
    assert.equal((await done(session, 'click', { target: 'text=Press' })).page.title, 'pressed 1');
    const [first] = await tabs(session.id);
    // Back by a call that is no command, so that nothing on record says it but the tab of the next one.
    await server.ok('POST', `/v1/sessions/${session.id}/tabs/${first.id}/activate`, {}, {}, 200);
    await open(3);
    assert.equal((await done(session, 'click', { target: 'text=Press' })).page.title, 'pressed 2');
    await done(session, 'tabs', { action: 'select', index: 1 });
    await done(session, 'tabs', { action: 'close' });
    const again = await replay(session);
    assert.equal(again.code, 0, again.shown);
    assert.deepEqual((await tabs(again.end.session)).map(({ title }) => title), (await tabs(session.id)).map(({ title }) => title));
  });

  it('does again what a person did by hand', async () => {
    const session = await start('/hands', { capture: 'none' });
    const viewer = await LiveClient.open(server, session.id);
    const lease = await server.ok('POST', `/v1/sessions/${session.id}/browser/takeover`, undefined, {}, 201);
    const does = async (input) => assert.deepEqual(await viewer.ask(input), { ok: true });
    const click = async (x, y) => {
      await does({ type: 'mouse', action: 'down', x, y });
      await does({ type: 'mouse', action: 'up', x, y });
    };
    const type = async (text) => { for (const key of text) await does({ type: 'key', key }); };
    await does({ type: 'claim', leaseId: lease.leaseId });
    await click(100, 20);
    await click(100, 70);
    await type('Ada');
    await does({ type: 'key', key: 'Tab' });
    await type('1234');
    await click(100, 170);
    await does({ type: 'select', values: ['g'] });
    await click(100, 220);
    await does({ type: 'mouse', action: 'down', x: 50, y: 270 });
    await does({ type: 'mouse', action: 'move', x: 90, y: 270 });
    await does({ type: 'mouse', action: 'up', x: 110, y: 270 });
    await does({ type: 'mouse', action: 'wheel', x: 400, y: 300, deltaY: 240 });
    await does({ type: 'navigate', url: `${site.origin}/popup?7` });
    await does({ type: 'back' });
    await does({ type: 'forward' });
    await does({ type: 'reload' });
    await does({ type: 'tab', action: 'new', url: `${site.origin}/popup?8` });
    await server.ok('DELETE', `/v1/sessions/${session.id}/browser/takeover`, undefined, {}, 204);
    await viewer.close();
    const recorded = await commandsOf(session.id);
    const theirs = ['mouse_click_xy', 'mouse_click_xy', 'type', 'press_key', 'type', 'select_option', 'mouse_click_xy', 'mouse_drag_xy',
      'mouse_wheel', 'navigate', 'navigate_back', 'navigate_forward', 'reload', 'tabs'];
    assert.deepEqual(recorded.slice(1).map(({ tool: name }) => name.replace('browser_', '')), theirs);

    const stopped = await run(['replay', session.id, '--server', server.url]);
    assert.match(stopped.stderr, /needs_secret: .*'Pin'/);
    for (const version of [1, 2]) {
      site.version = version;  // in the second everything is two hundred pixels to the right
      const again = await replay(session, '--secret', 'Pin=1234');
      assert.equal(again.code, 0, again.shown);
      assert.ok(again.lines.every(({ verdict }) => verdict === 'same'), again.shown);
      const commands = await commandsOf(again.end.session);
      const titles = commands.map(({ page }) => page?.title);
      for (const title of ['pressed', 'Ada 1234 g', 'dragged 60', 'scrolled 240', 'Popup 7', 'Popup 8']) {
        assert.ok(titles.includes(title), `${title} is not among ${titles}; ${again.shown}`);
      }
      assert.ok(!JSON.stringify(commands.map(({ args }) => args)).includes('1234'));
      assert.ok(commands.every(({ source }) => source === 'replay'));
    }
  });

  it('gives pages the files that they were given', async () => {
    const session = await start('/upload');
    await server.ok('PUT', `/v1/sessions/${session.id}/artifacts/notes/a.txt`, 'from the session', { 'Content-Type': 'text/plain' }, 201);
    await done(session, 'click', { target: 'input' });
    await done(session, 'file_upload', { paths: ['notes/a.txt'] });
    await done(session, 'wait_for', { time: 0.1 });
    const again = await replay(session);
    assert.equal(again.code, 0, again.shown);
    const copied = await server.call('GET', `/v1/sessions/${again.end.session}/artifacts/notes/a.txt`);
    assert.deepEqual([copied.text, copied.headers['content-type']], ['from the session', 'text/plain']);
  });

  it('tells of a button that has another name, and of what a page shows and did not', async () => {
    const session = await start('/shop');
    const text = (await done(session, 'snapshot')).result.snapshot;
    await done(session, 'click', { target: refOf(text, 'button "Buy"') });
    const same = await replay(session);
    assert.equal(same.code, 0, `texts are not compared: ${same.shown}`);
    site.version = 2;
    const again = await replay(session);
    assert.equal(again.code, 1, again.shown);
    const [click] = again.told('click');
    assert.equal(click.verdict, 'differs');
    const [element, shown] = ['element', 'snapshot'].map((kind) => click.differences.find((one) => one.kind === kind));
    assert.deepEqual([element.recorded, element.replayed], ['button "Buy"', 'button "Purchase"']);
    assert.deepEqual([shown.recorded, shown.replayed], ['button "Buy", link "Terms"', 'button "Purchase"']);
    assert.deepEqual(again.end.different, 2, 'so does what the navigation showed');
    const words = await run(['replay', session.id, '--no-snapshots', '--server', server.url]);
    assert.equal(words.code, 1);
    assert.match(words.stdout, /browser_click differs: acted on button "Purchase" instead of button "Buy"\n/);
    assert.doesNotMatch(words.stdout, /shows/);
  });

  it('says so in the record, and nobody may say more than that', async () => {
    const session = await start('/shop', { capture: 'none' });
    const path = `/v1/sessions/${session.id}/tools/browser_reload`;
    await server.ok('POST', `${path}?source=replay`, {}, {}, 200);
    await server.ok('POST', `${path}?source=rest`, {}, {}, 200);
    assert.deepEqual((await commandsOf(session.id)).slice(1).map(({ source }) => source), ['replay', 'rest']);
    for (const source of ['operator', 'cdp', 'mcp', 'Replay', '']) {
      await server.refused(400, 'bad_parameter', 'POST', `${path}?source=${source}`, {});
    }
  });
});
