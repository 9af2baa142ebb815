// Playwright and Puppeteer, as npm has them, attached to sessions of the real binary and of real Chromium.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { browserDirectory, startServer, unique, until, within } from '../e2e/harness.mjs';
import { socketUrl, startSite } from './cdp-site.mjs';

describe('the DevTools endpoint', () => {
  let server;
  let site;
  before(async () => {
    site = await startSite();
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
  });
  after(async () => {
    await server.dispose();
    site.close();
  });

  const start = (more = {}) => server.create({ app: unique('cdp'), status: 'ACTIVE', ...more });
  const endpoint = (session) => `${server.url}/v1/sessions/${session.id}/cdp`;
  const playwright = (session) => chromium.connectOverCDP(endpoint(session));
  const puppet = (session) => puppeteer.connect({ browserWSEndpoint: socketUrl(server, session), defaultViewport: null });
  const tabsOf = async (session) => (await server.ok('GET', `/v1/sessions/${session.id}/tabs`)).tabs;
  const commandsOf = async (session) => (await server.ok('GET', `/v1/sessions/${session.id}/commands`)).commands;

  it('tells where it is, by the name it was called by', async () => {
    const session = await start();
    for (const path of ['/json/version', '/json/version/']) {
      const answer = await server.ok('GET', `/v1/sessions/${session.id}/cdp${path}`, undefined, { Host: `localhost:${server.port}` });
      assert.equal(answer.webSocketDebuggerUrl, `ws://localhost:${server.port}/v1/sessions/${session.id}/cdp`);
    }
    await server.refused(426, 'upgrade_required', 'GET', `/v1/sessions/${session.id}/cdp`);
    await server.refused(404, 'session_not_found', 'GET', '/v1/sessions/00000000-0000-7000-8000-000000000000/cdp/json/version');
  });

  it('gives Playwright the session\'s page, and everything it does with it', async () => {
    const session = await start();
    const browser = await playwright(session);
    const [context] = browser.contexts();
    assert.equal(browser.contexts().length, 1);
    assert.equal(context.pages().length, 1);
    const [page] = context.pages();
    await page.goto(site.origin);
    await page.fill('#name', 'Ada');
    await page.click('#greet');
    assert.equal(await page.textContent('#out'), 'hello Ada');
    assert.equal(await page.evaluate(() => 6 * 7), 42);
    assert.equal((await page.screenshot()).subarray(1, 4).toString(), 'PNG');
    page.once('dialog', (dialog) => dialog.accept());
    await page.click('#ask');
    assert.equal(await page.textContent('#out'), 'yes');

    await page.route('**/next', (route) => route.fulfill({ contentType: 'text/html', body: '<title>Routed</title>' }));
    await page.click('#next');
    await page.waitForURL('**/next');
    assert.equal(await page.title(), 'Routed');
    await page.unroute('**/next');
    await page.goto(`${site.origin}/worker`);
    await page.waitForFunction(() => document.title === 'worker 42');

    const second = await context.newPage();
    await second.goto(`${site.origin}/next`);
    assert.equal(context.pages().length, 2);
    await until(async () => (await tabsOf(session)).some((tab) => tab.title === 'Next' && tab.isActive), 5000, 'the tab to appear');
    await second.close();
    await until(async () => (await tabsOf(session)).length === 1, 5000, 'the tab to go');
    await browser.close();
    assert.equal((await server.get(session.id)).status, 'ACTIVE');
  });

  it('shows popups to Playwright before they run, those that stop in an alert too', async () => {
    const session = await start();
    const browser = await playwright(session);
    const [page] = browser.contexts()[0].pages();
    await page.goto(site.origin);
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#popup')]);
    await popup.waitForLoadState();
    assert.equal(await popup.title(), 'Popup');
    assert.equal(await popup.opener(), page);

    const messages = [];
    browser.contexts()[0].on('dialog', (dialog) => {
      messages.push(dialog.message());
      return dialog.accept();
    });
    const [blank] = await within(Promise.all([page.waitForEvent('popup'), page.click('#blank')]), 10_000, 'the popup with an alert');
    await page.waitForFunction(() => document.querySelector('#out').textContent === 'alerted');
    assert.deepEqual(messages, ['from the popup']);
    assert.equal(await blank.title(), 'Blank');
    const tabs = await until(async () => {
      const all = await tabsOf(session);
      return all.length === 3 && all;
    }, 5000, 'three tabs');
    assert.deepEqual(tabs.map((tab) => tab.isPopup), [false, true, true]);
    await browser.close();
  });

  it('opens contexts for Playwright, which go with it', async () => {
    const session = await start();
    const browser = await playwright(session);
    const context = await browser.newContext({ viewport: { width: 400, height: 300 } });
    const page = await context.newPage();
    await page.goto(`${site.origin}/cookie#inner`);
    assert.equal(await page.evaluate(() => innerWidth), 400);
    assert.deepEqual((await context.cookies()).map(({ value }) => value), ['inner']);
    assert.deepEqual(await browser.contexts()[0].cookies(), []);
    // Its page is a tab of the session, and goes through the same rules.
    await until(async () => (await tabsOf(session)).some((tab) => tab.title === 'was'), 5000, 'its tab');
    await assert.rejects(page.goto('http://169.254.1.1/'), /link-local/);
    await assert.rejects(page.goto('file:///etc/passwd'), /file/);
    await assert.rejects(page.goto(`${server.url}/healthz`), /ERR_|own/);
    await browser.close();
    await until(async () => (await tabsOf(session)).length === 1, 5000, 'its tab to go');
  });

  it('refuses proxies of a client\'s own, and files of this machine', async () => {
    const session = await start();
    const browser = await playwright(session);
    await assert.rejects(browser.newContext({ proxy: { server: 'http://127.0.0.1:9' } }).then((context) => context.newPage()), /proxy/);
    const [page] = browser.contexts()[0].pages();
    await page.setContent('<input type=file>');
    // A file of the client's machine, which it sends itself.
    await page.setInputFiles('input', import.meta.filename);
    assert.equal(await page.$eval('input', (input) => input.files[0].name), 'cdp-clients.test.mjs');
    const protocol = await page.context().newCDPSession(page);
    const { root } = await protocol.send('DOM.getDocument');
    const { nodeId } = await protocol.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'input' });
    for (const path of ['/etc/passwd', '../../etc/passwd', '', 'file:///etc/passwd'])
      await assert.rejects(protocol.send('DOM.setFileInputFiles', { nodeId, files: [path] }), /[Ff]iles/);
    await browser.close();
  });

  it('gives Puppeteer the session\'s page, and everything it does with it', async () => {
    const session = await start();
    const browser = await puppet(session);
    const [page] = await browser.pages();
    await page.goto(site.origin);
    await page.type('#name', 'Grace');
    await page.click('#greet');
    assert.equal(await page.$eval('#out', (node) => node.textContent), 'hello Grace');
    assert.ok((await page.screenshot()).length > 100);
    const popup = new Promise((opened) => { page.once('popup', opened); });
    await page.click('#popup');
    const opened = await within(popup, 10_000, 'the popup');
    await until(async () => await opened.title() === 'Popup', 5000, 'the title of the popup');
    page.once('dialog', (dialog) => dialog.dismiss());
    await page.click('#ask');
    assert.equal(await page.$eval('#out', (node) => node.textContent), 'no');
    const context = await browser.createBrowserContext();
    const inner = await context.newPage();
    await inner.goto(`${site.origin}/next`);
    assert.equal(await inner.title(), 'Next');
    await context.close();
    const second = await browser.newPage();
    await second.goto(`${site.origin}/next`);
    assert.equal((await browser.pages()).length, 3);
    // Browser.close, which ends what the client sees and nothing else.
    await browser.close();
    const again = await puppet(session);
    assert.equal((await again.pages()).length, 3);
    await again.disconnect();
  });

  it('serves both at once on one session', async () => {
    const session = await start();
    const browser = await playwright(session);
    const [page] = browser.contexts()[0].pages();
    await page.goto(site.origin);
    const other = await puppet(session);
    const [same] = await other.pages();
    assert.equal(await same.title(), 'Home');
    const seen = new Promise((opened) => { other.once('targetcreated', opened); });
    const [popup] = await within(Promise.all([page.waitForEvent('popup'), page.click('#popup')]), 10_000, 'the popup');
    await within(seen, 10_000, 'Puppeteer to see it');
    await popup.waitForLoadState();
    assert.equal(await popup.title(), 'Popup');
    const fromOther = browser.contexts()[0].waitForEvent('page');
    const made = await other.newPage();
    await made.goto(`${site.origin}/next`);
    assert.equal(await (await fromOther).title(), 'Next');
    await other.disconnect();
    await page.click('#greet');
    assert.equal(await page.textContent('#out'), 'hello ');
    await browser.close();
  });

  it('lets go and takes back: pages and cookies stay', async () => {
    const session = await start();
    for (const round of [0, 1, 2]) {
      const browser = await playwright(session);
      const [page] = browser.contexts()[0].pages();
      await page.goto(`${site.origin}/cookie?${round}#${round}`);
      assert.equal(await page.title(), round === 0 ? 'was' : `was who=${round - 1}`);
      await browser.close();
    }
  });

  it('puts on record what was done, in order, and nothing of what was typed', async () => {
    const session = await start();
    const browser = await playwright(session);
    const [page] = browser.contexts()[0].pages();
    await page.goto(site.origin);
    await page.locator('#name').pressSequentially('hunter2-secret');
    await page.keyboard.press('Tab');
    await page.click('#greet');
    await page.goto(`${site.origin}/next`);
    await page.goto('http://127.0.0.1:1/').catch(() => {});
    await browser.close();
    const commands = await until(async () => {
      const all = await commandsOf(session);
      return all.length >= 5 && all;
    }, 5000, 'the commands');
    assert.deepEqual(commands.map(({ tool, ok }) => `${tool} ${ok}`), [
      'Page.navigate true', 'Input.dispatchKeyEvent true', 'Input.dispatchMouseEvent true', 'Page.navigate true', 'Page.navigate true']);
    assert.ok(commands.every(({ source, tabId }) => source === 'cdp' && tabId));
    assert.deepEqual(commands[1].args, { keys: 15, text: { redacted: true, length: 14 }, named: ['Tab'], order: [14, 'Tab'] });
    assert.equal(commands[0].args.url, `${site.origin}/`);
    assert.ok(!JSON.stringify(await server.events(session.id)).includes('hunter2'));
  });
});
