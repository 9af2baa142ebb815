// Durable Streams through the binary: sessions shown as streams, paths, bodies, tokens, and readers that do not read.
// (What the protocol says in general, tests/conformance asks.)
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  assertProblem, removeDirectory, startServer, temporaryDirectory, unique, until,
} from './harness.mjs';
import { RawClient } from './raw.mjs';

const offset = (seq) => `${String(seq).padStart(16, '0')}_${'0'.repeat(16)}`;
const plain = { 'Content-Type': 'text/plain' };
const json = { 'Content-Type': 'application/json' };

describe('what clients have stored as a page', () => {
  it('is no page of the server', async (t) => {
    const server = await startServer();
    t.after(() => server.dispose());
    const body = '<script>fetch("/v1/sessions")</script>';
    await server.call('PUT', '/v1/stream/demo/page', Buffer.from(body), { 'Content-Type': 'text/html' });
    const answer = await server.call('GET', '/v1/stream/demo/page?offset=-1');
    assert.equal(answer.text, body);
    assert.match(answer.headers['content-security-policy'], /default-src 'none'; sandbox/);
  });
});

describe('a session as a stream', () => {
  let server;
  before(async () => {
    server = await startServer({ args: ['--long-poll-timeout-ms', '400', '--heartbeat-ms', '300'] });
  });
  after(() => server.dispose());

  const logs = (count) => Array.from({ length: count }, (_, n) => ({ type: 'log', data: { n } }));
  const move = (id, status) => server.ok('POST', `/v1/sessions/${id}/status`, { status });
  const neverClosed = (answer) => assert.equal(answer.headers['stream-closed'], undefined);

  async function fresh(events = 0) {
    const { id } = await server.create({ status: 'ACTIVE' });
    if (events > 0) await server.append(id, logs(events));
    return { id, path: `/v1/stream/sessions/${id}`, head: (await server.get(id)).lastSeq };
  }
  async function read(path, query = '') {
    const answer = await server.call('GET', `${path}${query}`);
    assert.equal(answer.status, 200, answer.text);
    neverClosed(answer);
    return answer;
  }
  // Data events with the control event that follows each, checked as they are collected.
  function steps(stream) {
    const all = [];
    const frames = stream.frames.filter((frame) => frame.event !== undefined);
    for (const [at, frame] of frames.entries()) {
      if (frame.event === 'control') continue;
      assert.equal(frame.event, 'data');
      if (frames[at + 1] === undefined) break; // its control event is on its way
      assert.equal(frames[at + 1].event, 'control');
      all.push({ events: frame.json, control: frames[at + 1].json });
    }
    return all;
  }
  const shown = (stream) => steps(stream).flatMap(({ events }) => events);

  it('gives the events as one array, one step each, from any offset', async () => {
    const { id, path, head } = await fresh(20);
    const events = await server.events(id);
    for (const from of [0, 1, head - 1, head]) {
      const answer = await read(path, `?offset=${offset(from)}`);
      assert.deepEqual(answer.body, events.slice(from));
      assert.equal(answer.headers['stream-next-offset'], offset(head));
      assert.equal(answer.headers['stream-up-to-date'], 'true');
      assert.match(answer.headers['content-type'], /^application\/json/);
    }
    for (const query of ['', '?offset=-1']) assert.deepEqual((await read(path, query)).body, events);
    const now = await read(path, '?offset=now');
    assert.deepEqual([now.body, now.headers['stream-next-offset']], [[], offset(head)]);
    const described = await server.call('HEAD', path);
    assert.equal(described.headers['stream-next-offset'], offset(head));
    neverClosed(described);
    assertProblem(await server.call('GET', `${path}?offset=${offset(head + 1)}`), 400);
  });

  it('answers a long poll when something happens, and 204 when nothing does', async () => {
    const { id, path, head } = await fresh(1);
    const waiting = server.call('GET', `${path}?offset=${offset(head)}&live=long-poll`);
    await server.append(id, logs(1));
    const answer = await waiting;
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, (await server.events(id)).slice(head));
    assert.match(answer.headers['stream-cursor'], /^\d+$/);
    const nothing = await server.call('GET', `${path}?offset=now&live=long-poll`);
    assert.equal(nothing.status, 204);
    assert.equal(nothing.headers['stream-next-offset'], offset(head + 1));
    neverClosed(nothing);
  });

  it('is followed by event streams, each event with its offset', async () => {
    const { id, path, head } = await fresh(5);
    const stream = await server.stream(`${path}?offset=-1&live=sse`);
    await stream.waitFor((frame) => frame.event === 'control' && frame.json.upToDate);
    assert.deepEqual(shown(stream), await server.events(id));
    await server.append(id, logs(3));
    await stream.when(() => shown(stream).length === head + 3);
    for (const { events, control } of steps(stream)) {
      assert.equal(events.length, 1);
      assert.equal(control.streamNextOffset, offset(events[0].seq));
      assert.equal(control.streamClosed, undefined);
    }
    // Ephemeral events are not stored, so the stream does not have them.
    await server.ok('POST', `/v1/sessions/${id}/events`, { ...logs(1)[0], ephemeral: true });
    await server.append(id, logs(1));
    await stream.when(() => shown(stream).length === head + 4);
    assert.deepEqual(shown(stream), await server.events(id));
    stream.close();
  });

  it('stays open when the session ends, and shows how it ended', async () => {
    const { id, path, head } = await fresh(2);
    const stream = await server.stream(`${path}?offset=-1&live=sse`);
    await stream.when(() => shown(stream).length === head);
    await move(id, 'COMPLETED');
    const ended = await server.events(id);
    await stream.when(() => shown(stream).length === ended.length);
    const beats = stream.comments.length;
    await stream.when(() => stream.comments.length >= beats + 2, 10_000, 'it goes on');
    for (const frame of stream.frames) {
      assert.doesNotMatch(frame.data, /streamClosed/);
      if (frame.event === 'control') assert.match(frame.json.streamNextOffset, /^\d{16}_0{16}$/);
    }
    assert.deepEqual((await read(path)).body, ended);
    const late = await server.stream(`${path}?offset=now&live=sse`);
    await late.waitFor((frame) => frame.event === 'control');
    const poll = await server.call('GET', `${path}?offset=now&live=long-poll`);
    assert.equal(poll.status, 204);
    neverClosed(poll);

    await server.ok('POST', `/v1/sessions/${id}/reset`);
    await server.append(id, logs(1));
    const again = await server.events(id);
    for (const reader of [stream, late]) {
      await reader.when(() => shown(reader).at(-1)?.seq === again.at(-1).seq, 10_000, 'the reset');
      assert.ok(shown(reader).some((event) => event.type === 'session_reset'));
      reader.close();
    }
  });

  it('begins at the reset of a session that was reset', async () => {
    const { id, path, head } = await fresh(5);
    await server.ok('POST', `/v1/sessions/${id}/reset`);
    await server.append(id, logs(2));
    const events = await server.events(id);
    assert.equal(events[0].type, 'session_reset');
    assert.ok(events[0].seq > head);
    for (const from of ['-1', offset(0), offset(head - 2)]) {
      assert.deepEqual((await read(path, `?offset=${from}`)).body, events);
      const poll = await server.call('GET', `${path}?offset=${from}&live=long-poll`);
      assert.deepEqual(poll.body, events);
      const stream = await server.stream(`${path}?offset=${from}&live=sse`);
      await stream.waitFor((frame) => frame.event === 'control' && frame.json.upToDate);
      assert.deepEqual(shown(stream), events);
      stream.close();
    }
    await server.restart({ how: 'kill' });
    assert.deepEqual((await read(path)).body, events);
  });

  it('ends for its readers when the session is deleted', async () => {
    const { id, path } = await fresh(2);
    const stream = await server.stream(`${path}?offset=-1&live=sse`);
    await stream.waitFor((frame) => frame.event === 'control');
    const poll = server.call('GET', `${path}?offset=now&live=long-poll`);
    await server.ok('DELETE', `/v1/sessions/${id}`);
    await stream.closed();
    assert.doesNotMatch(stream.frames.map((frame) => frame.data).join(), /streamClosed/);
    assert.ok([204, 404].includes((await poll).status));
    assertProblem(await server.call('GET', path), 404, 'stream_not_found');
  });

  it('is not written, and nothing else can be made beside it', async () => {
    const { id, path } = await fresh();
    for (const target of [path, '/v1/stream/sessions/x', '/v1/stream/sessions', `${path}/more`]) {
      for (const method of ['PUT', 'POST', 'DELETE']) {
        const answer = await server.call(method, target, method === 'DELETE' ? undefined : '{}', json);
        assertProblem(answer, 405, 'method_not_allowed');
        assert.match(answer.headers.allow, /\bGET\b/);
        assert.doesNotMatch(answer.headers.allow, /PUT|POST|DELETE/);
      }
    }
    assert.equal((await server.get(id)).lastSeq, 1);
    for (const name of ['x', 'no:one', '00000000-0000-7000-8000-000000000000', `${id}/more`]) {
      assertProblem(await server.call('GET', `/v1/stream/sessions/${name}`), 404, 'stream_not_found');
    }
  });
});

describe('streams: what is refused', () => {
  let server;
  before(async () => { server = await startServer({ args: ['--max-body-bytes', '4096'] }); });
  after(() => server.dispose());

  it('refuses paths that mean something else elsewhere', async () => {
    const client = await RawClient.connect(server);
    const long = 'p'.repeat(1025);
    for (const path of ['..', '../../healthz', 'a/../b', 'a/%2e%2e/b', '%2e%2e%2fetc', 'a%2fb', 'a//b',
      'a/', '/', '', 'a%00b', 'a%0d%0ab', '%', '%zz', long]) {
      for (const method of ['PUT', 'GET', 'DELETE']) {
        client.sendRequest(`${method} /v1/stream/${path}`);
        const answer = await client.response();
        assert.ok([400, 404].includes(answer.status), `${method} ${path}: ${answer.status}`);
        assert.equal(answer.headers['x-content-type-options'], 'nosniff');
      }
    }
    client.destroy();
    const fits = `/v1/stream/${'p'.repeat(1024)}`;
    await server.ok('PUT', fits, undefined, plain, 201);
    await server.ok('GET', fits, undefined, {}, 200);
  });

  it('refuses a body beyond the limit and stores nothing of it', async () => {
    const path = `/v1/stream/${unique('large')}`;
    await server.ok('PUT', path, undefined, plain, 201);
    await server.ok('POST', path, 'x'.repeat(4096), plain, 204);
    const refused = await server.call('POST', path, 'y'.repeat(4097), plain);
    assertProblem(refused, 413, 'body_too_large');
    assert.equal((await server.call('GET', path)).text, 'x'.repeat(4096));
    assertProblem(await server.call('PUT', `${path}-2`, 'y'.repeat(4097), plain), 413);
    assertProblem(await server.call('GET', `${path}-2`), 404);
  });
});

describe('streams: tokens', () => {
  const tokens = { writer: 'writer-token-3f1e', reader: 'reader-token-8c2d' };
  const sha256 = (token) => createHash('sha256').update(token).digest('hex');
  const path = '/v1/stream/guarded';
  let directory;
  let server;
  before(async () => {
    directory = temporaryDirectory();
    const file = join(directory, 'tokens.json');
    writeFileSync(file, JSON.stringify({ tokens: [
      { name: 'writer', sha256: sha256(tokens.writer), scopes: ['read', 'write'], apps: ['*'] },
      { name: 'reader', sha256: sha256(tokens.reader), scopes: ['read'], apps: ['*'] },
    ] }));
    server = await startServer({ args: ['--tokens-file', file, '--long-poll-timeout-ms', '200'] });
  });
  after(async () => {
    await server?.dispose();
    removeDirectory(directory);
  });
  const as = (who, method, target, body) => server.call(method, target, body,
    { ...plain, ...(who && { Authorization: `Bearer ${tokens[who]}` }) });

  it('asks for one on every method', async () => {
    assert.equal((await as('writer', 'PUT', path)).status, 201);
    assert.equal((await as('writer', 'POST', path, 'secret')).status, 204);
    for (const method of ['PUT', 'POST', 'GET', 'DELETE']) {
      const answer = await as(undefined, method, path, method === 'POST' ? 'x' : undefined);
      assertProblem(answer, 401, 'unauthorized');
      assert.match(answer.headers['www-authenticate'], /^Bearer/);
    }
    assert.equal((await as(undefined, 'HEAD', path)).status, 401);
    for (const live of ['long-poll', 'sse']) {
      assertProblem(await as(undefined, 'GET', `${path}?offset=-1&live=${live}`), 401);
    }
    // Nobody learns what is there.
    assertProblem(await as(undefined, 'GET', `${path}-nothing`), 401);
  });

  it('lets readers read and not write', async () => {
    for (const method of ['PUT', 'POST', 'DELETE']) {
      assertProblem(await as('reader', method, path, method === 'POST' ? 'x' : undefined), 403);
      assertProblem(await as('reader', method, `${path}-new`, method === 'POST' ? 'x' : undefined), 403);
    }
    assert.equal((await as('reader', 'GET', path)).text, 'secret');
    assert.equal((await as('reader', 'HEAD', path)).status, 200);
    assert.equal((await as('reader', 'GET', `${path}?offset=now&live=long-poll`)).status, 204);
    const stream = await server.stream(`${path}?offset=-1&live=sse`,
      { Authorization: `Bearer ${tokens.reader}` });
    await stream.waitFor((frame) => frame.event === 'data' && frame.data === 'secret');
    stream.close();
  });
});

describe('streams: readers that do not read', () => {
  it('hold up nobody and cost no more than their share', async () => {
    const server = await startServer();
    const path = `/v1/stream/${unique('slow')}`;
    await server.ok('PUT', path, undefined, plain, 201);
    const resident = () => Number(/VmRSS:\s+(\d+) kB/.exec(
      readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))[1]) / 1024;
    const follow = () => server.stream(`${path}?offset=-1&live=sse`);
    const slow = await Promise.all(Array.from({ length: 30 }, follow));
    for (const reader of slow) {
      await reader.waitFor((frame) => frame.event === 'control');
      reader.pause();
    }
    const quick = await follow();
    const before = resident();
    const appends = 160; // 40 MiB, so that 30 copies would be 1.2 GiB
    const bytes = 256 * 1024;
    for (let n = 0; n < appends; n += 1) {
      await server.ok('POST', path, String(n).padEnd(bytes, '.'), plain, 204);
    }
    const numbers = (reader) => reader.frames.filter((frame) => frame.event === 'data')
      .map((frame) => parseInt(frame.data, 10));
    const expected = Array.from({ length: appends }, (_, n) => n);
    await quick.when(() => numbers(quick).length === appends, 20_000);
    assert.deepEqual(numbers(quick), expected);
    const grown = resident() - before;
    assert.ok(grown < 400, `${Math.round(grown)} MiB more for 40 MiB of appends`);
    // Who reads again has missed nothing.
    for (const reader of slow.slice(0, 3)) {
      reader.resume();
      await reader.when(() => numbers(reader).length === appends, 20_000);
      assert.deepEqual(numbers(reader), expected);
    }
    for (const reader of [...slow, quick]) reader.close();
    await until(async () => (await server.call('GET', `${path}?offset=now`)).status === 200);
    await server.dispose();
  });
});
