// Finding elements by what an agent calls them, and describing them so that they are found again.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startChromium } from './chromium.mjs';
import { openStage, refIn, servePages } from './pages.mjs';

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

// The id of what a target resolves to.
const idOf = (target) => stage.world.evaluate(`api.resolve(${JSON.stringify(target)}).id`);
const refused = (target, code) => assert.rejects(idOf(target), new RegExp(`^Error: ${code}: `));
const withShadow = (html) => `<div id=host></div><script>host.attachShadow({mode: "open"}).innerHTML = `
  + `${JSON.stringify(html)}</script>`;

describe('a selector', () => {
  before(() => stage.show(`<main><button id=a class=x>Save</button><button id=b>Save all</button>
    <div id=c><a id=d href=/z>Go <b id=e>home</b></a><input id=f type=submit value="Send it"></div><p id=g hidden>Save</p></main>
    ${withShadow('<section id=s1><button id=inner>Deep</button></section>')}`));

  it('is CSS, and unique', async () => {
    assert.equal(await idOf('#a'), 'a');
    assert.equal(await idOf({ selector: 'css=main > div a' }), 'd');
    await refused('.none', 'not_found');
    await refused('>', 'invalid');
    await assert.rejects(idOf('main button'), /^Error: not_unique: 2 matches for selector "main button": <button id="a" class="x">, <button id="b">$/);
  });

  it('looks into open shadow roots', async () => {
    assert.equal(await idOf('#inner'), 'inner');
    assert.equal(await idOf('section button'), 'inner');
    assert.equal(await idOf('#host >> button'), 'inner');
  });

  it('is a text: part of it in any case, or exactly', async () => {
    assert.equal(await idOf('text=save ALL'), 'b');
    assert.equal(await idOf('text="Save"'), 'a');
    assert.equal(await idOf('text=/^Save$/'), 'a');
    await refused('text=Save', 'not_unique');
    assert.equal(await idOf('text=home'), 'e');
    assert.equal(await idOf('text=Go home'), 'd');
    assert.equal(await idOf('text=Deep'), 'inner');
    assert.equal(await idOf('text=Send it'), 'f');
    await refused('text=none of that', 'not_found');
    assert.equal(await idOf({ text: 'save', nth: 1 }), 'b');
  });

  it('is a role with a name and states', async () => {
    assert.equal(await idOf('role=button[name="Save"]'), 'a');
    assert.equal(await idOf('role=link'), 'd');
    assert.equal(await idOf("role=button[name='deep']"), 'inner');
    await refused('role=button', 'not_unique');
    await refused('role=button[name="Save"][disabled]', 'not_found');
    assert.equal(await idOf('role=button[name="Save"][disabled=false]'), 'a');
    await refused('role=button[name=', 'invalid');
    assert.equal(await idOf({ role: 'button', name: 'Save' }), 'a');
    assert.equal(await idOf({ role: 'button', nth: 1 }), 'b');
    await refused({ role: 'button', name: 'Save', nth: 5 }, 'not_found');
  });

  it('is an XPath', async () => {
    assert.equal(await idOf('xpath=//button[2]'), 'b');
    assert.equal(await idOf('//a'), 'd');
    await refused('xpath=///', 'invalid');
    await refused('xpath=string(//a)', 'invalid');
  });

  it('is a chain', async () => {
    assert.equal(await idOf('main >> button >> nth=1'), 'b');
    assert.equal(await idOf('#c >> text=home'), 'e');
    assert.equal(await idOf('button:has-text("all")'), 'b');
    assert.equal(await idOf(':has-text(">> x"):visible, #a'.split(',')[1].trim()), 'a');
    await refused('main >> >> a', 'invalid');
    await refused('p:visible', 'not_found');
  });

  it('or a target is refused that is none of them', async () => {
    await refused({}, 'invalid');
    await refused(null, 'invalid');
  });
});

describe('a description', () => {
  const whole = async (target) => stage.world.call('describe', await stage.world.resolve(target));
  const described = async (target) => {
    const { box, ...rest } = await whole(target);
    return rest;
  };

  it('has the box', async () => {
    await stage.show('<button style="position:absolute;left:10px;top:20px;width:100px;height:30px">A</button>');
    assert.deepEqual((await whole('button')).box, { x: 10, y: 20, width: 100, height: 30 });
  });

  it('has role, name, ordinal, selector, tag and kind of input', async () => {
    await stage.show('<button>Edit</button><ul><li><button>Edit</button><li><button>Edit</button></ul><input '
      + 'type=email name=mail aria-label=Mail>');
    assert.deepEqual(await described('li:nth-of-type(2) button'), {
      role: 'button', name: 'Edit', nth: 2, selector: 'li:nth-of-type(2) > button', tag: 'button', inputType: null,
        isSecret: false,
    });
    assert.deepEqual(await described('input'), {
      role: 'textbox', name: 'Mail', nth: 0, selector: 'input[name="mail"]', tag: 'input', inputType: 'email',
        isSecret: false,
    });
  });

  it('knows secret fields, also when they are shown as text later', async () => {
    await stage.show('<input id=p type=password><input id=o autocomplete="section-a one-time-code"><input id=t>'
      + '<input id=d style="-webkit-text-security:disc">');
    const secret = async (target) => (await described(target)).isSecret;
    assert.deepEqual(await Promise.all(['#p', '#o', '#t', '#d'].map(secret)), [true, true, false, true]);
    await stage.page.evaluate('p.type = "text"');
    assert.equal(await secret('#p'), true);
  });

  it('leads back to the element, by selector and by role, name and ordinal', async () => {
    await stage.show(`<form><input name=q aria-label=Query><input name=q aria-label=Query><button name=id>Go</button></form>
      <table><tr><td><a href=/a>More</a></td><td><a href=/b>More</a></td></tr></table><div><div><span tabindex=0>x</span></div><div><span tabindex=0>x</span></div></div>
      <label><input type=checkbox style="display:none">Agree</label><select aria-label=S><option>one<option>two</select>
      <div id="r:1:" tabindex=0>made-up id</div><div id="x12345" tabindex=0>made-up too</div>
      ${withShadow('<p><button>In</button></p><my-part><button>In</button></my-part>')}`);
    const wrong = await stage.world.evaluate(`(() => {
      const wrong = [];
      const roots = [document, host.shadowRoot];
      for (const element of roots.flatMap((root) => [...root.querySelectorAll('input,button,a,span,select,option,[tabindex]')])) {
        const { selector, role, name, nth } = api.describe(element);
        if (api.resolve({ selector }) !== element) wrong.push(selector);
        if (selector.length > 80) wrong.push('long: ' + selector);
        if (role !== 'generic' && api.resolve({ role, name, nth }) !== element) wrong.push([role, name, nth].join());
      }
      return wrong;
    })()`);
    assert.deepEqual(wrong, []);
  });

  it('of a clobbered form is right', async () => {
    await stage.show('<form id=f aria-label=F><input name=id><input name=parentNode><input name=tagName><input '
      + 'name=getRootNode></form>');
    assert.deepEqual(await described({ role: 'form' }), {
      role: 'form', name: 'F', nth: 0, selector: '#f', tag: 'form', inputType: null, isSecret: false,
    });
  });

  it('of a label for a hidden checkbox is that of the checkbox', async () => {
    await stage.show('<input type=checkbox id=c style="display:none"><label for=c>Agree</label>');
    const { role, name, selector } = await described(refIn(await stage.lines(), /checkbox/));
    assert.deepEqual({ role, name, selector }, { role: 'checkbox', name: 'Agree', selector: 'label' });
  });
});

describe('what is at a point', () => {
  const at = 'position:absolute;left:100px;top:100px;width:200px;height:100px';

  it('is the control there, not its parts', async () => {
    await stage.show(`<button id=a style="${at}"><b>Save</b></button>`);
    const ref = refIn(await stage.lines(), /button/);
    const { role, name, tag, box, frame, ref: found } = await stage.world.call('hitInfo', 200, 150);
    assert.deepEqual({ role, name, tag, box, frame, found },
                     { role: 'button', name: 'Save', tag: 'button', box: { x: 100, y: 100, width: 200, height: 100 },
                       frame: null, found: ref });
  });

  it('is inside open shadow roots', async () => {
    await stage.show(withShadow(`<button style="${at}">In</button>`));
    assert.equal((await stage.world.call('hitInfo', 200, 150)).name, 'In');
  });

  it('is a frame, with the point in it', async () => {
    await stage.show(`<iframe style="${at};border:10px solid;padding:5px;box-sizing:border-box"></iframe>`);
    const { role, frame } = await stage.world.call('hitInfo', 200, 150);
    assert.deepEqual({ role, frame }, { role: 'iframe', frame: { x: 85, y: 35 } });
  });

  it('is nothing outside of the viewport', async () => {
    assert.equal(await stage.world.call('hitInfo', -5, 10), null);
    assert.equal(await stage.world.call('hitInfo', 1e9, 10), null);
  });
});
