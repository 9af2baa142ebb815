// Files of sessions through the binary: large ones in little memory, versions, ranges, what a crash
// leaves, what goes with a deletion.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import {
  assertProblem, randomFrom, removeDirectory, run, seedFor, startServer, temporaryDirectory, until,
  within,
} from './harness.mjs';
import { RawClient } from './raw.mjs';

const MiB = 1024 * 1024;
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

// Every file the server keeps for artifacts: names of content, and what is being written.
function filesOf(server) {
  const root = join(server.data, 'blobs');
  if (!existsSync(root)) return [];
  return readdirSync(root).flatMap((folder) => readdirSync(join(root, folder))
    .map((name) => join(folder, name)));
}

const memoryOf = (server) => {
  const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)[1]) * 1024;
};

describe('artifacts', () => {
  let server;
  let id;
  let base;
  const text = { 'Content-Type': 'text/plain' };
  const put = (path, body, headers = text) => server.call('PUT', `${base}/${path}`, body, headers);
  const get = (path, headers) => server.call('GET', `${base}/${path}`, undefined, headers);
  const settled = (count) => until(() => filesOf(server).length === count, 10_000,
    `${count} files, there are ${filesOf(server)}`);
  const fresh = async () => {
    ({ id } = await server.create({ status: 'ACTIVE' }));
    base = `/v1/sessions/${id}/artifacts`;
  };

  describe('of one session', () => {
    before(async () => {
      server = await startServer({
        args: ['--request-timeout-ms', '1000', '--max-session-artifact-bytes', String(8 * MiB),
          '--max-artifact-bytes', String(4 * MiB), '--max-body-bytes', '65536'],
      });
    });
    after(() => server.dispose());
    beforeEach(fresh);
    afterEach(async () => {
      await server.ok('DELETE', `/v1/sessions/${id}`, undefined, {}, 204);
      await settled(0);
    });

    it('come back as they were sent, with their type and a name to save them under', async () => {
      const bytes = Buffer.from([0, 255, 13, 10, 0, 128]);
      const made = await put('workspace/%E2%9C%93%20a.bin?kind=attachment', bytes,
        { 'Content-Type': 'image/png' });
      assert.equal(made.status, 201, made.text);
      assert.equal(made.body.path, 'workspace/✓ a.bin');
      assert.equal(made.body.kind, 'attachment');
      assert.equal(made.body.size, 6);
      assert.equal(made.body.sha256, sha256(bytes));
      assert.equal(made.headers.etag, `"${sha256(bytes)}"`);
      const got = await get('workspace/%E2%9C%93%20a.bin', { Accept: 'text/html' });
      assert.equal(got.status, 200);
      assert.equal(got.headers['content-type'], 'image/png');
      assert.equal(got.headers['x-content-type-options'], 'nosniff');
      assert.match(got.headers['content-disposition'],
        /^attachment; filename="___ a\.bin"; filename\*=UTF-8''%E2%9C%93%20a\.bin$/);
      const head = await server.call('HEAD', `${base}/workspace/%E2%9C%93%20a.bin`);
      assert.equal(head.headers['content-length'], '6');
      assert.equal(head.headers.etag, `"${sha256(bytes)}"`);
    });

    it('have versions, and events with what changed between texts', async () => {
      assert.equal((await put('a.md', 'one\ntwo\n')).status, 201);
      assert.equal((await put('a.md', 'one\n2\n')).body.version, 2);
      const again = await put('a.md', 'one\n2\n');
      assert.equal(again.status, 200);
      assert.equal(again.body.version, 2, 'the newest content again is no new version');
      assert.equal((await get('a.md?version=1')).text, 'one\ntwo\n');
      assert.equal((await get('a.md')).text, 'one\n2\n');
      const events = (await server.events(id)).slice(1);
      assert.deepEqual(events.map((event) => event.type),
        ['artifact_created', 'artifact_created', 'diff']);
      assert.equal(events[0].data.sha256, sha256('one\ntwo\n'));
      assert.deepEqual(events[2].data, {
        path: 'a.md', fromVersion: 1, toVersion: 2,
        diff: '--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n',
      });
      for (const type of ['artifact_created', 'artifact_deleted']) {
        await server.refused(422, 'reserved_type', 'POST', `/v1/sessions/${id}/events`,
          { type, data: {} });
      }
    });

    it('are read in parts and on conditions', async () => {
      await put('a', '0123456789');
      const etag = `"${sha256('0123456789')}"`;
      const part = await get('a', { Range: 'bytes=3-5' });
      assert.deepEqual([part.status, part.text, part.headers['content-range']],
        [206, '345', 'bytes 3-5/10']);
      assert.equal((await get('a', { Range: 'bytes=-4' })).text, '6789');
      const beyond = await get('a', { Range: 'bytes=10-' });
      assertProblem(beyond, 416, 'range_not_satisfiable');
      assert.equal(beyond.headers['content-range'], 'bytes */10');
      assert.equal((await get('a', { 'If-None-Match': etag })).status, 304);
      assert.equal((await get('a', { Range: 'bytes=0-1', 'If-Range': '"x"' })).status, 200);
      assertProblem(await put('a', 'x', { 'If-None-Match': '*' }), 412);
      assertProblem(await put('a', 'x', { 'If-Match': '"y"' }), 412);
      assert.equal((await put('a', 'x', { 'If-Match': etag })).status, 200);
    });

    it('have paths that lead nowhere else', async () => {
      for (const path of ['', '/etc/passwd', '%2Fetc%2Fpasswd', '..', '../x', 'a/../b', 'a/..',
        '%2e%2e/x', '..%2F..%2Fx', 'a%00b', 'a%0D%0Ab', 'a//b', 'a/', '.', 'tmp', 'workspace',
        'a%5C..%5Cb', '%C0%AE%C0%AE/x', 'a%7Fb', 'x'.repeat(1025)]) {
        for (const method of ['PUT', 'GET', 'DELETE']) {
          const answer = await server.call(method, `${base}/${path}`,
            method === 'PUT' ? 'x' : undefined, text);
          assertProblem(answer, 400);
        }
      }
      assertProblem(await put('x'.repeat(9000), 'x'), 414);
      assert.deepEqual(filesOf(server), []);
    });

    it('have kinds, lists and pages', async () => {
      for (const kind of ['code', 'note', 'log', 'attachment', 'other']) {
        await put(`workspace/${kind}?kind=${kind}`, kind);
      }
      await put('tmp/x', 'x');
      const page = await server.ok('GET', `${base}?prefix=workspace/&limit=3`);
      assert.deepEqual(page.artifacts.map((one) => one.path),
        ['workspace/attachment', 'workspace/code', 'workspace/log']);
      const cursor = encodeURIComponent(page.nextCursor);
      const rest = await server.ok('GET', `${base}?prefix=workspace/&cursor=${cursor}`);
      assert.deepEqual(rest.artifacts.map((one) => one.path), ['workspace/note', 'workspace/other']);
      assert.equal(rest.nextCursor, null);
      const logs = await server.ok('GET', `${base}?kind=log`);
      assert.deepEqual(logs.artifacts.map((one) => one.kind), ['log']);
      await server.refused(400, 'bad_parameter', 'GET', `${base}?kind=picture`);
      await server.refused(400, 'unknown_parameter', 'GET', `${base}?sort=size`);
    });

    it('of equal content are one file, which goes with the last of them', async () => {
      const other = (await server.create({ status: 'ACTIVE' })).id;
      await put('a', 'same');
      await put('b/c', 'same');
      await server.ok('PUT', `/v1/sessions/${other}/artifacts/d`, 'same', text, 201);
      assert.deepEqual(filesOf(server).map((name) => name.slice(3)), [sha256('same')]);
      await server.ok('DELETE', `${base}/a`, undefined, {}, 204);
      await server.ok('DELETE', `/v1/sessions/${other}`, undefined, {}, 204);
      await put('x', 'different');
      await server.ok('DELETE', `${base}/x`, undefined, {}, 204);
      await settled(1);
      assert.equal((await get('b/c')).text, 'same');
      await server.ok('DELETE', `${base}/b/c?version=1`, undefined, {}, 204);
      await settled(0);
      assertProblem(await get('b/c'), 404, 'artifact_not_found');
    });

    it('keep to the quota of their session and to the largest size', async () => {
      const large = Buffer.alloc(4 * MiB, 'x');
      assert.equal((await put('a', large)).status, 201);
      assertProblem(await put('b', Buffer.alloc(4 * MiB + 1)), 413, 'body_too_large');
      assert.equal((await put('b', large)).status, 201, 'equal content counts all the same');
      const full = assertProblem(await put('c', 'x'), 413, 'quota_exceeded');
      assert.equal(full.usedBytes, 8 * MiB);
      await server.ok('DELETE', `${base}/a`, undefined, {}, 204);
      assert.equal((await put('c', 'x')).status, 201);
      assert.equal((await server.ok('GET', base)).usedBytes, 4 * MiB + 1);
    });

    it('under tmp/ go with the end of the session, the others stay', async () => {
      await put('tmp/a', 'temporary');
      await put('workspace/b', 'kept');
      await server.ok('POST', `/v1/sessions/${id}/close`, {});
      assertProblem(await get('tmp/a'), 404, 'artifact_not_found');
      assert.equal((await get('workspace/b')).text, 'kept');
      await settled(1);
      assertProblem(await put('workspace/b', 'more'), 409, 'session_ended');
    });

    it('put at the same time under one path have versions without a gap', async () => {
      const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => put('a', `n ${n}`)));
      const numbers = answers.map((answer) => answer.body.version).sort((a, b) => a - b);
      assert.deepEqual(numbers, Array.from({ length: 30 }, (_, n) => n + 1));
      for (const { body } of answers) {
        const content = (await get(`a?version=${body.version}`)).text;
        assert.equal(sha256(content), body.sha256);
      }
      const created = (await server.events(id)).filter(({ type }) => type === 'artifact_created');
      assert.deepEqual(created.map(({ data }) => data.version), numbers);
    });

    it('that are uploaded slowly arrive, that stall or break off leave nothing', async () => {
      const slow = await RawClient.connect(server);
      slow.sendRequest(`PUT ${base}/slow`, ['Content-Length: 8']);
      const begin = Date.now();
      for (let n = 0; n < 8; n += 1) {
        await until(() => Date.now() >= begin + n * 250, 5_000, 'a quarter of the timeout');
        slow.send('x');
      }
      assert.equal((await slow.response()).status, 201);
      slow.destroy();

      const stalled = await RawClient.connect(server);
      stalled.sendRequest(`PUT ${base}/stalled`, ['Content-Length: 100'], 'some');
      await settled(2);
      assert.equal((await stalled.response()).status, 408);
      await settled(1);
      stalled.destroy();

      const broken = await RawClient.connect(server);
      broken.sendRequest(`PUT ${base}/broken`, ['Transfer-Encoding: chunked'], '4\r\nsome\r\n');
      await settled(2);
      broken.destroy();
      await settled(1);
      assert.deepEqual((await server.ok('GET', base)).artifacts.map((one) => one.path), ['slow']);
    });

    it('that are refused by their head need not be sent', async () => {
      const client = await RawClient.connect(server);
      client.sendRequest(`PUT ${base}/../x`, ['Content-Length: 9', 'Expect: 100-continue']);
      const refused = await client.response();
      assert.equal(refused.status, 400);
      assert.equal(refused.headers.connection, 'close');
      const wanted = await RawClient.connect(server);
      wanted.sendRequest(`PUT ${base}/x`, ['Content-Length: 9', 'Expect: 100-continue']);
      assert.equal((await wanted.response()).status, 100);
      wanted.send('123456789');
      assert.equal((await wanted.response()).status, 201);
      client.destroy();
      wanted.destroy();
    });

    it('are put, got and listed from the command line', async () => {
      const directory = temporaryDirectory();
      const file = join(directory, 'in');
      writeFileSync(file, Buffer.alloc(3 * MiB, 'cli'));
      const cli = (...args) => run(['artifacts', ...args, '--server', server.url], {});
      const made = await cli('put', id, 'workspace/a b', file, '--kind', 'code');
      assert.deepEqual([made.code, made.stdout],
        [0, `workspace/a b version 1, ${3 * MiB} bytes\n`], made.stderr);
      const piped = await run(['artifacts', 'put', id, 'workspace/a b', '--server', server.url,
        '--type', 'text/plain', '--json'], { input: 'from standard input' });
      assert.equal(JSON.parse(piped.stdout).version, 2, piped.stderr);
      const output = join(directory, 'out');
      assert.equal((await cli('get', id, 'workspace/a b', '--version', '1', '-o', output)).code, 0);
      assert.deepEqual(readFileSync(output), readFileSync(file));
      assert.equal((await cli('get', id, 'workspace/a b')).stdout, 'from standard input');
      assert.equal((await cli('get', id, 'none', '-o', join(directory, 'no'))).code, 3);
      assert.deepEqual(readdirSync(directory).sort(), ['in', 'out']);
      const listed = await cli('list', id, '--versions');
      assert.match(listed.stdout, /workspace\/a b +1 +code +3\.0 MiB/);
      const refused = await cli('put', id, '../x', file);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /bad_path/);
      removeDirectory(directory);
    });

    it('are in the metrics', async () => {
      await put('a', 'x');
      const page = (await server.call('GET', '/metrics')).text;
      assert.match(page, /^reprise_artifact_uploads_total [1-9]/m);
      assert.match(page, /^reprise_artifact_transfers 0$/m);
    });
  });

  it('of a GiB go in and out through a server that stays under 100 MiB', async () => {
    server = await startServer();
    try {
      await fresh();
      const piece = Buffer.alloc(MiB);
      for (let at = 0; at < piece.length; at += 1) piece[at] = (at * 31) % 251;
      const count = 1024;
      const hash = createHash('sha256');
      const made = await within(new Promise((resolve, reject) => {
        const sent = http.request(`${server.url}${base}/workspace/large`, { method: 'PUT' }, (res) => {
          let body = '';
          res.on('data', (chunk) => { body += chunk; });
          res.on('end', () => resolve({ status: res.statusCode, body: JSON.parse(body) }));
        });
        sent.on('error', reject);
        let pieces = 0;
        const more = () => {
          while (pieces < count) {
            pieces += 1;
            hash.update(piece);
            if (!sent.write(piece)) return sent.once('drain', more);
          }
          return sent.end();
        };
        more();
      }), 60_000, 'a GiB up');
      const digest = hash.digest('hex');
      assert.equal(made.status, 201);
      assert.equal(made.body.size, count * MiB);
      assert.equal(made.body.sha256, digest);
      const got = await within(new Promise((resolve, reject) => {
        const received = createHash('sha256');
        http.get(`${server.url}${base}/workspace/large`, (res) => {
          res.on('data', (chunk) => received.update(chunk));
          res.on('error', reject);
          res.on('end', () => resolve(received.digest('hex')));
        }).on('error', reject);
      }), 60_000, 'a GiB down');
      assert.equal(got, digest);
      const peak = memoryOf(server);
      console.log(`VmHWM ${(peak / MiB).toFixed(1)} MiB`);
      assert.ok(peak < 100 * MiB, `${peak} bytes`);
      await server.ok('DELETE', `${base}/workspace/large`, undefined, {}, 204);
      await settled(0);
    } finally {
      await server.dispose();
    }
  });

  it('survive kill -9 whole or not at all, and nothing is left of the others', async () => {
    const random = randomFrom(seedFor());
    server = await startServer();
    try {
      await fresh();
      const acknowledged = new Map();
      for (let round = 0; round < 4; round += 1) {
        const uploads = Array.from({ length: 8 }, (_, n) => {
          const path = `workspace/${round}-${n}`;
          const content = Buffer.alloc(1 + random.below(2 * MiB), `${path} `);
          return put(path, content).then((answer) => {
            if (answer.status === 201) acknowledged.set(path, sha256(content));
          }, () => {});
        });
        // Uploads that are in their middle when it happens.
        const halves = await Promise.all([0, 1].map(() => RawClient.connect(server)));
        halves.forEach((client, n) => client.sendRequest(`PUT ${base}/tmp/half-${n}`,
          [`Content-Length: ${MiB}`], Buffer.alloc(random.below(MiB))));
        await until(() => acknowledged.size >= round * 8 + random.below(8), 10_000, 'some uploads');
        await server.restart({ how: 'kill' });
        await Promise.all(uploads);
        halves.forEach((client) => client.destroy());
        const { artifacts } = await server.ok('GET', `${base}?limit=500`);
        const stored = new Map(artifacts.map((one) => [one.path, one]));
        for (const [path, hash] of acknowledged) assert.equal(stored.get(path)?.sha256, hash, path);
        for (const { path, sha256: hash, size } of artifacts) {
          assert.ok(!path.startsWith('tmp/half'), path);
          const content = await within(new Promise((resolve, reject) => {
            http.get(`${server.url}${base}/${path}`, (res) => {
              const received = createHash('sha256');
              res.on('data', (chunk) => received.update(chunk));
              res.on('end', () => resolve(received.digest('hex')));
            }).on('error', reject);
          }), 10_000, path);
          assert.equal(content, hash, path);
          assert.ok(size > 0);
        }
        // What was not acknowledged but stored counts from now on.
        for (const { path, sha256: hash } of artifacts) acknowledged.set(path, hash);
        const expected = new Set(artifacts.map((one) => one.sha256));
        await until(() => {
          const names = filesOf(server).map((name) => name.slice(name.indexOf('/') + 1));
          return names.length === expected.size && names.every((name) => expected.has(name));
        }, 10_000, 'no file but those of the artifacts');
      }
      await server.ok('DELETE', `/v1/sessions/${id}`, undefined, {}, 204);
      await server.restart({ how: 'kill' });
      await settled(0);
    } finally {
      await server.dispose();
    }
  });

  it('are finished by a stop that waits for them', async () => {
    server = await startServer();
    try {
      await fresh();
      const client = await RawClient.connect(server);
      client.sendRequest(`PUT ${base}/a`, ['Content-Length: 4', 'Expect: 100-continue']);
      assert.equal((await client.response()).status, 100);
      const stopped = server.stop();
      client.send('done');
      assert.equal((await client.response()).status, 201);
      await stopped;
      client.destroy();
      await server.start();
      assert.equal((await get('a')).text, 'done');
    } finally {
      await server.dispose();
    }
  });

  it('that do not fit on the disk are refused, leave nothing, and fit again later', async () => {
    const disk = temporaryDirectory('reprise-disk-');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', disk]);
    const unmount = () => execFileSync('umount', ['-l', disk]);
    process.once('exit', unmount);
    server = await startServer({ data: join(disk, 'data') });
    try {
      await fresh();
      const refused = await within(new Promise((resolve, reject) => {
        const sent = http.request(`${server.url}${base}/large`, { method: 'PUT' }, (res) => {
          let body = '';
          res.on('data', (chunk) => { body += chunk; });
          res.on('end', () => resolve({ status: res.statusCode, body: JSON.parse(body) }));
        });
        // The server has answered and reads no further.
        sent.on('error', (error) => (error.code === 'EPIPE' ? undefined : reject(error)));
        const piece = Buffer.alloc(MiB);
        const more = () => {
          for (let n = 0; n < 16; n += 1) if (!sent.write(piece)) return sent.once('drain', more);
          return setImmediate(more);
        };
        more();
        sent.on('close', () => sent.off('drain', more));
      }), 30_000, 'a refusal');
      assert.equal(refused.status, 503);
      assert.equal(refused.body.code, 'no_space');
      await settled(0);
      // The store may have felt it too, and looks from time to time whether there is room again.
      await until(async () => (await put('small', 'fits')).status === 201, 10_000, 'room again');
      assert.equal((await get('small')).text, 'fits');
    } finally {
      await server.stop();
      process.off('exit', unmount);
      unmount();
      removeDirectory(disk);
    }
  });
});
