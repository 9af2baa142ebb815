// A page decides how large and how hostile it is; the script stays quick, bounded and right.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startChromium } from './chromium.mjs';
import { openStage, servePages, withoutRefs } from './pages.mjs';
import { pageScript, partNames, parts } from './script.mjs';

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

const inPage = (expression) => stage.page.evaluate(expression);

describe('a hostile page', () => {
  it('cannot reach the script through what it replaces', async () => {
    const page = await browser.newPage();
    await page.open(pages.add(`<form id=f><input name=children aria-label=a></form><button>b</button><script>
      window.touched = [];
      for (const type of [Node, Element, Document, Array, Map, WeakMap, String, Object, RegExp]) {
        for (const name of Object.getOwnPropertyNames(type.prototype)) {
          if (['constructor', 'valueOf', 'toString', '__proto__'].includes(name)) continue;
          const old = Object.getOwnPropertyDescriptor(type.prototype, name);
          if (old.configurable && old.get && type === Node) Object.defineProperty(type.prototype, name, { ...old, get() { touched.push(name); return old.get.call(this); } });
          if (old.configurable && type === Element && typeof old.value === 'function') type.prototype[name] = function (...args) { touched.push(name); return old.value.apply(this, args); };
        }
      }
      window.getComputedStyle = () => { touched.push('style'); };
      touched.length = 0;
    </script>`));
    const world = await page.world();
    assert.equal(withoutRefs((await world.call('snapshot', {})).text), '- textbox "a"\n- button "b"');
    await world.call('fill', await world.resolve('input'), 'x');
    await world.call('prepare', await world.resolve('button'), {});
    assert.deepEqual(await page.evaluate('touched'), []);
    assert.equal(await page.evaluate('Object.keys(window).filter((name) => '
      + '/reprise|api|snapshot/i.test(name)).length'), 0);
    await page.close();
  });

  it('cannot exhaust the stack by nesting', async () => {
    const nest = (host, count) => inPage(`(() => { let at = ${host}; for (let i = 0; i < ${count}; ++i) {
      const next = document.createElement('div'); next.append('.'); at.append(next); at = next; } at.innerHTML = '<button>deep</button>'; })()`);
    // What is drawn cannot be nested much deeper than this without the browser's own layout giving up.
    await stage.show('<div id=shown></div><button aria-labelledby=hidden>x</button><div id=hidden hidden></div>');
    await nest('shown', 400);
    await nest('hidden', 20_000);
    const { text } = await stage.world.call('snapshot', {});
    assert.match(text, /button "deep"/);
    assert.match(text, /- button \[ref=\w+\]: x/, 'a name of all that depth is too long');
    const { name, selector } = await stage.world.call('describe', await stage.world.resolve('#shown button'));
    assert.equal(name, 'deep');
    assert.ok(selector.length < 1000);
    await stage.world.call('find', { text: 'deep' });
    await assert.rejects(stage.world.call('resolve', 'text=not there'), /not_found/);
  });

  it('nor by buttons in buttons', async () => {
    await stage.show('<div id=host></div>');
    await inPage(`(() => { let at = host; for (let i = 0; i < 400; ++i) { const next = document.createElement('div');
      next.setAttribute('role', 'treeitem'); next.append('item ' + i + ' '); at.append(next); at = next; } })()`);
    const start = performance.now();
    await stage.world.call('snapshot', {});
    assert.ok(performance.now() - start < 5000);
  });

  it('cannot make names refer to each other without end', async () => {
    const ids = Array.from({ length: 100 }, (_, i) => `n${i}`).join(' ');
    await stage.show(Array.from({ length: 100 }, (_, i) => `<button id=n${i} aria-labelledby="${ids}">`
      + `b${i}</button>`).join(''));
    const start = performance.now();
    const { text } = await stage.world.call('snapshot', {});
    assert.ok(performance.now() - start < 5000);
    assert.match(text, /b0 b1 b2/);
  });

  it('cannot make one text the name of everything, or everything the label of one field', async () => {
    await stage.show('<div id=host></div><p id=long></p>');
    await inPage(`long.textContent = 'x'.repeat(1e6); host.innerHTML = '<button aria-labelledby=long>b</button>'.repeat(3000)
      + '<input id=field>' + '<label for=field>l</label>'.repeat(10000)`);
    const start = performance.now();
    const { text } = await stage.world.call('snapshot', {});
    assert.ok(performance.now() - start < 10_000, `${performance.now() - start} ms`);
    assert.match(text, /- button \[ref=\w+\]: b/);
  });

  it('gets the time it is given and no more', async () => {
    await stage.show('<div id=host></div>');
    await inPage('host.innerHTML = "<p>some <b>text</b> <a href=/x>link</a></p>".repeat(20000)');
    const start = performance.now();
    const { text, truncated } = await stage.world.call('snapshot', { timeBudget: 50 });
    const took = performance.now() - start;
    assert.equal(truncated, true);
    assert.match(text, /# truncated: the page is too large/);
    assert.ok(took < 5000, `${took} ms`);
  });

  it('cannot overflow a line or a list with its values', async () => {
    await stage.show('<input id=a aria-label=v><p id=p></p><button id=b></button>');
    await inPage('a.value = "x".repeat(1e6); p.textContent = "y".repeat(1e6); b.title = "z".repeat(1e6)');
    const { text } = await stage.world.call('snapshot', {});
    assert.ok(text.length < 30_000, `${text.length}`);
    assert.match(text, /x…\n/);
    assert.match(text, /y…\n/);
    const { name } = await stage.world.call('describe', await stage.world.resolve('#b'));
    assert.ok(name.length <= 901);
  });

  it('cannot overflow a call with the number of its elements', async () => {
    await stage.show('<label><div id=host></div></label>');
    await inPage('host.innerHTML = "<a></a>".repeat(180000)');
    await stage.world.call('snapshot', {});
    await assert.rejects(stage.world.call('resolve', '#host a'), /^Error: not_unique: 180000 matches/);
  });

  it('cannot run anything by the events of a snapshot', async () => {
    await stage.show('<custom-part></custom-part><input id=a>');
    await inPage(`window.calls = 0; customElements.define('custom-part', class extends HTMLElement {
      get shadowRoot() { calls += 1; return null; } getBoundingClientRect() { calls += 1; return {}; } get tagName() { calls += 1; return 'X'; } })`);
    await stage.world.call('snapshot', {});
    await stage.world.call('describe', await stage.world.resolve('custom-part'));
    assert.equal(await inPage('calls'), 0);
  });
});

describe('the script', () => {
  it('is one expression, parses part by part, and is not too much for every document', () => {
    for (const [index, part] of parts.entries()) assert.doesNotThrow(() => new Function(part), partNames[index]);
    assert.ok(Buffer.byteLength(pageScript) < 128 * 1024, `${Buffer.byteLength(pageScript)} bytes`);
    assert.ok(parts.every((part) => part.endsWith('\n')));
    assert.ok(/^[\x00-\x7f]*$/.test(pageScript), 'V8 keeps text of one byte a character in half the room');
  });

  it('is evaluated quickly', async () => {
    const page = await browser.newPage();
    await page.open(pages.add('<p>x</p>'));
    const times = [];
    for (let i = 0; i < 5; ++i) {
      await page.open(pages.add('<p>x</p>'));
      const start = performance.now();
      await page.world();
      times.push(performance.now() - start);
    }
    console.log(`# world and script: ${median(times).toFixed(1)} ms, ${Buffer.byteLength(pageScript)} bytes`);
    assert.ok(median(times) < 500);
    await page.close();
  });
});

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

describe('how long a snapshot takes', () => {
  const rows = (count) => `<style>td{padding:4px}</style><main><h1>Orders</h1><form aria-label=Search><input placeholder="Search orders"><button>Go</button></form>
    <table><thead><tr><th>No</th><th>Name</th><th>Status</th><th>Action</th></tr></thead><tbody>${Array.from({ length: count }, (_, i) =>
    `<tr><td>${i}</td><td><a href=/o/${i}>Order ${i}</a></td><td>${i % 3 ? 'paid' : 'open'}</td><td><button>Edit</button> <button>Delete</button></td></tr>`).join('')}</tbody></table></main>`;
  const items = (count) => `<style>.badge::before{content:"New "}.card{display:flex;gap:8px}button{cursor:pointer}</style><main><h1>Items</h1><ul>${Array.from({ length: count }, (_, i) =>
    `<li><div class=card><a href="/item/${i}"><span>Item number ${i}</span></a><p>Description of <b>item</b> ${i}</p><span class="${i % 5 ? '' : 'badge'}">$${i}.00</span>`
    + `<button aria-label="Buy item ${i}">Buy</button><label><input type=checkbox> Select</label></div></li>`).join('')}</ul></main>`;

  // On a quiet machine; the bounds leave room for a busy one, where what counts is the processor's time.
  for (const [what, html, aim, bound] of [['40 rows', rows(40), 15, 500], ['2,000 items', items(2000), 300, 6000]]) {
    it(`of ${what}`, async () => {
      const page = await browser.newPage();
      await page.open(pages.add(html));
      const world = await page.world();
      await page.send('Performance.enable', { timeDomain: 'threadTicks' });
      const processorMs = async () => (await page.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
      const [walls, processor] = [[], []];
      let bytes = 0;
      for (let i = 0; i < 6; ++i) {
        const [before, start] = [await processorMs(), performance.now()];
        bytes = (await world.call('snapshot', {})).text.length;
        walls.push(performance.now() - start);
        processor.push(await processorMs() - before);
      }
      const elements = await page.evaluate('document.querySelectorAll("*").length');
      console.log(`# ${what} (${elements} elements, ${bytes} bytes): first ${walls[0].toFixed(0)} ms, then `
        + `${median(walls.slice(1)).toFixed(1)} ms;`
        + ` processor ${processor[0].toFixed(0)} and ${median(processor.slice(1)).toFixed(1)} ms (aim ${aim})`);
      assert.ok(median(walls.slice(1)) < bound);
      await page.close();
    });
  }
});
