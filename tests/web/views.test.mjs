// Every view: whom it can be used by, and on what screens.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, until } from '../e2e/harness.mjs';
import { Sample } from './sample.mjs';
import { openBrowser, visit } from './visitor.mjs';

const widths = [390, 800, 1100, 1440, 2560];

describe('every view', () => {
  let server;
  let browser;
  let views;  // where it is, and what is there when it is
  before(async () => {
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
    const sample = new Sample(server.url);
    browser = await openBrowser();
    await sample.agents();
    await sample.ended();
    const research = await sample.research();
    const questions = await sample.questions();
    const browsing = await sample.browsing();
    const { commands } = await sample.call('GET', `/v1/sessions/${browsing.id}/commands`);
    const clicked = commands.find(({ tool, ok }) => tool === 'browser_click' && ok);
    const at = ({ id }, panel) => `#/session/${id}/${panel}`;
    const live = (page) => page.locator('.badge-live').waitFor();
    views = {
      sessions: ['#/sessions', (page) => page.getByRole('link', { name: 'shop:refund-4711' }).waitFor()],
      'no sessions': ['#/sessions?app=nobody', (page) => page.getByText('No session matches').waitFor()],
      timeline: [at(research, 'timeline'), live],
      event: [at(browsing, `timeline?event=${clicked.seq}`), (page) => page.getByAltText(/The page after/).waitFor()],
      questions: [at(questions, 'questions'), (page) => page.getByText('Which refund shall be paid?').waitFor()],
      'no questions': [at(research, 'questions'), (page) => page.getByText('No questions').waitFor()],
      'no browser': [at(research, 'browser'), (page) => page.getByText('No browser').waitFor()],
      browser: [at(browsing, 'browser'), (page) => page.waitForFunction(() => document.querySelector('canvas.screen-picture')?.width > 300)],
      command: [at(browsing, `browser?command=${clicked.seq}`), (page) => page.waitForFunction(() => document.querySelector('img.screen-picture')?.naturalWidth > 100)],
      artifacts: [at(research, 'artifacts?path=notes%2Fplan.md'), (page) => page.getByRole('heading', { name: 'Three nights in Berlin' }).waitFor()],
      code: [at(research, 'artifacts?path=src%2Fcompare.py'), (page) => page.locator('.code-word').first().waitFor()],
      audit: [at(research, 'audit'), (page) => page.getByText('The chain holds.').waitFor()],
      graph: ['#/graph', (page) => page.getByTitle('Tab Terms').waitFor()],
      fleet: ['#/fleet', (page) => page.locator('.chart canvas').first().waitFor()],
    };
  });
  after(async () => {
    await browser?.close();
    await server?.dispose();
  });

  it('passes the checks of accessibility in both themes', async () => {
    const visitor = await visit(browser, server);
    const { page } = visitor;
    for (const theme of ['light', 'dark']) {
      await visitor.setTheme(theme);
      for (const [name, [path, isThere]] of Object.entries(views)) {
        await page.goto(`${server.url}/${path}`);
        await isThere(page);
        await visitor.assertAccessible().catch((error) => { throw new Error(`${name}, ${theme}: ${error.message}`); });
      }
    }
    await visitor.leave();
  });

  it('fits windows of every width: nothing is cut, and nothing scrolls sideways but what is made to', async () => {
    const visitor = await visit(browser, server);
    const { page } = visitor;
    const wrong = [];
    for (const [name, [path, isThere]] of Object.entries(views)) {
      await page.goto(`${server.url}/${path}`);
      await isThere(page);
      for (const width of widths) {
        await page.setViewportSize({ width, height: width < 500 ? 844 : 900 });
        // What is drawn follows the window a frame later.
        let cut = [];
        await until(async () => {
          cut = await page.evaluate(findCut);
          return cut.length === 0;
        }, 2_000).catch(() => {});
        for (const what of cut) wrong.push(`${name}, ${width} px: ${what}`);
      }
    }
    assert.deepEqual(wrong, []);
    await visitor.leave();
  });

  it('gives every part of the fleet its room, however low the window', async () => {
    const visitor = await visit(browser, server, { path: '#/fleet' });
    const { page } = visitor;
    await page.setViewportSize({ width: 800, height: 600 });
    await views.fleet[1](page);
    const agent = page.getByRole('row', { name: /planner-1 alive/ });
    await agent.scrollIntoViewIfNeeded();
    const inside = await page.getByRole('region', { name: 'Agents' }).evaluate((section) => section.scrollHeight <= section.clientHeight);
    assert.ok(inside, 'rows are cut');
    await visitor.leave();
  });

  it('keeps what can be done with a session in reach', async () => {
    const visitor = await visit(browser, server);
    const { page } = visitor;
    const row = page.getByRole('row').filter({ hasText: 'shop:refund-4711' });
    const remove = page.getByRole('button', { name: 'Delete shop:refund-4711' });
    for (const width of widths) {
      await page.setViewportSize({ width, height: 844 });
      await row.hover();
      await remove.click({ trial: true });  // it is in sight, and nothing is before it
      const { x, width: its } = await remove.boundingBox();
      assert.ok(x >= 0 && x + its <= width, `${width} px: ${x}`);
    }
    await visitor.leave();
  });
});

// What of the page cannot be reached: wider than the window, outside of it, or a view that scrolls sideways. Drawings, code and
// strips of tabs and pictures have scroll bars of their own.
function findCut() {
  const found = [];
  const made = '.graph, .filmstrip, .browser-tabs, .code, .diff, .viewer-body, .fleet section';
  if (document.documentElement.scrollWidth > innerWidth) found.push(`the document is ${document.documentElement.scrollWidth} px wide`);
  for (const element of document.querySelectorAll('main, main *')) {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || element.closest(made) || element.closest('.hidden')) continue;
    const { overflowX } = getComputedStyle(element);
    const isScrolling = (overflowX === 'auto' || overflowX === 'scroll') && element.scrollWidth > element.clientWidth + 1;
    const isUsed = element.matches('a, button, input, select, textarea, summary, canvas, img, [role=row], [role=option], [role=tab], h1, h2');
    const isOut = isUsed && (box.left < -1 || box.right > innerWidth + 1);
    if (isScrolling || isOut) {
      found.push(`${element.tagName}.${element.className} "${element.textContent.slice(0, 40)}" ${isScrolling ? 'scrolls sideways' : `is at ${box.left}–${box.right}`}`);
    }
  }
  return found.slice(0, 5);
}
