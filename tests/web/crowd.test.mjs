// 100,000 sessions in the panel: pages of rows and never all at once, a document that stays small, and the right rows wherever
// one looks.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SLOWNESS, startServer } from '../e2e/harness.mjs';
import { crowd } from './crowd.mjs';
import { openBrowser, visit, watchTasks } from './visitor.mjs';

const total = 100_000;
const mostRows = 200;  // in the document
const pageRows = 500;

describe('100,000 sessions', () => {
  let server;
  let browser;
  let ids;
  before(async () => {
    server = await startServer();
    ids = await crowd(server, total);
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await server?.dispose();
  });

  it('scroll from the first to the last: by pages, in a small document, without a task over 100 ms', async () => {
    const visitor = await visit(browser, server, { path: '#/fleet' });
    const { page } = visitor;
    const limits = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/v1/sessions' && searchParams.has('limit')) limits.push(Number(searchParams.get('limit')));
    });
    const slowTasks = await watchTasks(browser, page);
    await page.evaluate(() => { location.hash = '#/sessions?app=crowd'; });
    await assertShown(page, 0);
    const rowCount = Number(await page.getByRole('grid').getAttribute('aria-rowcount'));
    assert.ok(rowCount <= 2 * pageRows, `${rowCount} rows at first`);
    assert.ok(limits.length <= 4, `${limits.length} requests at first`);

    // Down as fast as it goes, as somebody who holds the scroll bar at its end.
    const most = await page.evaluate(async (wanted) => {
      const rows = document.querySelector('.table-rows');
      const grid = document.querySelector('[role=grid]');
      let seen = 0;
      while (Number(grid.getAttribute('aria-rowcount')) < wanted + 1) {
        rows.scrollTop = rows.scrollHeight;
        await new Promise((done) => { requestAnimationFrame(done); });
        seen = Math.max(seen, rows.querySelectorAll('.table-row').length);
      }
      return seen;
    }, total);
    assert.ok(most < mostRows, `${most} rows were in the document`);
    for (const part of [1, 0.5, 0, 0.25, 0.9]) await assertShown(page, part);
    const slow = await slowTasks();

    assert.ok(limits.every((limit) => limit <= pageRows), `a page of ${Math.max(...limits)}`);
    assert.ok(limits.length <= total / pageRows + 10, `${limits.length} requests: rows are asked for once`);
    assert.deepEqual(slow, []);
    const client = await visitor.context.newCDPSession(page);
    await client.send('HeapProfiler.collectGarbage');
    const { usedSize } = await client.send('Runtime.getHeapUsage');
    assert.ok(usedSize < 128 * 1024 * 1024, `${Math.round(usedSize / 1024 / 1024)} MB for rows that are out of sight`);
    await visitor.leave();
  });

  // What stands at a place of the list, from its begin (0) to its end (1), is what the server has there.
  async function assertShown(page, part) {
    await page.locator('.table-rows').evaluate((rows, at) => { rows.scrollTop = rows.scrollHeight * at; }, part);
    const shown = await page.waitForFunction(([at]) => {
      const box = document.querySelector('.table-rows');
      const all = [...box.querySelectorAll('.table-row')].map((row) => ({
        index: Number(row.getAttribute('aria-rowindex')) - 2,
        id: /session\/([^/]+)/.exec(row.querySelector('a').getAttribute('href'))[1],
        isInSight: row.getBoundingClientRect().top < box.getBoundingClientRect().bottom && row.getBoundingClientRect().bottom > box.getBoundingClientRect().top,
      })).filter(({ isInSight }) => isInSight).sort((a, b) => a.index - b.index);
      const first = Math.floor(Math.min(box.scrollTop, box.scrollHeight - box.clientHeight) / 36);
      const isThere = all.length * 36 >= box.clientHeight && all[0].index === first && Math.abs(box.scrollTop - Math.min(box.scrollHeight * at, box.scrollHeight - box.clientHeight)) < 1;
      return isThere && all;
    }, [part], { timeout: 15_000 * SLOWNESS });
    for (const { index, id } of await shown.jsonValue()) assert.equal(id, ids[index], `row ${index}`);
  }
});
