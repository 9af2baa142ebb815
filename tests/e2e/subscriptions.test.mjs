// Subscriptions to streams, through the binary: webhooks that are signed, fail, hang and come back, workers that
// claim, and a server that is killed in between.
import assert from 'node:assert/strict';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { removeDirectory, startServer, temporaryDirectory, until, within } from './harness.mjs';

const root = '/v1/stream/__ds';
const text = { 'Content-Type': 'text/plain' };
const offset = (number) => `${String(number).padStart(16, '0')}_0000000000000000`;

// A webhook's other side: it keeps what it is told and answers as it is told to.
class Hook {
  calls = [];

  answer = () => ({ status: 200, body: { done: true } });

  async start(port = 0) {
    this.server = http.createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const raw = Buffer.concat(chunks).toString();
        const call = { headers: request.headers, raw, body: JSON.parse(raw) };
        this.calls.push(call);
        const { status, body, headers } = this.answer(call, this.calls.length) ?? {};
        if (status === undefined) return;  // never
        response.writeHead(status, headers).end(JSON.stringify(body));
      });
    });
    await new Promise((listening) => { this.server.listen(port, '127.0.0.1', listening); });
    this.url = `http://127.0.0.1:${this.server.address().port}/hook`;
    return this;
  }

  told(count) {
    return until(() => this.calls.length >= count && this.calls, 20_000, `${count} calls of the webhook`);
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((closed) => { this.server.close(closed); });
  }
}

const create = (server, path, type = 'text/plain') =>
  server.ok('PUT', `/v1/stream/${path}`, undefined, { 'Content-Type': type });
const append = (server, path, body = 'x') => server.ok('POST', `/v1/stream/${path}`, body, text);
const subscribe = (server, id, body) => server.ok('PUT', `${root}/subscriptions/${id}`, body, {}, 201);
const read = (server, id) => server.ok('GET', `${root}/subscriptions/${id}`);

describe('webhooks of subscriptions', () => {
  let hook;
  let server;
  before(async () => {
    hook = await new Hook().start();
    server = await startServer({ args: ['--allow-loopback-webhooks'] });
  });
  after(async () => {
    await hook?.stop();
    await server?.dispose();
  });

  it('are signed with the published key, and acknowledge what they told', async () => {
    hook.calls = [];
    await subscribe(server, 'signed', { type: 'webhook', pattern: 'signed/*', webhook: { url: hook.url } });
    await create(server, 'signed/a');
    await append(server, 'signed/a');
    const [call] = await hook.told(1);
    const signature = /^t=(\d+),kid=(ds_[\w-]+),ed25519=([\w-]+)$/.exec(call.headers['webhook-signature']);
    const { keys } = await server.ok('GET', `${root}/jwks.json`);
    const jwk = keys.find((key) => key.kid === signature[2]);
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const over = Buffer.from(`${signature[1]}.${call.raw}`);
    assert.ok(verify(null, over, key, Buffer.from(signature[3], 'base64url')));
    assert.ok(Math.abs(Date.now() / 1000 - Number(signature[1])) < 300);
    assert.equal(call.body.subscription_id, 'signed');
    await until(async () => (await read(server, 'signed')).streams[0]?.acked_offset === offset(1));
  });

  it('are called again after a failure, and their status says so meanwhile', async () => {
    hook.calls = [];
    hook.answer = (_, count) => (count === 1 ? { status: 500, body: {} } : { status: 200, body: { done: true } });
    await create(server, 'failing/a');
    await subscribe(server, 'failing', { type: 'webhook', pattern: 'failing/*', webhook: { url: hook.url } });
    await append(server, 'failing/a');
    await until(async () => (await read(server, 'failing')).status === 'failed');
    const calls = await hook.told(2);
    assert.equal(calls[1].body.generation, calls[0].body.generation, 'the same wake');
    await until(async () => (await read(server, 'failing')).status === 'active');
  });

  it('do not follow redirects', async () => {
    hook.calls = [];
    hook.answer = () => ({ status: 307, body: {}, headers: { Location: `${hook.url}/elsewhere` } });
    await create(server, 'moved/a');
    await subscribe(server, 'moved', { type: 'webhook', pattern: 'moved/*', webhook: { url: hook.url } });
    await append(server, 'moved/a');
    await until(async () => (await read(server, 'moved')).status === 'failed');
    assert.equal(hook.calls.length, 1);
    await server.ok('DELETE', `${root}/subscriptions/moved`);
  });

  it('may answer later through the callback, with the token they got', async () => {
    hook.calls = [];
    hook.answer = () => ({ status: 202, body: {} });
    await create(server, 'later/a');
    await subscribe(server, 'later', { type: 'webhook', pattern: 'later/*', webhook: { url: hook.url } });
    await append(server, 'later/a');
    const [{ body }] = await hook.told(1);
    await append(server, 'later/a');
    const { pathname } = new URL(body.callback_url);
    const callback = (done, token = body.callback_token) => server.call('POST', pathname, {
      wake_id: body.wake_id, generation: body.generation, acks: [{ stream: 'later/a', offset: offset(1) }], done,
    }, { Authorization: `Bearer ${token}` });
    assert.equal((await callback(true, 'forged')).body.error.code, 'TOKEN_INVALID');
    assert.deepEqual((await callback(false)).body, { ok: true, next_wake: false });
    hook.answer = () => ({ status: 200, body: { done: true } });
    assert.deepEqual((await callback(true)).body, { ok: true, next_wake: true });
    const calls = await hook.told(2);
    assert.equal(calls[1].body.generation, body.generation + 1);
    assert.equal((await callback(true)).body.error.code, 'FENCED');
  });

  it('that hang do not hold up a stop, and are told again after a restart', async () => {
    hook.calls = [];
    hook.answer = () => undefined;
    await create(server, 'hanging/a');
    await subscribe(server, 'hanging', { type: 'webhook', pattern: 'hanging/*', webhook: { url: hook.url } });
    await append(server, 'hanging/a');
    await hook.told(1);
    await server.stop({ deadline: 5_000 });
    hook.answer = () => ({ status: 200, body: { done: true } });
    await server.start();
    const calls = await hook.told(2);
    assert.equal(calls[1].body.wake_id, calls[0].body.wake_id);
    await until(async () => (await read(server, 'hanging')).streams[0].acked_offset === offset(1));
  });

  it('survive kill -9: everything appended is told, and acknowledged in the end', async () => {
    hook.calls = [];
    hook.answer = () => ({ status: 200, body: { done: true } });
    await subscribe(server, 'killed', { type: 'webhook', pattern: 'killed/**', webhook: { url: hook.url } });
    const tails = new Map();
    for (let round = 0; round < 5; ++round) {
      for (let i = 0; i < 4; ++i) {
        const path = `killed/${round}/${i}`;
        await create(server, path);
        await append(server, path);
        tails.set(path, 1);
      }
      // Nothing is waited for: what these appends mean to the subscription may not be stored yet.
      await server.restart({ how: 'kill' });
    }
    await until(async () => {
      const { streams } = await read(server, 'killed');
      return streams.length === tails.size && streams.every((one) => one.acked_offset === offset(1));
    }, 30_000, 'every stream to be acknowledged');
    const told = new Set(hook.calls.flatMap(({ body }) => body.streams.map((one) => one.path)));
    assert.deepEqual([...tails.keys()].filter((path) => !told.has(path)), []);
  });
});

describe('the addresses of webhooks', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(async () => { await server?.dispose(); });

  it('are public and https, unless the server is told otherwise', async () => {
    for (const url of ['http://127.0.0.1:9/', 'https://127.0.0.1/', 'http://localhost/', 'https://10.0.0.1/',
      'https://169.254.169.254/latest', 'https://[::1]/', 'https://[::ffff:10.0.0.1]/', 'http://example.com/',
      'ftp://example.com/', 'https://user@example.com/', 'nonsense', '']) {
      const answer = await server.call('PUT', `${root}/subscriptions/s`, {
        type: 'webhook', pattern: '*', webhook: { url },
      });
      assert.equal(answer.status, 400, url);
      assert.equal(answer.body.error.code, 'WEBHOOK_URL_REJECTED', url);
    }
  });
});

describe('workers of subscriptions', () => {
  it('see every append although the server is killed again and again', async () => {
    const server = await startServer();
    await create(server, 'jobs/wake', 'application/json');
    await create(server, 'jobs/a');
    await subscribe(server, 'jobs', {
      type: 'pull-wake', streams: ['jobs/a'], wake_stream: 'jobs/wake', lease_ttl_ms: 1000,
    });
    const total = 60;
    let appended = 0;
    let acked = 0;
    const seen = [];
    // Claims, reads what is new, acknowledges it; starts anew wherever that fails.
    const work = async (worker) => {
      const claim = await server.call('POST', `${root}/subscriptions/jobs/claim`, { worker });
      if (claim.status !== 200) return;
      const { token, wake_id: wakeId, generation, streams } = claim.body;
      const [{ acked_offset: from, tail_offset: to }] = streams;
      const chunk = await server.call('GET', `/v1/stream/jobs/a?offset=${from}`);
      const ack = await server.call('POST', `${root}/subscriptions/jobs/ack`, {
        wake_id: wakeId, generation, acks: [{ stream: 'jobs/a', offset: to }], done: true,
      }, { Authorization: `Bearer ${token}` });
      if (ack.status !== 200) return;
      const count = Number(to.slice(0, 16)) - Number(from.slice(0, 16));
      seen.push(...chunk.text.split(';').filter((one) => one !== '').slice(0, count).map(Number));
      acked = Number(to.slice(0, 16));
    };
    try {
      await within((async () => {
        while (acked < total) {
          const lost = (error) => { if (error.code === 'ERR_ASSERTION') throw error; };
          await Promise.all([work('one').catch(lost), work('two').catch(lost),
            appended < total ? append(server, 'jobs/a', `${++appended};`) : undefined]);
          if (appended % 15 === 0) await server.restart({ how: 'kill' });
        }
      })(), 60_000, 'every job to be done');
      const expected = Array.from({ length: total }, (_, index) => index + 1);
      assert.deepEqual([...new Set(seen)], expected, 'each at least once, in order');
    } finally {
      await server.dispose();
    }
  });

  it('show their wake\'s token where the server asks everybody for one', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'tokens.json');
    const sha256 = createHash('sha256').update('secret').digest('hex');
    writeFileSync(file, JSON.stringify({ tokens: [{ name: 'w', sha256, scopes: ['read', 'write'], apps: ['*'] }] }));
    const server = await startServer({ args: ['--tokens-file', file], headers: { Authorization: 'Bearer secret' } });
    try {
      await create(server, 'jobs/wake', 'application/json');
      await create(server, 'jobs/a');
      await subscribe(server, 'jobs', { type: 'pull-wake', streams: ['jobs/a'], wake_stream: 'jobs/wake' });
      await append(server, 'jobs/a');
      const none = { Authorization: 'Bearer wrong' };
      assert.equal((await server.call('GET', `${root}/subscriptions/jobs`, undefined, none)).status, 401);
      assert.equal((await server.call('POST', `${root}/subscriptions/jobs/claim`, { worker: 'w' }, none)).status, 401);
      const claimed = await server.ok('POST', `${root}/subscriptions/jobs/claim`, { worker: 'w' });
      const body = { wake_id: claimed.wake_id, generation: claimed.generation };
      const release = (token) => server.call('POST', `${root}/subscriptions/jobs/release`, body, {
        Authorization: `Bearer ${token}`,
      });
      assert.equal((await release('secret')).body.error.code, 'TOKEN_INVALID');
      assert.equal((await release(claimed.token)).status, 204);
    } finally {
      await server.dispose();
      removeDirectory(directory);
    }
  });
});
