// The black-box harness: starts the real binary on port 0 with a temporary data directory and talks
// to it as a stranger would. It knows the public contract and nothing of the source.
//
//     const server = await startServer();
//     const session = await server.create({ app: 'demo', name: 'one' });
//     const stream = await server.stream(`/v1/sessions/${session.id}/events/stream`);
//     await stream.waitFor((frame) => frame.event === 'replayComplete');
//     await server.dispose();   // SIGTERM, expects exit 0, removes the directory
//
// Nothing here sleeps: every wait is for a condition and has a deadline.
// REPRISE_BINARY names another binary, REPRISE_TEST_SLOWNESS (1) stretches every deadline.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { within } from './conditions.mjs';
import { EventStream } from './sse.mjs';

export * from './conditions.mjs';
export { EventStream };

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const BINARY = resolve(process.env.REPRISE_BINARY ?? join(root, 'build/release/reprise'));
export const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

// What must be gone when the test process ends, however it ends.
const children = new Set();
const directories = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const directory of directories) removeDirectory(directory);
});

export function temporaryDirectory(prefix = 'reprise-e2e-') {
  const directory = mkdtempSync(join(tmpdir(), prefix));
  directories.add(directory);
  return directory;
}

// Where a server may keep its browsers' files: they run as another user, who must be able to pass through.
export function browserDirectory() {
  const directory = temporaryDirectory('reprise-browsers-');
  chmodSync(directory, 0o711);
  return `${directory}/run`;
}

export function removeDirectory(directory) {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  rmSync(`${directory}.state-key`, { force: true });  // which a server makes beside its data
  directories.delete(directory);
}

let counter = 0;
// A name no other test of this run uses.
export function unique(prefix) {
  counter += 1;
  return `${prefix}-${process.pid}-${counter}`;
}

// One request, one answer: {status, headers, text, body}; `body` is the parsed JSON if it is JSON.
// A body that is not a string or Buffer is sent as JSON.
export function request(base, method, path, options = {}) {
  const { body, agent, deadline = 20_000, tls = {} } = options;
  const headers = { ...options.headers };
  let bytes = body;
  if (body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body)) {
    bytes = JSON.stringify(body);
  }
  const named = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (bytes !== undefined && !named.has('content-type')) {
    headers['Content-Type'] = 'application/json';
  }
  const transport = base.startsWith('https:') ? https : http;
  let sent;
  const answer = new Promise((resolveAnswer, reject) => {
    const { hostname, port } = new URL(base);
    sent = transport.request({ hostname, port, path, method, headers, agent, ...tls }, (res) => {
      const chunks = [];
      res.on('data', (chunk) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        if (!res.complete) return reject(new Error(`${method} ${path}: the answer was cut short`));
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = /[/+]json/.test(res.headers['content-type'] ?? '');
        const parsed = isJson && text !== '' ? JSON.parse(text) : undefined;
        resolveAnswer({ status: res.statusCode, headers: res.headers, text, body: parsed });
      });
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
  return within(answer, deadline, `${method} ${path}`).catch((error) => {
    sent.destroy();
    throw error;
  });
}

// Every error of the server is an RFC 9457 problem document with these members.
export function assertProblem(answer, status, code) {
  const shown = `${answer.status} ${answer.text.slice(0, 400)}`;
  const allowed = Array.isArray(status) ? status : [status];
  assert.ok(allowed.includes(answer.status), `expected ${allowed}, got ${shown}`);
  assert.match(answer.headers['content-type'] ?? '', /^application\/problem\+json/, shown);
  const problem = answer.body;
  for (const member of ['type', 'title', 'code', 'detail', 'instance']) {
    assert.equal(typeof problem[member], 'string', `${member} is missing in ${shown}`);
  }
  assert.equal(problem.status, answer.status, shown);
  assert.equal(typeof problem.retryable, 'boolean', shown);
  assert.match(problem.code, /^[a-z][a-z0-9_]*$/, shown);
  if (code !== undefined) assert.equal(problem.code, code, shown);
  return problem;
}

export class Server {
  constructor(options) {
    this.options = options;
    this.data = options.data ?? temporaryDirectory();
    this.stdout = '';
    this.stderr = '';
  }

  async start({ listen = this.options.listen ?? '127.0.0.1:0', deadline = 20_000 } = {}) {
    assert.ok(!this.running, 'the server runs already');
    const args = ['serve', '--listen', listen, '--data', this.data, ...(this.options.args ?? [])];
    const child = spawn(BINARY, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...this.options.env },
    });
    this.child = child;
    this.stdout = '';
    children.add(child);
    this.running = true;
    this.exited = new Promise((resolveExit) => {
      const over = (code, signal) => {
        this.running = false;
        children.delete(child);
        resolveExit({ code, signal });
      };
      child.once('error', (error) => {
        this.stderr += String(error);
        over(127, null);
      });
      child.once('exit', over);
    });
    child.stderr.on('data', (chunk) => {
      this.stderr = (this.stderr + chunk).slice(-1_000_000);
    });
    const ready = new Promise((resolveReady, reject) => {
      child.stdout.on('data', (chunk) => {
        this.stdout += chunk;
        const line = /^listening on (https?:\/\/(\S+):(\d+))$/m.exec(this.stdout);
        if (line && this.stdout.includes('\n', line.index)) resolveReady(line);
      });
      this.exited.then(({ code, signal }) => {
        const end = this.stderr.slice(-2000);
        reject(new Error(`${BINARY} ended with ${code ?? signal} before it listened: ${end}`));
      });
    });
    const [, url, host, port] = await within(ready, deadline, 'the line "listening on"');
    const reachable = host === '0.0.0.0' ? '127.0.0.1' : host;
    this.url = url.replace(host, reachable);
    this.host = reachable;
    this.port = Number(port);
    this.agent?.destroy();
    const transport = url.startsWith('https:') ? https : http;
    this.agent = new transport.Agent({ keepAlive: true, maxSockets: 256 });
    return this;
  }

  // SIGTERM (or another signal): the server must drain and exit 0.
  async stop({ signal = 'SIGTERM', deadline = 10_000 } = {}) {
    if (!this.running) return;
    this.child.kill(signal);
    const { code, signal: by } = await within(this.exited, deadline, `exit after ${signal}`)
      .catch((error) => {
        this.child.kill('SIGKILL');
        throw error;
      });
    this.agent.destroy();
    assert.equal(code, 0, `exit after ${signal}: ${code ?? by}; ${this.stderr.slice(-2000)}`);
  }

  async kill() {
    this.child.kill('SIGKILL');
    await within(this.exited, 10_000, 'exit after SIGKILL');
    this.agent?.destroy();
  }

  async restart({ how = 'stop', samePort = false } = {}) {
    await this[how]();
    const listen = samePort ? `${this.host}:${this.port}` : undefined;
    return this.start({ listen });
  }

  async dispose() {
    try {
      await this.stop();
    } finally {
      if (this.options.data === undefined) removeDirectory(this.data);
    }
  }

  call(method, path, body, headers, options = {}) {
    const all = { ...this.options.headers, ...headers };
    const { tls } = this.options;
    return request(this.url, method, path, {
      body, headers: all, agent: this.agent, tls, ...options,
    });
  }

  // A call that must succeed (with this status, if one is given); gives the parsed body.
  async ok(method, path, body, headers, status) {
    const answer = await this.call(method, path, body, headers);
    const shown = `${method} ${path}: ${answer.status} ${answer.text.slice(0, 400)}`;
    if (status !== undefined) assert.equal(answer.status, status, shown);
    assert.ok(answer.status >= 200 && answer.status < 300, shown);
    return answer.body;
  }

  // A call that must fail with a problem document; gives the problem.
  async refused(status, code, method, path, body, headers) {
    return assertProblem(await this.call(method, path, body, headers), status, code);
  }

  create(body = {}) { return this.ok('POST', '/v1/sessions', body, {}, 201); }
  get(session) { return this.ok('GET', `/v1/sessions/${session}`, undefined, {}, 200); }

  // Appends one event, or several when given an array; gives {firstSeq, lastSeq}.
  append(session, events, headers) {
    const body = Array.isArray(events) ? { events } : events;
    return this.ok('POST', `/v1/sessions/${session}/events`, body, headers, 201);
  }

  // All stored events a reader may see, page by page.
  async events(session, after = 0) {
    const all = [];
    for (;;) {
      const path = `/v1/sessions/${session}/events?after=${after}&limit=500`;
      const page = await this.ok('GET', path, undefined, {}, 200);
      all.push(...page.events);
      if (!page.hasMore) return all;
      assert.ok(page.nextAfter > after, 'a page with hasMore must move on');
      after = page.nextAfter;
    }
  }

  // All rows of a list, page by page.
  async list(query = '') {
    const rows = [];
    let cursor = '';
    for (;;) {
      const path = `/v1/sessions?limit=500&${query}${cursor}`;
      const page = await this.ok('GET', path, undefined, {}, 200);
      rows.push(...page.sessions);
      if (!page.nextCursor) return rows;
      cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
    }
  }

  stream(path, headers) {
    const { tls } = this.options;
    return EventStream.open(this.url, path, {
      headers: { ...this.options.headers, ...headers }, tls,
    });
  }

  reader(session, query = '', headers) {
    return this.stream(`/v1/sessions/${session}/events/stream${query}`, headers);
  }

  monitor(query = '', headers) { return this.stream(`/v1/sessions${query}`, headers); }

  async assertAlive(pid = this.child.pid) {
    assert.ok(this.running, `the server died: ${this.stderr.slice(-2000)}`);
    assert.equal(this.child.pid, pid);
    await this.ok('GET', '/healthz', undefined, {}, 200);
  }
}

// options: args (further flags), data, listen, env, headers (sent with every call), tls (of the
// client)
export function startServer(options = {}) {
  return new Server(options).start();
}

// Runs the binary to its end: {code, stdout, stderr}.
export async function run(args, { input, env, deadline = 20_000 } = {}) {
  const child = spawn(BINARY, args, { env: { ...process.env, ...env } });
  children.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => { stdout += chunk; });
  child.stderr.on('data', (chunk) => { stderr += chunk; });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const over = new Promise((resolveExit, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolveExit({ code, signal, stdout, stderr }));
  });
  try {
    return await within(over, deadline, `reprise ${args.join(' ')}`);
  } finally {
    child.kill('SIGKILL');
    children.delete(child);
  }
}

// A long-running command whose standard output is lines of JSON: `lines` grows as they come.
export function follow(args) {
  const child = spawn(BINARY, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  const following = { child, lines: [], stderr: '' };
  let rest = '';
  child.stdout.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line !== '') following.lines.push(JSON.parse(line));
  });
  child.stderr.on('data', (chunk) => { following.stderr += chunk; });
  following.exited = new Promise((resolveExit) => {
    child.once('exit', (code, signal) => {
      children.delete(child);
      resolveExit({ code, signal });
    });
  });
  return following;
}
