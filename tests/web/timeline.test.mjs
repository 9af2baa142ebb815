// A session's timeline, as a person uses it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startServer, unique, until } from '../e2e/harness.mjs';
import { Sample } from './sample.mjs';
import { openBrowser, visit, watchTasks } from './visitor.mjs';

describe('the timeline', () => {
  let server;
  let browser;
  let sample;
  before(async () => {
    server = await startServer();
    sample = new Sample(server.url);
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await server?.dispose();
  });

  const line = (page, seq) => page.locator(`#event-${seq}`);
  const open = (session, query = '') => visit(browser, server, { path: `#/session/${session.id}/timeline${query}` });
  const isLive = (page) => page.locator('.badge', { hasText: 'Live' }).waitFor();
  const chosen = (page) => page.getByRole('option', { selected: true });
  const seqs = async (page) => (await page.locator('.line-seq').allTextContents()).map(Number);

  it('shows what happened, with pairs as one line and what is pending first', async () => {
    const session = await sample.research();
    const visitor = await open(session);
    const { page } = visitor;
    await isLive(page);
    await page.getByRole('group', { name: 'Pending' }).getByText('compare').waitFor();
    await line(page, 5).getByText('search_hotels').waitFor();
    assert.equal(await line(page, 6).count(), 0, 'the end of a tool call is told by its beginning');
    await line(page, 7).getByText('reviews.example answered 503').waitFor();
    await visitor.assertAccessible();
    await line(page, 7).click();
    const detail = page.getByRole('region', { name: 'Event 7' });
    await detail.getByText('reviews.example answered 503').waitFor();
    await detail.getByText('"Linden"').waitFor();
    await detail.getByText('failure', { exact: true }).waitFor();
    assert.match(page.url(), /event=7/);
    await visitor.assertAccessible();
    await visitor.setTheme('dark');
    await detail.getByText('"Linden"').waitFor();
    await visitor.assertAccessible();
    await visitor.leave();
  });

  it('goes by j and k, to the next failure and to the end', async () => {
    const session = await sample.put(`keys:${unique('x')}`);
    await sample.append(session.id, Array.from({ length: 300 }, (_, n) => ({
      type: 'log', data: { text: `n ${n}`, level: [20, 150].includes(n) ? 'error' : 'info' },
    })));
    const visitor = await open(session, '?event=10');
    const { page } = visitor;
    await isLive(page);
    await chosen(page).and(line(page, 10)).waitFor();
    for (const key of ['j', 'j', 'k']) await page.keyboard.press(key);
    await chosen(page).and(line(page, 11)).waitFor();
    await page.keyboard.press('n');
    await chosen(page).and(line(page, 22)).waitFor();
    await page.keyboard.press('n');
    await chosen(page).and(line(page, 152)).waitFor();
    await page.keyboard.press('n');
    await chosen(page).and(line(page, 22)).waitFor();
    await page.keyboard.press('p');
    await chosen(page).and(line(page, 152)).waitFor();
    await page.keyboard.press('l');
    await line(page, 301).waitFor();
    assert.equal(await chosen(page).count(), 0);
    await visitor.leave();
  });

  it('filters by type, words and failures, in the address', async () => {
    const session = await sample.put(`filter:${unique('x')}`);
    await sample.append(session.id, [
      { type: 'message', data: { text: 'hello' } }, { type: 'log', data: { text: 'one' } },
      { type: 'log', data: { text: 'two', level: 'error' } }, { type: 'checkpoint', data: {} },
    ]);
    const visitor = await open(session);
    const { page } = visitor;
    await isLive(page);
    await page.getByText('Every type').click();
    await page.getByLabel('log').check();
    await line(page, 2).waitFor({ state: 'detached' });
    assert.deepEqual(await seqs(page), [3, 4]);
    await page.getByRole('button', { name: 'Failures' }).click();
    await line(page, 3).waitFor({ state: 'detached' });
    assert.deepEqual(await seqs(page), [4]);
    const same = await visitor.open(page.url().slice(server.url.length + 1));
    await line(same, 4).waitFor();
    assert.deepEqual(await seqs(same), [4]);
    const found = await visitor.open(`#/session/${session.id}/timeline?find=HELL`);
    await line(found, 2).waitFor();
    assert.deepEqual(await seqs(found), [2]);
    await visitor.leave();
  });

  it('follows live, and stays where it is when its reader looks elsewhere', async () => {
    const session = await sample.longSession(200, `live:${unique('x')}`);
    const visitor = await open(session);
    const { page } = visitor;
    await isLive(page);
    await line(page, 201).waitFor();
    await sample.append(session.id, [{ type: 'log', data: 'a new line' }]);
    await line(page, 202).waitFor();
    await page.locator('.events').evaluate((element) => { element.scrollTop = 0; });
    await line(page, 1).waitFor();
    await sample.append(session.id, [{ type: 'log', data: 'another' }]);
    await page.getByText('203 lines').waitFor();
    await line(page, 1).waitFor();
    await page.getByRole('button', { name: 'To the end' }).click();
    await line(page, 203).waitFor();
    await visitor.leave();
  });

  it('looks at a part of the time when it is dragged over, and copies links and calls', async () => {
    const session = await sample.put(`range:${unique('x')}`);
    await sample.append(session.id, [{ type: 'log', data: 'first' }]);
    await until(() => Date.now() > Date.parse(session.createdAt) + 400, 2_000, 'some time to pass');
    await sample.toolCall(session.id, 'late', { a: 1 }, { status: 'success', output: 2 });
    const visitor = await visit(browser, server, {
      path: `#/session/${session.id}/timeline`, context: { permissions: ['clipboard-read', 'clipboard-write'] },
    });
    const { page } = visitor;
    await isLive(page);
    const box = await page.locator('.axis canvas').boundingBox();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await line(page, 2).waitFor({ state: 'detached' });
    assert.deepEqual(await seqs(page), [3]);
    await page.getByRole('button', { name: 'Whole time' }).click();
    await line(page, 2).waitFor();
    await line(page, 3).click();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, new RegExp(`^curl -X POST '${server.url}/v1/sessions/${session.id}/tool-calls'`));
    await page.getByRole('button', { name: 'Copy the link' }).click();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /event=3$/);
    await visitor.leave();
  });

  it('says so when the session ends or is deleted', async () => {
    const session = await sample.put(`end:${unique('x')}`);
    const visitor = await open(session);
    const { page } = visitor;
    visitor.allow(/status of 404/);
    await isLive(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.badge', { hasText: 'Ended' }).waitFor();
    await page.locator('.status', { hasText: 'Cancelled' }).waitFor();
    await sample.call('DELETE', `/v1/sessions/${session.id}`);
    await page.getByText('There is no such session').waitFor();
    await visitor.leave();
  });

  it('goes on after a restart of the server, with nothing missing and nothing twice', async () => {
    const own = await startServer();
    const other = new Sample(own.url);
    const session = await other.longSession(50, 'restart:one');
    const visitor = await visit(browser, own, { path: `#/session/${session.id}/timeline` });
    const { page } = visitor;
    visitor.allow(/ERR_|Failed to load resource/);
    await isLive(page);
    await own.restart({ how: 'kill', samePort: true });
    await other.append(session.id, [{ type: 'log', data: 'while it was away' }]);
    await page.getByText('while it was away').waitFor();
    await isLive(page);
    await other.append(session.id, [{ type: 'log', data: 'and after' }]);
    await page.getByText('and after').waitFor();
    await page.getByText('53 lines').waitFor();
    assert.equal(await page.getByText('while it was away').count(), 1);
    await visitor.leave();
    await own.dispose();
  });

  it('holds 50,000 events: opens at the tail or the linked event, and no task takes over 100 ms', async () => {
    const session = await sample.longSession(50_000, `long:${unique('x')}`);
    assert.deepEqual(await readThrough(session), []);
    const visitor = await open(session, '?event=12345');
    const { page } = visitor;
    await chosen(page).and(line(page, 12_345)).waitFor();
    await isLive(page);
    await chosen(page).and(line(page, 12_345)).waitFor();
    await visitor.leave();
  });

  // Opens a long session, looks here and there, sees an event come, and gives the tasks over 100 ms.
  async function readThrough(session) {
    const { lastSeq } = await server.get(session.id);
    const visitor = await visit(browser, server);
    const { page } = visitor;
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    const slowTasks = await watchTasks(browser, page);
    await page.evaluate((id) => { location.hash = `#/session/${id}/timeline`; }, session.id);
    await line(page, lastSeq).waitFor();
    const isWhole = await page.getByText(`${lastSeq.toLocaleString('en-US')} lines`).isVisible();
    assert.ok(!isWhole, 'the tail is there before the rest is');
    await page.getByRole('progressbar').waitFor();
    await isLive(page);
    await page.getByText(`${lastSeq.toLocaleString('en-US')} lines`).waitFor();
    for (const part of [0, 0.5, 0.9, 0.2]) {
      await page.locator('.events').evaluate((element, at) => { element.scrollTop = element.scrollHeight * at; }, part);
      await page.waitForFunction(([at, last]) => {
        const first = Number(document.querySelector('.line-seq')?.textContent);
        return Math.abs(first - at * last) < 100;
      }, [part, lastSeq]);
    }
    await page.keyboard.press('n');
    const words = unique('the last line');
    await sample.append(session.id, [{ type: 'log', data: words }]);
    await page.keyboard.press('l');
    await page.getByText(words).waitFor();
    const slow = await slowTasks();
    await visitor.leave();
    return slow;
  }
});
