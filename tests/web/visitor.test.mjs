// The measure of slow tasks, measured itself.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { openBrowser, watchTasks } from './visitor.mjs';

let browser;
before(async () => { browser = await openBrowser(); });
after(() => browser?.close());

it('finds a task that computes for longer than 100 ms, and none that is short', async () => {
  const page = await browser.newPage();
  const work = (ms) => page.evaluate((most) => new Promise((done) => {
    setTimeout(() => {
      const begin = performance.now();
      while (performance.now() - begin < most);
      done();
    });
  }), ms);
  let slowTasks = await watchTasks(browser, page);
  for (let n = 0; n < 20; n += 1) await work(5);
  assert.deepEqual(await slowTasks(), []);
  slowTasks = await watchTasks(browser, page);
  for (let n = 0; n < 20; n += 1) await work(n === 10 ? 1_000 : 1);
  assert.equal((await slowTasks()).length, 1);
});
