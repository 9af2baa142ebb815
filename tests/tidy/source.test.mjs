// How the source reads: names, lengths, words, and what tests may not do.
import path from 'node:path';
import test from 'node:test';
import { codeOf, expectNone, files, isBinary, isCpp, isTest, matches, read } from './tree.mjs';

const maxColumns = 100;
const maxLines = 600;
const cpp = files.filter(isCpp);
const code = files.filter((file) => /\.(cpp|h|def|mjs|js|ts|tsx|sh|cmake)$|^(run|test)$|CMakeLists\.txt$/.test(file));
// Joined from halves, so that this file does not find itself.
const words = (...pairs) => pairs.map((halves) => halves.join(''));

test('lines of C++ have at most 100 columns and no tabs', () => {
  const wrong = cpp.flatMap((file) => read(file).split('\n').flatMap((line, index) =>
    [...line].length > maxColumns || line.includes('\t') ? [`${file}:${index + 1}: ${[...line].length} columns`] : []));
  expectNone(wrong);
});

test('no file of src has more than 600 lines', () => {
  const wrong = cpp.filter((file) => file.startsWith('src/') && !isTest(file))
    .map((file) => [file, read(file).split('\n').length - 1]).filter(([, lines]) => lines > maxLines);
  expectNone(wrong);
});

test('no file is named for nothing in particular', () => {
  const banned = /(^|_|-)(utils?|helpers?|managers?)(_|-|\.|$)/;
  expectNone(code.filter((file) => banned.test(path.basename(file))));
});

test('nothing is left for later', () => {
  const banned = new RegExp(`\\b(${words(['TO', 'DO'], ['FIX', 'ME'], ['X', 'XX'], ['HA', 'CK']).join('|')})\\b`);
  const unfinished = new RegExp(words(['not ', 'implemented'], ['un', 'implemented']).join('|'));
  expectNone(code.flatMap((file) => [...matches(file, banned), ...matches(file, unfinished)]));
});

test('every header opens with a comment and #pragma once', () => {
  const headers = cpp.filter((file) => file.endsWith('.h'));
  expectNone(headers.filter((file) => !read(file).startsWith('//')), 'no opening comment');
  expectNone(headers.filter((file) => !/^(\/\/[^\n]*\n|\n)+#pragma once\n/.test(read(file))), 'no pragma');
});

test('a header of src is wrapped in a namespace of reprise', () => {
  const headers = cpp.filter((file) => /^src\/.*\.h$/.test(file));
  const isOpen = (file) => /^namespace reprise\b/m.test(read(file)) || !/^\s*(class|struct|enum) /m.test(codeOf(file));
  expectNone(headers.filter((file) => !isOpen(file)));
});

test('tests do not sleep', () => {
  const sleeping = /\bsleep_(for|until)\b|\bu?sleep\(|timers\/promises|setTimeout\([^,]+, *[0-9]{3,}/;
  // The runtime's own sleep_for is what its tests are about.
  const isSubject = (line) => /^src\/rt\//.test(line) && /co_await (rt::)?sleep_for\(/.test(line);
  const tests = files.filter((file) => /_test\.cpp$|\.test\.m?js$/.test(file) && file !== 'tests/tidy/source.test.mjs');
  expectNone(tests.flatMap((file) => matches(file, sleeping)).filter((line) => !isSubject(line)));
});

test('no test is skipped or singled out', () => {
  const banned = new RegExp(words(['GTEST', '_SKIP'], ['DIS', 'ABLED_'], ['\\b(test|it|describe)\\.', '(skip|todo|only)\\b'],
                                  ['\\bt\\.', '(skip|todo)\\('], ['\\{ *', '(skip|todo|only):']).join('|'));
  const tests = files.filter((file) => isTest(file) || /_test\./.test(file));
  expectNone(tests.flatMap((file) => matches(file, banned)));
});

test('no file names a path of one machine or the host of a package registry', () => {
  const banned = new RegExp(`(^|[^\\w.-])(${words(['/wo', 'rk/'], ['/ro', 'ot/']).join('|')})|`
                            + words(['deb.debian', '\\.org'], ['registry.npmjs', '\\.org'], ['pypi', '\\.org']).join('|'));
  const text = files.filter((file) => !isBinary(file));
  expectNone(text.flatMap((file) => matches(file, banned)));
});

test('no generated folder is tracked', () => {
  expectNone(files.filter((file) => /(^|\/)(node_modules|build|data)\//.test(file)));
});
