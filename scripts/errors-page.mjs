// Writes docs/errors.md from src/base/errors.def: `node scripts/errors-page.mjs`. tests/tidy checks that the page
// in the tree is what this writes.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const opening = `# Errors

This page is generated from [src/base/errors.def](../src/base/errors.def) by \`node scripts/errors-page.mjs\`.

Every refusal is a problem document (RFC 9457, \`application/problem+json\`):

    HTTP/1.1 409 Conflict
    Content-Type: application/problem+json

    {"type": "urn:reprise:error:wrong_sequence", "title": "The expected sequence does not match.", "status": 409,
     "code": "wrong_sequence", "detail": "expectedSeq is 7 but the stream's head is 9",
     "instance": "/v1/sessions/demo:first/events", "retryable": false, "expectedSeq": 7, "lastSeq": 9}

Match on \`code\`: it never changes its meaning, and new codes are only added. \`title\` and \`detail\` are for people and
may change. \`retryable\` says whether the same request may succeed later; 429 and 503 carry \`Retry-After\`. A 422 lists
each wrong field in \`errors\`, with a JSON pointer (RFC 6901) into the body. A refused request has changed nothing.
`;

// The page for the text of errors.def. A comment line above rows becomes their heading.
export function errorsPage(table) {
  let page = opening;
  let heading = null;
  for (const line of table.split('\n')) {
    const row = /^REPRISE_ERROR\((\w+), (\d+), "([^"]+)", "([^"]+)"\)$/.exec(line);
    if (row) {
      if (heading) page += `\n## ${heading}\n\n| status | code | meaning |\n|---|---|---|\n`;
      heading = null;
      page += `| ${row[2]} | \`${row[3]}\` | ${row[4]} |\n`;
    } else if (line.startsWith('// ')) {
      heading = line.slice(3).replace(/\.$/, '');
    } else if (/^REPRISE_ERROR/.test(line)) {
      throw new Error(`errors.def: a row must stand on one line: ${line}`);
    }
  }
  return page;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
  writeFileSync(path.join(root, 'docs/errors.md'), errorsPage(readFileSync(path.join(root, 'src/base/errors.def'), 'utf8')));
}
