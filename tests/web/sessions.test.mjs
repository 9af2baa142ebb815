// The sessions panel, as a person uses it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startServer, unique, until } from '../e2e/harness.mjs';
import { Sample } from './sample.mjs';
import { openBrowser, visit } from './visitor.mjs';

describe('the sessions panel', () => {
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

  const row = (page, title) => page.getByRole('row').filter({ hasText: title });
  const titles = (page) => page.locator('.table-rows .cell-title a').allTextContents();

  it('says how to begin when there is nothing', async () => {
    const visitor = await visit(browser, server);
    await visitor.page.getByText('No sessions yet').waitFor();
    await visitor.assertAccessible();
    await visitor.leave();
  });

  it('shows sessions with status, graph, owner, times and counts, and those that wait for a person first', async () => {
    const app = unique('first');
    const waiting = await sample.put(`${app}:waiting`, { graphId: 'g1' });
    await sample.ask(waiting.id, { kind: 'confirm', prompt: 'May I?' });
    const failed = await sample.put(`${app}:failed`, { graphId: 'g2', ownerAgent: 'worker-9' });
    await sample.append(failed.id, [{ type: 'message', data: 1 }, { type: 'message', data: 2 }]);
    await sample.call('POST', `/v1/sessions/${failed.id}/status`, { status: 'FAILED', error: 'it broke' });
    await sample.put(`${app}:newest`);
    const visitor = await visit(browser, server, { path: `#/sessions?app=${app}` });
    const { page } = visitor;
    await row(page, `${app}:newest`).waitFor();
    assert.deepEqual(await titles(page), [`${app}:waiting`, `${app}:newest`, `${app}:failed`]);
    await row(page, `${app}:waiting`).getByText('Waits for a person').waitFor();
    await row(page, `${app}:waiting`).getByText('May I?').waitFor();
    const cells = await row(page, `${app}:failed`).getByRole('gridcell').allTextContents();
    assert.match(cells[0], /Failed/);
    assert.match(cells[1], /it broke/);
    assert.deepEqual(cells.slice(2, 5), ['g2', 'worker-9', '2']);
    assert.match(cells[5], /\d\d:\d\d:\d\d/);
    await visitor.assertAccessible();
    await visitor.setTheme('dark');
    await row(page, `${app}:newest`).waitFor();
    await visitor.assertAccessible();
    await visitor.leave();
  });

  it('follows what happens without being asked to', async () => {
    const app = unique('live');
    const visitor = await visit(browser, server, { path: `#/sessions?app=${app}` });
    const { page } = visitor;
    await page.getByText('No session matches').waitFor();
    const one = await sample.put(`${app}:one`);
    await row(page, `${app}:one`).getByText('Active').waitFor();
    await sample.put(`${app}:two`);
    await row(page, `${app}:two`).waitFor();
    await sample.call('POST', `/v1/sessions/${one.id}/cancel`);
    await row(page, `${app}:one`).getByText('Cancelled').waitFor();
    const { id } = await sample.ask((await sample.put(`${app}:three`)).id, { kind: 'confirm', prompt: 'Go on?' });
    await row(page, `${app}:three`).getByText('Waits for a person').waitFor();
    assert.equal((await titles(page))[0], `${app}:three`);
    await sample.call('POST', `/v1/sessions/${app}:three/interactions/${id}/response`, { confirmed: true });
    await row(page, `${app}:three`).getByText('Active').waitFor();
    await sample.call('DELETE', `/v1/sessions/${one.id}`);
    await row(page, `${app}:one`).waitFor({ state: 'detached' });
    await visitor.leave();
  });

  it('keeps filters and search in the address', async () => {
    const app = unique('filter');
    await sample.put(`${app}:alpha`, { graphId: 'left' });
    await sample.put(`${app}:beta`, { graphId: 'right' });
    const closed = await sample.put(`${app}:alpine`);
    await sample.call('POST', `/v1/sessions/${closed.id}/close`);
    const visitor = await visit(browser, server);
    const { page } = visitor;
    await page.getByLabel('App').fill(app);
    await row(page, `${app}:beta`).waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Name begins with').fill('al');
    await row(page, `${app}:beta`).waitFor({ state: 'detached' });
    assert.deepEqual(await titles(page), [`${app}:alpine`, `${app}:alpha`]);
    await page.getByLabel('Status').selectOption('COMPLETED');
    await row(page, `${app}:alpha`).waitFor({ state: 'detached' });
    assert.match(page.url(), new RegExp(`app=${app}`));
    assert.match(page.url(), /q=al/);
    assert.match(page.url(), /status=COMPLETED/);
    const same = await visitor.open(page.url().slice(server.url.length + 1));
    await row(same, `${app}:alpine`).waitFor();
    assert.deepEqual(await titles(same), [`${app}:alpine`]);
    await page.getByRole('button', { name: 'Clear' }).click();
    await row(page, `${app}:beta`).waitFor();
    await visitor.leave();
  });

  it('keeps its rows in sight until it has the next ones', async () => {
    const app = unique('sight');
    for (const name of ['same', 'other']) await sample.put(`${app}:${name}`);
    const visitor = await visit(browser, server, { path: `#/sessions?app=${app}` });
    const { page } = visitor;
    await page.getByText('Connected').waitFor({ state: 'attached' });
    await row(page, `${app}:same`).waitFor();
    let isOpen = false;
    const held = [];
    await page.route(/v1\/sessions\?.*q=same/, (route) => (isOpen ? route.continue() : held.push(route)));
    await page.getByLabel('Name begins with').fill('same');
    await until(() => held.length > 0, 10_000, 'the request');
    assert.deepEqual(await titles(page), [`${app}:other`, `${app}:same`]);
    isOpen = true;
    for (const route of held) await route.continue();
    await row(page, `${app}:other`).waitFor({ state: 'detached' });
    assert.deepEqual(await titles(page), [`${app}:same`]);
    await visitor.leave();
  });

  it('creates a session, and says what is wrong with one', async () => {
    const app = unique('make');
    await sample.put(`${app}:taken`);
    const visitor = await visit(browser, server);
    const { page } = visitor;
    await page.getByRole('button', { name: 'New session' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('App', { exact: true }).fill(app);
    await dialog.getByLabel('Name', { exact: true }).fill('taken');
    visitor.allow(/status of (409|422)/);
    await dialog.getByRole('button', { name: 'Create session' }).click();
    await dialog.getByRole('alert').waitFor();
    await visitor.assertAccessible();
    await dialog.getByLabel('Name', { exact: true }).fill('fresh');
    await dialog.getByLabel('Idle time').fill('3600');
    await dialog.getByRole('button', { name: 'Create session' }).click();
    await dialog.waitFor({ state: 'detached' });
    const made = await server.get(`${app}:fresh`);
    assert.equal(made.ttlSeconds, 3600);
    assert.match(page.url(), new RegExp(`#/session/${made.id}`));
    await visitor.leave();
  });

  it('cancels, deletes with five seconds to think again, and deletes at once when it is left', async () => {
    const app = unique('delete');
    for (const name of ['cancel', 'kept', 'gone', 'left']) await sample.put(`${app}:${name}`);
    const visitor = await visit(browser, server, { path: `#/sessions?app=${app}` });
    const { page } = visitor;
    const press = async (what, name) => {
      await row(page, `${app}:${name}`).hover();
      await page.getByRole('button', { name: `${what} ${app}:${name}` }).click();
    };
    await press('Cancel', 'cancel');
    await row(page, `${app}:cancel`).getByText('Cancelled').waitFor();
    await press('Delete', 'kept');
    await row(page, `${app}:kept`).waitFor({ state: 'detached' });
    await server.get(`${app}:kept`);
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(page, `${app}:kept`).waitFor();
    await press('Delete', 'gone');
    await until(async () => (await server.call('GET', `/v1/sessions/${app}:gone`)).status === 404, 10_000, 'the deletion');
    await server.get(`${app}:kept`);
    await press('Delete', 'left');
    await page.close();
    await until(async () => (await server.call('GET', `/v1/sessions/${app}:left`)).status === 404, 4_000, 'the deletion');
    await visitor.leave();
  });

  it('is used by keyboard alone', async () => {
    const app = unique('keys');
    for (const name of ['c', 'b', 'a']) await sample.put(`${app}:${name}`);
    const visitor = await visit(browser, server, { path: `#/sessions?app=${app}` });
    const { page } = visitor;
    await row(page, `${app}:a`).waitFor();
    for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key);
    assert.equal(await page.locator('[aria-selected=true] a').textContent(), `${app}:b`);
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/session\//);
    await page.goBack();
    await row(page, `${app}:a`).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('a');
    await row(page, `${app}:b`).waitFor({ state: 'detached' });
    await visitor.leave();
  });

  it('has one connection for eight tabs, all of which follow', async () => {
    const app = unique('tabs');
    const visitor = await visit(browser, server, { path: `#/sessions?app=${app}` });
    const tabs = [visitor.page];
    while (tabs.length < 8) tabs.push(await visitor.open(`#/sessions?app=${app}`));
    for (const tab of tabs) await tab.getByText('Connected').waitFor({ state: 'attached' });
    // Those of the tests before are gone by and by; eight tabs have one together.
    await until(async () => (await server.ok('GET', '/v1/health')).http.streams === 1, 10_000, 'one stream');
    await sample.put(`${app}:seen`);
    for (const tab of tabs) await row(tab, `${app}:seen`).waitFor();
    await tabs[0].close();
    await sample.put(`${app}:after`);
    for (const tab of tabs.slice(1)) await row(tab, `${app}:after`).waitFor();
    await visitor.leave();
  });

  it('comes back by itself after a restart of the server and has missed nothing', async () => {
    const own = await startServer();
    const other = new Sample(own.url);
    await other.put('restart:before');
    const visitor = await visit(browser, own);
    const { page } = visitor;
    visitor.allow(/ERR_|Failed to load resource/);
    await row(page, 'restart:before').waitFor();
    await own.restart({ how: 'kill', samePort: true });
    await other.put('restart:between');
    await row(page, 'restart:between').waitFor();
    await other.put('restart:after');
    await row(page, 'restart:after').waitFor();
    assert.deepEqual(await titles(page), ['restart:after', 'restart:between', 'restart:before']);
    await visitor.leave();
    await own.dispose();
  });
});
