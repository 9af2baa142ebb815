// Questions to people, answered in the page.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startServer, unique } from '../e2e/harness.mjs';
import { Sample } from './sample.mjs';
import { openBrowser, visit } from './visitor.mjs';

describe('questions', () => {
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

  // A session that asks, and the page that shows the question.
  async function ask(question) {
    const session = await sample.put(`ask:${unique('x')}`);
    const { id } = await sample.ask(session.id, { prompt: 'What now?', ...question });
    const visitor = await visit(browser, server, { path: `#/session/${session.id}/questions` });
    const form = visitor.page.getByRole('article', { name: 'What now?' });
    await form.waitFor();
    const answered = async () => {
      await form.getByText('Answered').waitFor();
      return (await server.ok('GET', `/v1/sessions/${session.id}/interactions/${id}`)).response;
    };
    return { session, id, visitor, form, answered };
  }

  it('of every kind are proper forms', async () => {
    const session = await sample.questions();
    const visitor = await visit(browser, server, { path: `#/session/${session.id}/questions` });
    const { page } = visitor;
    await page.getByRole('article').nth(3).waitFor();
    await page.getByRole('tab', { name: /Questions\s*4/ }).waitFor();
    await page.getByText(/5\d min .* left/).waitFor();
    await visitor.assertAccessible();
    await visitor.setTheme('dark');
    await page.getByRole('article').nth(3).waitFor();
    await visitor.assertAccessible();
    await visitor.leave();
  });

  it('take a text', async () => {
    const { visitor, form, answered } = await ask({ kind: 'waitForInput' });
    await form.getByRole('button', { name: 'Answer' }).click();
    await form.getByText('This is needed.').waitFor();
    await form.getByLabel('Answer').fill('blue');
    await form.getByRole('button', { name: 'Answer' }).click();
    assert.deepEqual(await answered(), { input: 'blue' });
    await visitor.page.locator('.status', { hasText: 'Active' }).waitFor();
    await visitor.leave();
  });

  it('take a file, which becomes an artifact', async () => {
    const { session, visitor, form, answered } = await ask({ kind: 'waitForInput' });
    await form.getByLabel('A file instead').setInputFiles({ name: 'a note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
    await form.getByRole('button', { name: 'Answer with a note.txt' }).click();
    const { input } = await answered();
    assert.match(input.artifact, /^uploads\/.*\/a_note\.txt$/);
    const stored = await server.call('GET', `/v1/sessions/${session.id}/artifacts/${input.artifact}`);
    assert.equal(stored.text, 'hello');
    await visitor.leave();
  });

  it('can be skipped where they may', async () => {
    const { visitor, form, answered } = await ask({ kind: 'waitForInput', skipLabel: 'Not now' });
    await form.getByRole('button', { name: 'Not now' }).click();
    assert.deepEqual(await answered(), { skipped: true });
    await visitor.leave();
  });

  it('take one choice by a click, several by a list, and none of the above', async () => {
    const choices = [{ id: 'a', label: 'Apple' }, { id: 'b', label: 'Pear', description: 'soft' }, { id: 'c' }];
    const one = await ask({ kind: 'waitForChoice', choices, layout: 'grid' });
    await one.form.getByRole('button', { name: 'Pear soft' }).click();
    assert.deepEqual(await one.answered(), { selected: ['b'] });
    await one.visitor.leave();
    const several = await ask({ kind: 'waitForChoice', choices, selectionMode: 'multiple' });
    await several.form.getByRole('button', { name: 'Apple' }).click();
    await several.form.getByRole('button', { name: 'c', exact: true }).click();
    await several.form.getByRole('button', { name: 'Answer with 2' }).click();
    assert.deepEqual((await several.answered()).selected.sort(), ['a', 'c']);
    await several.visitor.leave();
    const none = await ask({ kind: 'waitForChoice', choices, noneOfTheAboveLabel: 'None' });
    await none.form.getByRole('button', { name: 'None' }).click();
    assert.deepEqual(await none.answered(), { selected: [] });
    await none.visitor.leave();
  });

  it('are confirmed or not', async () => {
    const { visitor, form, answered } = await ask({ kind: 'confirm' });
    await form.getByRole('button', { name: 'No' }).click();
    assert.deepEqual(await answered(), { confirmed: false });
    await visitor.leave();
  });

  it('make a form of a schema, and say what breaks it', async () => {
    const { visitor, form, answered } = await ask({
      kind: 'inputNode',
      schema: {
        type: 'object', required: ['name', 'size'], additionalProperties: false,
        properties: {
          name: { type: 'string', title: 'Name', pattern: '^[A-Z]' }, size: { type: 'integer', title: 'Size', minimum: 2 },
          speed: { type: 'string', title: 'Speed', enum: ['slow', 'fast'] }, gift: { type: 'boolean', title: 'Gift' },
          tags: { type: 'array', title: 'Tags', items: { enum: ['x', 'y'] } },
          address: { type: 'object', title: 'Address', properties: { city: { type: 'string', title: 'City' } } },
        },
      },
    });
    visitor.allow(/status of 422/);
    await form.getByLabel('Size').fill('1');
    await form.getByRole('button', { name: 'Answer' }).click();
    await form.getByText('This is needed.').waitFor();
    await form.getByText('At least 2.').waitFor();
    await form.getByLabel('Name').fill('ada');
    await form.getByLabel('Size').fill('3');
    await form.getByRole('button', { name: 'Answer' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByLabel('Name').fill('Ada');
    await form.getByLabel('Speed').selectOption('fast');
    await form.getByLabel('Gift').check();
    await form.getByLabel('y', { exact: true }).check();
    await form.getByLabel('City').fill('Berlin');
    await form.getByRole('button', { name: 'Answer' }).click();
    assert.deepEqual((await answered()).input,
      { name: 'Ada', size: 3, speed: 'fast', gift: true, tags: ['y'], address: { city: 'Berlin' } });
    await visitor.leave();
  });

  it('say so at once when they are answered elsewhere, and count down', async () => {
    const { session, id, visitor, form } = await ask({ kind: 'confirm', deadlineMs: 3_600_000 });
    await form.getByText(/59 min \d+ s left|1 h 0 min left/).waitFor();
    await sample.call('POST', `/v1/sessions/${session.id}/interactions/${id}/response`, { confirmed: true });
    await form.getByText('Answered').waitFor();
    assert.equal(await form.getByRole('button', { name: 'Yes' }).count(), 0);
    await sample.ask(session.id, { kind: 'confirm', prompt: 'And now?' });
    await visitor.page.getByRole('article', { name: 'And now?' }).waitFor();
    await visitor.leave();
  });
});
