// The browser of a session, as a person sees it in the page.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer } from '../e2e/harness.mjs';
import { Sample } from './sample.mjs';
import { openBrowser, visit } from './visitor.mjs';

describe('the browser panel', () => {
  let server;
  let browser;
  let sample;
  let session;
  before(async () => {
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
    sample = new Sample(server.url);
    browser = await openBrowser();
    session = await sample.browsing();
  });
  after(async () => {
    await browser?.close();
    await server?.dispose();
  });
  const open = (query = '', panel = 'browser') => visit(browser, server, { path: `#/session/${session.id}/${panel}${query}` });
  const hasPicture = (page, selector) => page.waitForFunction((wanted) => document.querySelector(wanted)?.naturalWidth > 100, selector);

  it('shows tabs, what the active one shows, and what was done', async () => {
    const visitor = await open();
    const { page } = visitor;
    await page.getByRole('button', { name: 'Terms', pressed: true }).waitFor();
    await page.getByRole('button', { name: /Checkout|Paid/, pressed: false }).click();
    await page.getByRole('button', { name: /Checkout|Paid/, pressed: true }).waitFor();
    const failed = page.getByRole('option', { name: /failed click/ });
    await failed.getByText('nothing on the page matches').waitFor();
    await page.getByRole('option', { name: /ok type .*“Name” *Ada Lovelace/ }).waitFor();
    await page.getByText('1 failed').waitFor();
    for (const theme of ['light', 'dark']) {
      await visitor.setTheme(theme);
      await failed.waitFor();
      await visitor.assertAccessible();
    }
    await visitor.leave();
  });

  it('shows the page as it was after a command, and goes by keys', async () => {
    const visitor = await open();
    const { page } = visitor;
    await page.getByRole('option', { name: /ok type/ }).click();
    await page.getByAltText('The page after browser_type').waitFor();
    await hasPicture(page, 'img.screen-picture');
    assert.match(page.url(), /command=\d+/);
    await page.keyboard.press('n');
    await page.getByRole('option', { name: /failed click/, selected: true }).waitFor();
    await page.getByRole('group', { name: 'The command' }).getByText('not_found').waitFor();
    await page.keyboard.press('k');
    await page.getByRole('option', { name: /ok click/, selected: true }).waitFor();
    await page.getByRole('button', { name: 'Show it now' }).click();
    await page.getByLabel(/live$/).waitFor();
    await visitor.leave();
  });

  it('shows what the page said and asked for during a command, once it is opened', async () => {
    const visitor = await open('?types=command', 'timeline');
    const { page } = visitor;
    const asked = [];
    page.on('request', (request) => { if (/captures\/.*\.json$/.test(request.url())) asked.push(request.url()); });
    await page.locator('.line', { hasText: 'button “Pay”' }).click();
    const detail = page.getByRole('region', { name: /Event/ });
    await detail.getByAltText(/The page after/).waitFor();
    assert.deepEqual(asked, [], 'nothing is loaded before it is looked at');
    await detail.getByText('Console and network').click();
    await detail.getByRole('list', { name: 'Console' }).getByText('paid 198 €').waitFor();
    const request = detail.getByRole('list', { name: 'Network' }).getByRole('listitem');
    assert.match(await request.textContent(), /^GETdata:application\/json,\{\}200 · other · application\/json/);
    for (const theme of ['light', 'dark']) {
      await visitor.setTheme(theme);
      await detail.getByText('Console and network').click();
      await detail.getByText('no receipt was asked for').waitFor();
      await visitor.assertAccessible();
    }
    // In the browser panel as well; and not with another command.
    await page.goto(`${server.url}/#/session/${session.id}/browser`);
    await page.getByRole('option', { name: /ok click/ }).click();
    const command = page.getByRole('group', { name: 'The command' });
    await command.getByText('Console and network').click();
    await command.getByText('paid 198 €').waitFor();
    await page.getByRole('option', { name: /ok type/ }).click();
    await command.getByText('Ada Lovelace').waitFor();
    assert.equal(await command.getByText('Console and network').count(), 0);
    await visitor.leave();
  });

  it('tells in the timeline what a command did to the page', async () => {
    const visitor = await open('?types=command', 'timeline');
    const { page } = visitor;
    await page.locator('.line', { hasText: 'button “Pay”' }).click();
    const detail = page.getByRole('region', { name: /Event/ });
    await detail.getByText('"#pay"').first().waitFor();
    await detail.getByAltText(/The page after/).waitFor();
    await hasPicture(page, '.detail .picture');
    await detail.getByRole('button', { name: 'Before' }).click();
    await detail.getByAltText(/The page before/).waitFor();
    await detail.getByRole('button', { name: 'As text' }).click();
    await detail.getByLabel('What the page says').getByText('button "Paid"').waitFor();
    await detail.getByRole('button', { name: 'What changed' }).click();
    await detail.locator('.diff-removed', { hasText: 'Pay' }).waitFor();
    const frames = page.getByRole('group', { name: 'Pictures of the page' }).getByRole('button');
    assert.ok(await frames.count() >= 4);
    await frames.first().click();
    await page.getByRole('region').getByText('browser_navigate').waitFor();
    await visitor.assertAccessible();
    await visitor.leave();
  });
});
