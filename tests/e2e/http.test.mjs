// HTTP/1.1 as such: connections, methods, media types, limits, Host and Origin.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertProblem, startServer, until } from './harness.mjs';
import { RawClient } from './raw.mjs';

describe('http', () => {
  let server;
  let id;
  let stalled; // half a request each, opened first and looked at last
  before(async () => {
    server = await startServer({ args: ['--request-timeout-ms', '3000'] });
    ({ id } = await server.create({ app: 'http', name: 'one', status: 'ACTIVE' }));
    stalled = await Promise.all([1, 2].map(() => RawClient.connect(server)));
    stalled[0].send('GET /healthz HTT');
    stalled[1].send(`GET /healthz HTTP/1.1\r\nHost: ${stalled[1].host}\r\nX-Slow: `);
  });
  after(async () => {
    for (const client of stalled ?? []) client.destroy();
    await server.dispose();
  });

  const json = 'Content-Type: application/json';
  const event = (n) => JSON.stringify({ type: 'log', data: { n } });
  const bodyOf = async (after) => (await server.events(id, after)).map((e) => e.data.n);
  const head = async () => (await server.get(id)).lastSeq;

  it('keeps a connection for many requests', async () => {
    const client = await RawClient.connect(server);
    for (let n = 0; n < 100; n += 1) {
      client.sendRequest('GET /healthz');
      assert.equal((await client.response()).status, 200);
    }
    client.sendRequest('GET /v1/sessions/no:one');
    assert.equal((await client.response()).status, 404);
    client.sendRequest('GET /healthz', ['Connection: close']);
    assert.equal((await client.response()).status, 200);
    await client.closed();
    client.destroy();
  });

  it('answers pipelined requests in order', async () => {
    const start = await head();
    const client = await RawClient.connect(server);
    const pieces = [];
    for (let n = 0; n < 30; n += 1) {
      const body = event(n);
      const host = `Host: ${client.host}\r\n`;
      pieces.push(`POST /v1/sessions/${id}/events HTTP/1.1\r\n${host}${json}\r\n`
        + `Content-Length: ${body.length}\r\n\r\n${body}`);
      pieces.push(`GET /v1/sessions/missing:n${n} HTTP/1.1\r\n${host}\r\n`);
    }
    client.send(pieces.join(''));
    for (let n = 0; n < 30; n += 1) {
      const appended = await client.response();
      assert.equal(appended.status, 201, appended.text);
      assert.equal(appended.body.firstSeq, start + 1 + n);
      const missing = await client.response();
      assert.equal(missing.status, 404);
      assert.ok(missing.text.includes(`n${n}`), missing.text);
    }
    client.destroy();
    assert.deepEqual(await bodyOf(start), [...Array(30).keys()]);
  });

  it('takes a request in single bytes', async () => {
    const start = await head();
    const client = await RawClient.connect(server);
    client.socket.setNoDelay(true);
    const body = event(7);
    const bytes = `POST /v1/sessions/${id}/events HTTP/1.1\r\nHost: ${client.host}\r\n${json}\r\n`
      + `Content-Length: ${body.length}\r\n\r\n${body}`;
    for (const byte of bytes) {
      await new Promise((sent) => client.socket.write(byte, sent));
    }
    assert.equal((await client.response()).status, 201);
    client.destroy();
    assert.deepEqual(await bodyOf(start), [7]);
  });

  it('takes chunked bodies, extensions and trailers included', async () => {
    const start = await head();
    const client = await RawClient.connect(server);
    const body = event(5);
    const chunks = [...body].map((c) => `1\r\n${c}\r\n`).join('');
    const one = `${body.length.toString(16)};name=value\r\n${body}\r\n0\r\nX-Trailer: x\r\n\r\n`;
    for (const sent of [`${chunks}0\r\n\r\n`, one]) {
      const lines = [json, 'Transfer-Encoding: chunked'];
      client.sendRequest(`POST /v1/sessions/${id}/events`, lines, sent);
      const answer = await client.response();
      assert.equal(answer.status, 201, answer.text);
    }
    client.destroy();
    assert.deepEqual(await bodyOf(start), [5, 5]);
  });

  it('says 100 Continue before the body when asked', async () => {
    const start = await head();
    const client = await RawClient.connect(server);
    const body = event(1);
    client.sendRequest(`POST /v1/sessions/${id}/events`,
      [json, `Content-Length: ${body.length}`, 'Expect: 100-continue']);
    assert.equal((await client.response()).status, 100);
    client.send(body);
    assert.equal((await client.response()).status, 201);
    client.destroy();
    assert.deepEqual(await bodyOf(start), [1]);
  });

  it('refuses an unknown expectation with 417', async () => {
    const client = await RawClient.connect(server);
    client.sendRequest(`POST /v1/sessions/${id}/events`,
      [json, 'Content-Length: 2', 'Expect: miracles'], '{}');
    assertProblem(await client.response(), 417);
    client.destroy();
  });

  it('refuses a body too large before it is sent', async () => {
    const start = await head();
    const client = await RawClient.connect(server);
    client.sendRequest(`POST /v1/sessions/${id}/events`,
      [json, 'Content-Length: 1000000000', 'Expect: 100-continue']);
    assertProblem(await client.response(), 413, 'body_too_large');
    await client.closed();
    client.destroy();
    assert.equal(await head(), start);
  });

  it('refuses a chunked body that grows too large with 413', async () => {
    const client = await RawClient.connect(server);
    client.sendRequest(`POST /v1/sessions/${id}/events`, [json, 'Transfer-Encoding: chunked']);
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
    for (let n = 0; n < 9 && !client.over; n += 1) client.send(chunk);
    const answer = await client.response();
    if (answer) assertProblem(answer, 413, 'body_too_large');
    await client.closed();
    client.destroy();
  });

  it('answers HEAD as GET without the body', async () => {
    const client = await RawClient.connect(server);
    for (const path of ['/healthz', `/v1/sessions/${id}`, '/v1/sessions', '/openapi.json']) {
      client.sendRequest(`HEAD ${path}`);
      assert.equal((await client.response({ head: true })).status, 200, path);
    }
    client.sendRequest('HEAD /v1/sessions/no:one');
    assert.equal((await client.response({ head: true })).status, 404);
    client.sendRequest('GET /healthz');
    assert.equal((await client.response()).status, 200, 'the connection is still in step');
    client.destroy();
  });

  it('speaks HTTP/1.0 and closes after it', async () => {
    const client = await RawClient.connect(server);
    client.send(`GET /healthz HTTP/1.0\r\nHost: ${client.host}\r\n\r\n`);
    assert.equal((await client.response()).status, 200);
    await client.closed();
    client.destroy();
  });

  it('answers 405 with Allow for a method a resource does not know', async () => {
    for (const [method, path, allowed] of [
      ['DELETE', '/v1/sessions', ['GET', 'POST']], ['POST', `/v1/sessions/${id}`, ['GET', 'PUT']],
      ['PUT', `/v1/sessions/${id}/events`, ['GET', 'POST']],
      ['GET', `/v1/sessions/${id}/status`, ['POST']], ['GET', `/v1/sessions/${id}/pause`, ['POST']],
      ['POST', '/healthz', ['GET']], ['POST', `/v1/sessions/${id}/events/stream`, ['GET']],
    ]) {
      const answer = await server.call(method, path);
      assertProblem(answer, 405, 'method_not_allowed');
      const allow = (answer.headers.allow ?? '').split(/, */);
      for (const wanted of allowed) assert.ok(allow.includes(wanted), `${path}: Allow: ${allow}`);
      assert.ok(!allow.includes(method), `${path}: Allow: ${allow}`);
    }
  });

  it('answers OPTIONS with what is allowed', async () => {
    const answer = await server.call('OPTIONS', '/v1/sessions');
    assert.ok(answer.status === 200 || answer.status === 204, `${answer.status} ${answer.text}`);
    const allow = (answer.headers.allow ?? '').split(/, */);
    for (const method of ['GET', 'POST']) assert.ok(allow.includes(method), String(allow));
  });

  it('answers 404 for a path it does not know', async () => {
    for (const path of ['/', '/v1', '/v1/', '/v2/sessions', '/v1/sessions/a:b/c', '/v1/Sessions',
      '//v1/sessions', '/v1/../v1/sessions', '/v1/sessions/']) {
      const answer = await server.call('GET', path);
      assert.ok([400, 404].includes(answer.status) || (path === '/' && answer.status === 200),
        `${path}: ${answer.status}`);
    }
  });

  it('answers 406 when nothing it offers is accepted', async () => {
    for (const path of ['/v1/sessions', `/v1/sessions/${id}`, `/v1/sessions/${id}/events`]) {
      await server.refused(406, 'not_acceptable', 'GET', path, undefined, { Accept: 'image/png' });
    }
    for (const accept of ['*/*', 'application/*', 'application/json; q=0.5', 'text/html, */*;q=0.1',
      'application/json;charset=utf-8']) {
      await server.ok('GET', `/v1/sessions/${id}`, undefined, { Accept: accept }, 200);
    }
  });

  it('answers 415 to a body that is not JSON', async () => {
    const start = await head();
    const foreign = ['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'x'];
    for (const type of foreign) {
      await server.refused(415, 'unsupported_media_type', 'POST', `/v1/sessions/${id}/events`,
        event(1), { 'Content-Type': type });
    }
    assert.equal(await head(), start);
    await server.ok('POST', `/v1/sessions/${id}/events`, event(1),
      { 'Content-Type': 'Application/JSON; charset=utf-8' }, 201);
  });

  it('limits the request head: 431 for header fields, 414 for the target', async () => {
    const large = { 'X-Long': 'x'.repeat(100_000) };
    const answer = await server.call('GET', '/healthz', undefined, large);
    assertProblem(answer, 431, 'header_too_large');
    const long = await server.call('GET', `/v1/sessions?q=${'x'.repeat(50_000)}`);
    assertProblem(long, 414, 'target_too_long');
    await server.assertAlive();
  });

  it('gives every answer a request id', async () => {
    const ids = new Set();
    for (const path of ['/healthz', '/v1/sessions', '/v1/sessions/no:one', '/nowhere']) {
      const answer = await server.call('GET', path);
      assert.match(answer.headers['x-request-id'] ?? '', /\S/, path);
      ids.add(answer.headers['x-request-id']);
    }
    assert.equal(ids.size, 4);
  });

  it('answers only for its own host names', async () => {
    const get = (Host) => server.call('GET', '/v1/sessions', undefined, { Host });
    for (const host of [`127.0.0.1:${server.port}`, `localhost:${server.port}`]) {
      assert.equal((await get(host)).status, 200, host);
    }
    for (const host of ['evil.example', `evil.example:${server.port}`, '169.254.169.254',
      `127.0.0.1.evil.example:${server.port}`, 'localhost.evil.example']) {
      assertProblem(await get(host), [400, 403, 421]);
    }
  });

  it('refuses foreign origins and takes its own', async () => {
    const before = (await server.list()).length;
    for (const origin of ['http://evil.example', 'https://127.0.0.1.evil.example', 'null',
      `http://evil.example:${server.port}`]) {
      await server.refused(403, 'origin_refused', 'POST', '/v1/sessions', {}, { Origin: origin });
      await server.refused(403, 'origin_refused', 'GET', '/v1/sessions', undefined,
        { Origin: origin });
    }
    assert.equal((await server.list()).length, before);
    const own = { Origin: `http://127.0.0.1:${server.port}` };
    await server.ok('GET', '/v1/sessions', undefined, own, 200);
  });

  it('lets configured origins in, preflight included', async () => {
    const origin = 'https://app.example';
    const other = await startServer({ args: ['--cors-origin', origin] });
    try {
      const preflight = await other.call('OPTIONS', '/v1/sessions', undefined, {
        Origin: origin, 'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type, idempotency-key',
      });
      assert.ok([200, 204].includes(preflight.status), preflight.text);
      const allowed = (name) => (preflight.headers[`access-control-allow-${name}`] ?? '')
        .toLowerCase();
      assert.equal(allowed('origin'), origin);
      assert.match(allowed('methods'), /post/);
      assert.match(allowed('headers'), /content-type/);
      assert.match(allowed('headers'), /idempotency-key/);
      const made = await other.call('POST', '/v1/sessions', {}, { Origin: origin });
      assert.equal(made.status, 201, made.text);
      assert.equal(made.headers['access-control-allow-origin'], origin);
      assert.match(made.headers.vary ?? '', /origin/i);
      const evil = { Origin: 'http://evil.example' };
      const wrong = await other.call('POST', '/v1/sessions', {}, evil);
      assertProblem(wrong, 403, 'origin_refused');
      assert.equal(wrong.headers['access-control-allow-origin'], undefined);
    } finally {
      await other.dispose();
    }
  });

  it('can be spoken to with fetch', async () => {
    const made = await fetch(`${server.url}/v1/sessions/http:fetched`, { method: 'PUT' });
    assert.equal(made.status, 201);
    const record = await made.json();
    const appended = await fetch(`${server.url}/v1/sessions/${record.id}/events`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: event(1),
    });
    assert.equal(appended.status, 201);
    await appended.body.cancel();
  });

  it('serves others while many connections stand idle', async () => {
    const idle = await Promise.all(Array.from({ length: 300 }, () => RawClient.connect(server)));
    const start = await head();
    await server.append(id, { type: 'log', data: { n: 1 } });
    assert.equal(await head(), start + 1);
    for (const client of idle) client.destroy();
    await until(async () => (await server.call('GET', '/readyz')).status === 200);
  });

  it('closes connections that stand idle too long', async () => {
    const other = await startServer({ args: ['--idle-timeout-ms', '300'] });
    try {
      const client = await RawClient.connect(other);
      client.sendRequest('GET /healthz');
      assert.equal((await client.response()).status, 200);
      await client.closed();
      client.destroy();
    } finally {
      await other.dispose();
    }
  });

  it('refuses connections beyond its limit and serves again when there is room', async () => {
    const other = await startServer({ args: ['--max-connections', '5'] });
    try {
      const clients = await Promise.all(Array.from({ length: 5 }, () => RawClient.connect(other)));
      for (const client of clients) {
        client.sendRequest('GET /healthz');
        assert.equal((await client.response()).status, 200);
      }
      const beyond = await RawClient.connect(other);
      beyond.sendRequest('GET /healthz');
      const refused = await beyond.response();
      if (refused) assertProblem(refused, [429, 503]);
      await beyond.closed();
      for (const client of clients) client.destroy();
      beyond.destroy();
      await until(() => other.call('GET', '/healthz').then(({ status }) => status === 200,
        () => false));
    } finally {
      await other.dispose();
    }
  });

  it('closes connections that send their request too slowly', async () => {
    for (const client of stalled) {
      const answer = await client.response({ deadline: 15_000 });
      if (answer) assertProblem(answer, 408);
      await client.closed();
    }
  });
});
