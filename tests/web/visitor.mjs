// A person with a browser: Debian's Chromium, driven by playwright-core, against the real binary.
//
//     const browser = await openBrowser();
//     const visitor = await visit(browser, server);     // a context of its own, with the page open
//     await visitor.page.getByRole('link', { name: 'shop:one' }).click();
//     await visitor.leave();                            // asserts that the console stayed silent
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { SLOWNESS } from '../e2e/harness.mjs';

const programs = ['/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium-headless-shell'];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export function openBrowser() {
  const executablePath = programs.find(existsSync);
  assert.ok(executablePath, 'chromium-headless-shell is not installed: ./test installs it');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

export async function visit(browser, server, { path = '', context: options = {} } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const visitor = new Visitor(context, server);
  visitor.page = await visitor.open(path);
  return visitor;
}

class Visitor {
  constructor(context, server) {
    this.context = context;
    this.server = server;
    this.said = [];  // what the consoles of all tabs said
    this.allowed = [];  // what they may say
    context.setDefaultTimeout(15_000 * SLOWNESS);
  }

  // Another tab.
  async open(path = '') {
    const page = await this.context.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.said.push(`${message.text()} ${message.location().url ?? ''}`);
    });
    page.on('pageerror', (error) => this.said.push(String(error)));
    await page.goto(`${this.server.url}/${path}`);
    return page;
  }

  // The console may say this from now on: a browser tells of every request that fails.
  allow(pattern) { this.allowed.push(pattern); }

  assertSilent() {
    const unexpected = this.said.filter((line) => !this.allowed.some((pattern) => pattern.test(line)));
    assert.deepEqual(unexpected, [], 'the console is not silent');
  }

  async leave() {
    await this.context.close();
    this.assertSilent();
  }

  // Nothing of WCAG 2.1 A and AA is violated, as far as a program can tell.
  async assertAccessible(page = this.page) {
    // Not by a script element: the page's policy refuses those.
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'],
    }));
    const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join('\n    ')}`);
    assert.deepEqual(told, []);
  }

  async setTheme(theme, page = this.page) {
    await page.evaluate((wanted) => localStorage.setItem('reprise.theme', wanted), theme);
    await page.reload();
  }
}

const mostMs = 100;

// Watches what the page's main thread does, task by task; the function it gives ends that and tells the tasks over 100 ms. What
// counts is the time that a task computed in: a machine that has other work to do makes all tasks long, and none of them slow.
export async function watchTasks(browser, page) {
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  return async () => {
    const { traceEvents } = JSON.parse(await browser.stopTracing());
    const threadOf = ({ pid, tid }) => `${pid}/${tid}`;
    const mains = new Set(traceEvents.filter(({ ph, name, args }) => ph === 'M' && name === 'thread_name' && args.name === 'CrRendererMain').map(threadOf));
    const tasks = traceEvents.filter((event) => event.ph === 'X' && event.name === 'ThreadControllerImpl::RunTask' && mains.has(threadOf(event)));
    // A task of less than a microsecond has none.
    assert.ok(tasks.length > 10 && tasks.filter(({ tdur }) => tdur > 0).length > tasks.length / 2, 'nothing was measured');
    return tasks.filter(({ tdur }) => tdur > mostMs * 1_000).map(({ dur, tdur }) => `${tdur / 1_000} ms, in ${dur / 1_000}`);
  };
}
