// The live view and the take-over, by a person in the page.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, unique, until } from '../e2e/harness.mjs';
import { Sample } from './sample.mjs';
import { openBrowser, visit } from './visitor.mjs';

const form = `<!doctype html><title>Form</title><style>body{margin:0}input,button{position:absolute;left:40px;width:200px;height:40px}
#name{top:40px}#go{top:120px}</style><input id=name><button id=go onclick="document.title='Hello '+document.querySelector('#name').value">Go</button>`;

// What a browser shows outside of its page: dialogs, the options of a list, a choice of files.
const asking = `<!doctype html><title>Asking</title><style>body{margin:0}input,button,select{position:absolute;left:40px;width:200px;height:40px}</style>
<button style="top:40px" onclick="document.title='Named '+prompt('Your name?','nobody')">Prompt</button>
<button style="top:120px" onclick="document.title=confirm('Really?')?'Sure':'Unsure'">Confirm</button>
<button style="top:200px" onclick="alert('Watch out');document.title='Warned'">Alert</button>
<select style="top:280px" onchange="document.title='Chose '+value"><option value=r>Red</option><option value=g>Green</option><option disabled>Grey</option></select>
<input type=file style="top:360px" onchange="files[0].text().then((text)=>{document.title='Read '+files[0].name+' '+text})">`;

describe('the live view', () => {
  let server;
  let browser;
  let sample;
  before(async () => {
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
    sample = new Sample(server.url);
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await server?.dispose();
  });

  async function openForm(html = form) {
    const session = await sample.put(`live:${unique('x')}`);
    await sample.tool(session.id, 'browser_navigate', { url: `data:text/html;charset=utf-8,${encodeURIComponent(html)}` });
    const visitor = await visit(browser, server, { path: `#/session/${session.id}/browser` });
    await visitor.page.waitForFunction(() => document.querySelector('canvas.screen-picture')?.width > 300);
    return { session, visitor };
  }

  // A point of the page inside, in its own pixels.
  async function clickInside(page, x, y) {
    const frame = await page.evaluate(() => {
      const { left, top, width } = document.querySelector('canvas.screen-picture').getBoundingClientRect();
      return { left, top, scale: width / 1280 };
    });
    await page.mouse.click(frame.left + x * frame.scale, frame.top + y * frame.scale);
  }

  it('shows the active tab as it is now, and follows it', async () => {
    const { session, visitor } = await openForm();
    const { page } = visitor;
    const picture = () => page.evaluate(() => document.querySelector('canvas.screen-picture').toDataURL().length);
    const before = await picture();
    await sample.tool(session.id, 'browser_navigate', { url: 'data:text/html,<title>Red</title><body style="background:red">' });
    await page.getByLabel('The tab Red, live').waitFor();
    await until(async () => await picture() !== before, 10_000, 'another picture');
    await visitor.assertAccessible();
    await sample.call('DELETE', `/v1/sessions/${session.id}/browser`);
    await page.getByText('No live picture').waitFor();
    await visitor.leave();
  });

  it('is taken over with mouse and keyboard, handed back, and on record as the person’s commands', async () => {
    const { session, visitor } = await openForm();
    const { page } = visitor;
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByRole('button', { name: 'Hand back' }).waitFor();
    await page.locator('.status', { hasText: 'Paused' }).waitFor();
    await visitor.assertAccessible();
    const refused = await server.call('POST', `/v1/sessions/${session.id}/tools/browser_snapshot`, {});
    assert.equal(refused.status, 409, refused.text);
    await clickInside(page, 140, 60);
    await page.keyboard.type('Ada');
    await clickInside(page, 140, 140);
    await page.getByLabel('The page: mouse and keys go to it').waitFor();
    await until(async () => (await server.ok('GET', `/v1/sessions/${session.id}/tabs`)).tabs
      .some(({ title }) => title === 'Hello Ada'), 10_000, 'the page to be used');
    await page.getByRole('button', { name: 'Hand back' }).click();
    await page.locator('.status', { hasText: 'Active' }).waitFor();
    await page.getByRole('button', { name: 'Take over' }).waitFor();
    await page.getByRole('option', { name: /mouse_click_xy by/ }).first().waitFor();
    const { commands } = await server.ok('GET', `/v1/sessions/${session.id}/commands`);
    const own = commands.filter(({ source }) => source === 'operator').map(({ tool }) => tool);
    assert.deepEqual(own.filter((tool) => tool !== 'browser_type').every((tool) => tool === 'browser_mouse_click_xy'), true, own.join());
    assert.ok(own.includes('browser_type'), own.join());
    await visitor.leave();
  });

  it('shows dialogs, lists and file choosers as controls to who has it, and to nobody else', async () => {
    const { session, visitor } = await openForm(asking);
    const { page } = visitor;
    const other = await visitor.open(page.url().slice(server.url.length + 1));
    await other.getByRole('button', { name: 'Take over' }).waitFor();
    await page.bringToFront();
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByRole('button', { name: 'Hand back' }).waitFor();
    const isTitled = (wanted) => until(async () => (await server.ok('GET', `/v1/sessions/${session.id}/tabs`)).tabs
      .some(({ title }) => title === wanted), 10_000, `the title ${wanted}`);
    const dialog = page.getByRole('form', { name: 'The page asks' });

    await clickInside(page, 140, 60);
    await dialog.getByText('Your name?').waitFor();
    assert.equal(await dialog.getByLabel('Answer').inputValue(), 'nobody');
    await visitor.assertAccessible();
    await dialog.getByLabel('Answer').fill('Grace');
    await dialog.getByRole('button', { name: 'OK' }).click();
    await dialog.waitFor({ state: 'detached' });
    await isTitled('Named Grace');

    await clickInside(page, 140, 140);
    await dialog.getByText('Really?').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await isTitled('Unsure');

    await clickInside(page, 140, 220);
    await dialog.getByText('Watch out').waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Cancel' }).count(), 0);
    await dialog.getByRole('button', { name: 'OK' }).click();
    await isTitled('Warned');

    const list = page.getByRole('group', { name: 'The page’s list' });
    await clickInside(page, 140, 300);
    await list.getByRole('button', { name: 'Red', pressed: true }).waitFor();
    assert.ok(await list.getByRole('button', { name: 'Grey' }).isDisabled());
    await visitor.assertAccessible();
    await list.getByRole('button', { name: 'Green' }).click();
    await list.waitFor({ state: 'detached' });
    await isTitled('Chose g');

    const files = page.getByRole('group', { name: 'The page asks for files' });
    await clickInside(page, 100, 380);
    await files.waitFor();
    await visitor.assertAccessible();
    await files.getByLabel('Choose files').setInputFiles({ name: 'a note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
    await files.waitFor({ state: 'detached' });
    await isTitled('Read a_note.txt hello');

    assert.equal(await other.locator('.asked').count(), 0);
    await page.getByRole('button', { name: 'Hand back' }).click();
    await page.getByRole('button', { name: 'Take over' }).waitFor();
    const { commands } = await server.ok('GET', `/v1/sessions/${session.id}/commands`);
    const own = commands.filter(({ source }) => source === 'operator').map(({ tool }) => tool.replace(/^browser_/, ''));
    for (const tool of ['handle_dialog', 'select_option', 'file_upload']) assert.ok(own.includes(tool), own.join());
    assert.ok(!JSON.stringify(commands.map(({ args }) => args)).includes('Grace'), 'what a dialog was answered is stored by its length');
    await visitor.leave();
  });

  it('tells others who has it', async () => {
    const { visitor } = await openForm();
    const other = await visitor.open(visitor.page.url().slice(server.url.length + 1));
    await other.getByRole('button', { name: 'Take over' }).waitFor();
    await visitor.page.bringToFront();
    await visitor.page.getByRole('button', { name: 'Take over' }).click();
    await other.getByText(/Taken over by/).waitFor();
    assert.equal(await other.getByRole('button', { name: 'Take over' }).count(), 0);
    await visitor.page.getByRole('button', { name: 'Hand back' }).click();
    await other.getByRole('button', { name: 'Take over' }).waitFor();
    await visitor.leave();
  });
});
