// The page's own source: types that hold, a weight that stays, and the parts that need no browser.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildPage } from '../../web/build.mjs';
import { startServer } from '../e2e/harness.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const web = resolve(here, '../../web');
const run = promisify(execFile);

// A module of the page, as the browser would have it.
async function load(path) {
  const esbuild = await import(pathToFileURL(join(web, 'node_modules/esbuild/lib/main.js')));
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(web, 'src', path)], bundle: true, write: false, format: 'esm', jsx: 'automatic', jsxImportSource: 'preact',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

describe('the source of the page', () => {
  it('has types that hold', async () => {
    await run(join(here, 'node_modules/.bin/tsc'), ['--noEmit', '-p', web]).catch((error) => assert.fail(error.stdout));
  });

  it('weighs less than 200 KiB compressed', async () => {
    const files = await buildPage();
    const bytes = files.reduce((sum, file) => sum + gzipSync(file.bytes).length, 0);
    assert.ok(bytes < 200 * 1024, `${bytes} bytes`);
  });

  it('is what the binary serves, and loads nothing from elsewhere', async () => {
    const server = await startServer();
    try {
      for (const file of await buildPage()) {
        const answer = await server.call('GET', file.path);
        assert.equal(answer.status, 200, file.path);
        assert.equal(answer.text, file.bytes.toString('utf8'), `${file.path} is older than web/: build it`);
        const hosts = [...answer.text.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host);
        assert.deepEqual(hosts.filter((host) => host !== 'www.w3.org'), [], file.path);
      }
    } finally {
      await server.dispose();
    }
  });
});

describe('differences of texts', () => {
  const told = (lines) => lines.map(({ kind, text }) => `${{ same: ' ', added: '+', removed: '-' }[kind]}${text}`);
  it('are the shortest there are', async () => {
    const { diffLines } = await load('ui/diff.ts');
    assert.deepEqual(told(diffLines('a\nb\nc', 'a\nc')), [' a', '-b', ' c']);
    assert.deepEqual(told(diffLines('a\nc', 'a\nb\nc')), [' a', '+b', ' c']);
    assert.deepEqual(told(diffLines('x\na\nb\ny', 'x\nb\na\ny')).filter((line) => !line.startsWith(' ')).length, 2);
    assert.deepEqual(told(diffLines('same', 'same')), [' same']);
    assert.deepEqual(told(diffLines('', 'new')), ['-', '+new']);
    const [, , line] = diffLines('a\nb', 'a\nz\nb');
    assert.deepEqual([line.before, line.after], [2, 3]);
  });

  it('rebuild either side, whatever the texts', async () => {
    const { diffLines } = await load('ui/diff.ts');
    let seed = 7;
    const random = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed % n; };
    for (let round = 0; round < 300; round += 1) {
      const make = () => Array.from({ length: random(12) }, () => 'abcd'[random(4)]).join('\n');
      const [before, after] = [make(), make()];
      const lines = diffLines(before, after);
      const side = (gone) => lines.filter(({ kind }) => kind !== gone).map(({ text }) => text).join('\n');
      assert.equal(side('added'), before, `round ${round}`);
      assert.equal(side('removed'), after, `round ${round}`);
    }
  });

  it('of texts with nothing in common are told without looking for it for ever', async () => {
    const { diffLines } = await load('ui/diff.ts');
    const many = (word) => Array.from({ length: 5_000 }, (_, n) => `${word} ${n}`).join('\n');
    assert.equal(diffLines(many('a'), many('b')).length, 10_000);
  });
});
