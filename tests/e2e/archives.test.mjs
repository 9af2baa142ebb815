// Whole sessions as files, through two binaries: out and in byte for byte, what is damaged, what a
// crash leaves, how much memory it takes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream, createWriteStream, existsSync, readFileSync, readdirSync, statSync, writeFileSync,
} from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, it } from 'node:test';
import {
  assertProblem, randomFrom, removeDirectory, run, seedFor, startServer, temporaryDirectory, until, within,
} from './harness.mjs';
import { RawClient } from './raw.mjs';

const MiB = 1024 * 1024;
const TAR = { 'Content-Type': 'application/x-tar' };

function filesOf(server) {
  const root = join(server.data, 'blobs');
  if (!existsSync(root)) return [];
  return readdirSync(root).flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)));
}

const memoryOf = (server) => {
  const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)[1]) * 1024;
};

// The bytes of an export.
function exported(server, session) {
  return within(new Promise((resolve, reject) => {
    http.get(`${server.url}/v1/sessions/${session}/export`, (res) => {
      const chunks = [];
      res.on('data', (chunk) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const bytes = Buffer.concat(chunks);
        if (res.statusCode !== 200) return reject(new Error(`${res.statusCode} ${bytes.subarray(0, 400)}`));
        assert.equal(res.headers['content-type'], 'application/x-tar');
        assert.equal(Number(res.headers['content-length']), bytes.length);
        return resolve(bytes);
      });
    }).on('error', reject);
  }), 30_000, `export of ${session}`);
}

const imported = (server, bytes, query = '') =>
  server.call('POST', `/v1/sessions/import${query}`, bytes, TAR, { deadline: 60_000 });

const metric = async (server, name) => {
  const { text } = await server.call('GET', '/metrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)[1]);
};

// A session in which all happened that can.
async function livelySession(server, name) {
  const { id } = await server.create({
    app: 'shop', name, status: 'ACTIVE', ttlSeconds: 3600, ownerAgent: 'agent-7',
    metadata: { team: 'blue', ratio: 1.5 },
  });
  const base = `/v1/sessions/${id}`;
  const put = (path, body) => server.ok('PUT', `${base}/artifacts/${path}`, body, { 'Content-Type': 'text/plain' });
  const tool = (toolName) => server.ok('POST', `${base}/tool-calls`, { toolName, input: { q: 'x' } });
  await server.append(id, [{ type: 'message', data: { text: 'ä "quoted" \u2028' } }, { type: 'log', data: 1.50 }]);
  const first = await tool('search');
  await server.ok('POST', `${base}/tool-calls/${first.id}/finish`, { status: 'failure', error: 'no' });
  await put('workspace/before.txt', 'before the reset');
  await server.ok('POST', `${base}/reset`, { reason: 'again' });
  await put('workspace/a.txt', 'one\n');
  await put('workspace/a.txt', 'two\n');
  await put('workspace/bin/%C3%BC', 'x'.repeat(100_000));
  await put('workspace/gone', 'gone');
  await server.ok('DELETE', `${base}/artifacts/workspace/gone`);
  await put('tmp/scratch', 'here');
  const answered = await server.ok('POST', `${base}/interactions`, { kind: 'waitForInput', prompt: 'Colour?' });
  await server.ok('POST', `${base}/interactions/${answered.id}/response`, { input: 'blue' });
  const open = await tool('type');
  const question = await server.ok('POST', `${base}/interactions`, { kind: 'confirm', deadlineMs: 3_600_000 });
  await server.append(id, Array.from({ length: 300 }, (_, n) => ({ type: 'message', data: { n } })));
  await server.ok('POST', `${base}/touch`);
  return { id, base, question: question.id, open: open.id };
}

describe('archives', () => {
  let here;
  let there;
  before(async () => {
    here = await startServer();
    there = await startServer({ args: ['--max-import-bytes', String(8 * MiB)] });
  });
  after(async () => {
    await here.dispose();
    await there.dispose();
  });

  it('move a session to another server, which exports the same bytes', async () => {
    const { id, base, question, open } = await livelySession(here, 'moved');
    const bytes = await exported(here, id);
    assert.ok(bytes.equals(await exported(here, 'shop:moved')), 'two exports differ');
    const answer = await imported(there, bytes);
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.headers.location, base);
    assert.equal(answer.body.id, id);
    assert.equal(answer.body.status, 'PAUSED');
    assert.ok(bytes.equals(await exported(there, id)), 'the export after the import differs');
    const both = (path) => Promise.all([here, there].map((server) => server.call('GET', base + path)));
    for (const part of ['/events?limit=500', '/interactions', '/tool-calls', '/audit/verify',
      '/artifacts?versions=true', '/artifacts/workspace/a.txt?version=1', '/artifacts/workspace/a.txt',
      '/artifacts/workspace/bin/%C3%BC', '/artifacts/workspace/before.txt']) {
      const [was, is] = await both(part);
      assert.equal(is.status, 200, part);
      assert.equal(is.text, was.text, part);
    }
    const [was, is] = [await here.get(id), await there.get('shop:moved')];
    for (const name of ['key', 'etag', 'lastSeq', 'messageCount', 'metadata', 'ownerAgent', 'createdAt', 'updatedAt']) {
      assert.deepEqual(is[name], was[name], name);
    }
    // It goes on where it was, also after a restart.
    await there.restart({ how: 'kill' });
    await there.ok('POST', `${base}/interactions/${question}/response`, { confirmed: true });
    await there.ok('POST', `${base}/tool-calls/${open}/finish`, { status: 'success' });
    assert.equal((await there.get(id)).status, 'ACTIVE');
    assert.equal((await there.ok('GET', `${base}/audit/verify`)).valid, true);
    await there.ok('DELETE', base, undefined, {}, 204);
    await until(() => filesOf(there).length === 0, 10_000, 'no files');
  });

  it('are tars that other tools read and verify', async () => {
    const { id } = await livelySession(here, 'foreign');
    const folder = temporaryDirectory();
    try {
      execFileSync('tar', ['xf', '-', '-C', folder], { input: await exported(here, id) });
      execFileSync('sha256sum', ['--quiet', '-c', 'SHA256SUMS'], { cwd: folder });
      const lines = readFileSync(join(folder, 'events-000001.ndjson'), 'utf8').trimEnd().split('\n').map(JSON.parse);
      assert.deepEqual(lines.map((line) => line.seq), lines.map((_, index) => index + 1));
      assert.equal(lines[0].type, 'session_created');
      assert.equal(lines[1].data.text, 'ä "quoted" \u2028', 'what the reset hides is there');
      // Packed by another tool, in the order of the documentation.
      const names = ['reprise.json', 'session.json', 'artifacts-000001.ndjson', 'events-000001.ndjson',
        ...readdirSync(join(folder, 'contents')).sort().map((name) => `contents/${name}`), 'SHA256SUMS'];
      const repacked = execFileSync('tar', ['cf', '-', '-C', folder, ...names], { maxBuffer: 64 * MiB });
      assert.equal((await imported(there, repacked)).status, 201);
      assert.ok((await exported(there, id)).equals(await exported(here, id)));
      await there.ok('DELETE', `/v1/sessions/${id}`, undefined, {}, 204);
    } finally {
      removeDirectory(folder);
    }
  });

  it('do not replace a session, but stand beside it under a new id', async () => {
    const { id } = await livelySession(here, 'copied');
    const bytes = await exported(here, id);
    assertProblem(await imported(here, bytes), 409, 'session_exists');
    assert.equal(assertProblem(await imported(here, bytes, '?newId=true'), 409, 'key_taken').sessionId, id);
    const copy = (await imported(here, bytes, '?newId=true&name=copy')).body;
    assert.notEqual(copy.id, id);
    assert.equal(copy.key, 'shop:copy');
    const verdicts = await Promise.all([id, copy.id].map((one) => here.ok('GET', `/v1/sessions/${one}/audit/verify`)));
    assert.deepEqual(verdicts[1], verdicts[0]);
    assert.equal(verdicts[1].valid, true);
  });

  it('come and go on the command line', async () => {
    const { id } = await livelySession(here, 'line');
    const folder = temporaryDirectory();
    try {
      const file = join(folder, 'one.tar');
      const wrote = await run(['sessions', 'export', 'shop:line', '-o', file, '--server', here.url]);
      assert.equal(wrote.code, 0, wrote.stderr);
      assert.ok(readFileSync(file).equals(await exported(here, id)));
      const read = await run(['sessions', 'import', file, '--server', there.url]);
      assert.equal(read.code, 0, read.stderr);
      assert.match(read.stdout, new RegExp(`^${id} shop:line, PAUSED, \\d+ events\n$`));
      const again = await run(['sessions', 'import', file, '--server', there.url]);
      assert.equal(again.code, 1);
      assert.match(again.stderr, /session_exists/);
      const copy = await run(['sessions', 'import', '-', '--new-id', '--name', 'other', '--json', '--server',
        there.url], { input: readFileSync(file) });
      assert.equal(copy.code, 0, copy.stderr);
      assert.equal(JSON.parse(copy.stdout).key, 'shop:other');
      const nobody = await run(['sessions', 'export', 'nobody', '-o', join(folder, 'no.tar'), '--server', here.url]);
      assert.equal(nobody.code, 3);
      assert.deepEqual(readdirSync(folder), ['one.tar'], 'no half file is left');
      for (const row of await there.list()) await there.ok('DELETE', `/v1/sessions/${row.id}`, undefined, {}, 204);
    } finally {
      removeDirectory(folder);
    }
  });

  it('that are damaged are refused, and leave nothing', async () => {
    const { id } = await livelySession(here, 'damaged');
    const bytes = await exported(here, id);
    const random = randomFrom(seedFor());
    const pid = there.child.pid;
    for (let n = 0; n < 30; n += 1) {
      const cut = bytes.subarray(0, random.below(bytes.length - 1024));
      assertProblem(await imported(there, cut), 422, 'bad_archive');
      const flipped = Buffer.from(bytes);
      // In the text of the events, where every bit counts.
      flipped[bytes.indexOf('{"seq":1,') + random.below(1000)] ^= 1 << random.below(8);
      assertProblem(await imported(there, flipped), 422, 'bad_archive');
    }
    assertProblem(await imported(there, Buffer.alloc(0)), 422, 'bad_archive');
    assertProblem(await imported(there, Buffer.alloc(8 * MiB + 1)), 413, 'body_too_large');
    assertProblem(await there.call('POST', '/v1/sessions/import', bytes, { 'Content-Type': 'application/zip' }), 415);
    assertProblem(await imported(there, bytes, '?newid=true'), 400);
    // A client that goes away in the middle.
    const half = await RawClient.connect(there);
    half.sendRequest('POST /v1/sessions/import', [`Content-Length: ${bytes.length}`],
      bytes.subarray(0, bytes.length / 2));
    await until(async () => await metric(there, 'reprise_archives') === 1, 10_000, 'an import that goes on');
    half.destroy();
    await until(async () => await metric(there, 'reprise_archives') === 0, 10_000, 'no import goes on');
    assert.deepEqual(await there.list(), []);
    await until(() => filesOf(there).length === 0, 10_000, 'no files');
    await there.assertAlive(pid);
  });

  it('are for tokens of the app', async () => {
    const { id } = await livelySession(here, 'guarded');
    const bytes = await exported(here, id);
    const folder = temporaryDirectory();
    const file = join(folder, 'tokens.json');
    const hash = (token) => createHash('sha256').update(token).digest('hex');
    const entry = (name, scopes, app) => ({ name, sha256: hash(`${name}-token`), scopes, apps: [app] });
    writeFileSync(file, JSON.stringify({
      tokens: [entry('reader', ['read'], 'shop'), entry('writer', ['read', 'write'], 'shop'),
        entry('other', ['read', 'write'], 'chat')],
    }));
    const guarded = await startServer({ args: ['--tokens-file', file] });
    try {
      const as = (one) => ({ Authorization: `Bearer ${one}-token` });
      const post = (one) => guarded.call('POST', '/v1/sessions/import', bytes, { ...TAR, ...as(one) });
      assert.equal((await post('reader')).status, 403);
      assert.equal((await post('other')).status, 403);
      assert.equal((await post('writer')).status, 201);
      assert.equal((await guarded.call('GET', `/v1/sessions/${id}/export`, undefined, as('reader'))).status, 200);
      assert.equal((await guarded.call('GET', `/v1/sessions/${id}/export`, undefined, as('other'))).status, 404);
    } finally {
      await guarded.dispose();
      removeDirectory(folder);
    }
  });
});

describe('large archives', () => {
  it('survive kill -9 whole or not at all', async () => {
    const random = randomFrom(seedFor());
    const here = await startServer();
    const there = await startServer();
    try {
      const { id } = await livelySession(here, 'long');
      await here.ok('POST', `/v1/sessions/${id}/status`, { status: 'ACTIVE' }).catch(() => {});
      const text = 'x'.repeat(400);
      for (let n = 0; n < 30; n += 1) {
        await here.append(id, Array.from({ length: 1000 }, (_, k) => ({ type: 'log', data: { n, k, text } })));
      }
      const bytes = await exported(here, id);
      let whole = 0;
      for (let round = 0; round < 12; round += 1) {
        let isOver = false;
        const answer = imported(there, bytes).catch(() => null).finally(() => { isOver = true; });
        // In the upload, in the check or the commits, or just after the answer.
        const moment = round % 3;
        const wanted = moment === 0 ? random.below(bytes.length) : bytes.length;
        await until(async () => isOver || await metric(there, 'reprise_import_bytes_total') >= wanted, 20_000, 'bytes');
        if (moment === 1) {
          for (let turns = random.below(200); turns > 0 && !isOver; turns -= 1) await there.call('GET', '/healthz');
        }
        if (moment === 2) await answer;
        await there.restart({ how: 'kill' });
        const reply = await answer;
        const found = await there.call('GET', `/v1/sessions/${id}`);
        if (reply?.status === 201) assert.equal(found.status, 200, 'it was acknowledged');
        if (found.status === 200) {
          whole += 1;
          assert.ok((await exported(there, id)).equals(bytes), 'it is there, but not whole');
          await there.ok('DELETE', `/v1/sessions/${id}`, undefined, {}, 204);
        } else {
          assertProblem(found, 404, 'session_not_found');
        }
        assert.deepEqual(await there.list(), []);
        await until(() => filesOf(there).length === 0, 10_000, `no files, but ${filesOf(there)}`);
      }
      console.log(`${whole} of 12 were whole`);
      assert.ok(whole >= 4, 'those that were acknowledged');
      assert.equal((await imported(there, bytes)).status, 201);
      assert.ok((await exported(there, id)).equals(bytes));
    } finally {
      await here.dispose();
      await there.dispose();
    }
  });

  it('of 300 MiB take little memory', async () => {
    const here = await startServer();
    const there = await startServer();
    const folder = temporaryDirectory();
    try {
      const { id } = await here.create({ status: 'ACTIVE' });
      const size = 300 * MiB;
      const piece = createHash('sha512').update('seed').digest().toString('hex').repeat(8192);
      const made = await within(new Promise((resolve, reject) => {
        const target = `${here.url}/v1/sessions/${id}/artifacts/workspace/large`;
        const sent = http.request(target, { method: 'PUT' }, (res) => {
          res.resume();
          res.on('end', () => resolve(res.statusCode));
        });
        sent.on('error', reject);
        let left = size;
        const more = () => {
          while (left > 0) {
            const next = piece.slice(0, Math.min(left, piece.length));
            left -= next.length;
            if (!sent.write(next)) return sent.once('drain', more);
          }
          return sent.end();
        };
        more();
      }), 60_000, '300 MiB up');
      assert.equal(made, 201);
      const file = join(folder, 'large.tar');
      const save = (server, to) => within(new Promise((resolve, reject) => {
        http.get(`${server.url}/v1/sessions/${id}/export`, (res) => {
          pipeline(res, createWriteStream(to)).then(resolve, reject);
        }).on('error', reject);
      }), 60_000, 'an export');
      await save(here, file);
      assert.ok(statSync(file).size > size);
      const status = await within(new Promise((resolve, reject) => {
        const headers = { ...TAR, 'Content-Length': statSync(file).size };
        const sent = http.request(`${there.url}/v1/sessions/import`, { method: 'POST', headers }, (res) => {
          res.resume();
          res.on('end', () => resolve(res.statusCode));
        });
        sent.on('error', reject);
        createReadStream(file).pipe(sent);
      }), 60_000, 'an import');
      assert.equal(status, 201);
      const again = join(folder, 'again.tar');
      await save(there, again);
      execFileSync('cmp', [file, again]);
      for (const server of [here, there]) {
        const peak = memoryOf(server);
        console.log(`VmHWM ${(peak / MiB).toFixed(1)} MiB`);
        assert.ok(peak < 100 * MiB, `${peak} bytes`);
      }
    } finally {
      await here.dispose();
      await there.dispose();
      removeDirectory(folder);
    }
  });
});
