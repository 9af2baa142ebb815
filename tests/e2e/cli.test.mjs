// The command line: version, sessions, events, tail, doctor; --json everywhere.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  assertGapFree, follow, removeDirectory, run, startServer, temporaryDirectory, unique, until,
  within,
} from './harness.mjs';

describe('the command line', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  // Runs a command against the server and gives the JSON it prints.
  async function json(...args) {
    const { code, stdout, stderr } = await run([...args, '--json', '--server', server.url]);
    assert.equal(code, 0, `reprise ${args.join(' ')}: ${stderr}`);
    return stdout.trim() === '' ? undefined : JSON.parse(stdout);
  }

  it('says its version', async () => {
    const { code, stdout } = await run(['version', '--json']);
    assert.equal(code, 0);
    assert.match(JSON.parse(stdout).version, /^\d+\.\d+\.\d+/);
    const plain = await run(['version']);
    assert.equal(plain.code, 0);
    assert.match(plain.stdout, /\d+\.\d+\.\d+/);
  });

  it('has help worth reading for every command', async () => {
    for (const args of [[], ['serve'], ['sessions'], ['sessions', 'list'], ['tail'],
      ['events', 'append'], ['audit', 'verify'], ['doctor'], ['version']]) {
      const { code, stdout } = await run([...args, '--help']);
      assert.equal(code, 0, args.join(' '));
      assert.ok(stdout.length > 50, args.join(' '));
    }
    const { stdout } = await run(['serve', '--help']);
    for (const flag of ['--listen', '--data', '--config', '--tokens-file', '--tls-cert',
      '--tls-key', '--cors-origin']) {
      assert.ok(stdout.includes(flag), flag);
    }
  });

  it('fails with a message for what it does not know', async () => {
    for (const args of [['frobnicate'], ['sessions', 'frobnicate'], ['version', '--frob']]) {
      const { code, stderr, stdout } = await run(args);
      assert.notEqual(code, 0, args.join(' '));
      assert.match(stderr + stdout, /\S/);
    }
  });

  it('creates, lists, shows and deletes sessions', async () => {
    const app = unique('cli');
    const made = await json('sessions', 'create', '--app', app, '--name', 'one', '--status',
      'ACTIVE', '--metadata', '{"by":"cli"}');
    assert.equal(made.key, `${app}:one`);
    assert.equal(made.status, 'ACTIVE');
    assert.deepEqual(made.metadata, { by: 'cli' });
    assert.equal((await server.get(`${app}:one`)).id, made.id);

    const listed = await json('sessions', 'list', '--app', app);
    const rows = Array.isArray(listed) ? listed : listed.sessions;
    assert.ok(rows.some((row) => row.id === made.id));

    for (const name of [made.id, made.key]) {
      assert.equal((await json('sessions', 'show', name)).id, made.id);
    }
    await json('sessions', 'delete', made.key);
    assert.equal((await server.call('GET', `/v1/sessions/${made.id}`)).status, 404);
    const { code, stderr } = await run(['sessions', 'show', made.id, '--json',
      '--server', server.url]);
    assert.notEqual(code, 0);
    assert.match(stderr, /session_not_found|no such session/i);
  });

  it('lists as a table for people', async () => {
    const app = unique('cli');
    await server.create({ app, name: 'shown' });
    const { code, stdout } = await run(['sessions', 'list', '--server', server.url]);
    assert.equal(code, 0);
    assert.ok(stdout.includes(`${app}:shown`), stdout);
  });

  it('appends events', async () => {
    const { id, lastSeq } = await server.create({ status: 'ACTIVE' });
    const answer = await json('events', 'append', id, '--type', 'message', '--data', '{"a":[1,2]}');
    assert.equal(answer.firstSeq, lastSeq + 1);
    const [event] = await server.events(id, lastSeq);
    assert.equal(event.type, 'message');
    assert.deepEqual(event.data, { a: [1, 2] });
    const wrong = await run(['events', 'append', id, '--type', 'command', '--data', '{}',
      '--server', server.url]);
    assert.notEqual(wrong.code, 0);
    assert.match(wrong.stderr, /reserved_type|only the server/i);
  });

  it('fails clearly when there is no server', async () => {
    const { code, stderr } = await run(['sessions', 'list', '--server', 'http://127.0.0.1:1']);
    assert.notEqual(code, 0);
    assert.match(stderr, /127\.0\.0\.1:1|refused|connect/i);
  });

  it('tails a session: replay, live, and by itself over a restart', async () => {
    const { id, key } = await server.create({ app: unique('cli'), name: 'tail', status: 'ACTIVE' });
    const log = (n) => server.append(id, { type: 'log', data: { n } });
    await log(1);
    const tail = follow(['tail', key, '--json', '--server', server.url]);
    const seqs = () => tail.lines.flatMap((line) => (line.seq === undefined ? [] : [line.seq]));
    const reaches = (seq) => until(() => seqs().at(-1) === seq, 20_000, `seq ${seq}`)
      .catch((error) => { throw new Error(`${error.message}: ${seqs()}; ${tail.stderr}`); });
    try {
      await reaches((await log(2)).lastSeq);
      await log(3);
      for (const how of ['kill', 'stop']) {
        await server.restart({ how, samePort: true });
        await log(how);
        await reaches((await log(`after ${how}`)).lastSeq);
      }
      assertGapFree(seqs(), 1, (await server.get(id)).lastSeq);
      const stored = await server.events(id);
      assert.deepEqual(tail.lines.filter((line) => line.seq !== undefined), stored);
      await server.ok('POST', `/v1/sessions/${id}/close`);
      const { code } = await within(tail.exited, 10_000, 'tail ends with the session');
      assert.equal(code, 0);
    } finally {
      tail.child.kill('SIGKILL');
      await tail.exited;
    }
  });

  it('makes a token that opens the server whose file has its entry', async () => {
    const { code, stdout } = await run(['token', 'new', '--name', 'ci', '--json']);
    assert.equal(code, 0);
    const { token, entry } = JSON.parse(stdout);
    assert.ok(!JSON.stringify(entry).includes(token), 'the file would hold the secret');
    const directory = temporaryDirectory();
    const file = join(directory, 'tokens.json');
    writeFileSync(file, JSON.stringify({ tokens: [entry] }));
    const other = await startServer({ args: ['--tokens-file', file] });
    try {
      const list = ['sessions', 'list', '--json', '--server', other.url];
      const refused = await run(list);
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, /unauthorized|token/i);
      const allowed = await run([...list, '--token', token]);
      assert.equal(allowed.code, 0, allowed.stderr);
    } finally {
      await other.dispose();
      removeDirectory(directory);
    }
  });

  it('examines a data directory', async () => {
    const other = await startServer();
    try {
      const { id } = await other.create({ status: 'ACTIVE' });
      await other.append(id, { type: 'log', data: { text: 'x'.repeat(100_000) } });
      await other.stop();
      const { code, stdout, stderr } = await run(['doctor', '--json', '--data', other.data]);
      assert.equal(code, 0, stderr);
      const report = JSON.parse(stdout);
      assert.equal(typeof report, 'object');
      assert.ok(Object.keys(report).length > 0);
      const plain = await run(['doctor', '--data', other.data]);
      assert.equal(plain.code, 0, plain.stderr);
      assert.match(plain.stdout, /\S/);
      await other.start();
      assert.equal((await other.get(id)).id, id);
    } finally {
      await other.dispose();
    }
  });

  it('says what is wrong with a data directory that is none', async () => {
    const nowhere = `${server.data}-none`;
    const { code, stdout, stderr } = await run(['doctor', '--json', '--data', nowhere]);
    const report = JSON.parse(stdout);
    assert.ok(code !== 0 || JSON.stringify(report).length > 20, stderr);
  });
});
