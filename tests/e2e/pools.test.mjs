// Pools of browsers through the binary: kinds that the configuration names, pools of other processes, and what operators
// are told of them.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TIME, browserDirectory, run, startServer, temporaryDirectory, unique, until } from './harness.mjs';

const headlessShell = '/usr/lib/chromium/chromium-headless-shell';
const chromium = process.env.REPRISE_CHROMIUM ?? '/usr/lib/chromium/chromium';
const isInstalled = existsSync(chromium);
const page = 'data:text/html,<title>Hi</title><button>Press</button>';

describe('browsers without DevTools clients', () => {
  it('have no port, and work', async (t) => {
    const server = await startServer({ args: ['--browser-dir', browserDirectory(), '--pool-clients', '0'] });
    t.after(() => server.dispose());
    const { id } = await server.create({ status: 'ACTIVE' });
    const answer = await server.ok('POST', `/v1/sessions/${id}/tools/browser_navigate`, { url: page });
    assert.equal(answer.result.title, 'Hi');
    const [{ browsers: [{ pid }] }] = (await server.ok('GET', '/v1/pools')).pools;
    assert.doesNotMatch(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), /remote-debugging-port/);
  });
});

describe('pools of the configuration', () => {
  let server;
  const gone = join(temporaryDirectory(), 'browser');
  before(async () => {
    // Where all of Chromium is not installed, the flags of that kind are tried with the headless shell.
    writeFileSync(gone, '');
    server = await startServer({ args: [
      '--browser-dir', browserDirectory(), '--pool', 'safe=dedicated,contexts=2', '--pool', `full=chromium,path=${isInstalled ? chromium : headlessShell}`,
      '--pool', `missing=chromium,path=${gone}`,
    ] });
    rmSync(gone);
  });
  after(() => server.dispose());
  const open = async (poolKey) => {
    const session = await server.create({ app: unique('pool'), status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { poolKey }, {}, 201);
    return session;
  };
  const pool = (key) => server.ok('GET', `/v1/pools/${key}`);

  it('are listed with their kinds, and start nothing before they are needed', async () => {
    const { pools } = await server.ok('GET', '/v1/pools');
    const kinds = Object.fromEntries(pools.map(({ poolKey, kind }) => [poolKey, kind]));
    assert.equal(kinds.default, 'headless-shell');
    assert.equal(kinds.safe, 'dedicated');
    assert.equal(kinds.full, 'chromium');
    for (const one of pools) {
      assert.equal(one.status, 'alive');
      assert.deepEqual(one.browsers, []);
    }
    await server.refused(404, 'pool_not_found', 'GET', '/v1/pools/nowhere');
  });

  it('give each session a browser of its own where they are dedicated, which ends with it', async () => {
    const [one, other] = await Promise.all([open('safe'), open('safe')]);
    const { browsers, contexts, maxContexts } = await pool('safe');
    assert.deepEqual([browsers.length, contexts, maxContexts], [2, 2, 2]);
    assert.notEqual(browsers[0].pid, browsers[1].pid);
    for (const session of [one, other]) {
      const answer = await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_navigate`, { url: page });
      assert.equal(answer.result.title, 'Hi', JSON.stringify(answer));
    }
    await server.ok('POST', `/v1/sessions/${one.id}/close`, {});
    await until(async () => (await pool('safe')).browsers.length === 1, 'its browser has ended');
    const third = await open('safe');
    const pids = (await pool('safe')).browsers.map(({ pid }) => pid);
    assert.equal(pids.length, 2);
    assert.ok(!pids.includes(browsers.find(({ pid }) => !pids.includes(pid))?.pid));
    await server.ok('POST', `/v1/sessions/${third.id}/close`, {});
    await server.ok('POST', `/v1/sessions/${other.id}/close`, {});
    await until(async () => (await pool('safe')).browsers.length === 0, 'all have ended');
  });

  it('run all of Chromium where they are of that kind', async () => {
    const session = await open('full');
    const went = await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_navigate`, { url: page });
    assert.ok(went.ok, JSON.stringify(went));
    const seen = await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_snapshot`, {});
    assert.match(seen.result.snapshot, /button "Press"/);
    assert.equal((await server.ok('GET', `/v1/sessions/${session.id}/browser`)).poolKey, 'full');
    const { pools } = (await server.ok('GET', '/v1/health')).browsers;
    assert.equal(pools.find(({ poolKey }) => poolKey === 'full').browsers, 1);
    await server.ok('POST', `/v1/sessions/${session.id}/close`, {});
  });

  it('say so where their browser is missing, and so does health', async () => {
    const session = await server.create({ status: 'ACTIVE' });
    const problem = await server.refused(422, 'unsupported_browser', 'POST', `/v1/sessions/${session.id}/browser`, { poolKey: 'missing' });
    assert.match(problem.detail, /no browser: there is no .*browser/);
    const health = await server.ok('GET', '/v1/health');
    assert.equal(health.status, 'degraded');
    assert.match(health.problems.join(), /pool 'missing': no browser/);
  });

  it('are in the metrics, with what runs in them', async () => {
    const session = await open('default');
    await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_navigate`, { url: page });
    await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_click`, { target: '#nowhere' });
    const metrics = (await server.call('GET', '/metrics')).text;
    const value = (name) => Number(new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\d+)$`, 'm').exec(metrics)?.[1] ?? NaN);
    const labels = '{pool="default",kind="headless-shell"}';
    assert.equal(value(`reprise_pool_contexts${labels}`), 1);
    assert.equal(value(`reprise_pool_browsers${labels}`), 1);
    assert.ok(value(`reprise_pool_started_total${labels}`) >= 1);
    assert.equal(value(`reprise_pool_crashed_total${labels}`), 0);
    assert.ok(value('reprise_browser_commands_total') >= 2);
    assert.ok(value('reprise_browser_failed_commands_total') >= 1);
    assert.ok(value('reprise_browser_tabs') >= 1);
    assert.equal(value('reprise_browser_sandboxed'), 1);
    assert.ok(value('reprise_proxies') >= 1);
    assert.ok(!Number.isNaN(value('reprise_browser_captures_total')));
    await until(async () => /^reprise_pool_memory_bytes\{pool="default".*\} [1-9]/m.test((await server.call('GET', '/metrics')).text), 'memory');
  });

  it('have their sessions watched by the monitor', async () => {
    const other = await open('default');
    const monitor = await server.monitor('?poolKey=safe');
    await monitor.snapshotComplete();
    const session = await open('safe');
    const is = (event, { id }) => (frame) => frame.event === event && frame.json.id === id;
    await monitor.waitFor(is('session', session));
    await server.ok('POST', `/v1/sessions/${other.id}/pause`);
    await server.ok('POST', `/v1/sessions/${session.id}/close`);
    await monitor.waitFor((frame) => is('session', session)(frame) && frame.json.status === 'COMPLETED');
    const again = await server.monitor('?poolKey=safe');
    await again.snapshotComplete();
    assert.ok(again.frames.some(is('session', session)), 'as the list has it');
    await server.ok('DELETE', `/v1/sessions/${session.id}`);
    await monitor.waitFor(is('deleted', session));
    assert.ok(!monitor.frames.some(({ json }) => json?.id === other.id));
    monitor.close();
    again.close();
  });

  it('are refused where they mean nothing', async () => {
    for (const wrong of ['full', 'full=firefox', 'a b=chromium', 'a=chromium,browsers=0', 'a=dedicated,browsers=1,contexts=2']) {
      const { code, stderr } = await run(['serve', '--listen', '127.0.0.1:0', '--data', temporaryDirectory(), '--pool', wrong]);
      assert.notEqual(code, 0, wrong);
      assert.match(stderr, /--pool/);
    }
  });
});

describe('pools of other processes', () => {
  let server;
  before(async () => { server = await startServer({ args: ['--browser-dir', browserDirectory(), '--browser-no-sandbox'] }); });
  after(() => server.dispose());
  const facts = { maxContexts: 12, location: 'rack 4', heartbeatSeconds: 1 };

  it('register, beat, fall silent, come back, and are remembered', async () => {
    const key = unique('other');
    const made = await server.ok('PUT', `/v1/pools/${key}`, { kind: 'external', ...facts }, {}, 201);
    assert.deepEqual([made.kind, made.status, made.maxContexts, made.location], ['external', 'alive', 12, 'rack 4']);
    assert.match(made.registeredAt, TIME);
    assert.equal((await server.ok('PUT', `/v1/pools/${key}`, { ...facts, maxContexts: 14 }, {}, 200)).maxContexts, 14);
    const beaten = await server.ok('POST', `/v1/pools/${key}/heartbeat`, { contexts: 3, waiting: 1, lastError: 'no room' });
    assert.deepEqual([beaten.contexts, beaten.waiting, beaten.lastError], [3, 1, 'no room']);
    assert.equal((await server.ok('POST', `/v1/pools/${key}/heartbeat`, { lastError: null })).lastError, null);

    const of = async () => (await server.ok('GET', '/v1/pools')).pools.find(({ poolKey }) => poolKey === key);
    await until(async () => (await of()).staleSince !== null, 'it is stale');
    assert.equal((await of()).status, 'stale');
    assert.match((await server.call('GET', '/metrics')).text, new RegExp(`^reprise_pool_alive\\{pool="${key}",kind="external"\\} 0$`, 'm'));
    await server.restart({ how: 'kill' });
    assert.equal((await of()).status, 'stale');
    assert.equal((await server.ok('POST', `/v1/pools/${key}/heartbeat`, {})).status, 'alive');

    const { nodes } = await server.ok('GET', `/v1/graph/nodes/Pool?key=${key}`);
    assert.equal(nodes[0].properties.kind, 'external');
    assert.deepEqual((await server.ok('GET', `/v1/graph/nodes/pool:${key}/out/PoolHasSession`)).edges, []);
    const session = await server.create({ status: 'ACTIVE' });
    await server.refused(409, 'conflict', 'POST', `/v1/sessions/${session.id}/browser`, { poolKey: key });

    await server.ok('DELETE', `/v1/pools/${key}`, undefined, {}, 204);
    await server.refused(404, 'pool_not_found', 'DELETE', `/v1/pools/${key}`);
    await server.refused(404, 'pool_not_found', 'POST', `/v1/pools/${key}/heartbeat`, {});
    await server.refused(404, 'pool_not_found', 'POST', `/v1/sessions/${session.id}/browser`, { poolKey: key });
  });

  it('are not our own, and say what they are', async () => {
    await server.refused(409, 'conflict', 'PUT', '/v1/pools/default', facts);
    await server.refused(409, 'conflict', 'DELETE', '/v1/pools/default');
    await server.refused(422, 'invalid', 'PUT', '/v1/pools/mine', { kind: 'chromium', maxContexts: 1 });
    await server.refused(422, 'invalid', 'PUT', '/v1/pools/mine', {});
    await server.refused(422, 'invalid', 'PUT', '/v1/pools/mine', { ...facts, nonsense: 1 });
    await server.refused(400, 'bad_parameter', 'PUT', '/v1/pools/not%20a%20key', facts);
  });

  it('are listed in health, and so is that the sandbox is off', async () => {
    const { browsers } = await server.ok('GET', '/v1/health');
    assert.equal(browsers.isSandboxed, false);
    assert.ok(browsers.pools.some(({ poolKey, kind }) => poolKey === 'default' && kind === 'headless-shell'));
  });

  it('are not changed by a token for some apps', async () => {
    const file = join(temporaryDirectory(), 'tokens.json');
    const sha256 = createHash('sha256').update('shop').digest('hex');
    writeFileSync(file, JSON.stringify({ tokens: [{ name: 'shop', sha256, scopes: ['admin'], apps: ['shop'] }] }));
    const other = await startServer({ args: ['--tokens-file', file], headers: { Authorization: 'Bearer shop' } });
    await other.refused(403, 'forbidden', 'PUT', '/v1/pools/mine', facts);
    assert.equal((await other.ok('GET', '/v1/pools')).pools.length, 1);
    await other.dispose();
  });
});
