// What is written down twice agrees: limits and their tests, dependencies and their reasons, the table of errors
// and its page, openapi.yaml and openapi.json, links and the files they name.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { errorsPage } from '../../scripts/errors-page.mjs';
import { openapiJson } from '../../scripts/openapi-json.mjs';
import { expectNone, files, isTest, read, root } from './tree.mjs';

test('every limit is reached by a test', () => {
  const tests = files.filter((file) => isTest(file) || /_test\./.test(file)).map(read).join('\n');
  const untested = files.filter((file) => /^src\/.*\blimits\.h$/.test(file)).flatMap((file) =>
    [...read(file).matchAll(/^inline constexpr [^=]*?\b(k\w+) *[={]/gm)].map(([, name]) => name)
      .filter((name) => !new RegExp(`\\b${name}\\b`).test(tests)).map((name) => `${file}: ${name}`));
  expectNone(untested);
});

test('docs/dependencies.md gives the reason for every library that is linked', () => {
  const libraries = read('cmake/Libraries.cmake');
  const names = [
    ...[...libraries.matchAll(/find_package\((\w+)/g)].map(([, name]) => name),
    ...[...libraries.matchAll(/add_library\(reprise_(\w+)/g)].map(([, name]) => name),
  ];
  const page = read('docs/dependencies.md').toLowerCase();
  expectNone(names.filter((name) => !page.includes(name.toLowerCase())));
});

test('docs/dependencies.md names every package that is installed', () => {
  const lists = [...read('scripts/setup.sh').matchAll(/^\w+_packages=\(([^)]*)\)/gm)];
  const packages = lists.flatMap(([, list]) => list.trim().split(/\s+/));
  const page = read('docs/dependencies.md');
  expectNone(packages.filter((name) => !page.includes(`\`${name}\``)));
});

test('docs/errors.md is what src/base/errors.def says (node scripts/errors-page.mjs)', () => {
  assert.equal(read('docs/errors.md'), errorsPage(read('src/base/errors.def')));
});

test('api/openapi.json is what api/openapi.yaml says (node scripts/openapi-json.mjs)', () => {
  assert.equal(read('api/openapi.json'), openapiJson(read('api/openapi.yaml')));
});

test('every reference in the API description leads somewhere', () => {
  const document = JSON.parse(read('api/openapi.json'));
  const broken = [...read('api/openapi.json').matchAll(/"\$ref": "#\/([^"]+)"/g)].map(([, pointer]) => pointer)
    .filter((pointer) => pointer.split('/').reduce((at, step) => at?.[step], document) === undefined);
  expectNone(broken);
});

test('the API description requires only properties it has, and closes every request body', () => {
  const { schemas } = JSON.parse(read('api/openapi.json')).components;
  for (const [name, schema] of Object.entries(schemas)) {
    const missing = (schema.required ?? []).filter((property) => !(property in (schema.properties ?? {})));
    expectNone(missing, name);
    if (name.endsWith('Request') && schema.type === 'object') assert.equal(schema.additionalProperties, false, name);
  }
});

test('error codes named in the API description are in src/base/errors.def', () => {
  const known = new Set([...read('src/base/errors.def').matchAll(/^REPRISE_ERROR\(\w+, \d+, "(\w+)"/gm)].map((m) => m[1]));
  const named = [...read('api/openapi.json').matchAll(/"code": "(\w+)"/g)].map(([, code]) => code);
  expectNone(named.filter((code) => !known.has(code)));
});

test('links between pages lead somewhere', () => {
  const broken = files.filter((file) => file.endsWith('.md')).flatMap((file) =>
    [...read(file).matchAll(/\]\(([^)#\s]+)(#[^)]*)?\)/g)].map(([, target]) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => !existsSync(path.resolve(root, path.dirname(file), target)))
      .map((target) => `${file}: ${target}`));
  expectNone(broken);
});
