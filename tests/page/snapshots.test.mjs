// Snapshots beyond single lines: refs and how long they hold, frames, parts, boxes, bounds, and find.
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

const inPage = (expression) => stage.page.evaluate(expression);

describe('refs', () => {
  it('are counted from 1 in each document, with the prefix in front', async () => {
    const page = await browser.newPage();
    await page.open(pages.add('<h1>a</h1><button>b</button>'));
    const world = await page.world();
    assert.equal((await world.call('snapshot', { prefix: 'f2' })).text,
                 '- heading "a" [level=1] [ref=f2e1]\n- button "b" [ref=f2e2]');
    assert.match((await world.call('find', { text: 'b' })).matches[0].line, /\[ref=f2e2\]/, 'the prefix is remembered');
    await page.open(pages.add('<button>c</button>'));
    assert.equal((await (await page.world()).call('snapshot', {})).text, '- button "c" [ref=e1]');
    await page.close();
  });

  it('stay with their elements while role and name do', async () => {
    await stage.show('<button id=a>A</button><button id=b>B</button>');
    const first = await stage.lines();
    await inPage('document.body.append(a); a.style.color = "red"; a.disabled = true; '
      + 'document.body.prepend(document.createElement("hr"))');
    const second = await stage.lines();
    assert.equal(refIn(second, /"A"/), refIn(first, /"A"/));
    assert.equal(refIn(second, /"B"/), refIn(first, /"B"/));
    assert.match(second, /^- separator .*\n- button "B" .*\n- button "A" \[disabled\]/);
  });

  it('change with the name and with the role, and the old ones are stale', async () => {
    await stage.show('<button id=a>Save</button><div id=b>x</div>');
    const first = await stage.lines();
    const [button, block] = [refIn(first, /button/), refIn(first, /generic/)];
    await inPage('a.textContent = "Delete"; b.setAttribute("role", "link")');
    await stage.world.resolve({ ref: button });  // no snapshot since: it is what the agent saw
    const second = await stage.lines();
    assert.notEqual(refIn(second, /button/), button);
    assert.notEqual(refIn(second, /link/), block);
    await assert.rejects(stage.world.resolve({ ref: button }), /^Error: stale_ref: /);
    await assert.rejects(stage.world.resolve(block), /^Error: stale_ref: /);
  });

  it('are stale when the element is gone, or was never there', async () => {
    await stage.show('<button id=a>Save</button>');
    const ref = refIn(await stage.lines(), /button/);
    await inPage('a.remove()');
    await assert.rejects(stage.world.resolve({ ref }), /^Error: stale_ref: /);
    await assert.rejects(stage.world.resolve({ ref: 'e99999' }), /^Error: stale_ref: /);
    await assert.rejects(stage.world.resolve({ ref: 'f7e1' }), /^Error: stale_ref: /);
  });

  it('are given to what has a box and takes pointer events', async () => {
    await stage.show(`<p>a</p><p style="pointer-events:none">b</p><div style="width:0;height:0;overflow:hidden"><p style="width:0;height:0">c</p></div>
      <div inert><button>d</button></div><select aria-label=s><option>e</select>
      <button id=o>out</button><dialog id=d><button>in</button></dialog>`);
    const text = await stage.lines();
    assert.match(text, /paragraph \[ref=e\d+\]: a/);
    assert.match(text, /paragraph: b/);
    assert.match(text, /paragraph: c/);
    assert.match(text, /button "d"$/m);
    assert.match(text, /option "e" \[selected\]$/m);
    assert.match(text, /button "out" \[ref=/);
    await inPage('d.showModal()');
    const modal = await stage.lines();
    assert.match(modal, /button "out"$/m);
    assert.match(modal, /button "in" \[active\] \[ref=/);
  });

  it('of many removed elements do not stay for ever', async () => {
    await stage.show('<div id=host></div>');
    for (let round = 0; round < 4; ++round) {
      await inPage(`host.innerHTML = '<button>x${round}</button>'.repeat(6000)`);
      await stage.lines();
    }
    const text = await stage.lines();
    await stage.world.resolve({ ref: refIn(text, /x3/) });
    await inPage('host.innerHTML = ""');
    await assert.rejects(stage.world.resolve({ ref: refIn(text, /x3/) }), /^Error: stale_ref: /);
  });
});

describe('frames', () => {
  it('are told by line, indent and ref, and have snapshots of their own', async () => {
    const page = await browser.newPage();
    const same = pages.add('<button>same</button>');
    const other = pages.add('<button>other</button>', { host: 'other.test' });
    await page.open(pages.add(`<h1>T</h1><ul><li>a <iframe src="${same}"></iframe><li><iframe name=o `
      + `src="${other}"></iframe></ul>`));
    const { text, frames } = await (await page.world()).call('snapshot', {});
    const lines = text.split('\n');
    assert.equal(frames.length, 2);
    for (const { ref, line, indent } of frames) assert.equal(lines[line], `${' '.repeat(indent)}- iframe [ref=${ref}]`);
    assert.deepEqual(frames.map(({ indent }) => indent), [4, 4]);
    const { frameTree } = await page.send('Page.getFrameTree');
    const inner = await page.world(frameTree.childFrames[0].frame.id);
    assert.equal((await inner.call('snapshot', { prefix: 'f1' })).text, '- button "same" [ref=f1e1]');
    const [frameId, sessionId] = [...page.children][0];
    const far = await page.world(frameId, sessionId);
    assert.equal((await far.call('snapshot', { prefix: 'f2' })).text, '- button "other" [ref=f2e1]');
    await page.close();
  });
});

describe('parts and bounds', () => {
  const tree = '<ul><li>One <b>x</b><ul><li>A<li>B <a href=1>z</a></ul><li>Two</ul><p>tail</p>';

  it('a snapshot can begin at an element', async () => {
    await stage.show(`<p>out</p>${tree}`);
    const ref = refIn(await stage.lines(), /listitem .*Two/);
    assert.equal(await stage.lines({ root: ref }), `- listitem [ref=${ref}]: Two`);
    assert.equal(await stage.lines({ root: { selector: 'p >> nth=1' } }).then((text) => text.replace(/ref=\w+/,
      'ref')), '- paragraph [ref]: tail');
    await assert.rejects(stage.lines({ root: 'e99999' }), /stale_ref/);
  });

  it('depth leaves out what is deeper', async () => {
    await stage.show(tree);
    const shape = async (depth) => (await stage.lines({ depth })).replace(/ \[ref=\w+\]/g, '');
    assert.equal(await shape(1), '- list\n- paragraph: tail');
    assert.equal(await shape(2), '- list:\n  - listitem\n  - listitem: Two\n- paragraph: tail');
    assert.equal(await shape(3), '- list:\n  - listitem:\n    - text: One x\n    - list\n  - listitem: Two\n- '
      + 'paragraph: tail');
  });

  it('boxes are rounded pixels of the viewport', async () => {
    await stage.show('<button style="position:absolute;left:10.4px;top:20.6px;width:100px;height:30px">b</button>');
    assert.match(await stage.lines({ boxes: true }), /\[box=10,21,100,30\]$/);
  });

  it('maxBytes cuts at a line and says what was left out', async () => {
    await stage.show(`<ul>${'<li>söme item</li>'.repeat(200)}</ul>`);
    const whole = await stage.world.call('snapshot', {});
    assert.equal(whole.truncated, false);
    const cut = await stage.world.call('snapshot', { maxBytes: 1000 });
    assert.equal(cut.truncated, true);
    const lines = cut.text.split('\n');
    const [, more, bytes] = /^# truncated: (\d+) more lines \((\d+) bytes\) do not fit in 1000 bytes/.exec(lines.at(-1));
    const kept = lines.slice(0, -1).join('\n');
    assert.ok(Buffer.byteLength(kept) <= 1000);
    assert.equal(lines.length - 1 + Number(more), whole.text.split('\n').length);
    assert.equal(Buffer.byteLength(`${kept}\n`) + Number(bytes), Buffer.byteLength(`${whole.text}\n`));
  });

  it('an empty page has no lines', async () => {
    await stage.show('');
    assert.deepEqual(await stage.world.call('snapshot', {}), { text: '', frames: [], truncated: false, nodes: 0 });
  });

  it('a body that is edited is a field', async () => {
    await stage.show('text');
    await inPage('document.body.contentEditable = "true"');
    assert.match(await stage.lines(), /^- textbox \[ref=e\d+\]: text$/);
    await inPage('document.body.contentEditable = "inherit"');
  });

  it('documents that are not HTML have snapshots, too', async () => {
    const page = await browser.newPage();
    await page.open(pages.add('<svg xmlns="http://www.w3.org/2000/svg"><text y="20">drawn</text></svg>',
      { type: 'image/svg+xml' }));
    assert.match((await (await page.world()).call('snapshot', {})).text, /drawn/);
    await page.open(pages.add('{"a": 1}', { type: 'application/json' }));
    assert.match((await (await page.world()).call('snapshot', {})).text, /a/);
    await page.close();
  });
});

describe('find', () => {
  before(() => stage.show('<nav><a href=/a>Alpha</a></nav><main><h1>Beta</h1><ul><li>say "hi": alpha <button>'
    + 'Go</button></li></ul></main>'));

  it('gives the lines with a text in any case, their refs, and where they stand', async () => {
    const { matches, total } = await stage.world.call('find', { text: 'ALPHA' });
    const text = await stage.lines();
    assert.equal(total, 2);
    assert.equal(matches[0].ref, refIn(text, /link/));
    assert.match(matches[0].line, /^ {2}- link "Alpha"/);
    assert.deepEqual(matches[0].context.map((line) => line.replace(/ \[ref=\w+\]/, '')), ['- navigation:']);
    assert.equal(matches[1].ref, refIn(text, /listitem/), 'a text has the ref of what it is in');
    assert.deepEqual(matches[1].context.map((line) => line.trim().split(' ')[1].replace(':', '')), ['main', 'list',
      'listitem']);
  });

  it('finds what is quoted in the line as it is on the page', async () => {
    assert.equal((await stage.world.call('find', { text: 'say "hi"' })).total, 1);
  });

  it('takes a regular expression, with or without slashes', async () => {
    assert.equal((await stage.world.call('find', { regex: 'be.a' })).total, 1);
    assert.equal((await stage.world.call('find', { regex: '/be.a/' })).total, 0);
    assert.equal((await stage.world.call('find', { regex: '/^Beta$/' })).total, 1);
    await assert.rejects(stage.world.call('find', { regex: '(' }), /^Error: invalid: /);
    await assert.rejects(stage.world.call('find', {}), /^Error: invalid: /);
  });

  it('hands out so many and counts the rest', async () => {
    const { matches, total } = await stage.world.call('find', { regex: '.', maxMatches: 2 });
    assert.equal(matches.length, 2);
    assert.ok(total > 5);
  });
});
