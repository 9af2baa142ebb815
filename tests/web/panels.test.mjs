// Artifacts, audit, graph and fleet.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, unique, until } from '../e2e/harness.mjs';
import { Sample } from './sample.mjs';
import { openBrowser, visit } from './visitor.mjs';

describe('the panels', () => {
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
  const open = (session, panel) => visit(browser, server, { path: `#/session/${session.id}/${panel}` });
  // In both themes.
  async function assertAccessible(visitor, isThere) {
    for (const theme of ['light', 'dark']) {
      await visitor.setTheme(theme);
      await isThere();
      await visitor.assertAccessible();
    }
  }

  it('shows artifacts by what they are, and what changed between versions', async () => {
    const session = await sample.research();
    const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    await sample.artifact(session.id, 'dot.png', picture, 'image/png');
    await sample.artifact(session.id, 'bad.md', '# <img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))', 'text/markdown');
    await sample.artifact(session.id, 'data.bin', Buffer.from([0, 1, 2]), 'application/octet-stream');
    const visitor = await open(session, 'artifacts');
    const { page } = visitor;
    const choose = (name) => page.getByRole('button', { name }).click();
    await choose(/notes\/plan\.md/);
    await page.getByRole('heading', { name: 'Three nights in Berlin' }).waitFor();
    await page.locator('strong', { hasText: 'Hotel Linden' }).waitFor();
    await page.getByLabel('Version').selectOption('1');
    await page.locator('strong', { hasText: 'Hotel Linden' }).waitFor({ state: 'detached' });
    await page.getByLabel('Compare with').selectOption('2');
    await page.locator('.diff-added', { hasText: '## Chosen' }).waitFor();
    assert.match(page.url(), /path=notes%2Fplan\.md/);
    await choose(/src\/compare\.py/);
    await page.locator('.code-word', { hasText: 'def' }).waitFor();
    await choose(/report\/prices\.json/);
    await page.getByText('"EUR"').waitFor();
    await choose(/bad\.md/);
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    assert.equal(await page.locator('.markdown a').count(), 0);
    await choose(/data\.bin/);
    await page.getByText('Nothing here shows this kind of file').waitFor();
    await choose(/dot\.png/);
    await page.waitForFunction(() => document.querySelector('.viewer .picture')?.naturalWidth === 1);
    await sample.artifact(session.id, 'later.txt', 'new');
    await page.getByRole('button', { name: /later\.txt/ }).waitFor();
    await choose(/src\/compare\.py/);
    await assertAccessible(visitor, () => page.locator('.code-word').first().waitFor());
    await visitor.leave();
  });

  it('verifies the audit, and again when something was added', async () => {
    const session = await sample.put(`audit:${unique('x')}`);
    await sample.toolCall(session.id, 'first_tool', { token: 'secret-value' }, { status: 'success', output: 1 });
    const visitor = await open(session, 'audit');
    const { page } = visitor;
    await page.getByText('The chain holds.').waitFor();
    await page.getByText('2 entries').waitFor();
    await sample.toolCall(session.id, 'second_tool', {}, { status: 'failure', error: 'it broke' });
    await page.getByRole('row', { name: /second_tool failure/ }).getByText('it broke').waitFor();
    await page.getByText('4 entries').waitFor();
    assert.equal(await page.getByRole('row').count(), 3);
    await assertAccessible(visitor, () => page.getByText('The chain holds.').waitFor());
    await page.getByRole('row', { name: /second_tool/ }).getByRole('link').click();
    await page.getByRole('region', { name: /Event/ }).getByText('it broke').waitFor();
    await visitor.leave();
  });

  it('draws pools, sessions, contexts and tabs, live, and leads to each', async () => {
    const session = await sample.browsing();
    const visitor = await visit(browser, server, { path: '#/graph' });
    const { page } = visitor;
    const node = (title) => page.getByTitle(title, { exact: true });
    await node('Pool default').waitFor();
    await node('Session shop:checkout').waitFor();
    await node('Context chromium · open').waitFor();
    await node('Tab Terms').waitFor();
    await assertAccessible(visitor, () => node('Tab Terms').waitFor());
    await sample.call('POST', `/v1/sessions/${session.id}/tabs`, { url: 'data:text/html,<title>Third</title>' });
    await node('Tab Third').waitFor();
    await node('Tab Third').click();
    await page.waitForURL(new RegExp(`#/session/${session.id}/browser`));
    await page.getByRole('group', { name: 'Tabs' }).getByRole('button', { name: 'Third', pressed: true }).waitFor();
    await page.goBack();
    await node('Session shop:checkout').click();
    await page.waitForURL(new RegExp(`#/session/${session.id}/timeline`));
    await sample.call('DELETE', `/v1/sessions/${session.id}/browser`);
    await page.goBack();
    await page.getByText('No session has a browser now').waitFor();
    await visitor.leave();
  });

  it('folds more than fifty children into one node that says how many, and opens them in pages', async () => {
    // Browsers that sleep cost nothing, and are part of the picture.
    const own = await startServer({ args: ['--browser-dir', browserDirectory(), '--hibernate-seconds', '1'] });
    const many = new Sample(own.url);
    let next = 0;
    const opener = async () => {
      for (let n = next++; n < 52; n = next++) {
        const { id } = await many.put(`fold:s${n}`);
        await many.call('POST', `/v1/sessions/${id}/browser`, {});
        await many.call('POST', `/v1/sessions/${id}/pause`, {});
      }
    };
    await Promise.all([opener(), opener(), opener()]);
    // One that is over is not drawn, however old its pool.
    const over = await many.put('fold:over');
    await many.call('POST', `/v1/sessions/${over.id}/browser`, {});
    await many.call('DELETE', `/v1/sessions/${over.id}/browser`);
    const visitor = await visit(browser, own, { path: '#/graph' });
    const { page } = visitor;
    const sessions = page.locator('.graph-session');
    await page.getByText('52 with a browser').waitFor();
    await page.getByRole('button', { name: '2 more' }).waitFor();
    assert.equal(await sessions.count(), 50);
    await page.getByRole('button', { name: '2 more' }).click();
    await until(async () => await sessions.count() === 52, 10_000, 'all of them');
    assert.equal(await page.getByRole('button', { name: /more/ }).count(), 0);
    assert.equal(await page.getByTitle('Session fold:over').count(), 0);
    // Tabs as well: a page opens many, which cost little because they are its own.
    const { id } = await many.put('fold:tabs');
    await many.tool(id, 'browser_evaluate', { function: '() => { for (let n = 0; n < 54; n += 1) window.open("about:blank") }' });
    await page.getByRole('button', { name: '5 more' }).waitFor();
    assert.equal(await page.locator('.graph-tab').count(), 50 + 52);
    await page.getByRole('button', { name: '5 more' }).click();
    await until(async () => await page.locator('.graph-tab').count() === 55 + 52, 10_000, 'all tabs');
    await visitor.leave();
    await own.dispose();
  });

  it('shows pools, agents, health and plots of what happens', async () => {
    await sample.agents();
    const visitor = await visit(browser, server, { path: '#/fleet' });
    const { page } = visitor;
    await page.getByText('Healthy').waitFor();
    await page.getByRole('region', { name: 'Pools' }).getByText('default').waitFor();
    await page.getByRole('row', { name: /planner-1 alive/ }).waitFor();
    await page.getByRole('img', { name: /Throughput/ }).locator('canvas').waitFor();
    assert.equal(await page.locator('.chart canvas').count(), 3);
    await page.locator('.chart-key', { hasText: /requests [1-9]/ }).waitFor();
    await page.locator('.chart-key', { hasText: /median [\d.]+ (µs|ms)/ }).waitFor();
    await assertAccessible(visitor, () => page.locator('.chart canvas').first().waitFor());
    await visitor.leave();
  });
});
