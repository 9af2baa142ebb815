// Bad input over raw sockets: a clear 4xx or a close, nothing stored, server alive.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { assertProblem, randomFrom, seedFor, startServer, unique } from './harness.mjs';
import { RawClient } from './raw.mjs';

describe('bad input', () => {
  let server;
  let pid;
  let id;
  let head;
  const app = unique('app');
  before(async () => {
    server = await startServer();
    pid = server.child.pid;
    ({ id } = await server.create({ app, name: 'victim', status: 'ACTIVE' }));
    head = (await server.get(id)).lastSeq;
  });
  after(() => server.dispose());

  afterEach(async () => {
    await server.assertAlive(pid);
    const record = await server.get(id);
    assert.equal(record.lastSeq, head, 'something was stored');
    assert.deepEqual(record.metadata, {});
    assert.equal((await server.list()).length, 1, 'a session was stored');
    assert.doesNotMatch(server.stderr, /AddressSanitizer|runtime error|assertion/i);
  });

  const events = () => `/v1/sessions/${id}/events`;
  const good = '{"type":"log","data":{}}';
  const json = 'Content-Type: application/json';
  const length = (body) => `Content-Length: ${Buffer.byteLength(body)}`;

  // Sends bytes on a fresh connection and expects a 4xx (or 5xx of `more`), or just a close; never
  // success, and never a second answer: what follows a broken request is not another request. A
  // request that is whole, only senseless, may leave the connection open.
  async function assertRefusedRaw(bytes, more = [], isWhole = false) {
    const shown = JSON.stringify(bytes.toString('latin1').slice(0, 200));
    const client = await RawClient.connect(server);
    client.send(bytes);
    const answer = await client.response().catch((error) => {
      throw new Error(`${shown}: ${error.message}`);
    });
    if (answer !== undefined) {
      const refused = (answer.status >= 400 && answer.status < 500) || more.includes(answer.status);
      assert.ok(refused, `${shown}: ${answer.status}`);
      assertProblem(answer, answer.status);
    }
    if (!isWhole || answer?.headers.connection === 'close') await client.closed();
    assert.equal(client.bytes.length, 0, `${shown}: more than one answer`);
    client.destroy();
  }

  // The same for a framing error, in a POST that would be good otherwise, with a request behind it.
  function assertRefusedFraming(lines, body = good, more = []) {
    const post = [`POST ${events()} HTTP/1.1`, `Host: ${server.host}:${server.port}`, json,
      ...lines, '', ''].join('\r\n');
    const smuggled = `POST ${events()} HTTP/1.1\r\nHost: ${server.host}:${server.port}\r\n`
      + `${json}\r\n${length(good)}\r\n\r\n${good}`;
    return assertRefusedRaw(Buffer.from(`${post}${body}${smuggled}`, 'latin1'), more);
  }

  const post = (path, body) => server.call('POST', path, body);
  async function assertBody(status, code, bodies, path = events()) {
    for (const body of bodies) {
      const answer = await post(path, body);
      try {
        assertProblem(answer, status, code);
      } catch (error) {
        throw new Error(`${body.toString('latin1').slice(0, 120)}: ${error.message}`);
      }
    }
  }

  it('is refused as malformed JSON with 400', async () => {
    await assertBody(400, 'malformed_json', [
      '{', '}', '{"type":"log","data":{}', '{"type":"log",}', '[1,]', '{"type":"log" "data":{}}',
      "{'type':'log'}", '{type:"log"}', 'nul', 'NaN', '{"type":"log","data":{"n":NaN}}',
      '{"type":"log","data":{"n":01}}', '{"type":"log","data":{"n":+1}}',
      '{"type":"log","data":{"n":.5}}', '{"type":"log","data":{"s":"\u0001"}}',
      '{"type":"log","data":{"s":"a\nb"}}', '{"type":"log","data":{"s":"\\x"}}',
      '{"type":"log","data":{"s":"\\u12"}}', `${good} ${good}`, `${good}x`, '// c\n{}', '"', ' ',
    ]);
    await assertBody([400, 422], undefined, ['']);
    await assertBody(400, 'malformed_json', ['{', '[', '{"app":}'], '/v1/sessions');
  });

  it('is refused as invalid UTF-8 with 400', async () => {
    const bytes = [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc0, 0x80],
      [0xe2, 0x82]];
    await assertBody(400, undefined, bytes.map((wrong) => Buffer.concat([
      Buffer.from('{"type":"log","data":{"s":"'), Buffer.from(wrong), Buffer.from('"}}'),
    ])));
  });

  it('is refused for duplicate keys at every depth with 400', async () => {
    await assertBody(400, 'duplicate_member', [
      '{"type":"log","type":"log","data":{}}', '{"type":"log","data":{"a":1,"a":1}}',
      '{"type":"log","data":[{"x":{"a":1,"b":2,"a":3}}]}',
      '{"events":[{"type":"log","data":{}},{"type":"log","data":{},"data":{}}]}',
      '{"type":"log","data":{"a":1,"\\u0061":2}}',
    ]);
  });

  it('is refused for a million nested arrays or objects', async () => {
    const deep = 1_000_000;
    for (const data of ['['.repeat(deep), '['.repeat(deep) + ']'.repeat(deep),
      '{"a":'.repeat(deep), `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`]) {
      await assertBody([400, 413, 422], undefined, [`{"type":"log","data":${data}}`, data]);
    }
  });

  it('is refused for huge numbers where a number means something', async () => {
    const huge = ['1e400', '-1e400', '99999999999999999999999', '9223372036854775808', '1e19'];
    for (const number of huge) {
      await assertBody([400, 422], undefined,
        [`{"app":"${app}","ttlSeconds":${number}}`], '/v1/sessions');
      await assertBody([400, 409, 422], undefined,
        [`{"type":"log","data":{},"expectedSeq":${number}}`]);
    }
  });

  it('is refused for wrong types and unknown fields with 422', async () => {
    await assertBody(422, undefined, [
      '{"type":5,"data":{}}', '{"type":"log","data":{},"extra":1}', '{"events":5}',
      '{"events":[{"type":"log","data":{}},5]}',
    ]);
    await assertBody(422, undefined, ['{"app":5}', '{"name":[]}', '{"metadata":"x"}', '{"x":1}'],
      '/v1/sessions');
    await assertBody([400, 422], undefined, ['5', '"x"', '[]', 'null', 'true'], '/v1/sessions');
  });

  it('is refused for chunked smuggling', async () => {
    const chunked = `${Buffer.byteLength(good).toString(16)}\r\n${good}\r\n0\r\n\r\n`;
    for (const lines of [
      [length(good), 'Transfer-Encoding: chunked'], ['Transfer-Encoding: chunked', length(good)],
      ['Transfer-Encoding: chunked', 'Content-Length: 0'], ['Transfer-Encoding: xchunked'],
      ['Transfer-Encoding: chunked, identity'], ['Transfer-Encoding: identity, xchunked'],
      ['Transfer-Encoding : chunked'], ['Transfer-Encoding:\x0bchunked'],
    ]) {
      await assertRefusedFraming(lines, chunked, [501]);
    }
  });

  it('is refused for broken chunks', async () => {
    const sizes = ['zz', '-1', '0x5', 'FFFFFFFFFFFFFFFFF', '', '5 5', '+5'];
    for (const size of sizes) {
      await assertRefusedFraming(['Transfer-Encoding: chunked'], `${size}\r\n${good}\r\n0\r\n\r\n`);
    }
    const exact = Buffer.byteLength(good).toString(16);
    await assertRefusedFraming(['Transfer-Encoding: chunked'], `${exact}\r\n${good}XX0\r\n\r\n`);
    await assertRefusedFraming(['Transfer-Encoding: chunked'], `${exact}\n${good}\n0\n\n`);
  });

  it('is refused for doubled, negative and absurd lengths', async () => {
    for (const lines of [
      [length(good), 'Content-Length: 5'], ['Content-Length: -1'], ['Content-Length: +24'],
      ['Content-Length: 24, 25'], ['Content-Length: 0x18'], ['Content-Length: 2 4'],
      ['Content-Length: 99999999999999999999'], ['Content-Length: 18446744073709551616'],
      ['Content-Length: 99999999999'], ['Content-Length: abc'], ['Content-Length:'],
    ]) {
      await assertRefusedFraming(lines);
    }
  });

  it('is refused for bare LF, bare CR, folded and malformed header lines', async () => {
    const host = `Host: ${server.host}:${server.port}`;
    for (const bytes of [
      `GET /v1/sessions HTTP/1.1\n${host}\n\n`, `GET /v1/sessions HTTP/1.1\r\n${host}\n\r\n`,
      `GET /v1/sessions HTTP/1.1\r\n${host}\r\nA: b\nC: d\r\n\r\n`,
      `GET /v1/sessions HTTP/1.1\r\n${host}\r\nA: b\rC: d\r\n\r\n`,
      `GET /v1/sessions HTTP/1.1\r\n${host}\r\nA: b\r\n folded\r\n\r\n`,
      `GET /v1/sessions HTTP/1.1\r\n${host}\r\nA : b\r\n\r\n`,
      `GET /v1/sessions HTTP/1.1\r\n${host}\r\n: b\r\n\r\n`,
      `GET /v1/sessions HTTP/1.1\r\n${host}\r\nno colon\r\n\r\n`,
      `GET /v1/sessions HTTP/1.1\r\n${host}\r\nA: b\0c\r\n\r\n`,
      `GET /v1/sessions HTTP/1.1\r\n${host}\r\nA(b): c\r\n\r\n`,
    ]) {
      await assertRefusedRaw(Buffer.from(bytes, 'latin1'));
    }
  });

  it('is refused for malformed request lines', async () => {
    const rest = `Host: ${server.host}:${server.port}\r\n\r\n`;
    for (const line of [
      'GET', 'GET /v1/sessions', 'GET /v1/sessions HTTP/1.1 x', 'GET  /v1/sessions HTTP/1.1',
      'get /v1/sessions HTTP/1.1', 'G\0T /v1/sessions HTTP/1.1', 'GET v1/sessions HTTP/1.1',
      'GET /v1/\x01sessions HTTP/1.1', 'GET /v1/sessions HTTP/9.9', 'GET /v1/sessions HTTP/1.1.1',
      'GET /v1/sessions HTTQ/1.1', 'FROB /v1/sessions HTTP/1.1', '\x16\x03\x01\x02\x00\x01',
    ]) {
      await assertRefusedRaw(Buffer.from(`${line}\r\n${rest}`, 'latin1'), [501, 505], true);
    }
    await assertRefusedRaw(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), [505]);
  });

  it('is refused without a Host, with two and with a malformed one', async () => {
    for (const hosts of ['', 'Host: a\r\nHost: b\r\n', 'Host: a b\r\n', 'Host: \r\n',
      'Host: evil.example\r\n', 'Host: 127.0.0.1:x\r\n']) {
      await assertRefusedRaw(Buffer.from(`GET /v1/sessions HTTP/1.1\r\n${hosts}\r\n`), [], true);
    }
  });

  it('is refused for absurd headers', async () => {
    const start = `GET /v1/sessions HTTP/1.1\r\nHost: ${server.host}:${server.port}\r\n`;
    const long = `X-Long: ${'a'.repeat(1_000_000)}\r\n`;
    const many = Array.from({ length: 10_000 }, (_, n) => `X-${n}: ${n}\r\n`).join('');
    const name = `${'n'.repeat(500_000)}: x\r\n`;
    for (const header of [long, many, name]) {
      await assertRefusedRaw(Buffer.from(`${start}${header}\r\n`));
    }
  });

  it('stores nothing of a body cut short', async () => {
    const head = [`POST ${events()} HTTP/1.1`, `Host: ${server.host}:${server.port}`, json];
    const cuts = [
      [...head, `Content-Length: ${good.length + 10}`, '', good],
      [...head, 'Transfer-Encoding: chunked', '', `${good.length.toString(16)}\r\n${good}\r\n`],
      [...head, 'Transfer-Encoding: chunked', '', `ff\r\n${good}`],
      [...head, 'Transfer-Encoding: chunked', '', `7fffffffffffffff\r\n${good}`],
      [...head, 'Content-Length: 24'], head,
    ];
    for (const cut of cuts) {
      const client = await RawClient.connect(server);
      client.send(cut.join('\r\n'));
      client.end();
      const answer = await client.response();
      if (answer) assert.ok(answer.status >= 400 && answer.status < 500, String(answer.status));
      await client.closed();
      client.destroy();
    }
  });

  it('does not mind clients that vanish', async () => {
    for (let round = 0; round < 50; round += 1) {
      const client = await RawClient.connect(server);
      const size = round % 2 === 0 ? 1_000_000 : 1000;
      client.sendRequest(`POST ${events()}`, [json, `Content-Length: ${size}`], '{"type":"log",');
      if (round % 3 === 0) client.destroy();
      else client.socket.resetAndDestroy();
    }
    const readers = await Promise.all(Array.from({ length: 20 }, () => server.reader(id)));
    for (const reader of readers) reader.response.socket.resetAndDestroy();
  });

  it('does not mind random bytes', async () => {
    const random = randomFrom(seedFor());
    const valid = `POST ${events()} HTTP/1.1\r\nHost: ${server.host}:${server.port}\r\n${json}\r\n`
      + `Content-Length: 99\r\n\r\n{"type":"lo`;
    const rounds = Array.from({ length: 200 }, (_, round) => {
      if (round % 2 === 0) {
        return Buffer.from(Array.from({ length: 1 + random.below(2000) }, () => random.below(256)));
      }
      const mutated = Buffer.from(valid);
      for (let n = 0; n <= random.below(4); n += 1) {
        mutated[random.below(mutated.length)] = random.below(256);
      }
      return mutated;
    });
    for (const bytes of rounds) {
      const client = await RawClient.connect(server);
      client.send(bytes);
      client.end();
      const answer = await client.response();
      if (answer) assert.ok(answer.status >= 400, `${answer.status} to ${bytes.toString('hex')}`);
      client.destroy();
    }
  });

  it('gets a problem document for every error and leaks nothing', async () => {
    const calls = [
      ['GET', '/nowhere'], ['GET', '/v1/nothing'], ['GET', '/v1/sessions/no:one'],
      ['PATCH', '/v1/sessions'], ['POST', '/v1/sessions', '{'], ['POST', '/v1/sessions', '{"x":1}'],
      ['GET', '/v1/sessions?x=1'], ['GET', `${events()}?after=9999`], ['PUT', `/v1/sessions/${id}`],
      ['POST', '/v1/sessions', `{"app":"${app}","name":"victim"}`],
      ['POST', events(), '{"type":"command","data":{}}'],
      ['POST', `/v1/sessions/${id}/status`, '{"status":"INITIALIZING"}'],
      ['GET', '/v1/sessions/%zz'], ['GET', '/v1/sessions/..%2f..%2fetc%2fpasswd/events'],
    ];
    const ids = new Set();
    for (const [method, path, body] of calls) {
      const answer = await server.call(method, path, body);
      assert.ok(answer.status >= 400 && answer.status < 500, `${method} ${path} ${answer.status}`);
      const problem = assertProblem(answer, answer.status);
      assert.equal(problem.retryable, false, `${method} ${path}`);
      assert.doesNotMatch(answer.text, /\.cpp|\.h:\d|0x[0-9a-f]{8}|terminate|std::|rocksdb/i);
      ids.add(answer.headers['x-request-id']);
    }
    assert.equal(ids.size, calls.length, 'every answer has its own request id');
  });
});
