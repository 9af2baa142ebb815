// What a person at a live view points at and types into, and what pictures of commands mark.
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

describe('the focus', () => {
  const focusOn = (selector) => stage.page.evaluate(`document.querySelector('${selector}').focus()`);
  const info = (isAnew = false) => stage.world.call('focusInfo', isAnew);

  it('is told once for each element, and always whether it takes secrets', async () => {
    await stage.show('<input id=a aria-label=Name><input id=b type=password><iframe id=c srcdoc="<input>"></iframe>');
    assert.equal(await info(), null);
    await focusOn('#a');
    const first = await info();
    assert.deepEqual([first.isSame, first.isFrame, first.isSecret, first.target.role, first.target.name], [false, false, false, 'textbox', 'Name']);
    assert.deepEqual(await info(), { isSame: true, isFrame: false, isSecret: false, target: null });
    assert.equal((await info(true)).target.selector, '#a');
    await focusOn('#b');
    assert.deepEqual([(await info()).isSecret, (await info()).isSame], [true, true]);
    // A button that shows the password does not make it less of one.
    await stage.page.evaluate("document.querySelector('#b').type = 'text'");
    assert.equal((await info()).isSecret, true);
    await focusOn('#c');
    assert.equal((await info()).isFrame, true);
  });
});

describe('a drop-down', () => {
  const offered = async (selector) => stage.world.call('selectInfo', await stage.world.resolve(selector));

  it('tells what it offers; a list that is drawn in the page, or disabled, does not', async () => {
    await stage.show(`<select id=a style="position:absolute;left:10px;top:20px;width:100px;height:30px"><option value=1>One</option>
      <option value=2 selected label="Two!">two</option><option disabled>Three</option></select>
      <select id=b multiple><option>x</option></select><select id=c size=3><option>x</option></select><select id=d disabled><option>x</option></select>`);
    assert.deepEqual(await offered('#a'), {
      options: [{ value: '1', label: 'One', isSelected: false, isDisabled: false }, { value: '2', label: 'Two!', isSelected: true, isDisabled: false },
        { value: 'Three', label: 'Three', isSelected: false, isDisabled: true }],
      isTruncated: false, box: { x: 10, y: 20, width: 100, height: 30 },
    });
    for (const other of ['#b', '#c', '#d']) assert.equal(await offered(other), null, other);
    const many = Array.from({ length: 1001 }, (_, index) => `<option>${index}</option>`).join('');
    await stage.show(`<select id=a>${many}</select>`);
    const { options, isTruncated } = await offered('#a');
    assert.deepEqual([options.length, isTruncated], [1000, true]);
  });

  it('is found by its point', async () => {
    await stage.show('<select id=a style="position:absolute;left:10px;top:20px;width:100px;height:30px"><option>x</option></select>');
    assert.equal(await stage.world.evaluate('api.elementAt({ x: 50, y: 30 }).id'), 'a');
    await assert.rejects(stage.world.evaluate('api.elementAt({ x: -1, y: 30 }).id'), /not_found/);
  });
});

describe('a mark', () => {
  it('is drawn around an element, and leaves nothing behind', async () => {
    await stage.show('<button id=a style="position:absolute;left:10px;top:20px;width:100px;height:30px">A</button><p id=b hidden>x</p>');
    const drawn = () => stage.page.evaluate(`(() => { const { content, left, top, width, borderTopColor, pointerEvents } = getComputedStyle(document.documentElement, '::after');
      return [content, left, top, width, borderTopColor, pointerEvents] })()`);
    const before = await drawn();
    assert.equal(await stage.world.call('markTarget', await stage.world.resolve('#a')), true);
    assert.deepEqual(await drawn(), ['""', '7px', '17px', '106px', 'rgb(232, 17, 45)', 'none']);
    assert.equal(await stage.world.call('markTarget', null), false);
    assert.deepEqual(await drawn(), before);
    assert.equal(await stage.world.evaluate("api.markTarget(document.querySelector('#b'))"), false, 'what is not drawn has no box');
    assert.equal(await stage.page.evaluate('document.adoptedStyleSheets.length'), 0);
  });
});
