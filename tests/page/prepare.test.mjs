// Waiting until an element can be acted on: what is waited for, where the point is, and what a time-out says.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startChromium } from './chromium.mjs';
import { openStage, servePages } from './pages.mjs';

let browser;
let pages;
let stage;
before(async () => {
  browser = await startChromium();
  pages = await servePages();
  stage = await openStage(browser, pages);
});
after(async () => {
  await browser.close();
  await pages.close();
});

const box = 'position:absolute;left:100px;top:100px;width:200px;height:100px';
const inPage = (expression) => stage.page.evaluate(expression);
const prepare = async (target, options = {}) => stage.world.call('prepare', await stage.world.resolve(target),
  { timeout: 4000, ...options });
const refused = async (target, pattern, options = {}) =>
  assert.rejects(prepare(target, { timeout: 150, ...options }), (error) => {
    assert.match(error.message, pattern);
    return true;
  });

// A real click there, and the ids of what it went through.
async function clicked({ x, y }) {
  await inPage(`window.path = null; addEventListener('click', (event) => {
    window.path = event.composedPath().map((node) => node.id).filter(Boolean); event.preventDefault(); }, { once: true, capture: true })`);
  for (const type of ['mousePressed', 'mouseReleased']) {
    await stage.page.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
  }
  return inPage('path');
}

describe('a point', () => {
  it('is the middle of the element', async () => {
    await stage.show(`<button id=a style="${box}">A</button>`);
    const found = await prepare('#a');
    assert.deepEqual(found, { x: 200, y: 150, box: { x: 100, y: 100, width: 200, height: 100 }, via: null });
    assert.deepEqual(await clicked(found), ['a']);
  });

  it('is where the caller wants it in the box', async () => {
    await stage.show(`<button id=a style="${box}">A</button>`);
    const { x, y } = await prepare('#a', { position: { x: 3, y: 4 } });
    assert.deepEqual({ x, y }, { x: 103, y: 104 });
  });

  it('is on the element when it is broken over lines', async () => {
    await stage.show('<p style="width:300px;font:20px monospace">some text before it <a id=a href=/x>a link of '
      + 'many words that goes on and on</a></p>');
    assert.deepEqual(await clicked(await prepare('#a')), ['a']);
  });

  it('is on a transformed element', async () => {
    await stage.show(`<div style="transform:rotate(30deg) scale(.5)"><button id=a style="${box}">A</button></div>`);
    assert.deepEqual(await clicked(await prepare('#a')), ['a']);
  });

  it('is on a part that is not covered when the middle is', async () => {
    await stage.show(`<button id=a style="${box}">A</button><div `
      + `style="position:absolute;left:180px;top:130px;width:40px;height:40px;background:red"></div>`);
    assert.deepEqual(await clicked(await prepare('#a')), ['a']);
  });

  it('is in a shadow root', async () => {
    await stage.show('<div id=h></div><script>h.attachShadow({mode:"open"}).innerHTML="<button id=a><slot>'
      + '</slot>A</button>"</script>');
    assert.deepEqual(await clicked(await prepare('#a')), ['a', 'h']);
  });

  it('on something in the element counts, and so does a label', async () => {
    await stage.show(`<div id=a style="${box}"><b style="display:block;height:100%">x</b></div>`);
    assert.deepEqual(await clicked(await prepare('#a')), ['a']);
    await stage.show('<label id=l style="position:relative"><input id=a type=checkbox '
      + 'style="opacity:0;position:absolute;width:20px;height:20px"><i '
      + 'style="position:absolute;width:20px;height:20px;background:red"></i></label>');
    await clicked(await prepare('#a'));
    assert.ok(await inPage('a.checked === false && path.includes("l")'));
  });

  it('is on the label of a checkbox that has no box, past a link in it', async () => {
    await stage.show('<input id=a type=checkbox style="display:none"><label for=a id=l '
      + 'style="display:block;width:300px"><a href=/t style="display:inline-block;width:160px">terms</a> '
      + 'agreed</label>');
    const found = await prepare('#a', { action: 'check' });
    assert.equal(found.via, 'label');
    assert.deepEqual(await clicked(found), ['l']);
  });

  it('in a frame is found in the frame around it', async () => {
    const page = await browser.newPage();
    const inner = pages.add('<body style="margin:0"><div style="height:2000px"></div><button id=a '
      + 'onclick="document.title=\'clicked\'">A</button>', { host: 'frame.test' });
    await page.open(pages.add(`<div style="height:1500px"></div><iframe id=f src="${inner}" style="border:7px `
      + `solid;padding:3px;transform:scale(.8)"></iframe>`));
    const outer = await page.world();
    const [frameId, sessionId] = [...page.children][0];
    const world = await page.world(frameId, sessionId);
    const { x, y } = await world.call('prepare', await world.resolve('#a'), {});
    const frame = await outer.resolve('#f');
    const point = await outer.call('fromFrame', frame, { x, y }, { timeout: 5000 });
    assert.equal(point.covered, null);
    for (const type of ['mousePressed', 'mouseReleased']) {
      await page.send('Input.dispatchMouseEvent', { type, x: point.x, y: point.y, button: 'left', clickCount: 1 });
    }
    assert.equal(await page.evaluate('document.title', sessionId), 'clicked');
    await page.evaluate('document.body.insertAdjacentHTML("beforeend", "<div id=cover '
      + 'style=\'position:fixed;inset:0\'></div>")');
    assert.match((await outer.call('fromFrame', frame, { x, y })).covered,
      /<div id="cover"> intercepts pointer events/);
    await page.close();
  });
});

describe('a tall frame', () => {
  for (const host of ['127.0.0.1', 'tall.test']) {
    it(`of ${host} is scrolled in the frame around it`, async () => {
      const page = await browser.newPage();
      const inner = pages.add('<body style="margin:0"><div style="height:2800px"></div><button id=a '
        + 'onclick="document.title=\'clicked\'">A</button>', { host });
      await page.open(pages.add(`<div style="height:1500px"></div><iframe id=f src="${inner}" `
        + `style="height:3000px"></iframe><div style="height:1500px"></div>`));
      const outer = await page.world();
      const { frameTree } = await page.send('Page.getFrameTree');
      const child = [...page.children][0] ?? [frameTree.childFrames[0].frame.id];
      const world = await page.world(...child);
      await world.call('snapshot', {});
      const { x, y } = await world.call('prepare', await world.resolve('#a'), {});
      const frame = await outer.resolve('#f');
      const point = await outer.call('fromFrame', frame, { x, y }, { timeout: 5000 });
      assert.equal(point.covered, null);
      for (const type of ['mousePressed', 'mouseReleased']) {
        await page.send('Input.dispatchMouseEvent', { type, x: point.x, y: point.y, button: 'left', clickCount: 1 });
      }
      assert.equal(await world.evaluate('document.title'), 'clicked');
      await page.close();
    });
  }
});

describe('scrolling', () => {
  it('brings an element into the viewport, whatever the page thinks of smoothness', async () => {
    await stage.show('<style>html{scroll-behavior:smooth}</style><div style="height:5000px"></div><button id=a>'
      + 'A</button><div style="height:5000px"></div>');
    assert.deepEqual(await clicked(await prepare('#a')), ['a']);
  });

  it('and into nested scroll containers, both ways', async () => {
    await stage.show(`<div style="width:300px;height:200px;overflow:auto"><div style="width:3000px;height:2000px;position:relative">
      <div style="position:absolute;left:2000px;top:1500px;width:200px;height:100px;overflow:auto"><div style="height:900px"></div><button id=a>A</button></div></div></div>`);
    assert.deepEqual(await clicked(await prepare('#a')), ['a']);
  });

  it('brings it out from under a fixed header and footer', async () => {
    const bar = 'position:fixed;left:0;right:0;height:45vh;background:red';
    await stage.show(`<div style="${bar};top:0"></div><div style="height:3000px"></div><button id=a>A</button>`
      + `<div style="height:3000px"></div><div style="${bar};bottom:0"></div>`);
    assert.deepEqual(await clicked(await prepare('#a')), ['a']);
  });

  it('does not happen when the element is in view', async () => {
    await stage.show('<div style="height:300px"></div><button id=a>A</button><div style="height:5000px"></div>');
    await inPage('scrollTo(0, 250)');
    await prepare('#a');
    assert.equal(await inPage('scrollY'), 250);
  });
});

describe('waiting', () => {
  it('ends when the element is enabled', async () => {
    await stage.show('<button id=a disabled>A</button>');
    const waiting = prepare('#a');
    await inPage('requestAnimationFrame(() => requestAnimationFrame(() => { a.disabled = false; '
      + 'window.enabledAt = performance.now(); }))');
    await waiting;
    assert.ok(await inPage('enabledAt > 0'));
  });

  it('ends when the element is shown', async () => {
    await stage.show('<button id=a style="display:none">A</button>');
    const waiting = prepare('#a');
    await inPage('requestAnimationFrame(() => { a.style.display = "block"; })');
    await waiting;
  });

  it('ends when what covers it is gone', async () => {
    await stage.show(`<button id=a style="${box}">A</button><div id=m style="position:fixed;inset:0"></div>`);
    const waiting = prepare('#a');
    await inPage('setTimeout(() => m.remove(), 80)');
    assert.deepEqual(await clicked(await waiting), ['a']);
  });

  it('ends when an animation has', async () => {
    await stage.show('<style>@keyframes go{from{transform:translateX(0)}to{transform:translateX(500px)}}#a{animation:go .3s linear forwards}</style><button id=a>A</button>');
    const { x } = await prepare('#a');
    assert.ok(x > 500, `x is ${x}`);
  });

  it('ends when a transition of something around it has', async () => {
    await stage.show('<div id=w style="transition:margin-left .2s linear"><button id=a>A</button></div>');
    await stage.lines();
    await inPage('w.offsetWidth; w.style.marginLeft = "400px"');
    const { x } = await prepare('#a');
    assert.ok(x > 400, `x is ${x}`);
  });

  it('ends when a script has stopped moving it', async () => {
    await stage.show(`<button id=a style="${box}">A</button>`);
    await stage.lines();
    await inPage(`(() => { let left = 100; window.stopped = false; const step = () => { left += 10; a.style.left = left + 'px';
      if (left < 300) requestAnimationFrame(step); else window.stopped = true; }; step(); })()`);
    const { x } = await prepare('#a');
    assert.equal(x, 400);
    assert.ok(await inPage('stopped'));
  });

  it('takes no frame on a page that stands still, and one without a snapshot', async () => {
    await stage.show(`<button id=a style="${box}">A</button>`);
    await stage.lines();
    const frames = (count) => stage.world.evaluate(`(async () => {
      const element = api.resolve('#a');
      for (let i = 0; i < 3; ++i) await api.quiet();
      let frames = 0;
      let isCounting = true;
      const count = () => { if (isCounting) { frames += 1; requestAnimationFrame(count); } };
      requestAnimationFrame(count);
      const start = performance.now();
      await api.prepare(element, {});
      isCounting = false;
      return { frames, took: performance.now() - start };
    })()`);
    const seen = await frames();
    assert.equal(seen.frames, 0);
    await inPage('a.outerHTML = a.outerHTML');
    const unseen = await frames();
    assert.ok(unseen.frames <= 1, `${unseen.frames} frames`);
    console.log(`# prepare: ${seen.took.toFixed(2)} ms where the snapshot saw it, ${unseen.took.toFixed(2)} ms `
      + `and ${unseen.frames} frame else`);
  });
});

describe('a time-out says what is missing', () => {
  it('visible', async () => {
    await stage.show('<button id=a style="display:none">A</button><button id=b style="visibility:hidden">'
      + 'B</button><div id=c></div><div id=d style="width:0;height:9px"></div>');
    await refused('#a', /^not_actionable: waiting for element to be visible: it has no box .*<button id="a">/);
    await refused('#b', /visible: it has visibility: hidden/);
    await refused('#c', /visible: its size is \d+x0/);
    await refused('#d', /visible: its size is 0x9/);
  });

  it('enabled', async () => {
    await stage.show('<button id=a disabled>A</button><fieldset disabled><button id=b>B</button></fieldset><div '
      + 'role=button aria-disabled=true id=c>C</div>');
    await refused('#a', /^not_actionable: waiting for element to be enabled: it is disabled/);
    await refused('#b', /enabled: its fieldset is disabled/);
    await refused('#c', /enabled: it is aria-disabled/);
    await prepare('#a', { action: 'hover' });
    await prepare('#a', { force: true });
  });

  it('editable', async () => {
    await stage.show('<input id=a readonly><textarea id=b readonly></textarea>');
    await refused('#a', /^not_actionable: waiting for element to be editable: it is read-only/, { action: 'fill' });
    await refused('#b', /editable/, { action: 'fill' });
    await prepare('#a');
  });

  it('stable', async () => {
    await stage.show('<style>@keyframes go{from{transform:translateX(0)}to{transform:translateX(500px)}}#a{animation:go 1s linear infinite alternate}</style><button id=a>A</button>');
    await refused('#a', /^not_actionable: waiting for element to be stable: it is moving/);
  });

  it('hit, and by what it is covered', async () => {
    await stage.show(`<button id=a style="${box}">A</button><div class="modal open" id=m `
      + `style="position:fixed;inset:0"><p style="height:100%">x</p></div>`);
    await refused('#a', /^not_actionable: waiting for element to be hit by the point: <p> from the subtree of <div id="m" class="modal open"> intercepts pointer events/);
    await inPage('m.textContent = ""');
    await refused('#a', /: <div id="m" class="modal open"> intercepts pointer events/);
    await stage.show(`<button id=a style="${box};pointer-events:none">A</button>`);
    await refused('#a', /it has pointer-events: none/);
    await stage.show('<div style="height:100px;overflow:hidden;position:relative"><button id=a '
      + 'style="position:absolute;left:-500px">A</button></div>');
    await refused('#a', /hit by the point: it is outside of the viewport/);
  });

  it('attached: at once, for it will not come back', async () => {
    await stage.show('<button id=a disabled>A</button>');
    const element = await stage.world.resolve('#a');
    const waiting = stage.world.call('prepare', element, { timeout: 60_000 });
    await inPage('a.remove()');
    await assert.rejects(waiting, /^Error: stale_ref: the element <button id="a"> was removed from the page/);
    await assert.rejects(stage.world.call('prepare', element, {}), /stale_ref/);
  });

  it('and an action that is none is refused', async () => {
    await stage.show('<button id=a>A</button>');
    await refused('#a', /^invalid: /, { action: 'constructor' });
  });
});

describe('quiet', () => {
  it('comes after two frames', async () => {
    await stage.show('<p>x</p>');
    const { isQuiet, took } = await stage.world.evaluate('(async () => { const start = performance.now();'
      + 'const isQuiet = await api.quiet(); return { isQuiet, took: performance.now() - start }; })()');
    assert.ok(isQuiet || took > 95, `${took} ms`);
  });

  it('and after 100 ms when frames do not come', async () => {
    const page = await browser.newPage();
    // A frame of another site that is far from the viewport gets no animation frames.
    const inner = pages.add('<p>x</p>', { host: 'far.test' });
    await page.open(pages.add(`<div style="height:20000px"></div><iframe src="${inner}"></iframe>`));
    const far = await page.world(...[...page.children][0]);
    const { isQuiet, took } = await far.evaluate('(async () => { const start = performance.now();'
      + 'const isQuiet = await api.quiet(); return { isQuiet, took: performance.now() - start }; })()');
    assert.equal(isQuiet, false);
    assert.ok(took >= 95, `${took}`);
    await page.close();
  });
});
