// The C++ of the tree is formatted as .clang-format says: clang-format-19 -i <files>.
import assert from 'node:assert/strict';
import test from 'node:test';
import { run } from './clang.mjs';
import { expectNone, files, isCpp } from './tree.mjs';

test('clang-format would change nothing', async () => {
  const sources = files.filter(isCpp);
  if (sources.length === 0) return;
  const { code, output } = await run('clang-format-19', ['--dry-run', '-Werror', ...sources]);
  const unformatted = new Set([...output.matchAll(/^([^\s:]+):\d+:\d+: error/gm)].map(([, file]) => file));
  expectNone([...unformatted]);
  assert.equal(code, 0, output);
});
