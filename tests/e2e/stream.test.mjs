// The SSE stream of a session: replay, replayComplete, live; no gap, no duplicate, in order.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  EventStream, assertGapFree, randomFrom, seedFor, startServer, until,
} from './harness.mjs';

describe('the stream', () => {
  let server;
  before(async () => { server = await startServer({ args: ['--heartbeat-ms', '500'] }); });
  after(() => server.dispose());

  const log = (n) => ({ type: 'log', data: { n } });
  const logs = (count, from = 0) => Array.from({ length: count }, (_, n) => log(from + n));

  async function fresh(events = 0) {
    const { id } = await server.create({ status: 'ACTIVE' });
    if (events > 0) await server.append(id, logs(events));
    return { id, head: (await server.get(id)).lastSeq };
  }

  const lastId = (seq) => ({ 'Last-Event-ID': String(seq) });
  const reaches = (reader, seq, deadline) => reader.when(() => reader.seqs.at(-1) >= seq, deadline,
    `seq ${seq}`);

  it('replays, says replayComplete once, and goes on live', async () => {
    const { id, head } = await fresh(20);
    const reader = await server.reader(id);
    const complete = await reader.replayComplete();
    assert.equal(complete.id, undefined);
    assertGapFree(reader.seqs, 1, head);
    await server.append(id, logs(5));
    await reaches(reader, head + 5);
    assertGapFree(reader.seqs, 1, head + 5);
    assert.equal(reader.frames.filter((f) => f.event === 'replayComplete').length, 1);
    assert.deepEqual(reader.garbage, []);
    reader.close();
  });

  it('carries in each frame the event the page shows', async () => {
    const { id } = await fresh(3);
    const reader = await server.reader(id);
    await reader.replayComplete();
    assert.deepEqual(reader.stored.map((frame) => frame.json), await server.events(id));
    reader.close();
  });

  it('begins after the sequence it is given', async () => {
    const { id, head } = await fresh(10);
    for (const after of [0, 1, head - 1, head]) {
      const reader = await server.reader(id, `?after=${after}`);
      await reader.replayComplete();
      assertGapFree(reader.seqs, after + 1, head);
      reader.close();
    }
  });

  it('lets Last-Event-ID win over after', async () => {
    const { id, head } = await fresh(10);
    const reader = await server.reader(id, '?after=2', lastId(head - 3));
    await reader.replayComplete();
    assertGapFree(reader.seqs, head - 2, head);
    reader.close();
  });

  it('refuses a cursor beyond the head, a malformed one, and an unknown session', async () => {
    const { id, head } = await fresh(1);
    const path = `/v1/sessions/${id}/events/stream`;
    await server.refused(400, 'cursor_beyond_head', 'GET', `${path}?after=${head + 1}`);
    await server.refused(400, 'cursor_beyond_head', 'GET', path, undefined, lastId(head + 1));
    await server.refused(400, undefined, 'GET', `${path}?after=x`);
    await server.refused(400, undefined, 'GET', path, undefined, { 'Last-Event-ID': 'x' });
    await server.refused(404, 'session_not_found', 'GET', '/v1/sessions/no:one/events/stream');
  });

  it('ends when the session has ended and everything was delivered', async () => {
    const { id } = await fresh(3);
    const reader = await server.reader(id);
    await reader.replayComplete();
    await server.ok('POST', `/v1/sessions/${id}/status`, { status: 'COMPLETED' });
    await reader.waitFor((frame) => frame.event === 'end');
    assert.equal((await reader.closed()).clean, true);
    assert.equal(reader.frames.at(-1).event, 'end');
    assertGapFree(reader.seqs, 1, (await server.get(id)).lastSeq);
    assert.equal(reader.stored.at(-1).json.type, 'status_change');
  });

  it('replays an ended session and ends', async () => {
    const { id } = await fresh(3);
    await server.ok('POST', `/v1/sessions/${id}/cancel`);
    const reader = await server.reader(id);
    await reader.closed();
    const names = reader.frames.flatMap((frame) => frame.event ?? []);
    assert.deepEqual(names, ['replayComplete', 'end']);
    assertGapFree(reader.seqs, 1, (await server.get(id)).lastSeq);
  });

  it('answers 204 to a reconnect that is at the head of an ended session', async () => {
    const { id } = await fresh(3);
    await server.ok('POST', `/v1/sessions/${id}/close`);
    const { lastSeq } = await server.get(id);
    const path = `/v1/sessions/${id}/events/stream`;
    const accept = { Accept: 'text/event-stream' };
    const done = await server.call('GET', path, undefined, { ...accept, ...lastId(lastSeq) });
    assert.equal(done.status, 204, done.text);
    const reader = await server.reader(id, '', lastId(lastSeq - 1));
    await reader.waitFor((frame) => frame.event === 'end');
    assertGapFree(reader.seqs, lastSeq, lastSeq);
    await reader.closed();
  });

  it('tells its readers when the session is deleted', async () => {
    const { id } = await fresh(2);
    const readers = await Promise.all([server.reader(id), server.reader(id)]);
    await Promise.all(readers.map((reader) => reader.replayComplete()));
    await server.ok('DELETE', `/v1/sessions/${id}`, undefined, {}, 204);
    for (const reader of readers) {
      const end = await reader.waitFor((frame) => frame.event === 'end');
      assert.equal(end.json.reason, 'deleted');
      await reader.closed();
    }
  });

  it('keeps its readers over a reset, which hides the history from new ones', async () => {
    const { id, head } = await fresh(5);
    const reader = await server.reader(id);
    await reader.replayComplete();
    await server.ok('POST', `/v1/sessions/${id}/reset`);
    await server.append(id, log('after the reset'));
    const { lastSeq } = await server.get(id);
    await reaches(reader, lastSeq);
    assertGapFree(reader.seqs, 1, lastSeq);
    for (const [query, headers] of [['', {}], ['?after=2', {}], ['', lastId(3)]]) {
      const late = await server.reader(id, query, headers);
      await late.replayComplete();
      assert.equal(late.stored[0].json.type, 'session_reset');
      assertGapFree(late.seqs, late.seqs[0], lastSeq);
      assert.ok(late.seqs[0] > head);
      late.close();
    }
    reader.close();
  });

  it('delivers ephemeral events in order, without an id, and moves no cursor', async () => {
    const { id, head } = await fresh(1);
    const reader = await server.reader(id);
    await reader.replayComplete();
    for (let n = 0; n < 5; n += 1) {
      const body = { type: 'log', data: { ephemeral: n }, ephemeral: true };
      await server.ok('POST', `/v1/sessions/${id}/events`, body, {}, 202);
    }
    await reader.waitFor((frame) => frame.data.includes('"ephemeral":4'));
    const live = reader.frames.filter((frame) => frame.data.includes('"ephemeral":'));
    assert.ok(live.every((frame) => frame.id === undefined));
    const order = live.map((frame) => frame.json.data.ephemeral);
    assert.deepEqual(order, [...order].sort((a, b) => a - b));
    assert.equal(reader.lastEventId, String(head));
    reader.close();
  });

  it('resumes over a kill of the server with nothing missed and nothing twice', async () => {
    const { id } = await fresh(10);
    const reader = await server.reader(id);
    await reader.replayComplete();
    await server.append(id, logs(10));
    await reaches(reader, (await server.get(id)).lastSeq);
    await server.restart({ how: 'kill' });
    await server.append(id, logs(10));
    const again = await server.reader(id, '', lastId(reader.lastEventId));
    await again.replayComplete();
    assertGapFree([...reader.seqs, ...again.seqs], 1, (await server.get(id)).lastSeq);
    again.close();
  });

  it('shows many writers to readers that come and go: no gap, no duplicate', async () => {
    const random = randomFrom(seedFor());
    const { id, head } = await fresh();
    const writers = 8;
    const each = 60;
    const total = head + writers * each;
    const writing = Promise.all(Array.from({ length: writers }, async (_, writer) => {
      for (let n = 0; n < each;) {
        const size = Math.min(each - n, 1 + random.below(4));
        const batch = Array.from({ length: size }, (_, i) => ({
          type: 'log', data: { writer, n: n + i },
        }));
        await server.append(id, batch);
        n += size;
      }
    }));
    const readers = Array.from({ length: 12 }, async () => {
      const seen = [];
      let connections = 0;
      while ((seen.at(-1)?.seq ?? 0) < total) {
        const cursor = seen.at(-1)?.seq ?? 0;
        const reader = await (random.below(2) === 0
          ? server.reader(id, '', lastId(cursor))
          : server.reader(id, `?after=${cursor}`));
        connections += 1;
        const goal = Math.min(total, cursor + 1 + random.below(60));
        await reaches(reader, goal, 30_000);
        reader.close();
        seen.push(...reader.stored.map((frame) => frame.json));
      }
      return { seen, connections };
    });
    await writing;
    const stored = await server.events(id);
    for (const { seen, connections } of await Promise.all(readers)) {
      assert.ok(connections > 1);
      assertGapFree(seen.map((event) => event.seq), 1, total);
      assert.deepEqual(seen, stored);
    }
    for (let writer = 0; writer < writers; writer += 1) {
      const own = stored.filter((event) => event.data.writer === writer);
      assertGapFree(own.map((event) => event.data.n), 0, each - 1);
    }
  });

  it('is not held up by a reader that stops reading, and that one misses nothing', async () => {
    const { id, head } = await fresh();
    const slow = await server.reader(id);
    const fast = await server.reader(id);
    await Promise.all([slow.replayComplete(), fast.replayComplete()]);
    slow.pause();
    const text = 'x'.repeat(400_000);
    const count = 80; // 32 MB: more than any socket buffer takes
    for (let n = 0; n < count; n += 1) {
      await server.append(id, { type: 'log', data: { n, text } });
    }
    await reaches(fast, head + count, 20_000);
    assertGapFree(fast.seqs, 1, head + count);
    assert.ok((slow.seqs.at(-1) ?? 0) < head + count, 'the slow reader was not slow');
    slow.resume();
    await reaches(slow, head + count, 30_000);
    assertGapFree(slow.seqs, 1, head + count);
    assert.ok(slow.stored.slice(head).every((frame) => frame.json.data.text === text));
    slow.close();
    fast.close();
  });

  it('survives readers that vanish without a word', async () => {
    const { id, head } = await fresh(50);
    for (let round = 0; round < 5; round += 1) {
      const readers = await Promise.all(Array.from({ length: 10 }, () => server.reader(id)));
      for (const reader of readers) reader.response.socket.resetAndDestroy();
      await server.append(id, log(round));
    }
    const reader = await server.reader(id);
    await reaches(reader, head + 5);
    assertGapFree(reader.seqs, 1, head + 5);
    await until(async () => (await server.get(id)).subscriberCount <= 1);
    reader.close();
  });

  it('serves many readers of one session at once', async () => {
    const { id, head } = await fresh(5);
    const readers = await Promise.all(Array.from({ length: 200 }, () => EventStream.open(
      server.url, `/v1/sessions/${id}/events/stream`)));
    await Promise.all(Array.from({ length: 20 }, (_, n) => server.append(id, log(n))));
    for (const reader of readers) {
      await reaches(reader, head + 20, 20_000);
      assertGapFree(reader.seqs, 1, head + 20);
      reader.close();
    }
  });

  it('replays a long history while it grows', async () => {
    const { id, head } = await fresh();
    for (let n = 0; n < 20; n += 1) await server.append(id, logs(1000, n * 1000));
    const readers = await Promise.all([0, 1, 9_999, 19_000].map(async (after) => [after,
      await server.reader(id, `?after=${after}`)]));
    for (let n = 20; n < 23; n += 1) await server.append(id, logs(1000, n * 1000));
    for (const [after, reader] of readers) {
      await reaches(reader, head + 23_000, 30_000);
      assertGapFree(reader.seqs, after + 1, head + 23_000);
      const at = reader.frames.findIndex((frame) => frame.event === 'replayComplete');
      assert.ok(at >= head + 20_000 - after, 'replayComplete came before the replay was complete');
      reader.close();
    }
  });

  it('sends heartbeat comments on a quiet stream, and no frame', async () => {
    const { id, head } = await fresh(1);
    const reader = await server.reader(id);
    await reader.when(() => reader.comments.length >= 2, 10_000, 'two heartbeats');
    assert.equal(reader.lastEventId, String(head));
    assert.equal(reader.frames.length, head + 1);
    reader.close();
  });
});
