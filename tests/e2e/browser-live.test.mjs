// Live views and take-overs, through the binary and real Chromium: what viewers see and are told, what a person does
// with the browser in hand, and what is recorded of it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, temporaryDirectory, unique, until } from './harness.mjs';
import { LiveClient } from './live-client.mjs';

const pages = {
  '/plain': '<title>Plain</title><body style="background: white"><h1>Plain</h1>',
  '/other': '<title>Other</title><body style="background: black">',
  '/moving': `<title>Moving</title><div id=box style="position:absolute;width:80px;height:80px;background:red"></div>
    <div style="height:5000px"></div><script>var x = 0, y = 0, last = Infinity; function step() { box.style.left = (x = (x + 3) % 600) + 'px';
      if (performance.now() < last) requestAnimationFrame(step); else scrollTo(0, y) } step()</script>`,
  '/form': `<title>Form</title><style>* { margin: 0 } input, select, button, textarea { position: absolute; left: 0; width: 300px; height: 40px }</style>
    <button style="top: 0" onclick="document.title = 'pressed'">Press</button>
    <input id=name style="top: 50px"><input id=secret type=password style="top: 100px">
    <select id=colour style="top: 150px" onchange="document.title = 'chose ' + this.value"><option value=r>Red</option><option value=g>Green</option></select>
    <button style="top: 200px" onclick="document.title = 'answered ' + prompt('Your name?', 'nobody')">Ask</button>
    <input id=files type=file style="top: 250px" onchange="if (this.files.length) document.title = 'got ' + this.files[0].name">
    <button style="top: 300px" onclick="window.open('/other')">Open</button>
    <iframe src="/inside" style="position: absolute; top: 350px; left: 0; border: 0" width=300 height=60></iframe>
    <div style="position:absolute; top: 450px; width: 300px; height: 40px; background: teal" onmousedown="this.from = event.clientX"
      onmouseup="document.title = 'dragged ' + (event.clientX - this.from)">drag</div>`,
  '/inside': '<style>* { margin: 0 }</style><input id=inner type=password style="width: 280px; height: 40px">',
};

function startSite() {
  const site = http.createServer((request, response) => {
    const body = pages[request.url.split('?')[0]];
    response.writeHead(body ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(body ?? 'nothing');
  });
  return new Promise((ready) => site.listen(0, '127.0.0.1', () => ready(site)));
}

describe('live views', () => {
  let server;
  let site;
  let origin;
  const viewers = [];
  before(async () => {
    site = await startSite();
    origin = `http://127.0.0.1:${site.address().port}`;
    server = await startServer({ args: ['--browser-dir', browserDirectory(), '--takeover-grace-ms', '400'] });
  });
  after(async () => {
    for (const viewer of viewers) viewer.socket.destroy();
    await server.dispose();
    site.closeAllConnections();
    site.close();
  });

  const start = async (path = '/plain', options = { capture: 'none' }) => {
    const session = await server.create({ app: unique('live'), status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { viewport: { width: 640, height: 600 }, ...options }, {}, 201);
    await done(session, 'navigate', { url: origin + path });
    return session;
  };
  const tool = (session, name, args = {}) => server.call('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args);
  const done = async (session, name, args) => {
    const { status, body } = await tool(session, name, args);
    assert.ok(status === 200 && body.ok, JSON.stringify(body));
    return body.result;
  };
  const view = async (session, options) => {
    const viewer = await LiveClient.open(server, session.id, options);
    viewers.push(viewer);
    return viewer;
  };
  const takeOver = async (session, viewer) => {
    const lease = await server.ok('POST', `/v1/sessions/${session.id}/browser/takeover`, undefined, {}, 201);
    if (viewer) assert.deepEqual(await viewer.ask({ type: 'claim', leaseId: lease.leaseId }), { ok: true });
    return lease;
  };
  const handBack = (session) => server.ok('DELETE', `/v1/sessions/${session.id}/browser/takeover`, undefined, {}, 204);
  const commandsOf = async (session) => (await server.ok('GET', `/v1/sessions/${session.id}/commands?limit=500`)).commands;
  const theirs = async (session) => (await commandsOf(session)).filter(({ source }) => source === 'operator');
  const click = async (viewer, x, y, more = {}) => {
    assert.deepEqual(await viewer.ask({ type: 'mouse', action: 'down', x, y, ...more }), { ok: true });
    assert.deepEqual(await viewer.ask({ type: 'mouse', action: 'up', x, y, ...more }), { ok: true });
  };
  const type = async (viewer, text) => {
    for (const key of text) assert.deepEqual(await viewer.ask({ type: 'key', key }), { ok: true });
  };
  const metric = async (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await server.call('GET', '/metrics')).text)[1]);
  const titleIs = (viewer, title) => viewer.state(({ tabs }) => tabs.some((tab) => tab.title === title));

  describe('show', () => {
    it('the active tab, in pictures that change with the page and say how to find its points', async () => {
      const session = await start();
      const viewer = await view(session);
      const state = await viewer.state(({ browser }) => browser === 'open');
      const first = await viewer.picture();
      assert.equal(state.tabs.length, 1);
      assert.deepEqual([first.tabId, first.url, first.title], [state.activeTabId, `${origin}/plain`, 'Plain']);
      assert.deepEqual([first.width, first.height, first.pageScale, first.scrollY], [640, 600, 1, 0]);
      assert.deepEqual([...first.jpeg.subarray(0, 3)], [0xff, 0xd8, 0xff]);
      await done(session, 'evaluate', { function: "() => { document.body.style.background = 'blue'; document.body.style.height = '3000px' }" });
      const second = await viewer.picture(({ frame, jpeg }) => frame > first.frame && !jpeg.equals(first.jpeg));
      assert.ok(second.jpeg.length > 0);
      await done(session, 'evaluate', { function: '() => scrollTo(0, 500)' });
      assert.equal((await viewer.picture(({ scrollY }) => scrollY === 500)).tabId, state.activeTabId);
      await viewer.close();
    });

    it('the same to all viewers, at most ten times a second, and whatever came last', async () => {
      const session = await start('/moving');
      const [one, other] = [await view(session), await view(session)];
      await Promise.all([one, other].map((viewer) => viewer.when(() => viewer.pictures.length >= 15, '15 pictures', 30_000)));
      for (const { pictures } of [one, other]) {
        const from = pictures[0];
        const to = pictures.at(-1);
        // Nothing is sent twice, and the number of a picture is how many the view has had.
        assert.ok(pictures.every(({ frame }, index) => index === 0 || frame > pictures[index - 1].frame));
        const rate = (to.frame - from.frame) / ((to.at - from.at) / 1000);
        assert.ok(rate <= 11, `${rate} pictures a second`);
      }
      const both = new Set(one.pictures.map(({ frame }) => frame));
      const shared = other.pictures.find(({ frame }) => both.has(frame));
      assert.ok(shared.jpeg.equals(one.pictures.find(({ frame }) => frame === shared.frame).jpeg));
      await Promise.all([one.close(), other.close()]);
    });

    it('what an animation ends with, though the browser drops most of what it draws', async () => {
      const session = await start('/moving');
      const viewer = await view(session);
      for (let round = 1; round <= 10; ++round) {
        // The last thing that is drawn is a scroll, and nothing is drawn after it.
        await done(session, 'evaluate', { function: `() => { last = performance.now() + 300; y = ${round * 10}; step() }` });
        await viewer.picture(({ scrollY }) => scrollY === round * 10);
      }
      const late = await view(session);
      assert.equal((await late.picture()).scrollY, 100, 'who comes later sees it at once');
      await Promise.all([viewer.close(), late.close()]);
    });

    it('only the latest to a viewer that is slow', async () => {
      const session = await start('/moving');
      const [slow, quick] = [await view(session, { ack: false }), await view(session)];
      await quick.when(() => quick.pictures.length >= 8, '8 pictures');
      assert.equal(slow.pictures.length, 2);
      const latest = quick.pictures.at(-1).frame;
      slow.send({ type: 'ack' });
      const next = await slow.picture(({ frame }) => frame >= latest);
      assert.equal(slow.pictures.length, 3, `after ${next.frame} of ${latest}`);
      await Promise.all([slow.close(), quick.close()]);
    });

    it('nothing when nobody looks, and keep nothing alive', async () => {
      const session = await start('/moving');
      await until(async () => (await metric('reprise_live_screencasts')) === 0);
      const [one, other] = [await view(session), await view(session)];
      await one.picture();
      assert.deepEqual([await metric('reprise_live_viewers'), await metric('reprise_live_screencasts')], [2, 1]);
      assert.equal((await server.get(session.id)).subscriberCount, 0);
      await one.close();
      const before = other.pictures.length;
      await other.when(() => other.pictures.length > before + 3, 'pictures for the one that is left');
      await other.close();
      await until(async () => (await metric('reprise_live_viewers')) === 0 && (await metric('reprise_live_screencasts')) === 0);
      const shown = await metric('reprise_live_pictures_total');
      await done(session, 'wait_for', { time: 0.3 });
      assert.equal(await metric('reprise_live_pictures_total'), shown, 'the page moves on unseen');
      const again = await view(session);
      await again.picture();
      await again.close();
    });

    it('the tab that is active, as that changes, and what opens and closes', async () => {
      const session = await start();
      const viewer = await view(session);
      const first = await viewer.picture();
      await done(session, 'tabs', { action: 'new', url: `${origin}/other` });
      const second = await viewer.picture(({ tabId, url }) => tabId !== first.tabId && url === `${origin}/other`);
      const { tabs } = await viewer.state(({ tabs: all }) => all.length === 2 && all[1].title === 'Other');
      assert.deepEqual(tabs.map(({ isActive }) => isActive), [false, true]);
      await server.ok('POST', `/v1/sessions/${session.id}/tabs/${first.tabId}/activate`);
      await viewer.picture(({ tabId }) => tabId === first.tabId);
      await server.ok('DELETE', `/v1/sessions/${session.id}/tabs/${first.tabId}`, undefined, {}, 204);
      await viewer.picture(({ tabId }) => tabId === second.tabId);
      await viewer.state(({ tabs: all }) => all.length === 1);
      await viewer.close();
    });

    it('dialogs and file choosers as controls', async () => {
      const session = await start('/form');
      const viewer = await view(session);
      await viewer.state(({ browser }) => browser === 'open');
      await done(session, 'click', { target: 'text=Ask' });
      const { dialog } = await viewer.state((state) => state.dialog);
      assert.deepEqual([dialog.kind, dialog.message, dialog.defaultText], ['prompt', 'Your name?', 'nobody']);
      await done(session, 'handle_dialog', { accept: true, promptText: 'Ada' });
      await viewer.state((state) => state.dialog === null && state.tabs[0].title === 'answered Ada');
      await done(session, 'click', { target: '#files' });
      assert.equal((await viewer.state((state) => state.fileChooser)).fileChooser.tabId, dialog.tabId);
      await viewer.close();
    });

    it('through captures, which go on as before', async () => {
      const session = await start('/form', {});
      const viewer = await view(session);
      const { frame } = await viewer.picture();
      await done(session, 'type', { target: '#name', text: 'Ada' });
      const last = (await commandsOf(session)).at(-1);
      await until(async () => (await server.call('GET', `/v1/sessions/${session.id}/artifacts/${last.capture.picture}`)).status === 200);
      await viewer.picture((picture) => picture.frame > frame);
      await viewer.close();
    });

    it('that a browser was released, and the next one', async () => {
      const session = await start();
      const viewer = await view(session);
      const first = await viewer.picture();
      await server.ok('DELETE', `/v1/sessions/${session.id}/browser`, undefined, {}, 204);
      assert.deepEqual((await viewer.state(({ browser }) => browser === 'closed')).tabs, []);
      await done(session, 'navigate', { url: `${origin}/other` });
      const second = await viewer.picture(({ url }) => url === `${origin}/other`);
      assert.notEqual(second.tabId, first.tabId);
      assert.ok(second.frame > first.frame);
      await viewer.close();
    });

    it('a session that never had a browser, until it has one', async () => {
      const session = await server.create({ app: unique('live'), status: 'ACTIVE' });
      const viewer = await view(session);
      assert.equal((await viewer.state()).browser, 'none');
      await done(session, 'navigate', { url: `${origin}/plain` });
      await viewer.picture(({ url }) => url === `${origin}/plain`);
      await viewer.close();
    });

    it('the end: of the session, by a code and a reason', async () => {
      for (const [end, reason] of [['close', /COMPLETED/], ['cancel', /CANCELLED/]]) {
        const session = await start();
        const viewer = await view(session);
        await viewer.picture();
        await server.ok('POST', `/v1/sessions/${session.id}/${end}`, {});
        const closed = await viewer.end();
        assert.equal(closed.code, 4001);
        assert.match(closed.reason, reason);
        await assert.rejects(view(session), { status: 409 });
      }
      const session = await server.create({ app: unique('live'), status: 'ACTIVE' });
      const viewer = await view(session);
      await viewer.state();
      await server.ok('DELETE', `/v1/sessions/${session.id}`, undefined, {}, 204);
      assert.match((await viewer.end()).reason, /deleted/);
      await assert.rejects(view(session), { status: 404 });
    });

    it('as many as may look, and no more', async () => {
      const kMaxViewersPerSession = 100;  // src/browser/limits.h
      const session = await start();
      const all = await Promise.all(Array.from({ length: kMaxViewersPerSession }, () => view(session)));
      await Promise.all(all.map((viewer) => viewer.state()));
      assert.deepEqual(await (await view(session)).end(), { code: 4009, reason: 'too_many_requests' });
      assert.equal(await metric('reprise_live_screencasts'), 1);
      await Promise.all(all.map((viewer) => viewer.close()));
    });

    it('nothing to who does not ask for a WebSocket, and refuse what is no message', async () => {
      const session = await start();
      await server.refused(426, 'upgrade_required', 'GET', `/v1/sessions/${session.id}/live`);
      const viewer = await view(session);
      viewer.send('{').send({ type: 'fly' }).send({ type: 'mouse', action: 'down', x: 1, y: 1 });
      await viewer.when(() => viewer.answers.length === 3, 'three refusals');
      assert.deepEqual(viewer.answers.map(({ error }) => error.code).sort(), ['forbidden', 'invalid', 'malformed_json']);
      await viewer.close();
    });
  });

  describe('taken over', () => {
    it('pause the session, refuse agents and other people, and resume when handed back', async () => {
      const session = await start('/form');
      const path = `/v1/sessions/${session.id}`;
      await server.refused(409, 'conflict', 'DELETE', `${path}/browser/takeover`);
      const viewer = await view(session);
      const lease = await takeOver(session, viewer);
      assert.equal(lease.pausesSession, true);
      const paused = await server.get(session.id);
      assert.deepEqual([paused.status, paused.pauseReason], ['PAUSED', 'operator']);
      assert.equal((await viewer.state(({ takeOver: held }) => held)).takeOver.isConnected, true);
      for (const [name, args] of [['snapshot', {}], ['click', { target: '#name' }], ['navigate', { url: origin }]]) {
        await server.refused(409, 'taken_over', 'POST', `${path}/tools/browser_${name}`, args);
      }
      const [tab] = (await server.ok('GET', `${path}/tabs`)).tabs;
      await server.refused(409, 'taken_over', 'POST', `${path}/tabs`, {});
      await server.refused(409, 'taken_over', 'POST', `${path}/tabs/${tab.id}/activate`);
      await server.refused(409, 'taken_over', 'DELETE', `${path}/tabs/${tab.id}`);
      await server.refused(409, 'taken_over', 'POST', `${path}/browser/takeover`);
      await server.refused(422, 'invalid', 'POST', `${path}/browser/takeover`, { force: true });
      await handBack(session);
      assert.equal((await server.get(session.id)).status, 'ACTIVE');
      await viewer.state(({ takeOver: held }) => held === null);
      assert.equal((await viewer.ask({ type: 'back' })).error.code, 'forbidden');
      await done(session, 'snapshot');
      await viewer.close();
    });

    it('refuse the input of programs that are attached by DevTools', async () => {
      const session = await start('/form');
      const program = await view(session, { path: `/v1/sessions/${session.id}/cdp` });
      let last = 0;
      const call = (method, params, more = {}) => {
        const id = ++last;
        program.send({ id, method, params, ...more });
        return program.when(() => program.answers.find((answer) => answer.id === id), method);
      };
      const { result: { targetInfos } } = await call('Target.getTargets', {});
      const { targetId } = targetInfos.find(({ type: kind }) => kind === 'page');
      const { result: { sessionId } } = await call('Target.attachToTarget', { targetId, flatten: true });
      const press = () => call('Input.dispatchKeyEvent', { type: 'char', text: 'x' }, { sessionId });
      assert.equal((await press()).error, undefined);
      const viewer = await view(session);
      await takeOver(session, viewer);
      assert.match((await press()).error.message, /taken/);
      await handBack(session);
      assert.equal((await press()).error, undefined);
      await Promise.all([program.close(), viewer.close()]);
    });

    it('leave a session as it was paused before', async () => {
      const session = await start();
      await server.ok('POST', `/v1/sessions/${session.id}/pause`, {});
      assert.equal((await takeOver(session)).pausesSession, false);
      await handBack(session);
      assert.equal((await server.get(session.id)).pauseReason, 'operator');
      await server.ok('POST', `/v1/sessions/${session.id}/resume`, {});
      await server.ok('POST', `/v1/sessions/${session.id}/interactions`, { kind: 'confirm' });
      await takeOver(session);
      await handBack(session);
      const waiting = await server.get(session.id);
      assert.deepEqual([waiting.status, waiting.pauseReason], ['PAUSED', 'input'], 'only the answer ends that');
    });

    it('do what the person does, and record it as theirs, secrets by their length', async () => {
      const session = await start('/form', {});
      const viewer = await view(session);
      await takeOver(session, viewer);
      await viewer.ask({ type: 'mouse', action: 'move', x: 100, y: 20 });
      await click(viewer, 100, 20);
      await titleIs(viewer, 'pressed');
      await click(viewer, 100, 70);
      await type(viewer, 'Ada');
      await viewer.ask({ type: 'text', text: ' Löve' });
      await viewer.ask({ type: 'key', key: 'Tab' });
      await type(viewer, 'tr0ub4');
      await viewer.ask({ type: 'text', text: 'dor' });
      await click(viewer, 100, 370);  // a password in a frame
      await type(viewer, 'deep');
      for (const step of [0, 30, 60]) {
        await viewer.ask(step === 0 ? { type: 'mouse', action: 'down', x: 50, y: 470 } : { type: 'mouse', action: 'move', x: 50 + step, y: 470 });
      }
      await viewer.ask({ type: 'mouse', action: 'up', x: 110, y: 470 });
      await titleIs(viewer, 'dragged 60');
      await viewer.ask({ type: 'mouse', action: 'wheel', x: 400, y: 300, deltaY: 10 });
      await handBack(session);
      const values = await done(session, 'evaluate', { function: `() => [document.querySelector('#name').value,
        document.querySelector('#secret').value, frames[0].document.querySelector('#inner').value]` });
      assert.deepEqual(values, ['Ada Löve', 'tr0ub4dor', 'deep']);
      const commands = await theirs(session);
      assert.deepEqual(commands.map(({ tool: name }) => name.replace('browser_', '')), ['mouse_click_xy', 'mouse_click_xy', 'type', 'press_key',
        'type', 'mouse_click_xy', 'type', 'mouse_drag_xy', 'mouse_wheel']);
      const [pressed, , name, tabKey, secret, , inner, drag, wheel] = commands;
      assert.deepEqual([pressed.target.role, pressed.target.name, pressed.args.x], ['button', 'Press', 100]);
      assert.deepEqual([name.args.text, name.target.selector], ['Ada Löve', '#name']);
      assert.equal(tabKey.args.key, 'Tab');
      assert.deepEqual(secret.args.text, { redacted: true, length: 9 });
      assert.deepEqual(inner.args.text, { redacted: true, length: 4 });
      assert.equal(inner.target.selector, '#inner');
      assert.deepEqual(drag.args, { startX: 50, startY: 470, endX: 110, endY: 470 });
      assert.equal(wheel.args.deltaY, 10);
      assert.doesNotMatch(JSON.stringify(await server.events(session.id)), /tr0ub4|deep/);
      assert.ok((await server.ok('GET', `/v1/sessions/${session.id}/audit/verify`)).valid);
      await until(async () => (await server.call('GET', `/v1/sessions/${session.id}/artifacts/${pressed.capture.picture}`)).status === 200);
      await viewer.close();
    });

    it('go places within the URL policy, and through tabs, dialogs, lists and file choosers', async () => {
      const session = await start('/form');
      const viewer = await view(session);
      await takeOver(session, viewer);
      assert.deepEqual(await viewer.ask({ type: 'navigate', url: `${origin}/plain` }), { ok: true });
      assert.equal((await viewer.ask({ type: 'navigate', url: 'file:///etc/passwd' })).error.code, 'url_refused');
      assert.equal((await viewer.ask({ type: 'navigate', url: server.url })).error.code, 'url_refused');
      assert.deepEqual(await viewer.ask({ type: 'back' }), { ok: true });
      await titleIs(viewer, 'Form');
      assert.deepEqual(await viewer.ask({ type: 'forward' }), { ok: true });
      await titleIs(viewer, 'Plain');
      assert.equal((await viewer.ask({ type: 'forward' })).ok, false);
      assert.deepEqual(await viewer.ask({ type: 'back' }), { ok: true });
      assert.deepEqual(await viewer.ask({ type: 'reload' }), { ok: true });
      await titleIs(viewer, 'Form');

      await click(viewer, 100, 170);
      const { select } = await viewer.state((state) => state.select);
      assert.deepEqual(select.options.map(({ value, label, isSelected }) => [value, label, isSelected]), [['r', 'Red', true], ['g', 'Green', false]]);
      assert.deepEqual(await viewer.ask({ type: 'select', values: ['g'] }), { ok: true });
      await titleIs(viewer, 'chose g');
      assert.equal((await viewer.state(({ select: list }) => list === null)).select, null);
      assert.equal((await viewer.ask({ type: 'select', values: ['g'] })).ok, false, 'it is closed');

      await click(viewer, 100, 220);
      assert.equal((await viewer.state((state) => state.dialog)).dialog.kind, 'prompt');
      assert.equal((await viewer.ask({ type: 'key', key: 'a' })).error.code, 'dialog');
      assert.deepEqual(await viewer.ask({ type: 'dialog', accept: true, text: 's3cret' }), { ok: true });
      await titleIs(viewer, 'answered s3cret');

      await click(viewer, 100, 270);
      await viewer.state((state) => state.fileChooser);
      assert.deepEqual(await viewer.ask({ type: 'files' }), { ok: true });
      await viewer.state((state) => state.fileChooser === null);
      await server.ok('PUT', `/v1/sessions/${session.id}/artifacts/letters/a.txt`, 'hello', { 'Content-Type': 'text/plain' });
      await click(viewer, 100, 270);
      await viewer.state((state) => state.fileChooser);
      assert.equal((await viewer.ask({ type: 'files', paths: ['/etc/passwd'] })).ok, false);
      assert.deepEqual(await viewer.ask({ type: 'files', paths: ['letters/a.txt'] }), { ok: true });
      await titleIs(viewer, 'got a.txt');

      await click(viewer, 100, 320);
      const { tabs } = await viewer.state(({ tabs: all }) => all.length === 2 && all[1].title === 'Other');
      assert.ok(tabs[1].isPopup && tabs[1].isActive);
      assert.deepEqual(await viewer.ask({ type: 'tab', action: 'activate', tabId: tabs[0].id }), { ok: true });
      await viewer.picture(({ tabId }) => tabId === tabs[0].id);
      assert.deepEqual(await viewer.ask({ type: 'tab', action: 'close', tabId: tabs[1].id }), { ok: true });
      assert.equal((await viewer.ask({ type: 'tab', action: 'close', tabId: tabs[1].id })).error.code, 'tab_not_found');
      assert.deepEqual(await viewer.ask({ type: 'tab', action: 'new', url: `${origin}/other` }), { ok: true });
      await viewer.picture(({ url }) => url === `${origin}/other`);
      await handBack(session);
      const commands = await theirs(session);
      const named = (name) => commands.filter(({ tool: used }) => used === `browser_${name}`);
      assert.deepEqual(named('navigate').map(({ ok }) => ok), [true, false, false]);
      assert.deepEqual([named('navigate_forward').length, named('reload').length, named('tabs').length], [2, 1, 3]);
      assert.deepEqual(named('select_option')[0].args.values, ['g']);
      assert.deepEqual(named('handle_dialog')[0].args.promptText, { redacted: true, length: 6 });
      assert.deepEqual(named('file_upload').filter(({ ok }) => ok).map(({ args }) => args), [{}, { paths: ['letters/a.txt'] }]);
      await viewer.close();
    });

    it('take as much as a person can send, in order, and no message that is too long', async () => {
      const kMaxLiveInputs = 64;  // src/browser/limits.h, as the next one
      const kMaxLiveMessageBytes = 256 * 1024;
      const session = await start('/form');
      const viewer = await view(session);
      await takeOver(session, viewer);
      await click(viewer, 100, 70);
      const text = Array.from({ length: 3 * kMaxLiveInputs }, (_, index) => String.fromCharCode(97 + index % 26)).join('');
      const answers = await Promise.all([...text].map((key) => viewer.ask({ type: 'key', key })));
      assert.ok(answers.every(({ ok }) => ok));
      viewer.send({ type: 'text', text: 'x'.repeat(kMaxLiveMessageBytes) });
      assert.equal((await viewer.end()).code, 1009);
      await until(async () => (await server.get(session.id)).status === 'ACTIVE');
      assert.equal(await done(session, 'evaluate', { function: "() => document.querySelector('#name').value" }), text);
      assert.equal((await theirs(session)).at(-1).args.text, text);
    });

    it('lapse when their socket is gone, or never came, and go on when it comes back in time', async () => {
      const session = await start();
      await takeOver(session);
      await until(async () => (await server.get(session.id)).status === 'ACTIVE');
      const viewer = await view(session);
      const { leaseId } = await takeOver(session, viewer);
      await viewer.close();
      const again = await view(session);
      assert.deepEqual(await again.ask({ type: 'claim', leaseId }), { ok: true });
      await again.state(({ takeOver: held }) => held?.isConnected);
      assert.equal((await server.get(session.id)).status, 'PAUSED');
      again.socket.destroy();
      await until(async () => (await server.get(session.id)).status === 'ACTIVE');
      const late = await view(session);
      assert.equal((await late.ask({ type: 'claim', leaseId })).error.code, 'forbidden');
      await done(session, 'snapshot');
      await late.close();
    });

    it('end with the browser and with the session', async () => {
      const session = await start();
      const viewer = await view(session);
      await takeOver(session, viewer);
      await server.ok('DELETE', `/v1/sessions/${session.id}/browser`, undefined, {}, 204);
      await viewer.state(({ takeOver: held }) => held === null);
      await until(async () => (await server.get(session.id)).status === 'ACTIVE');
      await server.refused(409, 'no_browser', 'POST', `/v1/sessions/${session.id}/browser/takeover`);
      await done(session, 'navigate', { url: `${origin}/plain` });
      await takeOver(session, viewer);
      await server.ok('POST', `/v1/sessions/${session.id}/close`, {});
      assert.equal((await viewer.end()).code, 4001);
      assert.equal((await server.get(session.id)).status, 'COMPLETED');
      await server.refused(409, 'session_ended', 'POST', `/v1/sessions/${session.id}/browser/takeover`);
    });
  });
});

describe('live views and what happens to the server', () => {
  let site;
  let origin;
  before(async () => {
    site = await startSite();
    origin = `http://127.0.0.1:${site.address().port}`;
  });
  after(() => {
    site.closeAllConnections();
    site.close();
  });
  const open = async (server, path) => {
    const session = await server.create({ app: unique('live'), status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_navigate`, { url: origin + path });
    return session;
  };

  it('a server that was killed or stopped resumes what take-overs paused', async (t) => {
    const server = await startServer({ args: ['--browser-dir', browserDirectory()] });
    t.after(() => server.dispose());
    for (const how of ['kill', 'stop']) {
      const [taken, paused] = [await open(server, '/plain'), await open(server, '/plain')];
      const viewer = await LiveClient.open(server, taken.id);
      const { leaseId } = await server.ok('POST', `/v1/sessions/${taken.id}/browser/takeover`, undefined, {}, 201);
      assert.deepEqual(await viewer.ask({ type: 'claim', leaseId }), { ok: true });
      await server.ok('POST', `/v1/sessions/${paused.id}/pause`, {});
      assert.equal((await server.get(taken.id)).status, 'PAUSED');
      await server.restart({ how });
      assert.ok([1001, 1006].includes((await viewer.end()).code));
      assert.equal((await server.get(taken.id)).status, 'ACTIVE', how);
      assert.equal((await server.get(paused.id)).status, 'PAUSED', 'which nobody took over');
      // A hibernated one is told of, and shown when it is revived; a take-over revives it.
      const again = await LiveClient.open(server, taken.id);
      const asleep = await again.state();
      assert.deepEqual([asleep.browser, asleep.tabs.length], ['hibernated', 1]);
      assert.equal((await again.ask({ type: 'claim', leaseId })).error.code, 'forbidden');
      await server.ok('POST', `/v1/sessions/${taken.id}/browser/takeover`, undefined, {}, 201);
      assert.equal((await again.picture()).tabId, asleep.tabs[0].id);
      await server.ok('DELETE', `/v1/sessions/${taken.id}/browser/takeover`, undefined, {}, 204);
      await again.close();
    }
  });

  it('a viewer does not keep a context from sleep; a take-over does', async (t) => {
    const server = await startServer({ args: ['--browser-dir', browserDirectory(), '--hibernate-seconds', '1'] });
    t.after(() => server.dispose());
    const session = await open(server, '/plain');
    const viewer = await LiveClient.open(server, session.id);
    const { leaseId } = await server.ok('POST', `/v1/sessions/${session.id}/browser/takeover`, undefined, {}, 201);
    await viewer.ask({ type: 'claim', leaseId });
    const before = await viewer.picture();
    const other = await open(server, '/plain');
    await server.ok('POST', `/v1/sessions/${other.id}/pause`, {});
    await until(async () => (await server.ok('GET', `/v1/sessions/${other.id}/browser`)).status === 'hibernated');
    assert.equal(viewer.states.at(-1).browser, 'open');
    await server.ok('DELETE', `/v1/sessions/${session.id}/browser/takeover`, undefined, {}, 204);
    await server.ok('POST', `/v1/sessions/${session.id}/pause`, {});
    await viewer.state(({ browser }) => browser === 'hibernated');
    await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_snapshot`, {});
    await viewer.picture(({ frame, tabId }) => frame > before.frame && tabId === before.tabId);
    await viewer.close();
  });

  it('a browser that crashes ends the take-over, and the view goes on with the next one', async (t) => {
    const server = await startServer({ args: ['--browser-dir', browserDirectory()] });
    t.after(() => server.dispose());
    const session = await open(server, '/plain');
    const viewer = await LiveClient.open(server, session.id);
    const { leaseId } = await server.ok('POST', `/v1/sessions/${session.id}/browser/takeover`, undefined, {}, 201);
    await viewer.ask({ type: 'claim', leaseId });
    const before = await viewer.picture();
    const [pool] = (await server.ok('GET', '/v1/pools')).pools;
    process.kill(pool.browsers[0].pid, 'SIGKILL');
    await viewer.state(({ browser, takeOver }) => browser === 'orphaned' && takeOver === null);
    await until(async () => (await server.get(session.id)).status === 'ACTIVE');
    await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_snapshot`, {});
    await viewer.picture(({ frame, tabId }) => frame > before.frame && tabId === before.tabId);
    await viewer.close();
  });

  it('tokens decide who may look, and who may take over', async (t) => {
    const sha256 = (text) => createHash('sha256').update(text).digest('hex');
    const file = join(temporaryDirectory(), 'tokens.json');
    const entry = (name, scopes, apps) => ({ name, sha256: sha256(name), scopes, apps });
    writeFileSync(file, JSON.stringify({ tokens: [entry('root', ['admin'], ['*']), entry('ada', ['write'], ['red']),
      entry('bob', ['write'], ['red']), entry('eve', ['read'], ['red']), entry('mallory', ['write'], ['blue'])] }));
    const as = (name) => ({ headers: { Authorization: `Bearer ${name}` } });
    const server = await startServer({ args: ['--tokens-file', file, '--browser-dir', browserDirectory()], ...as('root') });
    t.after(() => server.dispose());
    const session = await server.create({ app: 'red', status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_navigate`, { url: `${origin}/form` });
    await assert.rejects(LiveClient.open(server, session.id), { status: 401 });
    await assert.rejects(LiveClient.open(server, session.id, as('mallory')), { status: 404 });
    await assert.rejects(LiveClient.open(server, session.id, { headers: { ...as('ada').headers, Origin: 'http://evil.example' } }), { status: 403 });
    await server.refused(403, 'forbidden', 'POST', `/v1/sessions/${session.id}/browser/takeover`, undefined, as('eve').headers);
    const [ada, bob, eve] = await Promise.all(['ada', 'bob', 'eve'].map((name) => LiveClient.open(server, session.id, as(name))));
    const { leaseId, by } = await server.ok('POST', `/v1/sessions/${session.id}/browser/takeover`, undefined, as('ada').headers, 201);
    assert.equal(by, 'ada');
    const problem = await server.refused(409, 'taken_over', 'POST', `/v1/sessions/${session.id}/browser/takeover`, undefined, as('bob').headers);
    assert.equal(problem.takenOverBy, 'ada');
    for (const other of [bob, eve]) assert.equal((await other.ask({ type: 'claim', leaseId })).error.code, 'forbidden');
    assert.deepEqual(await ada.ask({ type: 'claim', leaseId }), { ok: true });
    assert.equal((await eve.state(({ takeOver }) => takeOver?.isConnected)).takeOver.by, 'ada');
    await ada.ask({ type: 'mouse', action: 'down', x: 100, y: 20 });
    await ada.ask({ type: 'mouse', action: 'up', x: 100, y: 20 });
    assert.equal((await bob.ask({ type: 'reload' })).error.code, 'forbidden');
    await server.ok('DELETE', `/v1/sessions/${session.id}/browser/takeover`, undefined, as('bob').headers, 204);
    const command = (await server.ok('GET', `/v1/sessions/${session.id}/commands`)).commands.at(-1);
    assert.deepEqual([command.tool, command.source, command.by], ['browser_mouse_click_xy', 'operator', 'ada']);
    await Promise.all([ada, bob, eve].map((viewer) => viewer.close()));
  });
});
