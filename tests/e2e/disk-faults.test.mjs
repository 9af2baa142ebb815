// A disk that does not answer, and one that fails: what the server says, and what it keeps.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  assertGapFree, assertProblem, removeDirectory, startServer, temporaryDirectory, until,
} from './harness.mjs';

const here = dirname(fileURLToPath(import.meta.url));

describe('a faulty disk', () => {
  let directory;
  let library;
  before(() => {
    directory = temporaryDirectory('reprise-faults-');
    library = join(directory, 'disk_faults.so');
    execFileSync('clang-19', ['-shared', '-fPIC', '-O1', '-o', library, join(here, 'disk_faults.c')]);
  });
  after(() => removeDirectory(directory));

  async function faulty(args = []) {
    const control = join(directory, `fault-${args.length}-${Math.random()}`);
    const set = (fault) => writeFileSync(control, fault);
    set('none');
    const env = { LD_PRELOAD: library, REPRISE_DISK_FAULT: control };
    const server = await startServer({ args, env });
    return { server, set };
  }
  const seqs = async (server, id) => (await server.events(id)).map(({ seq }) => seq);

  it('sheds load at once while nothing can be written, and loses nothing that waited', async () => {
    const { server, set } = await faulty(['--threads', '1', '--max-in-flight', '20']);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 200 });
    const sessions = [];
    for (let n = 0; n < 4; n += 1) sessions.push((await server.create()).id);
    set('stall');
    const started = performance.now();
    const calls = Array.from({ length: 100 }, (_, n) => server.call(
      'POST', `/v1/sessions/${sessions[n % 4]}/events`, { type: 'log', data: { n } }, {}, { agent },
    ));
    let answered = 0;
    for (const call of calls) call.then(() => { answered += 1; });
    await until(() => answered === 80, 10_000, '80 of the 100 are refused');
    const refusedAfter = performance.now() - started;
    assert.ok(refusedAfter < 5_000, `refusing took ${refusedAfter} ms`);
    // Health is answered all the same, and nothing else comes back before the disk does.
    for (const probe of ['/healthz', '/v1/health', '/metrics']) {
      assert.equal((await server.call('GET', probe)).status, 200, probe);
    }
    await server.refused(503, 'overloaded', 'GET', `/v1/sessions/${sessions[0]}`);
    assert.equal(answered, 80);
    set('none');
    const answers = await Promise.all(calls);
    const refused = answers.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 80);
    for (const answer of refused) {
      const problem = assertProblem(answer, 503, 'overloaded');
      assert.equal(problem.retryable, true);
      assert.ok(Number(answer.headers['retry-after']) >= 1, 'Retry-After says when to come back');
    }
    let stored = 0;
    for (const id of sessions) {
      const all = await seqs(server, id);
      assertGapFree(all, 1, all.length);
      stored += all.length - 1; // each began with its creation
    }
    assert.equal(stored, 20);
    agent.destroy();
    await server.dispose();
  });

  it('is read-only after a failed sync, says so, and is whole after a restart', async () => {
    const { server, set } = await faulty();
    const { id } = await server.create();
    const path = `/v1/sessions/${id}/events`;
    for (let n = 0; n < 10; n += 1) await server.append(id, { type: 'log', data: { n } });
    assert.equal((await server.call('GET', '/readyz')).status, 200);
    set('fail');
    const failed = assertProblem(await server.call('POST', path, { type: 'log', data: {} }), 503);
    assert.equal(failed.code, 'read_only');
    // The disk works again, but a sync that failed is never trusted again: not without a restart.
    set('none');
    await server.refused(503, 'read_only', 'POST', path, { type: 'log', data: {} });
    await server.refused(503, 'read_only', 'POST', '/v1/sessions', {});
    assert.equal((await server.call('GET', '/healthz')).status, 200);
    assert.equal((await server.call('GET', '/readyz')).status, 503);
    assert.match((await server.call('GET', '/v1/health')).text, /read_only/);
    assert.match((await server.call('GET', '/metrics')).text, /^reprise_store_failed_writes_total 1$/m);
    const readable = await seqs(server, id);
    assertGapFree(readable.slice(0, 11), 1, 11);
    const reader = await server.reader(id);
    await reader.replayComplete();
    assertGapFree(reader.seqs.slice(0, 11), 1, 11);
    reader.close();

    await server.restart();
    // The write that failed has an unknown outcome: it is there whole or not at all.
    const found = await seqs(server, id);
    assert.ok(found.length === 11 || found.length === 12, `${found.length} events`);
    assertGapFree(found, 1, found.length);
    const next = await server.append(id, { type: 'log', data: { after: 'restart' } });
    assert.equal(next.firstSeq, found.length + 1);
    await server.dispose();
  });
});
