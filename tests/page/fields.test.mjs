// Fields: filling them as a person would, choosing options, and secrets that stay in the page.
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

const inPage = (expression) => stage.page.evaluate(expression);
const call = async (name, target, ...args) => stage.world.call(name, await stage.world.resolve(target), ...args);

// Shows a field and notes the events it gets, with a * for those that are trusted.
async function show(html) {
  await stage.show(html);
  await inPage(`window.events = []; for (const type of ['beforeinput', 'input', 'change', 'focus']) {
    addEventListener(type, (event) => events.push(event.type + (event.isTrusted ? '*' : '')), true); }`);
}
const events = () => inPage('events.join(" ")');

describe('filling', () => {
  const typed = { text: 'some text', search: 'words', url: 'http://x/', tel: '123', email: 'a@b.c', number: '-1.5e3' };
  for (const [type, text] of Object.entries(typed)) {
    it(`an input of type ${type} gives the events of a keyboard`, async () => {
      await show(`<input id=a type=${type}>`);
      assert.deepEqual(await call('fill', '#a', text), { ok: true, value: text });
      assert.equal(await inPage('a.value'), text);
      assert.equal(await events(), 'focus* beforeinput input*');
      await inPage('a.blur()');
      assert.equal(await events(), 'focus* beforeinput input* change*');
    });
  }

  it('a password works and its value is not handed back', async () => {
    await show('<input id=a type=password value=old>');
    assert.deepEqual(await call('fill', '#a', 'hunter2'), { ok: true, value: null });
    assert.equal(await inPage('a.value'), 'hunter2');
  });

  const picked = { date: '2024-02-29', time: '13:45', 'datetime-local': '2024-02-29T13:45', month: '2024-02',
    week: '2024-W09',
    range: '30', color: '#12ab9f' };
  for (const [type, text] of Object.entries(picked)) {
    it(`an input of type ${type} takes its value with input and change`, async () => {
      await show(`<input id=a type=${type}>`);
      assert.deepEqual(await call('fill', '#a', text), { ok: true, value: text });
      assert.equal(await inPage('a.value'), text);
      assert.equal(await events(), 'focus* input change');
    });
  }

  it('a malformed value is refused and changes nothing', async () => {
    await show(`<input id=date type=date value=2020-01-01><input id=time type=time><input id=color type=color value=#ff0000>
      <input id=range type=range value=7><input id=number type=number value=5>`);
    for (const id of ['date', 'time', 'color', 'range', 'number']) {
      const { ok, reason } = await call('fill', `#${id}`, 'nonsense');
      assert.equal(ok, false);
      assert.match(reason, new RegExp(`"nonsense" is no value for an input of type ${id}`));
    }
    assert.deepEqual(await inPage('[...document.querySelectorAll("input")].map((field) => field.value)'),
      ['2020-01-01', '', '#ff0000', '7', '5']);
    assert.ok(!(await events()).includes('input'));
  });

  it('replaces what was there, and an empty text clears', async () => {
    await show('<input id=a value=old><textarea id=b>old\nlines</textarea>');
    assert.deepEqual(await call('fill', '#a', 'new'), { ok: true, value: 'new' });
    assert.deepEqual(await call('fill', '#b', 'new\nlines\n'), { ok: true, value: 'new\nlines\n' });
    assert.deepEqual(await call('fill', '#a', ''), { ok: true, value: '' });
    assert.deepEqual(await call('fill', '#b', ''), { ok: true, value: '' });
    assert.deepEqual(await inPage('[a.value, b.value]'), ['', '']);
  });

  it('obeys maxlength, and a page that refuses or rewrites what is typed', async () => {
    await show('<input id=a maxlength=3><input id=b><input id=c>');
    await inPage('b.addEventListener("beforeinput", (event) => event.preventDefault()); '
      + 'c.addEventListener("input", () => { c.value = c.value.toUpperCase(); })');
    assert.deepEqual(await call('fill', '#a', 'abcdef'), { ok: true, value: 'abc' });
    assert.deepEqual(await call('fill', '#c', 'shout'), { ok: true, value: 'SHOUT' });
    assert.deepEqual(await call('fill', '#b', 'x'), { ok: false, reason: 'the page refuses the text' });
    assert.deepEqual(await inPage('[b.value, c.value]'), ['', 'SHOUT']);
  });

  it('reaches a framework that watches the value of the element', async () => {
    await show('<input id=a>');
    // As React does: a property of the element remembers the last value it was given, and an event without a change
    // is ignored.
    await inPage(`(() => { const native = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value'); let last = ''; window.seen = [];
      Object.defineProperty(a, 'value', { configurable: true, get() { return native.get.call(this); }, set(value) { last = value; native.set.call(this, value); } });
      a.addEventListener('input', () => { const now = native.get.call(a); if (now !== last) { last = now; seen.push(now); } }); })()`);
    await call('fill', '#a', 'typed');
    assert.deepEqual(await inPage('seen'), ['typed']);
  });

  it('an editable element takes text, lines and nothing', async () => {
    await show('<div id=a contenteditable><p>old <b>text</b></p></div><div id=b contenteditable=plaintext-only>'
      + 'x</div>');
    assert.deepEqual(await call('fill', '#a', 'new "text"'), { ok: true, value: 'new "text"' });
    assert.match(await events(), /beforeinput input\*/);
    assert.equal((await call('fill', '#b', 'y')).ok, true);
    assert.equal(await inPage('b.textContent'), 'y');
    assert.deepEqual(await call('fill', '#a', ''), { ok: true, value: '' });
  });

  it('an editor that keeps its own model takes the text from beforeinput', async () => {
    await show('<div id=a contenteditable>old</div>');
    await inPage(`a.addEventListener('beforeinput', (event) => { event.preventDefault();
      a.innerHTML = '<span data-node>' + event.data + '|' + getSelection().toString() + '</span>'; })`);
    assert.deepEqual(await call('fill', '#a', 'new'), { ok: true, value: 'new|old' });
  });

  it('a text of many lines goes in whole', async () => {
    await show('<div id=a contenteditable>old</div><textarea id=b maxlength=100></textarea>');
    const text = Array.from({ length: 200 }, (_, i) => `line ${i}`).join('\n');
    assert.equal((await call('fill', '#a', text)).ok, true);
    assert.equal(await inPage('a.innerText'), text);
    assert.deepEqual(await call('fill', '#b', text), { ok: true, value: text.slice(0, 100) });
  });

  it('a label stands for its field', async () => {
    await show('<label id=l>Name <input id=a></label>');
    assert.equal((await call('fill', '#l', 'x')).ok, true);
    assert.equal(await inPage('a.value'), 'x');
  });

  it('in a shadow root works', async () => {
    await show('<div id=h></div><script>h.attachShadow({mode:"open"}).innerHTML="<input id=a>"</script>');
    assert.deepEqual(await call('fill', '#a', 'x'), { ok: true, value: 'x' });
    assert.equal(await inPage('h.shadowRoot.firstChild.value'), 'x');
    assert.match(await events(), /beforeinput input\*/);
  });

  it('says why it could not', async () => {
    await show('<input id=a type=checkbox><input id=b disabled><input id=c readonly><p id=d>x</p><input id=e '
      + 'type=file><select id=f></select>');
    const reasons = [];
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) reasons.push(await call('fill', `#${id}`, 'x'));
    assert.ok(reasons.every(({ ok }) => ok === false));
    assert.deepEqual(reasons.map(({ reason }) => reason), ['an input of type checkbox takes no text',
      'it is disabled', 'it is read-only',
      '<p id="d"> is not a field for text', 'an input of type file takes no text',
        '<select id="f"> is not a field for text']);
  });

  it('a long text is quick', async () => {
    await show('<textarea id=a></textarea>');
    const text = 'line of text\n'.repeat(8000);
    const start = performance.now();
    assert.equal((await call('fill', '#a', text)).ok, true);
    const took = performance.now() - start;
    assert.equal(await inPage('a.value.length'), text.length);
    console.log(`# fill of ${text.length} characters: ${took.toFixed(0)} ms`);
    assert.ok(took < 2000);
  });
});

describe('choosing', () => {
  it('takes a value, a label, or a label in another case', async () => {
    await show('<select id=a><option value=1>One<option value=2>Two<option value=3 label="Number three">x</select>');
    assert.deepEqual(await call('selectOptions', '#a', ['2']), ['2']);
    assert.equal(await events(), 'focus* input change');
    assert.deepEqual(await call('selectOptions', '#a', ['One']), ['1']);
    assert.deepEqual(await call('selectOptions', '#a', 'number THREE'), ['3']);
    assert.equal(await inPage('a.value'), '3');
  });

  it('the same again sends no event', async () => {
    await show('<select id=a><option>One<option>Two</select>');
    await call('selectOptions', '#a', ['One']);
    assert.equal(await events(), 'focus*');
  });

  it('several, and none, where the list allows it', async () => {
    await show('<select id=a multiple><option>One<option selected>Two<option>Three</select>');
    assert.deepEqual(await call('selectOptions', '#a', ['One', 'Three']), ['One', 'Three']);
    assert.deepEqual(await call('selectOptions', '#a', []), []);
  });

  it('what is not there, disabled or too much is refused', async () => {
    await show('<select id=a><option>One<option disabled>Two</select><p id=b>x</p>');
    await assert.rejects(call('selectOptions', '#a', ['Ten']),
      /^Error: not_found: no option "Ten"; there are 2: "One", "Two"/);
    await assert.rejects(call('selectOptions', '#a', ['Two']), /^Error: not_actionable: option "Two" is disabled/);
    await assert.rejects(call('selectOptions', '#a', ['One', 'Two']), /^Error: invalid: /);
    await assert.rejects(call('selectOptions', '#b', ['One']), /^Error: invalid: /);
  });
});

describe('checking', () => {
  it('tells what is checked and whether a click is needed', async () => {
    await show(`<input type=checkbox id=a checked><label id=l>x <input type=checkbox id=b></label><div role=switch aria-checked=true id=c>s</div>
      <div role=checkbox aria-checked=mixed id=d>m</div><input type=radio id=e checked><p id=f>x</p>`);
    assert.deepEqual(await call('setChecked', '#a', true), { isChecked: true, needsClick: false });
    assert.deepEqual(await call('setChecked', '#a', false), { isChecked: true, needsClick: true });
    assert.deepEqual(await call('setChecked', '#l', true), { isChecked: false, needsClick: true });
    assert.deepEqual(await call('setChecked', '#c', true), { isChecked: true, needsClick: false });
    assert.deepEqual(await call('setChecked', '#d', true), { isChecked: 'mixed', needsClick: true });
    await assert.rejects(call('setChecked', '#e', false), /^Error: invalid: a radio button/);
    await assert.rejects(call('setChecked', '#f', true), /^Error: invalid: /);
    assert.equal(await call('isChecked', '#f'), null);
  });
});

describe('focus, selection and values', () => {
  it('focus tells whether it worked', async () => {
    await show('<input id=a><p id=b>x</p><p id=c tabindex=-1>x</p><input id=d disabled>');
    assert.deepEqual([await call('focus', '#a'), await call('focus', '#b'), await call('focus', '#c'),
      await call('focus', '#d')], [true, false, true, false]);
  });

  it('selectText selects all of it', async () => {
    await show('<input id=a value="some text"><p id=b>a <b>para</b></p>');
    await call('selectText', '#a');
    assert.deepEqual(await inPage('[a.selectionStart, a.selectionEnd]'), [0, 9]);
    await call('selectText', '#b');
    assert.equal(await inPage('getSelection().toString()'), 'a para');
  });

  it('value reads each kind of field, but no secret', async () => {
    await show(`<input id=a value=x><textarea id=b>y</textarea><select id=c multiple><option selected>1<option selected>2</select>
      <input type=checkbox id=d checked><input type=password id=e value=hunter2><div contenteditable id=f>z</div><p id=g>w</p>`);
    const values = [];
    for (const id of 'abcdefg') values.push(await call('value', `#${id}`));
    assert.deepEqual(values.map(({ value }) => value), ['x', 'y', ['1', '2'], true, null, 'z', null]);
    assert.deepEqual(values.map(({ isSecret }) => isSecret), [false, false, false, false, true, false, false]);
  });
});

describe('a picture', () => {
  const picture = async () => (await stage.page.send('Page.captureScreenshot', { format: 'png' })).data;

  it('shows no secret, and the page is as before afterwards', async () => {
    const fields = (value) => `<body style="caret-color:transparent"><input id=a autocomplete=one-time-code value="${value}"><input id=b type=password value="${value}">
      <div id=h></div><script>b.type = 'password'; h.attachShadow({mode:"open"}).innerHTML = '<input autocomplete="one-time-code" value="${value}">'</script>`;
    const masked = [];
    for (const value of ['123456', '987654']) {
      await stage.show(fields(value));
      await stage.lines();  // the password is seen as one
      await inPage('b.type = "text"');
      await inPage('window.changes = 0; new MutationObserver((list) => { changes += list.length; '
        + '}).observe(document, { subtree: true, attributes: true, childList: true })');
      const open = await picture();
      assert.deepEqual(await stage.world.call('maskSecrets', true), { masked: 3 });
      const closed = await picture();
      assert.notEqual(open, closed);
      masked.push(closed);
      assert.deepEqual(await stage.world.call('maskSecrets', false), { masked: 0 });
      assert.equal(await picture(), open);
      assert.deepEqual(await inPage('[changes, document.adoptedStyleSheets.length, '
        + 'h.shadowRoot.adoptedStyleSheets.length, document.getAnimations().length]'), [0, 0, 0, 0]);
    }
    assert.equal(masked[0], masked[1], 'the value cannot be told from the picture');
  });

  it('of a page without secrets leaves it alone', async () => {
    await stage.show('<input value=x><input type=password value=y>');
    assert.deepEqual(await stage.world.call('maskSecrets', true), { masked: 0 });
    assert.equal(await inPage('document.adoptedStyleSheets.length'), 0);
  });

  it('keeps the sheets of the page', async () => {
    await stage.show('<input autocomplete=one-time-code value=1>');
    await inPage('(() => { const sheet = new CSSStyleSheet(); sheet.replaceSync("p{color:red}"); '
      + 'document.adoptedStyleSheets = [sheet]; })()');
    await stage.world.call('maskSecrets', true);
    assert.equal(await inPage('document.adoptedStyleSheets.length'), 2);
    await stage.world.call('maskSecrets', true);
    assert.equal(await inPage('document.adoptedStyleSheets.length'), 2);
    await stage.world.call('maskSecrets', false);
    assert.equal(await inPage('document.adoptedStyleSheets[0].cssRules[0].cssText'), 'p { color: red; }');
    await inPage('document.adoptedStyleSheets = []');
  });
});

describe('storage', () => {
  it('is read and written for the origin', async () => {
    const page = await browser.newPage();
    await page.open(pages.add('<p>x</p>', { host: 'store.test' }));
    const world = await page.world();
    const entries = [{ name: 'getItem', value: 'a' }, { name: 'length', value: 'b' }, { name: 'ключ', value: '"ü"' }];
    assert.deepEqual(await world.call('setStorage', entries), { stored: 3 });
    const stored = await world.call('storage');
    assert.equal(stored.origin, `http://store.test:${pages.port}`);
    assert.deepEqual([...stored.entries].sort((a, b) => (a.name < b.name ? -1 : 1)), entries);
    assert.deepEqual(await world.call('setStorage', [{ name: 'only', value: 1 }], { replace: true }), { stored: 1 });
    assert.deepEqual((await world.call('storage')).entries, [{ name: 'only', value: '1' }]);
    await world.call('setStorage', [{ name: 's', value: 't' }], { area: 'session' });
    assert.deepEqual((await world.call('storage', { area: 'session' })).entries, [{ name: 's', value: 't' }]);
    await page.close();
  });

  it('ends at the quota and at the bytes asked for', async () => {
    const page = await browser.newPage();
    await page.open(pages.add('<p>x</p>', { host: 'quota.test' }));
    const world = await page.world();
    const big = Array.from({ length: 8 }, (_, i) => ({ name: `k${i}`, value: 'x'.repeat(1 << 20) }));
    const { stored } = await world.call('setStorage', big);
    assert.ok(stored > 2 && stored < 8, `${stored}`);
    const part = await world.call('storage', { maxBytes: (1 << 20) + 100 });
    assert.equal(part.entries.length, 1);
    assert.equal(part.truncated, true);
    await page.close();
  });

  it('is not there for an origin that has none', async () => {
    const page = await browser.newPage();
    await page.open('data:text/html,<p>x</p>');
    const world = await page.world();
    assert.deepEqual(await world.call('storage'), { origin: 'null', available: false, entries: [], truncated: false });
    await assert.rejects(world.call('setStorage', [{ name: 'a', value: 'b' }]), /^Error: unavailable: /);
    await page.close();
  });
});

describe('after a fill, the page', () => {
  const look = async (html) => {
    await stage.show(html);
    const { ok, isStill } = await call('fillAndLook', '#a', 'x');
    assert.ok(ok);
    return isStill;
  };
  const doing = (what) => `<input id=a oninput="${what}"><p id=out>-</p>`;
  const change = "out.textContent = 'changed'";

  it('is still when it does nothing, or only notes the text', async () => {
    assert.equal(await look('<input id=a>'), true);
    assert.equal(await look('<textarea id=a></textarea>'), true);
    assert.equal(await look(doing('window.typed = this.value')), true);
  });

  const ways = {
    'at once': change, 'by an attribute': "out.hidden = true", 'in a microtask': `Promise.resolve().then(() => { ${change} })`,
    'in a task': `const c = new MessageChannel(); c.port1.onmessage = () => { ${change} }; c.port2.postMessage(0)`,
  };
  for (const [way, what] of Object.entries(ways)) {
    it(`is not when it changes ${way}`, async () => assert.equal(await look(doing(what)), false));
  }

  it('is not when the shadow tree around the field changes', async () => {
    await stage.show('<div id=host></div>');
    await inPage(`host.attachShadow({ mode: 'open' }).innerHTML = '<input><p>-</p>';
      host.shadowRoot.querySelector('input').oninput = () => { host.shadowRoot.querySelector('p').textContent = 'x'; }`);
    assert.equal((await call('fillAndLook', { role: 'textbox' }, 'x')).isStill, false);
  });

  it('is asked nothing when the field takes no text', async () => {
    await stage.show('<input id=a type=checkbox>');
    assert.equal((await call('fillAndLook', '#a', 'x')).ok, false);
  });
});
