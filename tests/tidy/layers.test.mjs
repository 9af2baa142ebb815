// The layers: an include points down the table of src/README.md, never up. The table is read from that page, so
// that the page and the check cannot differ.
import assert from 'node:assert/strict';
import test from 'node:test';
import { codeOf, expectNone, files, isCpp, isTest, matches, read } from './tree.mjs';

// folder -> the folders it may include, from the rows "| `src/rt` | owns | must not know | `base` |".
const table = new Map(read('src/README.md').split('\n').flatMap((line) => {
  const cells = line.split('|').map((cell) => cell.trim());
  const folder = /^`(?:src\/)?(\w+)\/?`$/.exec(cells[1] ?? '')?.[1];
  return folder && cells.length === 6 ? [[folder, (cells[4].match(/\w+/g) ?? [])]] : [];
}));
const folderOf = (file) => /^src\/(\w+)\//.exec(file)?.[1] ?? /^(sim)\//.exec(file)?.[1];
const sources = files.filter((file) => isCpp(file) && folderOf(file));

test('every folder of src has its row in src/README.md', () => {
  const folders = new Set(files.filter((file) => /^src\/\w+\//.test(file)).map(folderOf));
  expectNone([...folders].filter((folder) => !table.has(folder)));
});

test('a row includes only rows above it', () => {
  const above = new Set();
  for (const [folder, uses] of table) {
    expectNone(uses.filter((use) => !above.has(use)), `src/README.md, row of ${folder}`);
    above.add(folder);
  }
});

test('includes point down the table', () => {
  const wrong = sources.flatMap((file) => {
    const allowed = new Set([folderOf(file), ...(table.get(folderOf(file)) ?? [])]);
    return matches(file, /^\s*#\s*include\s+"/).filter((line) => {
      const target = /"(\w+)\//.exec(line)?.[1];
      return target && table.has(target) && !allowed.has(target);
    });
  });
  expectNone(wrong);
});

test('our own headers are included from the root of src, not relatively', () => {
  const wrong = sources.flatMap((file) => matches(file, /^\s*#\s*include\s+"(\.|[^/"]+")/));
  expectNone(wrong.filter((line) => line.startsWith('src/')));
});

test('CMakeLists.txt links the layers of the table', () => {
  for (const [, name, rest] of read('CMakeLists.txt').matchAll(/^reprise_layer\((\w+)([^)]*)\)/gm)) {
    const uses = /USES ([\w ]+?)(?: LIBRARIES|$)/.exec(rest.trim())?.[1].trim().split(/\s+/) ?? [];
    assert.deepEqual([...uses].sort(), [...(table.get(name) ?? ['no row'])].sort(), `layer ${name}`);
  }
});

test('Boost is seen in src/rt only', () => {
  const wrong = files.filter((file) => isCpp(file) && !file.startsWith('src/rt/'))
    .flatMap((file) => matches(file, /#\s*include\s*[<"]boost\//));
  expectNone(wrong);
});

test('RocksDB is seen in src/store/rocksdb only', () => {
  const wrong = files.filter((file) => isCpp(file) && !file.startsWith('src/store/rocksdb/'))
    .flatMap((file) => matches(file, /#\s*include\s*[<"]rocksdb\//));
  expectNone(wrong);
});

test('threads and locks are in src/rt, src/store and src/base only', () => {
  const banned = /\bstd::(j?thread|(recursive_|shared_|timed_)*mutex|condition_variable(_any)?)\b/;
  const wrong = sources.filter((file) => file.startsWith('src/') && !isTest(file))
    .filter((file) => !['rt', 'store', 'base'].includes(folderOf(file)))
    .flatMap((file) => matches(file, banned, codeOf(file)));
  expectNone(wrong);
});
