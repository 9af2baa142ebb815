// A full disk: writes fail with 503 no_space, reads go on, and room makes writes work again.
//
// The data directory is on a tmpfs of 160 MiB which the test mounts, so it has to run as root.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  assertGapFree, assertProblem, removeDirectory, startServer, temporaryDirectory, until,
} from './harness.mjs';

describe('a full disk', () => {
  let disk;
  let isMounted = false;
  let server;
  const unmount = () => {
    if (isMounted) execFileSync('umount', ['-l', disk]);
    isMounted = false;
  };
  process.prependListener('exit', unmount);

  before(async () => {
    disk = temporaryDirectory('reprise-disk-');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', disk]);
    isMounted = true;
    server = await startServer({ data: join(disk, 'data') });
  });
  after(async () => {
    try {
      await server?.stop();
    } finally {
      unmount();
      removeDirectory(disk);
    }
  });

  const filler = () => join(disk, 'filler');

  // Writes until the disk takes no further byte.
  function fill() {
    const file = openSync(filler(), 'a');
    try {
      for (let size = 1024 * 1024; size >= 1;) {
        try {
          if (writeSync(file, Buffer.alloc(size)) < size) size = Math.ceil(size / 4);
        } catch (error) {
          assert.equal(error.code, 'ENOSPC');
          if (size === 1) return;
          size = Math.floor(size / 4) || 1;
        }
      }
    } finally {
      closeSync(file);
    }
  }

  const text = 'x'.repeat(32 * 1024);
  const append = (id, n) => server.call('POST', `/v1/sessions/${id}/events`,
    { type: 'log', data: { n, text } }, { 'Idempotency-Key': `append-${n}` });

  it('refuses writes, serves reads, and recovers by itself, again and again', async () => {
    const pid = server.child.pid;
    const { id, lastSeq } = await server.create({ app: 'full', name: 'disk', status: 'ACTIVE' });
    const acknowledged = new Map();
    let n = 0;
    const assertAllThere = async () => {
      const events = await server.events(id);
      assertGapFree(events.map((event) => event.seq), 1);
      for (const [seq, value] of acknowledged) assert.equal(events[seq - 1].data.n, value);
      const numbers = events.slice(lastSeq).map((event) => event.data.n);
      assert.equal(new Set(numbers).size, numbers.length, 'an append was stored twice');
    };

    for (let round = 0; round < 3; round += 1) {
      for (let more = 0; more < 20; more += 1, n += 1) {
        const answer = await append(id, n);
        assert.equal(answer.status, 201, answer.text);
        acknowledged.set(answer.body.firstSeq, n);
      }
      const refused = await until(async () => {
        fill(); // a compaction may have made room
        const answer = await append(id, n);
        if (answer.status !== 201) return answer;
        acknowledged.set(answer.body.firstSeq, n);
        n += 1;
        return undefined;
      }, 60_000, 'an append is refused');
      const problem = assertProblem(refused, 503, 'no_space');
      assert.equal(problem.retryable, true);
      assert.ok(Number(refused.headers['retry-after']) > 0);

      await until(async () => (await server.ok('GET', '/v1/health')).status === 'degraded');
      await assertAllThere();
      assert.equal((await server.get('full:disk')).id, id);
      assert.equal((await server.list('app=full')).length, 1);
      const wide = { app: 'full', metadata: { text } };
      assertProblem(await server.call('POST', '/v1/sessions', wide), 503);
      assert.equal((await server.list('app=full')).length, 1);
      const reader = await server.reader(id);
      await reader.replayComplete();
      reader.close();
      await server.assertAlive(pid);

      rmSync(filler());
      // The refused append is sent again with its key until it is taken: it must be stored once.
      const taken = await until(async () => {
        const answer = await append(id, n);
        if (answer.status === 201) return answer;
        assertProblem(answer, 503);
        return undefined;
      }, 30_000, 'writes work again');
      acknowledged.set(taken.body.firstSeq, n);
      n += 1;
      await until(async () => (await server.ok('GET', '/v1/health')).status === 'ok');
      await server.assertAlive(pid);
      await assertAllThere();
    }
    await server.restart({ how: 'kill' });
    await assertAllThere();
    assert.equal((await append(id, n)).status, 201);
  });
});
