// What an operator relies on: configuration from flags, environment and file; logs.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  assertProblem, removeDirectory, run, startServer, temporaryDirectory, until,
} from './harness.mjs';

async function withServer(options, use) {
  const server = await startServer(options);
  try {
    await use(server);
  } finally {
    await server.dispose();
  }
}

// The largest body such a server takes tells which setting it obeys.
async function assertTakesUpTo(options, limit) {
  await withServer(options, async (server) => {
    const bodyOf = (size) => JSON.stringify({ metadata: { x: 'x'.repeat(size - 21) } });
    assert.equal(bodyOf(limit).length, limit);
    const fits = await server.call('POST', '/v1/sessions', bodyOf(limit));
    assert.equal(fits.status, 201, fits.text);
    assertProblem(await server.call('POST', '/v1/sessions', bodyOf(limit + 1)), 413);
  });
}

describe('configuration', () => {
  it('comes from flags before the environment before the file', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'reprise.json');
    writeFileSync(file, JSON.stringify({ maxBodyBytes: 3000 }));
    const env = { REPRISE_MAX_BODY_BYTES: '2000' };
    const flag = ['--max-body-bytes', '1500'];
    await assertTakesUpTo({ args: ['--config', file] }, 3000);
    await assertTakesUpTo({ args: ['--config', file], env }, 2000);
    await assertTakesUpTo({ args: ['--config', file, ...flag], env }, 1500);
    removeDirectory(directory);
  });

  it('is refused when it has an unknown name or a bad value', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'reprise.json');
    for (const text of ['{"maxBodyBites": 1}', '{"maxBodyBytes": "many"}', '{', '[]']) {
      writeFileSync(file, text);
      const { code, stdout, stderr } = await run(['serve', '--listen', '127.0.0.1:0',
        '--data', join(directory, 'data'), '--config', file]);
      assert.notEqual(code, 0, text);
      assert.doesNotMatch(stdout, /listening/);
      assert.match(stderr, /\S/);
    }
    const args = ['serve', '--listen', '127.0.0.1:0', '--data', join(directory, 'data')];
    const { code } = await run(args, { env: { REPRISE_MAX_BODY_BYTES: 'many' } });
    assert.notEqual(code, 0);
    removeDirectory(directory);
  });
});

describe('the log', () => {
  it('is JSON lines when asked, with the request ids of the answers', async () => {
    const args = ['--log-format', 'json', '--log-level', 'debug'];
    await withServer({ args }, async (server) => {
      const answer = await server.call('GET', '/v1/sessions/no:one');
      const id = answer.headers['x-request-id'];
      await until(() => server.stderr.includes(id), 5_000, 'the request in the log');
      const whole = server.stderr.slice(0, server.stderr.lastIndexOf('\n'));
      const lines = whole.split('\n').map((line) => JSON.parse(line));
      assert.ok(lines.some((line) => JSON.stringify(line).includes(id)));
    });
  });

  it('keeps no payload and no credentials', async () => {
    const args = ['--log-format', 'json', '--log-level', 'debug'];
    await withServer({ args }, async (server) => {
      const { id } = await server.create({ status: 'ACTIVE' });
      const secret = 'correct-horse-battery';
      await server.append(id, { type: 'message', data: { password: secret } },
        { Authorization: `Bearer ${secret}` });
      await server.refused(400, undefined, 'POST', `/v1/sessions/${id}/events`, `{"x":${secret}`);
      await server.stop();
      assert.ok(!server.stderr.includes(secret), 'a secret is in the log');
    });
  });
});
