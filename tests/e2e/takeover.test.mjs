// The whole story: a worker is killed in the middle of its work, its session pauses, a second worker takes over from the
// stream alone, asks a person, gets the answer after the server was killed and started again, and finishes; and the
// audit of it all verifies.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run, startServer, unique, until } from './harness.mjs';

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url));

class Worker {
  constructor(server, session, agent, stopInStep) {
    const args = [WORKER, server.url, session, agent, ...(stopInStep ? [String(stopInStep)] : [])];
    this.child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.said = [];
    createInterface({ input: this.child.stdout }).on('line', (line) => this.said.push(JSON.parse(line)));
    this.exited = once(this.child, 'exit');
  }
  hears(what) {
    return until(() => this.said.find((one) => what in one), 30_000, `the worker to say '${what}'`);
  }
  async kill() {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}

let server;
let folder;
const workers = [];
before(async () => {
  server = await startServer();
  folder = await mkdtemp(path.join(tmpdir(), 'reprise-takeover-'));
});
after(async () => {
  for (const worker of workers) if (worker.child.exitCode === null) worker.child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
  await server.dispose();
});

it('a session survives its worker, its server and the wait for a person', async () => {
  const start = (...args) => {
    workers.push(new Worker(server, ...args));
    return workers.at(-1);
  };
  const session = (await server.create({ app: unique('story'), name: 'report', status: 'ACTIVE' })).id;
  const firstAgent = unique('default:first');
  const first = start(session, firstAgent, 3);
  await until(() => first.said.some(({ started }) => started === 3), 30_000, 'the third step');
  assert.deepEqual((await server.get(session)).ownerAgent, firstAgent);
  const stale = (await server.ok('GET', `/v1/agents/${firstAgent}`)).generation;
  await first.kill();

  const paused = await until(async () => {
    const record = await server.get(session);
    return record.status === 'PAUSED' && record;
  }, 20_000, 'the pause after the loss');
  assert.match(JSON.stringify(paused.pauseReason), /workerLost/);
  const late = await server.call('POST', `/v1/sessions/${session}/events`, { type: 'log', data: 'late' },
    { 'Reprise-Lease': String(stale) });
  assert.equal(late.status, 409);
  assert.equal(late.body.code, 'fenced');

  const second = start(session, unique('default:second'));
  const took = await second.hears('took');
  assert.deepEqual(took.done, [1, 2]);
  assert.equal(took.leftOpen, 1);
  const { asked } = await second.hears('asked');
  const waiting = await server.get(session);
  assert.equal(waiting.status, 'PAUSED');
  assert.equal(waiting.pendingInteractions.length, 1);

  await server.restart({ how: 'kill', samePort: true });
  assert.equal((await server.get(session)).pendingInteractions.length, 1);
  await server.ok('POST', `/v1/sessions/${session}/interactions/${asked}/response`, { confirmed: true }, {}, 200);
  const { answer } = await second.hears('answer');
  assert.deepEqual(answer, { confirmed: true });
  await second.hears('finished');
  assert.deepEqual(await second.exited, [0, null]);

  const record = await server.get(session);
  assert.equal(record.status, 'COMPLETED');
  const events = await server.events(session);
  assert.deepEqual(events.filter(({ type }) => type === 'step_done').map(({ data }) => data.step), [1, 2, 3, 4, 5]);
  assert.deepEqual(events.map(({ seq }) => seq), events.map((_, i) => i + 1));
  const { artifacts } = await server.ok('GET', `/v1/sessions/${session}/artifacts`);
  assert.deepEqual(artifacts.map((one) => one.path), [1, 2, 3, 4, 5].map((step) => `workspace/part-${step}.md`));
  assert.ok(!JSON.stringify(events).includes('hunter2'), 'a secret was stored');

  const audit = await server.ok('GET', `/v1/sessions/${session}/audit/verify`);
  assert.equal(audit.valid, true);
  assert.equal(audit.entries, 12, 'six tool calls, started and finished');
  const lines = await run(['audit', 'export', session, '--server', server.url]);
  assert.equal(lines.code, 0);
  const file = path.join(folder, 'audit.jsonl');
  await writeFile(file, lines.stdout);
  assert.equal((await run(['audit', 'verify', '--file', file])).code, 0);
  await writeFile(file, lines.stdout.replace('"cancelled"', '"success"'));
  assert.equal((await run(['audit', 'verify', '--file', file])).code, 1);
});
