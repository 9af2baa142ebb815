// Tool calls and the audit: start, finish, lists, redaction, the hash chain, `reprise audit`.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  TIME, UUID_V7, removeDirectory, run, startServer, temporaryDirectory, unique,
} from './harness.mjs';

const ZERO = '0'.repeat(64);

// The chain as docs/api.md says it is made, from an export's lines; gives the last hash.
function chainHead(lines) {
  let previous = Buffer.alloc(32);
  const sized = (text) => {
    const bytes = Buffer.from(text, 'utf8');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  for (const line of lines) {
    const { seq, at, type, by = '', hash } = JSON.parse(line);
    const data = /"data":(\{.*\})(?:,"by":"[^"]*")?,"hash":"[0-9a-f]{64}"\}$/.exec(line)[1];
    const numbers = Buffer.alloc(16);
    numbers.writeBigUInt64BE(BigInt(seq), 0);
    numbers.writeBigUInt64BE(BigInt(Date.parse(at)), 8);
    previous = createHash('sha256')
      .update(Buffer.concat([previous, numbers, sized(type), sized(by), sized(data)])).digest();
    assert.equal(hash, previous.toString('hex'), line);
  }
  return previous.toString('hex');
}

const linesOf = (text) => text.split('\n').filter((line) => line !== '');

function filesBelow(directory) {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

describe('tool calls', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  const fresh = async () => (await server.create({ status: 'ACTIVE' })).id;
  const start = (id, body = { toolName: 'click' }, headers = {}) => server.ok('POST',
    `/v1/sessions/${id}/tool-calls`, body, headers, 201);
  const finish = (id, call, body = { status: 'success' }, headers = {}) => server.ok('POST',
    `/v1/sessions/${id}/tool-calls/${call}/finish`, body, headers, 200);
  const list = (id, query = '') => server.ok('GET', `/v1/sessions/${id}/tool-calls${query}`,
    undefined, {}, 200);
  const verify = (id) => server.ok('GET', `/v1/sessions/${id}/audit/verify`, undefined, {}, 200);
  const exported = async (id) => linesOf((await server.call('GET',
    `/v1/sessions/${id}/audit/export`)).text);

  it('start, finish, and are told to readers as two events', async () => {
    const id = await fresh();
    const call = await start(id, { toolName: 'browser.click', input: { selector: '#buy' } });
    assert.match(call.id, UUID_V7);
    const end = await finish(id, call.id, { status: 'failure', error: 'no such element' });
    assert.deepEqual(end, { id: call.id, seq: call.seq + 1 });
    const [started, finished] = await server.events(id, call.seq - 1);
    assert.equal(started.type, 'tool_started');
    assert.deepEqual(started.data,
      { id: call.id, toolName: 'browser.click', inputSummary: '{"selector":"#buy"}' });
    assert.equal(finished.type, 'tool_finished');
    assert.equal(finished.data.status, 'failure');
    assert.equal(finished.data.error, 'no such element');
    assert.equal(finished.data.startedSeq, call.seq);
    const { toolCalls: [shown], nextCursor } = await list(id);
    assert.equal(nextCursor, null);
    assert.match(shown.startedAt, TIME);
    assert.match(shown.finishedAt, TIME);
    assert.equal(shown.durationMs, finished.data.durationMs);
    assert.equal(shown.finishedSeq, end.seq);
  });

  it('may be filtered and paged through', async () => {
    const id = await fresh();
    const wanted = [];
    for (let n = 0; n < 12; n += 1) {
      const call = await start(id, { toolName: n % 2 ? 'type' : 'click', input: n });
      if (n % 2 === 0) wanted.push(call.id);
      if (n % 3) await finish(id, call.id, { status: 'success' });
    }
    const seen = [];
    for (let cursor = ''; cursor !== null;) {
      const page = await list(id, `?toolName=click&limit=4${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.toolCalls.map((call) => call.id));
      cursor = page.nextCursor;
    }
    assert.deepEqual(seen, wanted);
    const open = (await list(id, '?status=open')).toolCalls;
    assert.deepEqual(open.map((call) => call.inputSummary), ['0', '3', '6', '9']);
    assert.equal((await list(id, '?status=success&toolName=type')).toolCalls.length, 4);
  });

  it('are refused where they make no sense, and then nothing is stored', async () => {
    const id = await fresh();
    const base = `/v1/sessions/${id}/tool-calls`;
    const call = await start(id);
    await server.refused(422, 'invalid', 'POST', base, {});
    await server.refused(422, 'invalid', 'POST', base, { toolName: 'x', inputs: 1 });
    await server.refused(422, 'invalid', 'POST', `${base}/${call.id}/finish`, { status: 'done' });
    await server.refused(404, 'tool_call_not_found', 'POST', `${base}/nothing/finish`,
      { status: 'success' });
    await server.refused(404, 'session_not_found', 'POST',
      '/v1/sessions/none:such/tool-calls', { toolName: 'x' });
    await server.refused(409, 'fenced', 'POST', base, { toolName: 'x' }, { 'Reprise-Lease': '7' });
    await finish(id, call.id);
    await server.refused(409, 'tool_call_finished', 'POST', `${base}/${call.id}/finish`,
      { status: 'success' });
    const left = await start(id);
    await server.ok('POST', `/v1/sessions/${id}/close`);
    await server.refused(409, 'session_ended', 'POST', base, { toolName: 'x' });
    await server.refused(409, 'session_ended', 'POST', `${base}/${left.id}/finish`,
      { status: 'success' });
    assert.deepEqual((await list(id, '?status=open')).toolCalls.map((one) => one.id), [left.id]);
    assert.equal((await verify(id)).entries, 3);
  });

  it('are stored once, however often they are sent', async () => {
    const id = await fresh();
    const key = { 'Idempotency-Key': unique('key') };
    const call = await start(id, { toolName: 'click' }, key);
    assert.deepEqual(await start(id, { toolName: 'click' }, key), call);
    const end = await finish(id, call.id, { status: 'success' }, key);
    assert.deepEqual(await finish(id, call.id, { status: 'success' }, key), end);
    assert.equal((await verify(id)).entries, 2);
  });

  it('make a chain that anybody can re-compute', async () => {
    const id = await fresh();
    assert.deepEqual(await verify(id), { valid: true, entries: 0, head: ZERO });
    for (let n = 0; n < 5; n += 1) {
      const call = await start(id, { toolName: 'click', inputSummary: `é ☃ "${n}"` });
      await server.append(id, { type: 'message', data: { n } });
      await finish(id, call.id);
    }
    await server.ok('POST', `/v1/sessions/${id}/reset`);
    const verdict = await verify(id);
    assert.equal(verdict.valid, true);
    assert.equal(verdict.entries, 10);
    const [first, ...entries] = await exported(id);
    assert.deepEqual(JSON.parse(first),
      { audit: 'reprise', version: 1, session: id, entries: 10, head: verdict.head });
    assert.equal(entries.length, 10);
    assert.equal(chainHead(entries), verdict.head);
  });

  it('go through the command line, with and without a server', async () => {
    const id = await fresh();
    for (let n = 0; n < 3; n += 1) await finish(id, (await start(id)).id);
    const online = await run(['audit', 'verify', id, '--json', '--server', server.url]);
    assert.equal(online.code, 0, online.stderr);
    assert.deepEqual(JSON.parse(online.stdout), await verify(id));
    const { code, stdout } = await run(['audit', 'export', id, '--server', server.url]);
    assert.equal(code, 0);
    const directory = temporaryDirectory();
    const file = join(directory, 'audit.jsonl');
    const offline = async (lines, ...more) => {
      writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
      return run(['audit', 'verify', '--file', file, ...more]);
    };
    const lines = linesOf(stdout);
    const good = await offline(lines);
    assert.equal(good.code, 0, good.stderr);
    assert.match(good.stdout, /^valid: 6 entries/);
    const known = JSON.parse(lines[3]).hash;
    assert.equal((await offline(lines, '--known-hash', known)).code, 0);
    assert.equal((await offline(lines, '--known-hash', 'ab'.repeat(32))).code, 1);

    const changed = lines.map((line, n) => (n === 4 ? line.replace('click', 'clock') : line));
    const bad = await offline(changed, '--json');
    assert.equal(bad.code, 1);
    assert.equal(JSON.parse(bad.stdout).valid, false);
    assert.equal(JSON.parse(bad.stdout).firstBadSeq, JSON.parse(lines[4]).seq);
    for (const wrong of [lines.filter((_, n) => n !== 2), lines.slice(0, -1),
      [...lines.slice(0, 2), lines[3], lines[2], ...lines.slice(4)]]) {
      assert.equal((await offline(wrong)).code, 1);
    }
    assert.equal((await offline(['{"x":1}'])).code, 1);
    assert.equal((await run(['audit', 'verify'])).code, 2);
    assert.equal((await run(['audit', 'verify', id, '--file', file])).code, 2);
    assert.equal((await run(['audit', 'verify', '--file', join(directory, 'none')])).code, 2);
    const none = await run(['audit', 'verify', 'none:such', '--server', server.url]);
    assert.equal(none.code, 3);
    removeDirectory(directory);
  });

  it('are counted', async () => {
    const metric = async (name) => Number(new RegExp(`^${name} (\\d+)$`, 'm')
      .exec((await server.call('GET', '/metrics')).text)[1]);
    const before = await metric('reprise_tool_calls_started_total');
    await start(await fresh());
    assert.equal(await metric('reprise_tool_calls_started_total'), before + 1);
  });
});

describe('secrets in tool calls', () => {
  const PLANTED = {
    password: 'planted-Passw0rd-7261', token: 'ghp_Planted0123456789abcdefABCDEF012345',
    card: '4111 1111 1111 1111', cookie: 'sid=planted5e551on', bearer: 'planted.bearer.8812',
    key: 'MIIEplantedprivatekey', custom: 'planted-customer-17', prefixed: 'acme_plantedPrefix',
    url: 'planted-db-pw',
  };

  it('reach neither the files, nor the logs, nor any answer', async () => {
    const server = await startServer({
      args: ['--redact-key', 'customerNumber', '--redact-prefix', 'acme_', '--log-level', 'debug'],
    });
    try {
      const { id } = await server.create({ status: 'ACTIVE' });
      const base = `/v1/sessions/${id}/tool-calls`;
      const input = {
        user: { password: PLANTED.password, customer_number: PLANTED.custom },
        note: `use ${PLANTED.token} and ${PLANTED.prefixed}, card ${PLANTED.card}`,
        headers: [{ name: 'Cookie', value: PLANTED.cookie }],
        curl: `curl -H "Authorization: Bearer ${PLANTED.bearer}"`,
        database: `postgres://app:${PLANTED.url}@db.example/app`,
        nested: JSON.stringify({ body: JSON.stringify({ secret: PLANTED.password }) }),
      };
      const pem = `-----BEGIN PRIVATE KEY-----\n${PLANTED.key}\n-----END PRIVATE KEY-----`;
      const answers = [];
      for (const summary of [undefined, JSON.stringify(input)]) {
        const call = await server.ok('POST', base,
          { toolName: 'http.fetch', input, inputSummary: summary }, { 'Idempotency-Key': unique('k') });
        await server.ok('POST', `${base}/${call.id}/finish`,
          { status: 'failure', output: { log: [pem, input] }, error: `failed: ${input.note} ${pem}` },
          { 'Idempotency-Key': unique('k') });
        // Also what is refused must not be repeated.
        answers.push((await server.call('POST', base, { toolName: PLANTED.token })).text);
        answers.push((await server.call('POST', base, { toolName: 'x', input, wrong: input })).text);
        answers.push((await server.call('POST', `${base}/${call.id}/finish`,
          { status: 'failure', error: pem })).text);
      }
      for (const path of ['/events', '/tool-calls', '/audit/export', '/audit/verify', '']) {
        answers.push((await server.call('GET', `/v1/sessions/${id}${path}`)).text);
      }
      answers.push((await server.call('GET', '/v1/sessions')).text);
      await server.stop();
      const files = filesBelow(server.data);
      assert.ok(files.length > 0);
      const stored = files.map((file) => readFileSync(file, 'latin1')).join('\n');
      // The store does not compress what was written last: what was planted would be found.
      assert.ok(stored.includes('http.fetch'));
      const shown = answers.join('\n');
      assert.ok(shown.includes('[redacted]'));
      for (const [name, secret] of Object.entries(PLANTED)) {
        assert.ok(!shown.includes(secret), `${name} in an answer`);
        assert.ok(!stored.includes(secret), `${name} in a file`);
        assert.ok(!server.stderr.includes(secret), `${name} in the logs`);
        assert.ok(!stored.includes(Buffer.from(secret).toString('base64').slice(0, -4)), name);
      }
    } finally {
      await server.dispose();
    }
  });
});

describe('the audit and kill -9', () => {
  it('keeps every acknowledged call and a valid chain', async () => {
    const server = await startServer();
    try {
      const { id } = await server.create({ status: 'ACTIVE' });
      const acknowledged = [];
      for (let round = 0; round < 4; round += 1) {
        const enough = acknowledged.length + 60;
        let killed;
        const work = async () => {
          while (!killed) {
            try {
              const call = await server.ok('POST', `/v1/sessions/${id}/tool-calls`,
                { toolName: 'click', input: { n: acknowledged.length } });
              acknowledged.push(call.seq);
              const end = await server.ok('POST',
                `/v1/sessions/${id}/tool-calls/${call.id}/finish`, { status: 'success' });
              acknowledged.push(end.seq);
            } catch (error) {
              if (!killed) throw error;
            }
            if (!killed && acknowledged.length >= enough) killed = server.kill();
          }
        };
        await Promise.all(Array.from({ length: 8 }, work));
        await killed;
        await server.start();
        const verdict = await server.ok('GET', `/v1/sessions/${id}/audit/verify`);
        assert.equal(verdict.valid, true, JSON.stringify(verdict));
        assert.ok(verdict.entries >= acknowledged.length);
        const { text } = await server.call('GET', `/v1/sessions/${id}/audit/export`);
        const [, ...entries] = linesOf(text);
        assert.equal(chainHead(entries), verdict.head);
        const stored = new Set(entries.map((line) => JSON.parse(line).seq));
        for (const seq of acknowledged) assert.ok(stored.has(seq), `event ${seq} is lost`);
      }
    } finally {
      await server.dispose();
    }
  });
});
