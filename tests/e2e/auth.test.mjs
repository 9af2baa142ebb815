// Bearer tokens: scopes, apps, and the rule that only loopback is open.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  assertProblem, removeDirectory, run, startServer, temporaryDirectory, unique,
} from './harness.mjs';

const sha256 = (token) => createHash('sha256').update(token).digest('hex');

describe('auth', () => {
  const tokens = {
    admin: 'admin-token-5f2c9e', writer: 'writer-token-77aa', reader: 'reader-token-0b1d',
    red: 'red-token-11', redReader: 'red-reader-token-12',
  };
  const red = unique('red');
  const blue = unique('blue');
  let directory;
  let file;
  let server;
  let blueSession;

  before(async () => {
    directory = temporaryDirectory();
    file = join(directory, 'tokens.json');
    const entry = (name, scopes, apps) => ({ name, sha256: sha256(tokens[name]), scopes, apps });
    writeFileSync(file, JSON.stringify({ tokens: [
      entry('admin', ['read', 'write', 'admin'], ['*']), entry('writer', ['read', 'write'], ['*']),
      entry('reader', ['read'], ['*']), entry('red', ['read', 'write'], [red]),
      entry('redReader', ['read'], [red]),
    ] }));
    server = await startServer({ args: ['--tokens-file', file] });
    const made = await as('writer', 'PUT', `/v1/sessions/${blue}:one`);
    assert.equal(made.status, 201, made.text);
    blueSession = made.body.id;
    assert.equal((await as('writer', 'PUT', `/v1/sessions/${red}:one`)).status, 201);
  });
  after(async () => {
    await server?.dispose();
    removeDirectory(directory);
  });

  const bearer = (token) => ({ Authorization: `Bearer ${token}` });
  const as = (who, method, path, body) => server.call(method, path, body, bearer(tokens[who]));
  const event = { type: 'log', data: {} };

  it('refuses to start on another address than loopback without tokens', async () => {
    for (const listen of ['0.0.0.0:0', '[::]:0']) {
      const data = temporaryDirectory();
      const { code, stdout, stderr } = await run(['serve', '--listen', listen, '--data', data]);
      assert.notEqual(code, 0);
      assert.doesNotMatch(stdout, /listening on/);
      assert.match(stderr, /token/i);
      removeDirectory(data);
    }
  });

  it('refuses to start with a tokens file it cannot read', async () => {
    const wrong = [join(directory, 'missing.json')];
    for (const [name, text] of [['broken', '{'], ['shape', '{"tokens":{}}'],
      ['hash', '{"tokens":[{"name":"x","sha256":"abc","scopes":["read"],"apps":["*"]}]}'],
      ['scope', JSON.stringify({ tokens: [{ name: 'x', sha256: sha256('x'), scopes: ['fly'],
        apps: ['*'] }] })]]) {
      wrong.push(join(directory, `${name}.json`));
      writeFileSync(wrong.at(-1), text);
    }
    for (const path of wrong) {
      const data = temporaryDirectory();
      const args = ['serve', '--listen', '127.0.0.1:0', '--data', data, '--tokens-file', path];
      const { code, stderr } = await run(args);
      assert.notEqual(code, 0, path);
      assert.match(stderr, /\S/);
      removeDirectory(data);
    }
  });

  it('starts on every address with tokens', async () => {
    const open = await startServer({ listen: '0.0.0.0:0', args: ['--tokens-file', file] });
    try {
      const Host = `localhost:${open.port}`;
      assertProblem(await open.call('GET', '/v1/sessions', undefined, { Host }), 401);
      const headers = { Host, ...bearer(tokens.reader) };
      await open.ok('GET', '/v1/sessions', undefined, headers, 200);
    } finally {
      await open.dispose();
    }
  });

  it('answers 401 with WWW-Authenticate to no token and to a wrong one', async () => {
    const wrong = [{}, bearer('nonsense'), bearer(''), { Authorization: 'Basic dTpw' },
      { Authorization: tokens.admin }, bearer(sha256(tokens.admin)), bearer(`${tokens.admin}x`)];
    for (const headers of wrong) {
      for (const [method, path, body] of [
        ['GET', '/v1/sessions'], ['GET', `/v1/sessions/${blueSession}`],
        ['POST', '/v1/sessions', {}], ['PUT', '/v1/sessions/x:y'], ['GET', '/metrics'],
        ['GET', `/v1/sessions/${blueSession}/events/stream`],
        ['DELETE', `/v1/sessions/${blueSession}`],
      ]) {
        const answer = await server.call(method, path, body, headers);
        assertProblem(answer, 401, 'unauthorized');
        assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer/i);
      }
    }
  });

  it('leaves the probes and the description open', async () => {
    for (const path of ['/healthz', '/readyz', '/openapi.json']) {
      await server.ok('GET', path, undefined, {}, 200);
    }
  });

  it('lets a reader read and nothing else', async () => {
    for (const path of ['/v1/sessions', `/v1/sessions/${blueSession}`,
      `/v1/sessions/${blue}:one/events`]) {
      assert.equal((await as('reader', 'GET', path)).status, 200, path);
    }
    const stream = await server.reader(blueSession, '', bearer(tokens.reader));
    await stream.replayComplete();
    stream.close();
    for (const [method, path, body] of [
      ['POST', '/v1/sessions', {}], ['PUT', `/v1/sessions/${blue}:one`],
      ['PUT', `/v1/sessions/${blue}:new`], ['PATCH', `/v1/sessions/${blueSession}`, {}],
      ['DELETE', `/v1/sessions/${blueSession}`],
      ['POST', `/v1/sessions/${blueSession}/events`, event],
      ['POST', `/v1/sessions/${blueSession}/status`, { status: 'ACTIVE' }],
      ['POST', `/v1/sessions/${blueSession}/cancel`],
    ]) {
      assertProblem(await as('reader', method, path, body), 403, 'forbidden');
    }
    const record = (await as('reader', 'GET', `/v1/sessions/${blueSession}`)).body;
    assert.equal(record.status, 'INITIALIZING');
  });

  it('lets a writer write', async () => {
    const { body: { id } } = await as('writer', 'POST', '/v1/sessions', { status: 'ACTIVE' });
    assert.equal((await as('writer', 'POST', `/v1/sessions/${id}/events`, event)).status, 201);
    assert.equal((await as('writer', 'PATCH', `/v1/sessions/${id}`, { metadata: {} })).status, 200);
    assert.equal((await as('writer', 'POST', `/v1/sessions/${id}/close`)).status, 200);
    assert.equal((await as('writer', 'DELETE', `/v1/sessions/${id}`)).status, 204);
  });

  it('keeps a token of one app out of the others', async () => {
    for (const session of [blueSession, `${blue}:one`]) {
      for (const [method, tail, body] of [
        ['GET', ''], ['GET', '/events'], ['GET', '/events/stream'], ['PATCH', '', {}],
        ['POST', '/events', event], ['POST', '/status', { status: 'ACTIVE' }], ['POST', '/reset'],
        ['POST', '/touch'], ['DELETE', ''],
      ]) {
        const answer = await as('red', method, `/v1/sessions/${session}${tail}`, body);
        assertProblem(answer, [403, 404]);
        assert.ok(!answer.text.includes('INITIALIZING'), 'it leaks the record');
      }
    }
    for (const [method, path, body] of [
      ['PUT', `/v1/sessions/${blue}:one`], ['PUT', `/v1/sessions/${blue}:new`],
      ['POST', '/v1/sessions', { app: blue, name: 'x' }], ['POST', '/v1/sessions', {}],
    ]) {
      assertProblem(await as('red', method, path, body), [403, 404]);
    }
    const own = await as('red', 'POST', '/v1/sessions', { app: red, name: 'own' });
    assert.equal(own.status, 201, own.text);
    assert.equal((await as('red', 'POST', `/v1/sessions/${red}:own/events`, event)).status, 201);
    assertProblem(await as('redReader', 'POST', `/v1/sessions/${red}:own/events`, event), 403);
    assert.equal((await as('redReader', 'GET', `/v1/sessions/${red}:own/events`)).status, 200);
  });

  it('lists and monitors for a token of one app only that app', async () => {
    const { body } = await as('red', 'GET', '/v1/sessions');
    assert.ok(body.sessions.length > 0);
    assert.ok(body.sessions.every((row) => row.app === red));
    const counted = Object.values(body.countsByStatus).reduce((sum, n) => sum + n, 0);
    assert.equal(counted, body.sessions.length, 'the counts tell of other apps');
    const other = await as('red', 'GET', `/v1/sessions?app=${blue}`);
    if (other.status === 200) assert.deepEqual(other.body.sessions, []);
    else assertProblem(other, [403, 404]);

    const monitor = await server.monitor('', bearer(tokens.red));
    await monitor.snapshotComplete();
    await as('writer', 'PUT', `/v1/sessions/${blue}:unseen`);
    await as('writer', 'PUT', `/v1/sessions/${red}:seen`);
    await monitor.waitFor((frame) => frame.event === 'session' && frame.json.name === 'seen');
    const sessions = monitor.frames.filter((frame) => frame.event === 'session');
    assert.ok(sessions.every((frame) => frame.json.app === red));
    monitor.close();
  });

  it('never writes a token to the log', () => {
    for (const token of Object.values(tokens)) assert.ok(!server.stderr.includes(token));
  });
});
