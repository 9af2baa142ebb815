// The description and the server agree, and the operators' addresses answer.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, unique, within } from './harness.mjs';

const METHODS = ['get', 'put', 'post', 'patch', 'delete', 'head', 'options'];
// What the contract promises of sessions and events; {} stands for any parameter.
const PROMISED = {
  '/v1/sessions': ['get', 'post'],
  '/v1/sessions/{}': ['get', 'put', 'patch', 'delete'],
  '/v1/sessions/{}/status': ['post'], '/v1/sessions/{}/pause': ['post'],
  '/v1/sessions/{}/resume': ['post'], '/v1/sessions/{}/cancel': ['post'],
  '/v1/sessions/{}/close': ['post'], '/v1/sessions/{}/reset': ['post'],
  '/v1/sessions/{}/touch': ['post'], '/v1/sessions/{}/events': ['get', 'post'],
  '/v1/sessions/{}/events/stream': ['get'], '/v1/sessions/{}/subscribers': ['get'],
  '/v1/sessions/{}/interactions': ['get', 'post'], '/v1/sessions/{}/interactions/{}': ['get'],
  '/v1/sessions/{}/interactions/{}/response': ['post'],
  '/v1/apps': ['get'], '/v1/apps/{}': ['get', 'put', 'delete'], '/v1/apps/{}/close': ['post'],
  '/v1/agents': ['get'], '/v1/agents/{}': ['get', 'put', 'delete'],
  '/v1/agents/{}/heartbeat': ['post'],
  '/v1/apps/{}/webhooks': ['get'], '/v1/apps/{}/webhooks/{}': ['get', 'put', 'delete'],
  '/v1/apps/{}/webhooks/{}/secret': ['post'], '/v1/apps/{}/webhooks/{}/dead-letters': ['get'],
  '/v1/apps/{}/webhooks/{}/dead-letters/{}': ['delete'],
  '/v1/apps/{}/webhooks/{}/dead-letters/{}/redeliver': ['post'],
  '/v1/sessions/{}/tool-calls': ['get', 'post'], '/v1/sessions/{}/tool-calls/{}/finish': ['post'],
  '/v1/sessions/{}/audit/verify': ['get'], '/v1/sessions/{}/audit/export': ['get'],
  '/v1/sessions/{}/artifacts': ['get'], '/v1/sessions/{}/artifacts/{}': ['get', 'put', 'delete'],
  '/v1/sessions/{}/checkpoints': ['get'], '/v1/sessions/{}/checkpoints/{}': ['get', 'put', 'delete'],
  '/v1/sessions/{}/inputs': ['get', 'post'], '/v1/sessions/{}/inputs/next': ['get'],
  '/v1/sessions/{}/inputs/{}': ['get', 'delete'], '/v1/sessions/{}/inputs/{}/finish': ['post'],
  '/v1/sessions/{}/export': ['get'], '/v1/sessions/import': ['post'],
  '/v1/stream/{}': ['get', 'put', 'post', 'delete'],
  '/v1/stream/__ds/subscriptions/{}': ['get', 'put', 'delete'],
  '/v1/stream/__ds/subscriptions/{}/streams': ['post'],
  '/v1/stream/__ds/subscriptions/{}/streams/{}': ['delete'],
  '/v1/stream/__ds/subscriptions/{}/callback': ['post'], '/v1/stream/__ds/subscriptions/{}/ack': ['post'],
  '/v1/stream/__ds/subscriptions/{}/claim': ['post'], '/v1/stream/__ds/subscriptions/{}/release': ['post'],
  '/v1/stream/__ds/jwks.json': ['get'],
  '/v1/sessions/{}/browser': ['get', 'post', 'delete'], '/v1/sessions/{}/tabs': ['get', 'post'],
  '/v1/sessions/{}/tabs/{}': ['delete'], '/v1/sessions/{}/tabs/{}/activate': ['post'],
  '/v1/sessions/{}/tabs/{}/screenshot': ['get'], '/v1/sessions/{}/tools/{}': ['post'],
  '/v1/sessions/{}/browser/takeover': ['post', 'delete'], '/v1/sessions/{}/live': ['get'],
  '/v1/sessions/{}/commands': ['get'], '/v1/pools': ['get'],
  '/v1/apps/{}/url-policy': ['get', 'put', 'delete'],
  '/v1/pools/{}': ['get', 'put', 'delete'], '/v1/pools/{}/heartbeat': ['post'],
  '/v1/sessions/{}/cdp': ['get'], '/v1/sessions/{}/cdp/json/version': ['get'],
  '/v1/graph/nodes/{}': ['get'], '/v1/graph/nodes/{}/{}/{}': ['get'], '/v1/graph/queries/{}': ['get'],
  '/': ['get'], '/assets/{}': ['get'], '/v1/login': ['get', 'post'], '/v1/logout': ['post'],
  '/openapi.json': ['get'], '/metrics': ['get'], '/healthz': ['get'], '/readyz': ['get'],
  '/v1/health': ['get'], '/v1/devtools/events': ['get'],
};

describe('the description', () => {
  let server;
  let description;
  before(async () => {
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
    description = await server.ok('GET', '/openapi.json', undefined, {}, 200);
  });
  after(() => server.dispose());

  const operations = () => Object.entries(description.paths).flatMap(([path, item]) => METHODS
    .filter((method) => item[method]).map((method) => ({ path, method, about: item[method] })));

  // Status, headers and, unless it is a stream, the body; the connection is dropped after the head.
  function head(method, path, headers) {
    const answered = new Promise((resolve, reject) => {
      const { host, port } = server;
      const sent = http.request({ host, port, method, path, headers, agent: false }, (res) => {
        resolve({ status: res.statusCode, headers: res.headers });
        sent.destroy();
      });
      sent.on('error', reject);
      sent.end();
    });
    return within(answered, 10_000, `${method} ${path}`);
  }

  it('is OpenAPI 3.1 with all of its references inside', () => {
    assert.match(description.openapi, /^3\.1\./);
    assert.equal(typeof description.info.title, 'string');
    const unescaped = (name) => name.replaceAll('~1', '/').replaceAll('~0', '~');
    const resolve = (reference) => reference.slice(2).split('/')
      .reduce((node, name) => node?.[unescaped(name)], description);
    const check = (node) => {
      if (node === null || typeof node !== 'object') return;
      if (typeof node.$ref === 'string') {
        assert.match(node.$ref, /^#\//);
        assert.notEqual(resolve(node.$ref), undefined, node.$ref);
      }
      Object.values(node).forEach(check);
    };
    check(description);
  });

  it('names every call the contract promises', () => {
    const named = new Set(operations().map(({ path, method }) => {
      const plain = path.replace(/\{[^}]*\}/g, '{}');
      return `${method} ${plain}`;
    }));
    for (const [path, methods] of Object.entries(PROMISED)) {
      for (const method of methods) assert.ok(named.has(`${method} ${path}`), `${method} ${path}`);
    }
  });

  // What a path names must be there before a call can find it. Gives what stands for its second parameter.
  async function prepare(path, id) {
    if (path.startsWith('/v1/apps/')) await server.call('PUT', `/v1/apps/${id}`);
    if (path.startsWith('/v1/pools/')) await server.call('PUT', `/v1/pools/${id}`, { maxContexts: 1 });
    if (path.startsWith('/v1/agents/')) await server.call('PUT', `/v1/agents/${id}`);
    if (path.includes('/webhooks')) {
      await server.call('PUT', `/v1/apps/${id}`);
      await server.call('PUT', `/v1/apps/${id}/webhooks/x`, { url: 'https://example.com/', disabled: true });
    }
    if (path.includes('/interactions/')) {
      return (await server.ok('POST', `/v1/sessions/${id}/interactions`, { kind: 'confirm' })).id;
    }
    if (path.includes('/artifacts/')) {
      await server.call('PUT', `/v1/sessions/${id}/artifacts/x`, 'x', { 'Content-Type': 'text/plain' });
    }
    if (path.includes('/checkpoints/')) {
      await server.ok('PUT', `/v1/sessions/${id}/checkpoints/x`, { data: 1 });
    }
    if (path.includes('/inputs/{')) {
      return (await server.ok('POST', `/v1/sessions/${id}/inputs`, { data: 1 })).id;
    }
    if (!path.startsWith('/v1/stream/')) return 'x';
    await server.call('PUT', `/v1/stream/${id}`, 'x', { 'Content-Type': 'text/plain' });
    await server.call('PUT', `/v1/stream/__ds/subscriptions/${id}`,
      { type: 'pull-wake', streams: [id], wake_stream: 'wake' });
    return 'x';
  }

  it('names no call the server does not know', async () => {
    for (const { path, method, about } of operations()) {
      const { id, key } = await server.create({ app: unique('app'), name: 'x', status: 'ACTIVE' });
      const isByKey = method === 'put' && /^\/v1\/sessions\/\{[^}]*\}$/.test(path);
      const second = await prepare(path, id);
      const target = path.replace(/\{[^}]*\}/, isByKey ? key : id).replace(/\{[^}]*\}/g, second);
      const answer = await head(method.toUpperCase(), target, {});
      const shown = `${method} ${path}: ${answer.status}`;
      // It takes a day for a letter to be given up: there is none here; and no tab, tool or node of this name.
      const mayMiss = /^\/assets\/|\/dead-letters\/\{|\/browser$|\/tabs\/\{|\/tools\/\{|^\/v1\/graph/.test(path);
      const unknown = mayMiss ? [405, 501] : [404, 405, 501];
      assert.ok(!unknown.includes(answer.status), shown);
      assert.ok(String(answer.status) in about.responses, `${shown} is not described`);
    }
  });

  it('says of every path which methods are allowed, and no others work', async () => {
    for (const [path, item] of Object.entries(description.paths)) {
      if (path.startsWith('/v1/stream/__ds/')) continue; // every other method there is a stream's
      if (path.endsWith('/inputs/next')) continue; // and here an input's
      if (path === '/v1/sessions/import') continue; // or a session's of that name
      const { id } = await server.create();
      const target = path.replace(/\{[^}]*\}/g, id);
      for (const method of ['get', 'put', 'post', 'patch', 'delete']) {
        if (item[method]) continue;
        const answer = await head(method.toUpperCase(), target, {});
        assert.equal(answer.status, 405, `${method} ${path}`);
        const allow = (answer.headers.allow ?? '').toLowerCase().split(/, */);
        for (const known of METHODS.filter((name) => item[name])) {
          assert.ok(allow.includes(known), `${path}: Allow: ${allow}`);
        }
      }
    }
  });

  it('gives probes and health', async () => {
    for (const path of ['/healthz', '/readyz']) {
      await server.ok('GET', path, undefined, {}, 200);
    }
    const health = await server.ok('GET', '/v1/health', undefined, {}, 200);
    assert.equal(health.status, 'ok');
  });

  it('gives metrics Prometheus can read, which count', async () => {
    const read = async () => {
      const answer = await server.call('GET', '/metrics');
      assert.equal(answer.status, 200);
      assert.match(answer.headers['content-type'], /^text\/plain/);
      const samples = new Map();
      for (const line of answer.text.split('\n')) {
        if (line === '' || line.startsWith('#')) continue;
        const sample = /^([a-zA-Z_:][\w:]*(?:\{[^}]*\})?) (\S+)(?: \d+)?$/.exec(line);
        assert.ok(sample, `not a sample: ${line}`);
        assert.ok(!Number.isNaN(Number(sample[2].replace('Inf', 'Infinity'))), line);
        assert.ok(!samples.has(sample[1]), `twice: ${line}`);
        samples.set(sample[1], Number(sample[2]));
      }
      return samples;
    };
    const before = await read();
    const { id } = await server.create({ status: 'ACTIVE' });
    for (let n = 0; n < 20; n += 1) await server.append(id, { type: 'log', data: {} });
    const now = await read();
    const grown = [...now].filter(([name, value]) => value - (before.get(name) ?? 0) >= 20);
    assert.ok(grown.length > 0, 'nothing counted twenty appends');
    assert.ok([...now.keys()].some((name) => name.startsWith('reprise_')));
  });
});
