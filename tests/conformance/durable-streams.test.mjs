// The public conformance suite of Durable Streams against the real binary. Each of its tests is one here, so that the
// summary counts them; one that is skipped fails.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeDirectory, startServer, temporaryDirectory } from '../e2e/harness.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const vitest = join(here, 'node_modules/vitest/vitest.mjs');
assert.ok(existsSync(vitest), 'npm packages are missing: ./test --only conformance installs them');

const directory = temporaryDirectory('reprise-conformance-');
const report = join(directory, 'report.json');
const server = await startServer({ args: ['--long-poll-timeout-ms', '500', '--allow-loopback-webhooks'] });
const run = spawn(process.execPath, [
  vitest, 'run', 'suite.vitest.mjs', '--reporter=json', `--outputFile=${report}`,
], { cwd: here, env: { ...process.env, REPRISE_URL: server.url, REPRISE_SUBSCRIPTIONS: '1' } });
let output = '';
for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk) => { output += chunk; });
await new Promise((resolve) => { run.once('exit', resolve); });
assert.ok(existsSync(report), `vitest gave no report: ${output.slice(-2000)}`);
const results = JSON.parse(readFileSync(report, 'utf8')).testResults.flatMap((file) => file.assertionResults);

describe('Durable Streams', () => {
  before(() => assert.ok(results.length >= 338, `the suite has 338 tests, not ${results.length}`));
  after(async () => {
    await server.dispose();
    removeDirectory(directory);
  });
  for (const result of results) {
    it(result.fullName, () => {
      assert.equal(result.status, 'passed', result.failureMessages?.join('\n').slice(0, 2000));
    });
  }
});
