// The devtools feed: GET /v1/devtools/events.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  assertGapFree, assertProblem, removeDirectory, startServer, temporaryDirectory, TIME, unique,
} from './harness.mjs';

const PATH = '/v1/devtools/events';
const of = (type, more = () => true) => (frame) => frame.event === type && more(frame.json);
const numbers = (feed) => feed.frames.map((frame) => frame.json.n);
const metric = async (server, name) => {
  const { text } = await server.call('GET', '/metrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)[1]);
};

describe('the devtools feed', () => {
  let server;
  before(async () => { server = await startServer({ args: ['--heartbeat-ms', '300'] }); });
  after(() => server.dispose());

  it('tells what happens to several sessions, numbered without a gap', async () => {
    const feed = await server.stream(PATH);
    const app = unique('app');
    const sessions = await Promise.all([...'abcdef'].map(async (name) => {
      const session = await server.create({ app, name, status: 'ACTIVE' });
      const path = `/v1/sessions/${session.id}`;
      await server.append(session.id, { type: 'message', data: { text: `hello ${name}` } });
      await server.ok('POST', `${path}/pause`);
      await server.ok('POST', `${path}/resume`);
      await server.ok('POST', `${path}/reset`);
      await server.ok('POST', `${path}/close`);
      return session;
    }));
    for (const { id, key } of sessions) {
      const here = (json) => json.session === id;
      const created = await feed.waitFor(of('session.created', here));
      assert.equal(created.json.key, key);
      assert.equal(created.json.app, app);
      assert.match(created.json.at, TIME);
      const message = await feed.waitFor(of('message', here));
      assert.equal(message.json.text, `hello ${key.at(-1)}`);
      assert.equal(message.json.seq, 2);
      for (const type of ['session.resumed', 'session.reset']) await feed.waitFor(of(type, here));
      const closed = await feed.waitFor(of('session.closed', here));
      assert.equal(closed.json.status, 'COMPLETED');
      const append = await feed.waitFor(of('request', (json) => here(json)
        && json.route === '/v1/sessions/{s}/events'));
      assert.equal(append.json.method, 'POST');
      assert.equal(append.json.status, 201);
      assert.ok(Number.isInteger(append.json.durationMs));
    }
    assertGapFree(numbers(feed), numbers(feed)[0]);
    for (const frame of feed.frames) assert.match(frame.id, new RegExp(`^[0-9a-f]{16}-${frame.json.n}$`));
    feed.close();
  });

  it('tells who watches, and from where', async () => {
    const { id } = await server.create({ app: unique('app'), name: 'x' });
    const feed = await server.stream(`${PATH}?types=client.connected,client.disconnected`);
    const reader = await server.reader(id, '?clientId=tab-1');
    const came = await feed.waitFor(of('client.connected', (json) => json.client === 'tab-1'));
    assert.equal(came.json.session, id);
    assert.equal(came.json.stream, 'events');
    assert.match(came.json.address, /127\.0\.0\.1/);
    reader.close();
    await feed.waitFor(of('client.disconnected', (json) => json.client === 'tab-1'));
    const monitor = await server.monitor();
    await feed.waitFor(of('client.connected', (json) => json.stream === 'monitor'));
    monitor.close();
    await feed.waitFor(of('client.disconnected', (json) => json.stream === 'monitor'));
    feed.close();
  });

  it('goes on after a broken connection where it was', async () => {
    const app = unique('app');
    const first = await server.stream(PATH);
    await server.create({ app, name: 'one' });
    const { id: cursor, json } = await first.waitFor(of('session.created', (j) => j.app === app));
    first.close();
    for (let i = 0; i < 20; i += 1) await server.create({ app, name: `later-${i}` });
    const again = await server.stream(PATH, { 'Last-Event-ID': cursor });
    await again.waitFor(of('session.created', (j) => j.key === `${app}:later-19`));
    assertGapFree(numbers(again), json.n + 1);
    assert.equal(again.frames.filter(of('session.created')).length, 20);
    again.close();
  });

  it('tells of a gap after a restart, and goes on', async () => {
    const own = await startServer();
    try {
      const before = await own.stream(PATH);
      await own.create({ app: 'a', name: 'one' });
      const { id: cursor } = await before.waitFor(of('session.created'));
      await own.restart();
      const feed = await own.stream(PATH, { 'Last-Event-ID': cursor });
      await feed.when(() => feed.frames.length > 0);
      assert.equal(feed.frames[0].event, 'gap');
      await own.create({ app: 'a', name: 'two' });
      await feed.waitFor(of('session.created', (json) => json.n === 1));
      feed.close();
    } finally {
      await own.dispose();
    }
  });

  it('shows what is asked for, and moves the cursor of a quiet filter', async () => {
    const app = unique('app');
    const feed = await server.stream(`${PATH}?types=session.created,message&app=${app}&session=${app}:b`);
    const opened = feed.lastEventId;
    const [a, b] = [await server.create({ app, name: 'a' }), await server.create({ app, name: 'b' })];
    for (const { id } of [a, b]) await server.append(id, { type: 'message', data: 'x'.repeat(500) });
    const message = await feed.waitFor(of('message'));
    assert.equal(message.json.text, 'x'.repeat(200));
    assert.ok(feed.frames.every((frame) => frame.json.session === b.id));
    const at = message.id;
    await server.ok('GET', '/v1/sessions');
    await feed.when(() => feed.lastEventId !== at && feed.lastEventId !== opened);
    assert.deepEqual(feed.frames.map((frame) => frame.event), ['session.created', 'message']);
    feed.close();
  });

  it('never shows a query, a header or a body', async () => {
    const feed = await server.stream(PATH);
    const secret = unique('hunter');
    await server.call('GET', `/v1/sessions?q=${secret}`, undefined, { 'X-Secret': secret });
    await server.call('POST', '/v1/sessions', { app: unique('app'), metadata: { secret } });
    await server.call('GET', `/nowhere/${secret}`);
    await feed.waitFor(of('request', (json) => json.route === null && json.status === 404));
    await server.call('GET', '/healthz');
    await server.call('GET', '/metrics');
    const { key } = await server.create({ app: unique('app'), name: 'last' });
    await feed.waitFor(of('request', (json) => json.key === key));
    assert.ok(!JSON.stringify(feed.frames).includes(secret));
    const routes = feed.frames.filter(of('request')).map((frame) => frame.json.route);
    assert.ok(!routes.some((route) => ['/healthz', '/metrics', PATH].includes(route)), String(routes));
    feed.close();
  });

  it('refuses what it does not know', async () => {
    const get = (query, headers) => server.call('GET', PATH + query, undefined, headers);
    assertProblem(await get('?types=all'), 400, 'bad_parameter');
    assertProblem(await get('?after=1'), 400, 'unknown_parameter');
    assertProblem(await get('', { 'Last-Event-ID': 'x' }), 400, 'bad_cursor');
    assertProblem(await get('', { Accept: 'application/json' }), 406, 'not_acceptable');
  });

  it('records nothing while nobody listens', async () => {
    const own = await startServer();
    try {
      const { id } = await own.create({ app: 'a', name: 'one' });
      for (let i = 0; i < 5; i += 1) await own.append(id, { type: 'message', data: 'x' });
      assert.equal(await metric(own, 'reprise_devtools_events_total'), 0);
      assert.equal(await metric(own, 'reprise_devtools_listeners'), 0);
      const feed = await own.stream(PATH);
      await own.append(id, { type: 'message', data: 'x' });
      const { json } = await feed.waitFor(of('message'));
      assert.equal(json.n, 1);
      assert.equal(await metric(own, 'reprise_devtools_listeners'), 1);
      feed.close();
    } finally {
      await own.dispose();
    }
  });

  it('shows a token only what is of its apps', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'tokens.json');
    const entry = (name, scopes, apps) => ({
      name, sha256: createHash('sha256').update(name).digest('hex'), scopes, apps,
    });
    writeFileSync(file, JSON.stringify({
      tokens: [entry('all', ['admin'], ['*']), entry('shop', ['read'], ['shop'])],
    }));
    const bearer = (name) => ({ Authorization: `Bearer ${name}` });
    const own = await startServer({ args: ['--tokens-file', file] });
    try {
      assertProblem(await own.call('GET', PATH), 401);
      assertProblem(await own.call('GET', `${PATH}?app=bank`, undefined, bearer('shop')), 403);
      const [whole, shop] = await Promise.all(['all', 'shop'].map((name) => own.stream(PATH, bearer(name))));
      for (const app of ['bank', 'shop']) {
        const { id } = await own.ok('POST', '/v1/sessions', { app, name: 'x' }, bearer('all'));
        await own.ok('GET', `/v1/sessions/${id}`, undefined, bearer('all'));
      }
      await own.ok('GET', '/v1/sessions', undefined, bearer('all'));
      await own.ok('POST', '/v1/sessions/shop:x/close', {}, bearer('all'));
      await whole.waitFor(of('request', (json) => json.route === '/v1/sessions'
        && json.method === 'GET' && json.client === 'all'));
      await whole.waitFor(of('session.created', (json) => json.app === 'bank'));
      await shop.waitFor(of('session.closed'));
      assert.ok(shop.frames.every((frame) => frame.json.app === 'shop'), JSON.stringify(shop.frames));
      await shop.waitFor(of('request', (json) => json.route === '/v1/sessions/{s}'));
      whole.close();
      shop.close();
    } finally {
      await own.dispose();
      removeDirectory(directory);
    }
  });
});
