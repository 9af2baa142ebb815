// The page script as the binary has it: the parts that src/browser/page/page_script.cpp lists, inside one function.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../src/browser/page');
const listed = readFileSync(path.join(folder, 'page_script.cpp'), 'utf8');

export const partNames = [...listed.matchAll(/^ +REPRISE_PAGE_PART\("([\w.]+)"\)/gm)].map(([, name]) => name);
export const parts = partNames.map((name) => readFileSync(path.join(folder, name), 'utf8'));
export const pageScript = `(() => {\n'use strict';\n${parts.join('')}return api;\n})()\n`;
export { folder };
