// Browsers of sessions, through the binary and real Chromium: contexts, tabs, tools, what is recorded of them, and
// what is left when a browser or the server dies.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { UUID_V7, assertProblem, browserDirectory, startServer, unique, until } from './harness.mjs';

const late = 300;  // milliseconds
const pages = {
  '/form': `<title>Form</title><label>Name <input id=name></label><label>Password <input type=password id=secret></label>
    <button onclick="document.querySelector('output').textContent = 'hello ' + document.querySelector('#name').value">Greet</button>
    <output></output><a href="/next">Next page</a>`,
  '/next': '<title>Next</title><h1>The next page</h1>',
  '/late': `<title>Late</title><button id=timer onclick="setTimeout(() => out.textContent = 'timer', ${late})">Timer</button>
    <button id=load onclick="fetch('/slow').then(() => fetch('/slow')).then(() => out.textContent = 'fetched')">Load</button>
    <p id=out>nothing yet</p>`,
  '/typed': `<title>Typed</title><input id=plain><input id=frames oninput="requestAnimationFrame(() => requestAnimationFrame(
      () => out.textContent = 'framed ' + this.value))">
    <input id=timer oninput="setTimeout(() => out.textContent = 'timed ' + this.value, ${late})">
    <input id=load oninput="fetch('/slow').then(() => out.textContent = 'loaded ' + this.value)">
    <input id=sized oninput="box.style.width = this.value.length * 9 + 'px'"><div id=box style="width:1px"></div>
    <p id=out>nothing yet</p><script>new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width > 1) out.textContent = 'sized ' + contentRect.width; }).observe(box);
      let natives = 0;
      setInterval(() => { natives += [setTimeout, clearTimeout, requestAnimationFrame, cancelAnimationFrame]
        .every((one) => /native code/.test(one)); }, 5);</script>`,
  '/popup': `<title>Opener</title><button onclick="window.open('/next')">Open</button>
    <button onclick="document.title = confirm('Sure?') ? 'yes' : 'no'">Ask</button>`,
  '/store': `<title>Store</title><script>
    document.title = [document.cookie, localStorage.getItem('who')].join('|');
    document.cookie = 'who=' + location.hash.slice(1); localStorage.setItem('who', location.hash.slice(1));</script>`,
  '/frame': '<title>Frame</title><h1>Outside</h1><iframe src="/inside" width=300 height=200></iframe>',
  '/inside': `<button onclick="this.textContent = 'pressed'">Inside</button>`,
};

function startSite() {
  const site = http.createServer((request, response) => {
    const path = request.url.split('?')[0];
    const answer = () => {
      response.writeHead(pages[path] || path === '/slow' ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(pages[path] ?? 'slow');
    };
    if (path === '/slow') setTimeout(answer, 80);
    else answer();
  });
  return new Promise((ready) => site.listen(0, '127.0.0.1', () => ready(site)));
}

const processesNaming = (text) => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
  } catch {
    return false;  // it has just ended
  }
});

describe('browsers', () => {
  let server;
  let site;
  let origin;
  const directory = browserDirectory();
  before(async () => {
    site = await startSite();
    origin = `http://127.0.0.1:${site.address().port}`;
    server = await startServer({ args: ['--browser-dir', directory] });
  });
  after(async () => {
    await server.dispose();
    site.closeAllConnections();
    site.close();
  });

  const start = (more = {}) => server.create({ app: unique('browse'), status: 'ACTIVE', ...more });
  const tool = async (session, name, args = {}) => {
    const answer = await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
    assert.equal(answer.tool, `browser_${name}`);
    return answer;
  };
  const done = async (session, name, args) => {
    const answer = await tool(session, name, args);
    assert.ok(answer.ok, JSON.stringify(answer.error));
    return answer.result;
  };
  const open = (session, path) => done(session, 'navigate', { url: origin + path });
  const snapshot = async (session) => (await done(session, 'snapshot')).snapshot;
  const refOf = (text, line) => new RegExp(`${line}.*\\[ref=(\\w+)\\]`).exec(text)?.[1] ?? assert.fail(`${line} is not in\n${text}`);
  const tabsOf = async (session) => (await server.ok('GET', `/v1/sessions/${session.id}/tabs`)).tabs;
  const commandsOf = async (session, query = '') =>
    (await server.ok('GET', `/v1/sessions/${session.id}/commands${query}`)).commands;

  it('open a context with one tab, and say so in the stream, the record and the graph', async () => {
    const session = await start();
    const browser = await server.ok('POST', `/v1/sessions/${session.id}/browser`, { viewport: { width: 800, height: 600 } }, {}, 201);
    assert.match(browser.id, UUID_V7);
    assert.equal(browser.status, 'open');
    assert.equal(browser.tabs.length, 1);
    assert.equal(browser.tabs[0].url, 'about:blank');
    assert.ok(browser.tabs[0].isActive);
    assert.equal((await server.get(session.id)).activeTabId, browser.tabs[0].id);
    const types = (await server.events(session.id)).map(({ type }) => type);
    assert.deepEqual(types.slice(-2), ['context_opened', 'tab_opened']);
    assert.deepEqual(await done(session, 'evaluate', { function: '() => [innerWidth, innerHeight]' }), [800, 600]);
    // The same again finds it; other options do not fit.
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { viewport: { width: 800, height: 600 } }, {}, 200);
    await server.refused(409, 'conflict', 'POST', `/v1/sessions/${session.id}/browser`, { locale: 'de-DE' });

    const [context] = (await server.ok('GET', `/v1/graph/nodes/${session.id}/out/SessionHasContext`)).edges;
    assert.equal(context.to, browser.id);
    const [tab] = (await server.ok('GET', `/v1/graph/nodes/${browser.id}/out/ContextHasTab`)).edges;
    assert.deepEqual([tab.to, tab.properties.tab_index], [browser.tabs[0].id, 0]);
    const [owner] = (await server.ok('GET', `/v1/graph/nodes/${browser.id}/in/SessionHasContext`)).edges;
    assert.equal(owner.node.id, session.id);
    const found = await server.ok('GET', `/v1/graph/nodes/Tab?key=${browser.tabs[0].key}`);
    assert.equal(found.nodes[0].id, browser.tabs[0].id);
    const pools = (await server.ok('GET', '/v1/graph/nodes/pool:default/out/PoolHasSession?limit=500')).edges;
    assert.ok(pools.some(({ to }) => to === session.id));
    await server.ok('DELETE', `/v1/sessions/${session.id}/browser`, undefined, {}, 204);
    assert.equal((await server.ok('GET', `/v1/sessions/${session.id}/browser`)).status, 'closed');
    assert.equal((await server.get(session.id)).activeTabId, null);
  });

  it('are worked with by refs of a snapshot, and by selectors', async () => {
    const session = await start();
    assert.equal((await open(session, '/form')).httpStatus, 200);
    const text = await snapshot(session);
    await done(session, 'type', { element: 'name', target: refOf(text, 'textbox "Name"'), text: 'Ada' });
    await done(session, 'click', { element: 'greet', ref: refOf(text, 'button "Greet"') });
    assert.match(await snapshot(session), /hello Ada/);
    await done(session, 'click', { target: 'a' });
    assert.match(await snapshot(session), /heading "The next page"/);
    const stale = await tool(session, 'click', { target: refOf(text, 'button "Greet"') });
    assert.equal(stale.ok, false);
    assert.equal(stale.error.code, 'stale_ref');
    await done(session, 'navigate_back');
    assert.match(await snapshot(session), /textbox "Name"/);
    const missing = await tool(session, 'click', { target: '#nowhere' });
    assert.equal(missing.error.code, 'not_found');
  });

  it('show what an action set off, also when it comes late', async () => {
    const session = await start();
    await open(session, '/late');
    await done(session, 'click', { target: '#timer' });
    assert.match(await snapshot(session), /timer/);
    await done(session, 'click', { target: '#load' });
    assert.match(await snapshot(session), /fetched/);
  });

  it('miss no timer that a click sets, also when the page is busy and the click overtakes scripts', async () => {
    await Promise.all(Array.from({ length: 4 }, async () => {
      const session = await start();
      for (let round = 0; round < 6; round += 1) {
        await open(session, '/late');
        await done(session, 'click', { target: '#timer' });
        assert.match(await snapshot(session), /: timer/);
      }
    }));
  });

  it('show what a text set off: frames, timers, requests and sizes', async () => {
    const session = await start();
    await open(session, '/typed');
    const late = { frames: /framed Ada/, timer: /timed Ada/, load: /loaded Ada/, sized: /sized 27/ };
    for (const [id, shown] of Object.entries(late)) {
      await done(session, 'type', { target: `#${id}`, text: 'Ada' });
      assert.match(await snapshot(session), shown);
    }
    await done(session, 'type', { target: '#plain', text: 'Ada' });
    assert.equal(await done(session, 'evaluate', { function: '() => plain.value' }), 'Ada');
    // What was watched for is the page's own again when no command runs.
    const natives = () => done(session, 'evaluate', { function: '() => natives' });
    const before = await natives();
    await until(async () => (await natives()) > before);
  });

  it('work in frames', async () => {
    const session = await start();
    await open(session, '/frame');
    const text = await snapshot(session);
    await done(session, 'click', { target: refOf(text, 'button "Inside"') });
    assert.match(await snapshot(session), /button "pressed"/);
  });

  it('follow popups and dialogs', async () => {
    const session = await start();
    await open(session, '/popup');
    const [opener] = await tabsOf(session);
    await done(session, 'click', { target: 'text=Open' });
    const tabs = await until(async () => {
      const all = await tabsOf(session);
      return all.length === 2 && all[1].title === 'Next' && all;
    });
    assert.ok(tabs[1].isPopup && tabs[1].isActive && !tabs[0].isActive);
    assert.equal(tabs[1].openerTabId, opener.id);
    await server.ok('DELETE', `/v1/sessions/${session.id}/tabs/${tabs[1].id}`, undefined, {}, 204);
    assert.ok((await tabsOf(session))[0].isActive, 'the first open one is active again');
    await done(session, 'click', { target: 'text=Ask' });
    const blocked = await tool(session, 'snapshot');
    assert.equal(blocked.error.code, 'dialog');
    assert.equal((await done(session, 'handle_dialog', { accept: true })).message, 'Sure?');
    await until(async () => (await tabsOf(session))[0].title === 'yes');
    // What was closed is still there to be looked at, with its commands.
    const closed = (await server.ok('GET', `/v1/sessions/${session.id}/tabs?status=closed`)).tabs;
    assert.equal(closed[0].id, tabs[1].id);
    await server.refused(404, 'tab_not_found', 'POST', `/v1/sessions/${session.id}/tabs/${tabs[1].id}/activate`);
  });

  it('share no cookie and no storage between sessions', async () => {
    const [one, other] = [await start(), await start()];
    await open(one, '/store#one');
    await open(one, '/store?again#one');
    assert.equal(await done(one, 'evaluate', { function: '() => document.title' }), 'who=one|one');
    await open(other, '/store#other');
    assert.equal(await done(other, 'evaluate', { function: '() => document.title' }), '|');
  });

  it('record every command, with what was redacted, and the audit covers it', async () => {
    const session = await start();
    await open(session, '/form');
    await done(session, 'type', { target: '#secret', text: 'tr0ub4dor' });
    await done(session, 'type', { target: '#name', text: 'plain words' });
    await tool(session, 'click', { target: '#nowhere' });
    const commands = await commandsOf(session);
    assert.deepEqual(commands.map((command) => [command.tool, command.ok]), [
      ['browser_navigate', true], ['browser_type', true], ['browser_type', true], ['browser_click', false]]);
    assert.deepEqual(commands[1].args.text, { redacted: true, length: 9 });
    assert.equal(commands[1].target.isSecret, true);
    assert.equal(commands[2].args.text, 'plain words');
    assert.equal(commands[2].target.role, 'textbox');
    assert.equal(commands[3].error.code, 'not_found');
    assert.deepEqual((await commandsOf(session, '?ok=false')).map(({ seq }) => seq), [commands[3].seq]);
    assert.equal((await commandsOf(session, '?tool=browser_type&limit=1')).length, 1);
    assert.equal((await commandsOf(session, `?tab=${commands[0].tabId}&after=${commands[0].seq}`)).length, 3);
    const verdict = await server.ok('GET', `/v1/sessions/${session.id}/audit/verify`);
    assert.deepEqual([verdict.valid, verdict.entries], [true, 4]);
    // The picture of an action comes after its answer, as an artifact, and hides the password.
    const { picture, snapshot: shown } = commands[2].capture;
    const taken = await until(async () => {
      const answer = await server.call('GET', `/v1/sessions/${session.id}/artifacts/${shown}`);
      return answer.status === 200 && answer;
    });
    assert.doesNotMatch(taken.text, /tr0ub4dor/);
    assert.equal((await server.call('GET', `/v1/sessions/${session.id}/artifacts/${picture}`)).headers['content-type'], 'image/jpeg');
    assert.doesNotMatch(JSON.stringify(await server.events(session.id)), /tr0ub4dor/);
  });

  it('give pictures, texts of the console and requests', async () => {
    const session = await start();
    await open(session, '/form');
    await done(session, 'evaluate', { function: "() => { console.warn('careful'); return fetch('/nothing').then(r => r.status) }" });
    assert.match((await done(session, 'console_messages', { level: 'warning' })).messages, /\[warning\] careful/);
    assert.match((await done(session, 'network_requests')).requests, /\/nothing => 404/);
    const shot = await done(session, 'take_screenshot', { filename: 'workspace/form.png' });
    assert.equal(shot.artifact, 'workspace/form.png');
    const [tab] = await tabsOf(session);
    const png = await server.call('GET', `/v1/sessions/${session.id}/tabs/${tab.id}/screenshot`, undefined, { Accept: 'image/png' });
    assert.equal(png.headers['content-type'], 'image/png');
    assert.match((await done(session, 'pdf_save', { filename: 'workspace/form.pdf' })).artifact, /form\.pdf/);
  });

  it('run the commands of a session one after another, and sessions side by side', async () => {
    const session = await start();
    await open(session, '/form');
    const order = await Promise.all(Array.from({ length: 8 }, (_, i) =>
      tool(session, 'evaluate', { function: `() => { window.order = (window.order ?? '') + ${i}; return window.order }` })));
    assert.deepEqual(order.map(({ result }) => result.length).sort((a, b) => a - b), [1, 2, 3, 4, 5, 6, 7, 8]);
    const sequence = order.map(({ seq, result }) => [seq, result.length]).sort(([a], [b]) => a - b);
    assert.deepEqual(sequence.map(([, length]) => length), [1, 2, 3, 4, 5, 6, 7, 8], 'recorded in the order they ran');
    const others = await Promise.all(Array.from({ length: 4 }, () => start()));
    await Promise.all(others.map((other) => open(other, '/form')));
    const ended = others.map((other) => server.ok('POST', `/v1/sessions/${other.id}/close`, {}));
    await Promise.all(ended);
    for (const other of others) {
      await until(async () => (await server.ok('GET', `/v1/sessions/${other.id}/browser`)).status === 'closed');
      await server.refused(409, 'session_ended', 'POST', `/v1/sessions/${other.id}/tools/browser_snapshot`, {});
    }
  });

  it('hold no more tabs and no more waiting commands than they may', async () => {
    const kMaxTabsPerSession = 100;  // src/browser/limits.h, as the next one
    const kMaxQueuedCommands = 256;
    const session = await start({ metadata: {} });
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { capture: 'none' }, {}, 201);
    await open(session, '/popup');
    for (let i = 1; i < kMaxTabsPerSession; ++i) await done(session, 'tabs', { action: 'new' });
    const refused = await tool(session, 'tabs', { action: 'new' });
    assert.match(refused.error.message, /100 tabs/);
    const calls = await Promise.all(Array.from({ length: kMaxQueuedCommands + 20 }, () =>
      server.call('POST', `/v1/sessions/${session.id}/tools/browser_evaluate`, { function: '() => new Promise((r) => setTimeout(r, 5))' },
        {}, { deadline: 60_000, agent: false })));
    const busy = calls.filter(({ status }) => status === 429);
    assert.ok(busy.length > 0 && busy.length < calls.length, `${busy.length} of ${calls.length}`);
    await server.ok('POST', `/v1/sessions/${session.id}/close`, {});
  });

  it('refuse what is wrong, and say what would be right', async () => {
    const session = await start();
    const path = `/v1/sessions/${session.id}`;
    await server.refused(422, 'unsupported_browser', 'POST', `${path}/browser`, { browserType: 'firefox' });
    await server.refused(422, 'invalid', 'POST', `${path}/browser`, { viewport: { width: 0 } });
    await server.refused(422, 'invalid', 'POST', `${path}/browser`, { colour: 'red' });
    await server.refused(404, 'pool_not_found', 'POST', `${path}/browser`, { poolKey: 'nowhere' });
    await server.refused(404, 'tool_not_found', 'POST', `${path}/tools/browser_fly`, {});
    const problem = await server.refused(422, 'invalid', 'POST', `${path}/tools/browser_click`, { target: 7, extra: 1 });
    assert.deepEqual(problem.errors.map(({ pointer }) => pointer).sort(), ['/extra', '/target']);
    await server.refused(404, 'node_not_found', 'GET', `${path}/browser`);
    await server.refused(409, 'no_browser', 'DELETE', `${path}/browser`);
    await server.refused(404, 'node_not_found', 'GET', `/v1/graph/nodes/${crypto.randomUUID()}/out/ContextHasTab`);
    assertProblem(await server.call('POST', '/v1/sessions/nobody:here/tools/browser_snapshot', {}), 404, 'session_not_found');
    const unreachable = await tool(session, 'navigate', { url: 'http://127.0.0.1:1/' });
    assert.equal(unreachable.error.code, 'navigation');
  });

  it('reach neither files nor the server that drives them, however they try', async () => {
    const session = await start();
    for (const url of ['file:///etc/passwd', 'chrome://version', 'http://169.254.169.254/', `${server.url}/v1/sessions`,
      `http://localhost:${server.port}/healthz`]) {
      const answer = await tool(session, 'navigate', { url });
      assert.equal(answer.ok, false, url);
      assert.equal(answer.error.code, 'url_refused', url);
    }
    await open(session, '/form');
    const reached = await done(session, 'evaluate', { function: `() => Promise.all(['${server.url}/healthz',
      'http://[::ffff:127.0.0.1]:${server.port}/healthz', 'http://0.0.0.0:${server.port}/healthz', '/form'].map((url) =>
      fetch(url, { mode: 'no-cors' }).then(() => fetch(url)).then((r) => r.status, () => 'refused')))` });
    assert.deepEqual(reached.slice(0, 3).filter((status) => status === 200), []);
    assert.equal(reached[3], 200);
  });

  it('come back after their browser was killed, under the same ids', async () => {
    const session = await start();
    await open(session, '/next');
    const [before] = await tabsOf(session);
    const [pool] = (await server.ok('GET', '/v1/pools')).pools;
    process.kill(pool.browsers[0].pid, 'SIGKILL');
    await until(async () => (await server.ok('GET', `/v1/sessions/${session.id}/browser`)).status === 'orphaned');
    assert.match((await server.ok('GET', `/v1/sessions/${session.id}`)).lastError, /browser's process has ended/);
    assert.match(await snapshot(session), /heading "The next page"/);
    const [now] = await tabsOf(session);
    assert.deepEqual([now.id, now.url], [before.id, before.url]);
    await server.assertAlive();
  });

  it('leave no process and no profile behind when the server is killed, and come back after it', async () => {
    const session = await start();
    await open(session, '/next');
    const [before] = await tabsOf(session);
    const profiles = `${directory}/profiles`;
    assert.ok(processesNaming(profiles).length > 0);
    await server.restart({ how: 'kill' });
    await until(() => processesNaming(profiles).length === 0);
    assert.deepEqual(readdirSync(profiles), []);
    assert.equal((await server.ok('GET', `/v1/sessions/${session.id}/browser`)).status, 'hibernated');
    assert.match(await snapshot(session), /heading "The next page"/);
    assert.equal((await tabsOf(session))[0].id, before.id);
    await server.restart();
    assert.deepEqual(readdirSync(profiles), []);
    assert.equal((await server.ok('GET', `/v1/sessions/${session.id}/browser`)).status, 'hibernated');
  });

  it('open nothing for commands that still wait when their session ends', async () => {
    const session = await start();
    await open(session, '/next');
    const call = (name, args) => server.call('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args);
    const running = call('wait_for', { text: 'never there' });
    const waiting = [call('click', { target: 'h1' }), call('snapshot', {}), server.call('POST', `/v1/sessions/${session.id}/tabs`, {})];
    await until(async () => (await server.ok('GET', '/v1/pools')).pools[0].contexts > 0);
    await server.ok('POST', `/v1/sessions/${session.id}/close`);
    for (const answer of await Promise.all([running, ...waiting]))
      assert.ok(answer.status === 409 || answer.body.ok === false, `${answer.status} ${answer.text}`);
    await until(async () => (await server.ok('GET', `/v1/sessions/${session.id}/browser`)).status === 'closed');
    await server.assertAlive();
  });

  it('go with their session when it is deleted', async () => {
    const session = await start();
    await open(session, '/next');
    const { id } = await server.ok('GET', `/v1/sessions/${session.id}/browser`);
    await server.ok('DELETE', `/v1/sessions/${session.id}`, undefined, {}, 204);
    await until(async () => (await server.ok('GET', '/v1/pools')).pools[0].contexts === 0);
    await until(async () => (await server.call('GET', `/v1/graph/nodes/${id}/out/ContextHasTab`)).status === 404);
  });
});
