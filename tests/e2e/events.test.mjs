// Events: append, expected sequence, idempotency, limits, pages.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TIME, assertGapFree, assertProblem, startServer } from './harness.mjs';

const RESERVED = [
  'session_created', 'status_change', 'input_required', 'input_received', 'tool_started',
  'tool_finished', 'artifact_created', 'artifact_deleted', 'module_linked', 'module_unlinked',
  'context_opened', 'context_closed', 'tab_opened', 'tab_updated', 'tab_closed', 'command',
  'session_reset', 'input_queued', 'input_started', 'input_finished',
];
const MIB = 1024 * 1024;

describe('events', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  const post = (id, body, headers) => server.call('POST', `/v1/sessions/${id}/events`, body,
    headers);
  const head = async (id) => (await server.get(id)).lastSeq;
  const logs = (count) => Array.from({ length: count }, (_, n) => ({ type: 'log', data: { n } }));

  async function fresh() {
    const { id } = await server.create({ status: 'ACTIVE' });
    return { id, start: await head(id) };
  }

  // Every call must be refused like this and leave the session as it was.
  async function assertNothingStored(id, status, bodies, headers) {
    const before = await head(id);
    for (const body of bodies) {
      const answer = await post(id, body, headers);
      const allowed = Array.isArray(status) ? status : [status];
      const shown = `${JSON.stringify(body).slice(0, 200)}: ${answer.status} ${answer.text}`;
      assert.ok(allowed.includes(answer.status), shown);
      assert.equal(await head(id), before, shown);
    }
  }

  it('begins every stream with session_created at seq 1', async () => {
    const { id } = await server.create();
    const [first] = await server.events(id);
    assert.equal(first.seq, 1);
    assert.equal(first.type, 'session_created');
  });

  it('appends one event and gives it the next number', async () => {
    const { id, start } = await fresh();
    const data = { steps: ['a', { b: null }], ok: true, x: -1.5e-3 };
    const given = { type: 'plan_update', data };
    const answer = await post(id, given);
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual({ ...answer.body }, { firstSeq: start + 1, lastSeq: start + 1 });
    const [event] = await server.events(id, start);
    assert.equal(event.seq, start + 1);
    assert.equal(event.type, given.type);
    assert.deepEqual(event.data, given.data);
    assert.match(event.at, TIME);
  });

  it('appends a batch in order, gap-free', async () => {
    const { id, start } = await fresh();
    const { firstSeq, lastSeq } = await server.append(id, logs(10));
    assert.deepEqual([firstSeq, lastSeq], [start + 1, start + 10]);
    const events = await server.events(id, start);
    assert.deepEqual(events.map((event) => event.data.n), [...Array(10).keys()]);
    assertGapFree(events.map((event) => event.seq), start + 1, start + 10);
  });

  it('finds the session by its key too', async () => {
    const { id, key } = await server.ok('PUT', '/v1/sessions/events:by-key', undefined, {}, 201);
    await server.append(key, { type: 'log', data: { by: 'key' } });
    assert.deepEqual((await server.events(id)).at(-1).data, { by: 'key' });
  });

  it('gives data back as it was spelled', async () => {
    const { id, start } = await fresh();
    const data = '{"n":1.10,"big":12345678901234567890,"e":1E+2,"u":"\\u00e9é\\/","s":" a  b "}';
    const answer = await post(id, `{"type": "log", "data": ${data}}`);
    assert.equal(answer.status, 201, answer.text);
    const page = await server.call('GET', `/v1/sessions/${id}/events?after=${start}`);
    assert.ok(page.text.includes(data), page.text);
  });

  it('takes every kind of text in data, line breaks included, and streams it as one', async () => {
    const { id, start } = await fresh();
    const data = { text: 'a\r\nb\n\nc\rd\u2028e\u0000f\u007f 🌍 data: x\n\nid: 7', '': [[], {}] };
    await server.append(id, { type: 'message', data });
    assert.deepEqual((await server.events(id, start))[0].data, data);
    const reader = await server.reader(id, `?after=${start}`);
    const { json } = await reader.waitFor((frame) => frame.id === String(start + 1));
    assert.deepEqual(json.data, data);
    reader.close();
  });

  it('takes the free types and any other of the right form', async () => {
    const { id } = await fresh();
    const types = ['log', 'plan_update', 'diff', 'message', 'checkpoint', 'agent_event', 'a',
      'x.y_z9', `a${'b'.repeat(63)}`];
    for (const type of types) await server.append(id, { type, data: {} });
  });

  it('refuses the types only the server writes with 422', async () => {
    const { id } = await fresh();
    const before = await head(id);
    for (const type of RESERVED) {
      const path = `/v1/sessions/${id}/events`;
      await server.refused(422, 'reserved_type', 'POST', path, { type, data: {} });
    }
    assert.equal(await head(id), before);
  });

  it('refuses types of the wrong form and bodies of the wrong shape', async () => {
    const { id } = await fresh();
    const types = ['', 'Log', '1log', '_log', 'a-b', 'a b', 'é', `a${'b'.repeat(64)}`, 5, null];
    await assertNothingStored(id, 422, types.map((type) => ({ type, data: {} })));
    await assertNothingStored(id, [400, 422], [
      {}, { data: {} }, [], 'null', '5', '"log"', { events: {} }, { events: [] }, { events: [5] },
      { events: [null] }, { events: [{ data: {} }] }, { type: 'log', data: {}, events: logs(1) },
      { type: 'log', data: {}, seq: 7 }, { type: 'log', data: {}, tpye: 'x' },
      { events: [{ type: 'log', data: {}, seq: 1 }] }, { type: 'log', data: {}, ephemeral: 'yes' },
      { type: 'log', data: {}, expectedSeq: '1' }, { type: 'log', data: {}, expectedSeq: -1 },
      { type: 'log', data: {}, expectedSeq: 1.5 },
    ]);
  });

  it('stores a batch whole or not at all, and points at what is wrong', async () => {
    const { id, start } = await fresh();
    const bad = [...logs(3), { type: 'Wrong', data: {} }, ...logs(3)];
    const path = `/v1/sessions/${id}/events`;
    const problem = await server.refused(422, undefined, 'POST', path, { events: bad });
    assert.match(problem.errors[0].pointer, /\/events\/3/);
    const reserved = [...logs(3), { type: 'status_change', data: {} }];
    await server.refused(422, 'reserved_type', 'POST', path, { events: reserved });
    assert.deepEqual(await server.events(id, start), []);
  });

  describe('expectedSeq', () => {
    it('appends when the head is as expected', async () => {
      const { id, start } = await fresh();
      const one = await server.append(id, { type: 'log', data: {}, expectedSeq: start });
      const body = { events: logs(2), expectedSeq: one.lastSeq };
      assert.equal((await post(id, body)).status, 201);
    });

    it('is 409 with the present head otherwise', async () => {
      const { id, start } = await fresh();
      await server.append(id, logs(3));
      for (const expectedSeq of [0, start, start + 2, start + 4, 9007199254740991]) {
        const problem = await server.refused(409, 'wrong_sequence', 'POST',
          `/v1/sessions/${id}/events`, { type: 'log', data: {}, expectedSeq });
        assert.equal(problem.head ?? problem.lastSeq, start + 3, JSON.stringify(problem));
      }
      assert.equal(await head(id), start + 3);
    });
  });

  describe('Idempotency-Key', () => {
    const key = (value) => ({ 'Idempotency-Key': value });

    it('gives the first answer again for the same body, storing it once', async () => {
      const { id, start } = await fresh();
      const body = { events: logs(3) };
      const first = await post(id, body, key('k1'));
      await server.append(id, { type: 'log', data: { between: true } });
      const second = await post(id, body, key('k1'));
      assert.equal(first.status, 201, first.text);
      assert.equal(second.status, 201, second.text);
      assert.deepEqual(second.body, first.body);
      assert.equal(await head(id), start + 4);
    });

    it('refuses a stale lease, except for the answer of a call that was accepted', async () => {
      const { id, start } = await fresh();
      const body = { events: logs(1) };
      const stale = { 'Reprise-Lease': '7' };
      for (const headers of [stale, { ...stale, ...key('k2') }]) {
        const refused = await post(id, body, headers);
        assert.equal(refused.status, 409, refused.text);
        assert.equal(refused.body.code, 'fenced');
      }
      assert.equal(await head(id), start);
      const first = await post(id, body, key('k2'));
      const again = await post(id, body, { ...stale, ...key('k2') });
      assert.equal(again.status, 201, again.text);
      assert.deepEqual(again.body, first.body);
      assert.equal(await head(id), start + 1);
    });

    it('is 409 for another body', async () => {
      const { id } = await fresh();
      await server.append(id, { type: 'log', data: { a: 1 } }, key('k'));
      await server.refused(409, 'idempotency_mismatch', 'POST', `/v1/sessions/${id}/events`,
        { type: 'log', data: { a: 2 } }, key('k'));
    });

    it('is looked at before expectedSeq and before the status', async () => {
      const { id, start } = await fresh();
      const body = { type: 'log', data: {}, expectedSeq: start };
      const first = await post(id, body, key('k'));
      assert.deepEqual((await post(id, body, key('k'))).body, first.body);
      await server.ok('POST', `/v1/sessions/${id}/close`);
      const late = await post(id, body, key('k'));
      assert.equal(late.status, 201, late.text);
      assert.deepEqual(late.body, first.body);
    });

    it('belongs to one session', async () => {
      const [a, b] = [await fresh(), await fresh()];
      await server.append(a.id, { type: 'log', data: { a: 1 } }, key('same'));
      await server.append(b.id, { type: 'log', data: { b: 1 } }, key('same'));
      assert.deepEqual((await server.events(b.id, b.start))[0].data, { b: 1 });
    });

    it('answers duplicates of a call in flight alike', async () => {
      const { id, start } = await fresh();
      const body = { events: logs(7) };
      const many = Array.from({ length: 50 }, () => post(id, body, key('burst')));
      const answers = await Promise.all(many);
      for (const answer of answers) {
        assert.equal(answer.status, 201, answer.text);
        assert.deepEqual(answer.body, { firstSeq: start + 1, lastSeq: start + 7 });
      }
      assert.equal(await head(id), start + 7);
    });

    it('is not used up by a refused call', async () => {
      const { id, start } = await fresh();
      const wrong = { type: 'log', data: {}, expectedSeq: start + 5 };
      assert.equal((await post(id, wrong, key('k'))).status, 409);
      const invalid = await post(id, { type: 'Wrong', data: {} }, key('k2'));
      assert.equal(invalid.status, 422);
      await server.append(id, { type: 'log', data: {} }, key('k2'));
    });

    for (const how of ['stop', 'kill']) {
      it(`is remembered over a restart (${how})`, async () => {
        const { id, start } = await fresh();
        const body = { events: logs(2) };
        const first = await post(id, body, key('lasting'));
        await server.restart({ how });
        const second = await post(id, body, key('lasting'));
        assert.equal(second.status, 201, second.text);
        assert.deepEqual(second.body, first.body);
        assert.equal(await head(id), start + 2);
        const other = await post(id, { events: logs(3) }, key('lasting'));
        assert.equal(other.status, 409);
      });
    }
  });

  describe('limits', () => {
    it('takes 1,000 events a call and refuses 1,001', async () => {
      const { id, start } = await fresh();
      await assertNothingStored(id, [413, 422], [{ events: logs(1001) }]);
      const answer = await server.append(id, logs(1000));
      assert.equal(answer.lastSeq, start + 1000);
      assertGapFree((await server.events(id)).map((event) => event.seq), 1, start + 1000);
    });

    // A batch of 16 events whose body has exactly this many bytes.
    function bodyOf(bytes) {
      const make = (fill) => JSON.stringify({
        events: fill.map((text) => ({ type: 'log', data: { text } })),
      });
      const empty = Array(16).fill('');
      const each = Math.floor((bytes - make(empty).length) / 16);
      const fill = empty.map(() => 'x'.repeat(each));
      fill[0] += 'x'.repeat(bytes - make(fill).length);
      return make(fill);
    }

    it('takes 8 MiB a call and refuses more with 413', async () => {
      const { id, start } = await fresh();
      const over = bodyOf(8 * MIB + 128 * 1024); // the envelope may have a little on top
      // The server need not read it all: the client may find the connection closed instead.
      const refused = await post(id, over).catch((error) => {
        assert.match(error.code, /^(EPIPE|ECONNRESET)$/);
      });
      if (refused) assertProblem(refused, 413, 'body_too_large');
      assert.equal(await head(id), start);
      const most = bodyOf(8 * MIB);
      assert.equal(Buffer.byteLength(most), 8 * MIB);
      const answer = await post(id, most);
      assert.equal(answer.status, 201, answer.text);
      const events = await server.events(id, start);
      const given = JSON.parse(most).events.map((event) => event.data);
      assert.deepEqual(events.map((event) => event.data), given);
    });
  });

  it('delivers ephemeral events live, without id, and never stores them', async () => {
    const { id, start } = await fresh();
    const reader = await server.reader(id);
    await reader.replayComplete();
    const answer = await post(id, { type: 'log', data: { typing: true }, ephemeral: true });
    assert.equal(answer.status, 202, answer.text);
    const frame = await reader.waitFor((f) => f.data.includes('typing'));
    assert.equal(frame.id, undefined);
    assert.equal(frame.json.type, 'log');
    assert.deepEqual(frame.json.data, { typing: true });
    assert.equal(await head(id), start);
    const batch = await post(id, { events: logs(2), ephemeral: true });
    assert.equal(batch.status, 202, batch.text);
    assert.deepEqual(await server.events(id, start), []);
    const reserved = { type: 'command', data: {}, ephemeral: true };
    await server.refused(422, 'reserved_type', 'POST', `/v1/sessions/${id}/events`, reserved);
    reader.close();
  });

  it('counts events of type message and no others', async () => {
    const { id } = await fresh();
    const message = { type: 'message', data: {} };
    await server.append(id, message);
    await server.append(id, [message, { type: 'log', data: {} }, message]);
    await post(id, { ...message, ephemeral: true });
    assert.equal((await server.get(id)).messageCount, 3);
    await server.restart({ how: 'kill' });
    assert.equal((await server.get(id)).messageCount, 3);
  });

  it('refuses events for an ended session with 409 session_ended', async () => {
    for (const status of ['COMPLETED', 'FAILED', 'CANCELLED']) {
      const { id } = await fresh();
      await server.ok('POST', `/v1/sessions/${id}/status`, { status });
      const before = await head(id);
      const path = `/v1/sessions/${id}/events`;
      await server.refused(409, 'session_ended', 'POST', path, { type: 'log', data: {} });
      assert.equal(await head(id), before);
    }
  });

  describe('pages', () => {
    const page = (id, query) => server.ok('GET', `/v1/sessions/${id}/events?${query}`);

    it('go through the stream with after and limit', async () => {
      const { id, start } = await fresh();
      await server.append(id, logs(25));
      const first = await page(id, `after=${start}&limit=10`);
      assertGapFree(first.events.map((event) => event.seq), start + 1, start + 10);
      assert.equal(first.nextAfter, start + 10);
      assert.equal(first.lastSeq, start + 25);
      assert.equal(first.hasMore, true);
      const last = await page(id, `after=${start + 20}&limit=10`);
      assertGapFree(last.events.map((event) => event.seq), start + 21, start + 25);
      assert.equal(last.hasMore, false);
      assert.equal(last.nextAfter, start + 25);
      const none = await page(id, `after=${start + 25}`);
      assert.deepEqual(none.events, []);
      assert.equal(none.hasMore, false);
      assert.equal(none.nextAfter, start + 25);
    });

    it('filter by types; nextAfter is the last seq examined', async () => {
      const { id, start } = await fresh();
      const mixed = Array.from({ length: 30 }, (_, n) => ({
        type: ['log', 'message', 'diff'][n % 3], data: { n },
      }));
      await server.append(id, mixed);
      const seen = [];
      for (let after = start, more = true; more;) {
        const answer = await page(id, `after=${after}&limit=4&types=message,diff`);
        seen.push(...answer.events);
        assert.ok(answer.nextAfter > after);
        assert.ok(answer.events.every((event) => event.seq <= answer.nextAfter));
        after = answer.nextAfter;
        more = answer.hasMore;
      }
      assert.deepEqual(seen.map((event) => event.data.n),
        mixed.flatMap((event, n) => (event.type === 'log' ? [] : [n])));
      const only = await page(id, `after=${start}&types=checkpoint`);
      assert.deepEqual(only.events, []);
    });

    it('refuse a cursor beyond the head and malformed values with 400', async () => {
      const { id, start } = await fresh();
      const path = `/v1/sessions/${id}/events`;
      const beyond = [`${start + 1}`, '9007199254740991'];
      for (const after of beyond) {
        await server.refused(400, 'cursor_beyond_head', 'GET', `${path}?after=${after}`);
      }
      for (const after of ['-1', 'abc', '1.5', '', '99999999999999999999999', '0x1', '1%20']) {
        await server.refused(400, undefined, 'GET', `${path}?after=${after}`);
      }
      for (const limit of ['-1', 'abc', '']) {
        await server.refused(400, undefined, 'GET', `${path}?limit=${limit}`);
      }
      await server.refused(400, undefined, 'GET', `${path}?after=0&after=1`);
    });
  });

  it('keeps all events over a kill', async () => {
    const { id } = await fresh();
    for (let n = 0; n < 20; n += 1) await server.append(id, { type: 'log', data: { n } });
    const before = await server.events(id);
    await server.restart({ how: 'kill' });
    assert.deepEqual(await server.events(id), before);
  });
});
