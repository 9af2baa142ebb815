// The tree as the checks see it: the files that are, or are about to be, under version control.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

// Paths from the root, sorted. New files count before they are added, so that a check fails before a commit does.
export const files = listFiles().sort();

function listFiles() {
  try {
    const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'],
                                { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return listed.split('\0').filter((file) => file && existsSync(path.join(root, file)));
  } catch {
    return walk('');  // a tree without git: an unpacked archive
  }
}

function walk(folder) {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (['.git', 'node_modules', 'build', 'data'].includes(file) || entry.name === 'node_modules') return [];
    return entry.isDirectory() ? walk(file) : [file];
  });
}

const texts = new Map();

export function read(file) {
  if (!texts.has(file)) texts.set(file, readFileSync(path.join(root, file), 'utf8'));
  return texts.get(file);
}

export const isCpp = (file) => /\.(cpp|h)$/.test(file);
export const isTest = (file) => /_(test|fuzz)\.cpp$/.test(file) || file.startsWith('tests/');
export const isBinary = (file) => readFileSync(path.join(root, file)).subarray(0, 8000).includes(0);

// C++ with comments and literals blanked out, line by line as before: what the compiler acts on.
export function codeOf(file) {
  const blank = (text) => text.replace(/[^\n]/g, ' ');
  return read(file).replace(
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|R"(\w*)\([\s\S]*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'/g,
    (token) => (token.startsWith("'") && /^'\d/.test(token) && token.length > 4 ? token : blank(token)));
}

// `file:line: text` for every line of `text` that matches.
export function matches(file, pattern, text = read(file)) {
  return text.split('\n').flatMap((line, index) =>
    pattern.test(line) ? [`${file}:${index + 1}: ${read(file).split('\n')[index].trim()}`] : []);
}

// Fails with one line for each thing found.
export function expectNone(found, what = '') {
  assert.ok(found.length === 0, `${found.length} found${what && `: ${what}`}\n${found.join('\n')}`);
}
