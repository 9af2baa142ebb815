// Webhooks of apps, through the binary: signed as Standard Webhooks says, tried again, and told of everything although
// the server is killed in between.
import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { startServer, unique, until } from './harness.mjs';

// What a receiver does by the specification (github.com/standard-webhooks), with nothing of ours: any of the signatures
// must be the HMAC of "id.timestamp.body".
function isSigned(call, secret) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${call.headers['webhook-id']}.${call.headers['webhook-timestamp']}.${call.raw}`;
  const expected = createHmac('sha256', key).update(signed).digest();
  return call.headers['webhook-signature'].split(' ').some((one) => {
    const [version, value] = one.split(',');
    const given = Buffer.from(value, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

// The other side: it keeps what it is told and answers as it is told to.
class Receiver {
  calls = [];

  answer = () => 204;

  async start(port = 0) {
    this.server = http.createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const raw = Buffer.concat(chunks).toString();
        const call = { method: request.method, headers: request.headers, raw, body: JSON.parse(raw) };
        this.calls.push(call);
        const status = this.answer(call);
        if (status !== undefined) response.writeHead(status).end();
      });
    });
    await new Promise((listening) => { this.server.listen(port, '127.0.0.1', listening); });
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}/hook`;
    return this;
  }

  told(count, deadline = 20_000) {
    return until(() => this.calls.length >= count && this.calls, deadline, `${count} calls of the webhook`);
  }

  seqs() { return this.calls.map(({ body }) => body.data.event.seq); }

  stop() {
    this.server.closeAllConnections();
    return new Promise((closed) => { this.server.close(closed); });
  }
}

describe('webhooks of an app', () => {
  let server;
  let receiver;
  let app;
  before(async () => { server = await startServer({ args: ['--allow-loopback-webhooks', '--threads', '3'] }); });
  after(() => server?.dispose());
  beforeEach(async () => {
    receiver = await new Receiver().start();
    app = unique('app');
    await server.ok('PUT', `/v1/apps/${app}`, {}, {}, 201);
  });
  afterEach(() => receiver.stop());

  const put = (body = {}, name = 'hook') =>
    server.ok('PUT', `/v1/apps/${app}/webhooks/${name}`, { url: receiver.url, ...body });
  const get = (name = 'hook') => server.ok('GET', `/v1/apps/${app}/webhooks/${name}`);
  const message = (n) => ({ type: 'message', data: { n } });

  it('are told of what they asked for, signed', async () => {
    const { secret } = await put({ events: ['message'], statuses: ['FAILED'] });
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{32}$/);
    const session = await server.create({ app, name: 'one', status: 'ACTIVE' });
    await server.append(session.id, [message(1), { type: 'log', data: {} }, message(2)]);
    await server.ok('POST', `/v1/sessions/${session.id}/pause`);
    await server.ok('POST', `/v1/sessions/${session.id}/status`, { status: 'FAILED', error: 'it broke' });
    const calls = await receiver.told(3);
    const stored = await server.events(session.id);
    for (const call of calls) {
      assert.equal(call.method, 'POST');
      assert.equal(call.headers['content-type'], 'application/json');
      assert.match(call.headers['webhook-id'], /^msg_[\w-]+$/);
      assert.ok(Math.abs(Date.now() / 1000 - Number(call.headers['webhook-timestamp'])) < 60);
      assert.ok(isSigned(call, secret), 'the signature holds');
      assert.ok(!isSigned(call, `whsec_${Buffer.alloc(24).toString('base64')}`), 'and no other');
      const { type, timestamp, data } = call.body;
      assert.equal(type, data.event.type === 'message' ? 'session.event' : 'session.status');
      assert.equal(timestamp, data.event.at);
      assert.deepEqual([data.app, data.sessionId, data.key], [app, session.id, `${app}:one`]);
      assert.deepEqual(data.event, stored.find((event) => event.seq === data.event.seq), 'the event as it is stored');
    }
    assert.equal(calls.at(-1).body.data.event.data.to, 'FAILED');
    await until(async () => (await get()).queue.behind === 0);
    assert.equal(receiver.calls.length, 3);
  });

  it('are signed by two secrets after a change', async () => {
    const { secret } = await put({ events: ['message'] });
    const renewed = await server.ok('POST', `/v1/apps/${app}/webhooks/hook/secret`, undefined, {}, 200);
    const session = await server.create({ app, status: 'ACTIVE' });
    await server.append(session.id, message(1));
    const [call] = await receiver.told(1);
    assert.ok(isSigned(call, secret));
    assert.ok(isSigned(call, renewed.secret));
    assert.equal((await get()).secret, undefined);
  });

  it('survive kill -9 between an event and its delivery', async () => {
    await put({ events: ['message'] });
    const session = await server.create({ app, status: 'ACTIVE' });
    receiver.answer = () => undefined; // never
    await server.append(session.id, [message(1), message(2)]);
    await receiver.told(2);
    await server.append(session.id, message(3));
    await server.kill();
    const before = receiver.calls.splice(0);
    receiver.answer = () => 200;
    await server.start();
    const ids = new Map((await receiver.told(3)).map(({ headers, body }) => [body.data.event.seq, headers['webhook-id']]));
    assert.deepEqual([...ids.keys()].sort(), [2, 3, 4]);
    for (const { headers, body } of before) assert.equal(headers['webhook-id'], ids.get(body.data.event.seq));
    await until(async () => (await get()).queue.behind === 0);
    await server.restart({ how: 'kill' });
    await server.append(session.id, message(4));
    await until(() => receiver.seqs().includes(5));
    assert.equal(receiver.calls.length, 4, 'what was delivered is not told again');
  });

  it('hear of everything although the server is killed again and again', async () => {
    await put({ events: ['message'] });
    const sessions = await Promise.all(Array.from({ length: 8 }, () => server.create({ app, status: 'ACTIVE' })));
    for (let round = 0; round < 5; ++round) {
      await Promise.all(sessions.map(async ({ id }) => {
        for (let i = 0; i < 10; ++i) await server.append(id, message(i));
      }));
      await server.restart({ how: 'kill' });
    }
    const places = () => new Set(receiver.calls.map(({ body: { data } }) => `${data.sessionId} ${data.event.seq}`));
    const expected = sessions.flatMap(({ id }) => Array.from({ length: 50 }, (_, index) => `${id} ${index + 2}`));
    await until(() => places().size >= expected.length, 30_000, 'every event to be told');
    assert.deepEqual([...places()].sort(), expected.sort());
    const ids = new Set(receiver.calls.map(({ headers }) => headers['webhook-id']));
    assert.equal(ids.size, expected.length, 'an event has one id, however often it is told');
  });

  it('that are down are told when they are up again, while others are told at once', async () => {
    const other = await new Receiver().start();
    await put({ events: ['message'] });
    await put({ events: ['message'], url: other.url }, 'other');
    const { port } = receiver;
    await receiver.stop();
    const session = await server.create({ app, status: 'ACTIVE' });
    await server.append(session.id, [message(1), message(2)]);
    await other.told(2);
    const { queue, lastError } = await until(async () => {
      const hook = await get();
      return hook.queue.retrying === 2 && hook;
    });
    assert.deepEqual(queue, { behind: 0, retrying: 2, deadLetters: 0, missed: 0 });
    assert.equal(typeof lastError, 'string');
    receiver = await new Receiver().start(port);
    await receiver.told(2);
    await until(async () => (await get()).queue.retrying === 0);
    await other.stop();
  });

  it('that hang hold up neither sessions nor a stop', async () => {
    await put({ events: ['message'] });
    receiver.answer = () => undefined;
    const session = await server.create({ app, status: 'ACTIVE' });
    for (let i = 0; i < 50; ++i) await server.append(session.id, message(i));
    await receiver.told(16);
    assert.equal(receiver.calls.length, 16, 'so many at once, and no more');
    await server.stop({ deadline: 5_000 });
    receiver.answer = () => 200;
    await server.start();
    await until(() => new Set(receiver.seqs()).size === 50);
  });

  it('that say 410 are disabled until somebody enables them', async () => {
    await put({ events: ['message'] });
    receiver.answer = () => 410;
    const session = await server.create({ app, status: 'ACTIVE' });
    await server.append(session.id, message(1));
    await until(async () => (await get()).gone);
    assert.equal((await get()).disabled, true);
    await server.append(session.id, message(2));
    receiver.answer = () => 200;
    receiver.calls = [];
    await put({ events: ['message'] });
    await server.append(session.id, message(3));
    const seqs = await until(() => receiver.calls.length >= 2 && receiver.seqs(), 20_000);
    assert.deepEqual(seqs.sort(), [2, 4], 'what was promised before and after, not what happened meanwhile');
  });

  it('go with their app, and leave nothing to be told', async () => {
    await put({ events: ['*'] });
    const session = await server.create({ app, status: 'ACTIVE' });
    await receiver.told(1);
    await server.refused(409, 'conflict', 'DELETE', `/v1/apps/${app}`);
    await server.ok('POST', `/v1/sessions/${session.id}/close`);
    await server.ok('DELETE', `/v1/apps/${app}`, undefined, {}, 204);
    await server.refused(404, 'app_not_found', 'GET', `/v1/apps/${app}/webhooks`);
    await server.ok('PUT', `/v1/apps/${app}`, {}, {}, 201);
    assert.deepEqual(await server.ok('GET', `/v1/apps/${app}/webhooks`), { webhooks: [] });
  });

  it('are counted', async () => {
    await put({ events: ['message'] });
    const session = await server.create({ app, status: 'ACTIVE' });
    await server.append(session.id, message(1));
    await receiver.told(1);
    const { text } = await server.call('GET', '/metrics');
    assert.match(text, /^reprise_webhooks \d+$/m);
    for (const name of ['delivered_total', 'failed_total', 'dead_total', 'missed_total', 'queue', 'retrying']) {
      assert.match(text, new RegExp(`^reprise_webhook_${name} \\d+$`, 'm'));
    }
  });
});

describe('the addresses of webhooks of apps', () => {
  it('are public and https, unless the server is told otherwise', async () => {
    const server = await startServer();
    try {
      await server.ok('PUT', '/v1/apps/shop', {}, {}, 201);
      for (const url of ['http://127.0.0.1:9/', 'https://127.0.0.1/', 'http://localhost/', 'https://10.0.0.1/',
        'https://169.254.169.254/latest', 'https://[::1]/', 'http://example.com/', 'ftp://example.com/', 'nonsense']) {
        const problem = await server.refused(422, 'invalid', 'PUT', '/v1/apps/shop/webhooks/x', { url });
        assert.equal(problem.errors[0].pointer, '/url', url);
      }
      await server.refused(404, 'not_found', 'GET', '/v1/apps/shop/webhooks/x');
      await server.ok('PUT', '/v1/apps/shop/webhooks/x', { url: 'https://example.com/hook' }, {}, 201);
    } finally {
      await server.dispose();
    }
  });

  it('are judged at each call as well', async () => {
    const receiver = await new Receiver().start();
    const lenient = await startServer({ args: ['--allow-loopback-webhooks'] });
    await lenient.ok('PUT', '/v1/apps/shop', {}, {}, 201);
    await lenient.ok('PUT', '/v1/apps/shop/webhooks/x', { url: receiver.url, events: ['message'] }, {}, 201);
    await lenient.stop();
    const strict = await startServer({ data: lenient.data });
    try {
      const session = await strict.create({ app: 'shop', status: 'ACTIVE' });
      await strict.append(session.id, { type: 'message', data: 1 });
      await until(async () => (await strict.ok('GET', '/v1/apps/shop/webhooks/x')).queue.retrying === 1);
      assert.equal(receiver.calls.length, 0);
    } finally {
      await strict.dispose();
      await lenient.dispose();
      await receiver.stop();
    }
  });
});
