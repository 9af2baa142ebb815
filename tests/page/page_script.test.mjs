// What a snapshot says of HTML: roles, names, states, structure, what is seen, and how it is quoted.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { clobberingCases, nameCases, quotingCases, structureCases, textCases, visibilityCases,
  widgetCases } from './cases.mjs';
import { startChromium } from './chromium.mjs';
import { openStage, servePages, withoutRefs } from './pages.mjs';

let browser;
let pages;
let stage;
before(async () => {
  browser = await startChromium();
  pages = await servePages();
  stage = await openStage(browser, pages);
});
after(async () => {
  await browser.close();
  await pages.close();
});

const tables = { text: textCases, quoting: quotingCases, widgets: widgetCases, names: nameCases,
  structure: structureCases, visibility: visibilityCases, clobbering: clobberingCases };
for (const [subject, cases] of Object.entries(tables)) {
  describe(`a snapshot's ${subject}`, () => {
    for (const [what, html, expected] of cases) {
      it(what, async () => {
        await stage.show(html);
        assert.equal(withoutRefs(await stage.lines()), expected);
      });
    }
  });
}
