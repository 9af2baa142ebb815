// The graceful stop: drain, tell streams, finish commits, exit 0; and the start after it.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { assertGapFree, run, startServer, until, within } from './harness.mjs';
import { RawClient } from './raw.mjs';

describe('shutdown', () => {
  let server;
  beforeEach(async () => { server = await startServer(); });
  afterEach(() => server.dispose());

  const json = 'Content-Type: application/json';
  const fresh = async () => (await server.create({ status: 'ACTIVE' })).id;
  const canConnect = () => RawClient.connect(server).then((client) => {
    client.destroy();
    return true;
  }, () => false);

  for (const signal of ['SIGTERM', 'SIGINT']) {
    it(`exits 0 after ${signal} and keeps everything`, async () => {
      const id = await fresh();
      const logs = Array.from({ length: 100 }, (_, n) => ({ type: 'log', data: { n } }));
      await server.append(id, logs);
      const before = [await server.get(id), await server.events(id)];
      await server.stop({ signal, deadline: 5_000 });
      await server.start();
      const [record, events] = [await server.get(id), await server.events(id)];
      assert.deepEqual(events, before[1]);
      assert.equal(record.etag, before[0].etag);
      assert.equal(record.lastSeq, before[0].lastSeq);
    });
  }

  it('prints one line on standard output and nothing else', async () => {
    await fresh();
    await server.stop();
    assert.equal(server.stdout.trimEnd().split('\n').length, 1, server.stdout);
  });

  it('answers the append that is in flight', async () => {
    const id = await fresh();
    const client = await RawClient.connect(server);
    const body = JSON.stringify({ type: 'log', data: { in: 'flight' } });
    client.sendRequest(`POST /v1/sessions/${id}/events`,
      [json, `Content-Length: ${body.length}`, 'Expect: 100-continue']);
    assert.equal((await client.response()).status, 100);
    const stopped = server.stop();
    await until(async () => !(await canConnect()), 5_000, 'no new connections');
    client.send(body);
    const answer = await client.response();
    assert.ok(answer, 'the connection was closed without an answer');
    assert.ok([201, 503].includes(answer.status), `${answer.status} ${answer.text}`);
    await stopped;
    client.destroy();
    await server.start();
    const stored = (await server.events(id)).filter((event) => event.data?.in === 'flight');
    assert.equal(stored.length, answer.status === 201 ? 1 : 0);
  });

  it('loses no acknowledged append of many that race with the signal', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, fresh));
    const acknowledged = new Map(ids.map((id) => [id, []]));
    const writing = ids.map(async (id) => {
      for (let n = 0; ; n += 1) {
        const answer = await server.call('POST', `/v1/sessions/${id}/events`,
          { type: 'log', data: { n } }).catch(() => undefined);
        if (answer?.status !== 201) return answer?.status;
        acknowledged.get(id).push([answer.body.firstSeq, n]);
      }
    });
    await until(() => [...acknowledged.values()].every((list) => list.length >= 10));
    await server.stop({ deadline: 8_000 });
    for (const status of await within(Promise.all(writing), 10_000, 'the writers end')) {
      assert.ok(status === undefined || status === 503, `an append was answered ${status}`);
    }
    await server.start();
    for (const [id, list] of acknowledged) {
      const events = await server.events(id);
      assertGapFree(events.map((event) => event.seq), 1);
      for (const [seq, n] of list) assert.deepEqual(events[seq - 1].data, { n });
    }
  });

  it('closes streams and monitors cleanly, which then resume', async () => {
    const id = await fresh();
    const readers = await Promise.all(Array.from({ length: 5 }, () => server.reader(id)));
    const monitor = await server.monitor();
    await monitor.snapshotComplete();
    for (const reader of readers) await reader.replayComplete();
    const { lastSeq } = await server.append(id, { type: 'log', data: {} });
    for (const reader of readers) await reader.when(() => reader.seqs.at(-1) === lastSeq);
    const stopped = server.stop({ deadline: 8_000 });
    for (const stream of [...readers, monitor]) {
      const { clean } = await stream.closed();
      assert.equal(clean, true, 'the stream was cut off in the middle');
    }
    await stopped;
    await server.start();
    const next = await server.append(id, { type: 'log', data: { after: 'restart' } });
    for (const reader of readers) {
      const again = await server.reader(id, '', { 'Last-Event-ID': reader.lastEventId });
      await again.replayComplete();
      assertGapFree([...reader.seqs, ...again.seqs], 1, next.lastSeq);
      again.close();
    }
  });

  it('is not held up by idle connections, slow requests or readers that do not read', async () => {
    const id = await fresh();
    const idle = await RawClient.connect(server);
    idle.sendRequest('GET /healthz');
    await idle.response();
    const silent = await RawClient.connect(server);
    const slow = await server.reader(id);
    await slow.replayComplete();
    slow.pause();
    const text = 'x'.repeat(500_000);
    for (let n = 0; n < 40; n += 1) await server.append(id, { type: 'log', data: { text } });
    await server.stop({ deadline: 15_000 }); // the default drain time is 10 s
    for (const client of [idle, silent]) client.destroy();
    slow.close();
  });

  it('starts only once on a data directory', async () => {
    const args = ['serve', '--listen', '127.0.0.1:0', '--data', server.data];
    const { code, stdout, stderr } = await run(args);
    assert.notEqual(code, 0);
    assert.doesNotMatch(stdout, /listening/);
    assert.match(stderr, /\S/);
    await server.assertAlive();
  });

  it('refuses flags and values it does not know', async () => {
    for (const flags of [['--frobnicate'], ['--listen', 'nonsense'], ['--threads', 'many'],
      ['--listen', '127.0.0.1:99999']]) {
      const { code, stdout, stderr } = await run(['serve', '--data', `${server.data}-x`, ...flags]);
      assert.notEqual(code, 0, flags.join(' '));
      assert.doesNotMatch(stdout, /listening/);
      assert.match(stderr, /\S/);
    }
  });
});
