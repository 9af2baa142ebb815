// A headless Chromium for the tests of the page script, driven over its pipe: no port, no dependency, and it ends with
// the test process (a closed pipe ends the browser).
//
//     const browser = await startChromium();
//     const page = await browser.newPage();       // one target, attached, with our script's world on demand
//     await page.open(url);
//     const world = await page.world();           // the api object in an isolated world of the main frame
//     await world.call('snapshot', { prefix: '' });
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pageScript } from './script.mjs';

const programs = ['/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium-headless-shell'];
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe', '--no-first-run',
  '--disable-extensions', '--disable-background-networking', '--disable-component-update', '--mute-audio',
  '--hide-scrollbars', '--window-size=1280,800', '--site-per-process', '--host-resolver-rules=MAP *.test 127.0.0.1'];

export async function startChromium() {
  const program = programs.find(existsSync);
  if (!program) throw new Error('chromium-headless-shell is not installed: ./test installs it');
  const profile = mkdtempSync(path.join(tmpdir(), 'page-script-'));
  const child = spawn(program, [...flags, `--user-data-dir=${profile}`, 'about:blank'],
                      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const connection = new Connection(child.stdio[3], child.stdio[4]);
  ended.then(() => connection.fail(new Error('the browser ended')));
  return {
    connection,
    async newPage() {
      const { targetId } = await connection.send('Target.createTarget', { url: 'about:blank' });
      const { sessionId } = await connection.send('Target.attachToTarget', { targetId, flatten: true });
      const page = new Page(connection, sessionId, targetId);
      await page.start();
      return page;
    },
    async close() {
      connection.send('Browser.close').catch(() => {});
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}

// The DevTools protocol over two pipes: JSON messages that end with a NUL.
class Connection {
  #input;
  #pending = new Map();
  #listeners = new Set();
  #lastId = 0;

  constructor(input, output) {
    this.#input = input;
    input.on('error', () => {});
    let rest = [];
    output.on('data', (chunk) => {
      for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0)) {
        this.#take(JSON.parse(Buffer.concat([...rest, chunk.subarray(0, end)]).toString('utf8')));
        rest = [];
        chunk = chunk.subarray(end + 1);
      }
      if (chunk.length > 0) rest.push(chunk);
    });
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, method });
      this.#input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  // Calls `take(method, params, sessionId)` for every event, until the function that is returned is called.
  listen(take) {
    this.#listeners.add(take);
    return () => this.#listeners.delete(take);
  }

  fail(error) {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #take(message) {
    if (message.id === undefined) {
      for (const take of this.#listeners) take(message.method, message.params, message.sessionId);
      return;
    }
    const call = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (!call) return;
    if (message.error) call.reject(new Error(`${call.method}: ${message.error.message}`));
    else call.resolve(message.result);
  }
}

class Page {
  constructor(connection, sessionId, targetId) {
    this.connection = connection;
    this.sessionId = sessionId;
    this.targetId = targetId;
    this.children = new Map();  // frame id -> the session of a frame in another process
  }

  async start() {
    this.connection.listen((method, params, sessionId) => {
      if (sessionId !== this.sessionId) return;
      if (method === 'Target.attachedToTarget') this.children.set(params.targetInfo.targetId, params.sessionId);
      if (method === 'Inspector.targetCrashed') this.connection.fail(new Error('the page crashed'));
    });
    await this.send('Inspector.enable');
    await this.send('Page.enable');
    await this.send('Page.setLifecycleEventsEnabled', { enabled: true });
    await this.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
  }

  send(method, params, sessionId = this.sessionId) {
    return this.connection.send(method, params, sessionId);
  }

  // Resolves when the document and all it loads is there.
  async open(url) {
    let stop;
    const loaded = new Promise((resolve) => {
      const seen = new Set();
      let wanted;
      stop = this.connection.listen((method, params, sessionId) => {
        if (sessionId !== this.sessionId || method !== 'Page.lifecycleEvent' || params.name !== 'load') return;
        seen.add(params.loaderId);
        if (seen.has(wanted)) resolve();
      });
      this.expect = (loaderId) => {
        wanted = loaderId;
        if (seen.has(wanted)) resolve();
      };
    });
    const { loaderId, errorText, frameId } = await this.send('Page.navigate', { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    this.expect(loaderId);
    await loaded;
    stop();
    this.frameId = frameId;
  }

  // Runs an expression in the page's own world, as its scripts do.
  async evaluate(expression, sessionId = this.sessionId) {
    return valueOf(await this.send('Runtime.evaluate', {
      expression, returnByValue: true, awaitPromise: true, userGesture: false,
    }, sessionId));
  }

  // The api of our script, in a world of its own of the given frame.
  async world(frameId = this.frameId, sessionId = this.sessionId) {
    const { executionContextId } = await this.send('Page.createIsolatedWorld',
                                                   { frameId, worldName: 'reprise' }, sessionId);
    const answer = await this.send('Runtime.evaluate',
                                   { expression: pageScript, contextId: executionContextId }, sessionId);
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception.description);
    return new World(this, sessionId, executionContextId, answer.result.objectId);
  }

  close() {
    return this.connection.send('Target.closeTarget', { targetId: this.targetId });
  }
}

// One evaluated script. An element is handed about as {objectId}.
export class World {
  constructor(page, sessionId, contextId, apiId) {
    this.page = page;
    this.sessionId = sessionId;
    this.contextId = contextId;
    this.apiId = apiId;
  }

  // api[name](...args) by value; fails with the message the page's error had.
  async call(name, ...args) {
    return valueOf(await this.#call(name, args, true));
  }

  // The same for what returns an element: its {objectId}.
  async element(name, ...args) {
    const answer = await this.#call(name, args, false);
    if (answer.exceptionDetails) throw errorOf(answer);
    return { objectId: answer.result.objectId };
  }

  resolve(target) {
    return this.element('resolve', target);
  }

  // An expression in this world, with `api` in reach.
  async evaluate(expression) {
    return valueOf(await this.page.send('Runtime.callFunctionOn', {
      objectId: this.apiId, returnByValue: true, awaitPromise: true,
      functionDeclaration: `async function () { const api = this; return (${expression}); }`,
    }, this.sessionId));
  }

  #call(name, args, returnByValue) {
    return this.page.send('Runtime.callFunctionOn', {
      objectId: this.apiId, returnByValue, awaitPromise: true,
      functionDeclaration: `function (...args) { return this.${name}(...args); }`,
      arguments: args.map((arg) => (arg?.objectId ? { objectId: arg.objectId } : { value: arg })),
    }, this.sessionId);
  }
}

function valueOf(answer) {
  if (answer.exceptionDetails) throw errorOf(answer);
  return answer.result.value;
}

function errorOf({ exceptionDetails: { exception, text } }) {
  const description = exception?.description ?? String(exception?.value ?? text);
  return new Error(description.split('\n    at ')[0].replace(/^Error: /, ''));
}
