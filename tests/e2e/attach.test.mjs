// reprise attach, at a real terminal: util-linux `script` makes one and passes keys and text on.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, afterEach, before, describe, it } from 'node:test';
import { BINARY, run, startServer, unique, within } from './harness.mjs';

const UP = '\x1b[A';
const DOWN = '\x1b[B';
const ENTER = '\r';

// A command at a terminal of its own: what it shows, and keys for it.
class Terminal {
  #waiters = new Set();
  shown = '';

  constructor(command) {
    this.child = spawn('script', ['-qefc', command, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, TERM: 'xterm', NO_COLOR: '1' },
    });
    const take = (chunk) => {
      this.shown += chunk;
      for (const look of this.#waiters) look();
    };
    this.child.stdout.on('data', take);
    this.child.stderr.on('data', take);
    this.child.stdin.on('error', () => {});
    this.exited = new Promise((resolve) => {
      this.child.once('close', (code) => {
        this.code = code;
        resolve(code);
      });
    });
  }

  // Until the text is shown, after what was shown at `from`.
  sees(text, from = 0) {
    let look;
    const seen = new Promise((resolve) => {
      look = () => { if (this.shown.indexOf(text, from) >= 0) resolve(); };
      this.#waiters.add(look);
      look();
    });
    return within(seen, 10_000, `"${text}" in ${JSON.stringify(this.shown)}`)
      .finally(() => this.#waiters.delete(look));
  }

  type(keys) { this.child.stdin.write(keys); }
  exit() { return within(this.exited, 10_000, `the end; shown is ${JSON.stringify(this.shown)}`); }
}

describe('reprise attach', () => {
  let server;
  const terminals = [];
  before(async () => { server = await startServer({ args: ['--heartbeat-ms', '500'] }); });
  after(() => server.dispose());
  afterEach(() => {
    for (const { child, code } of terminals.splice(0)) if (code === undefined) child.kill('SIGKILL');
  });

  const session = async () => (await server.create({ app: unique('app'), name: 'x', status: 'ACTIVE' })).id;
  const ask = async (id, question) => (
    await server.ok('POST', `/v1/sessions/${id}/interactions`, question, {}, 201)).id;
  const attach = (id, more = '') => {
    const terminal = new Terminal(`stty cols 90 rows 30; '${BINARY}' attach ${id} --server ${server.url}; `
      + `s=$?; stty -a | grep -q ' icanon' && stty -a | grep -q ' echo ' && echo "ordinary again"; exit $s${more}`);
    terminals.push(terminal);
    return terminal;
  };
  const answered = async (id, question) => {
    const view = await server.ok('GET', `/v1/sessions/${id}/interactions/${question}?waitMs=10000`);
    assert.equal(view.state, 'answered');
    return view.response;
  };
  const close = (id) => server.ok('POST', `/v1/sessions/${id}/close`, {});
  const over = async (terminal, id) => {
    await close(id);
    assert.equal(await terminal.exit(), 0, terminal.shown);
    assert.match(terminal.shown, /the session has ended: COMPLETED/);
    assert.match(terminal.shown, /ordinary again/);
  };
  const colours = ['red', 'green', 'blue'].map((name) => ({ id: name, label: `${name} paint` }));

  it('replays, goes live, and asks what was open when it came: one choice by arrow keys', async () => {
    const id = await session();
    await server.append(id, { type: 'message', data: { text: 'before' } });
    const question = await ask(id, { kind: 'waitForChoice', prompt: 'Which colour?', choices: colours });
    const terminal = attach(id);
    await terminal.sees('before');
    await terminal.sees('? Which colour?');
    await terminal.sees('> red paint');
    terminal.type(DOWN + DOWN);
    await terminal.sees('> blue paint');
    terminal.type(UP);
    await terminal.sees('> green paint');
    terminal.type(ENTER);
    assert.deepEqual(await answered(id, question), { selected: ['green'] });
    await server.append(id, { type: 'message', data: { text: 'after' } });
    await terminal.sees('after');
    await over(terminal, id);
  });

  it('takes several choices with the space bar, none of them, and a skip', async () => {
    const id = await session();
    const terminal = attach(id);
    const several = { kind: 'waitForChoice', prompt: 'Which?', choices: colours, selectionMode: 'multiple',
      noneOfTheAboveLabel: 'no paint', skipLabel: 'later' };
    const first = await ask(id, { ...several, prompt: 'First?' });
    await terminal.sees('? First?');
    await terminal.sees('> [ ] red paint');
    terminal.type(` ${DOWN}${DOWN} `);
    await terminal.sees('> [x] blue paint');
    terminal.type(ENTER);
    assert.deepEqual(await answered(id, first), { selected: ['red', 'blue'] });
    const second = await ask(id, { ...several, prompt: 'Second?' });
    await terminal.sees('? Second?');
    terminal.type(UP + UP);
    await terminal.sees('> no paint');
    terminal.type(ENTER);
    assert.deepEqual(await answered(id, second), { selected: [] });
    const third = await ask(id, { ...several, prompt: 'Third?' });
    await terminal.sees('? Third?');
    terminal.type(UP);
    await terminal.sees('> later');
    terminal.type(ENTER);
    assert.deepEqual(await answered(id, third), { skipped: true });
    await over(terminal, id);
  });

  it('takes a line of text, and corrected JSON', async () => {
    const id = await session();
    const terminal = attach(id);
    const name = await ask(id, { kind: 'waitForInput', prompt: 'Your name?' });
    await terminal.sees('? Your name?');
    await terminal.sees('> ');
    terminal.type('Adx\x7fa Łove');
    await terminal.sees('> Ada Łove');
    terminal.type(ENTER);
    assert.deepEqual(await answered(id, name), { input: 'Ada Łove' });
    const count = await ask(id, { kind: 'inputNode', prompt: 'How many?', schema: { type: 'integer', minimum: 3 } });
    await terminal.sees('? How many?');
    await terminal.sees('(the answer is JSON)');
    terminal.type(`x${ENTER}`);
    await terminal.sees('! the answer must be JSON');
    terminal.type(`\x152${ENTER}`); // JSON, but the server refuses it
    await terminal.sees('! invalid');
    terminal.type(`\x157${ENTER}`);
    assert.deepEqual(await answered(id, count), { input: 7 });
    await over(terminal, id);
  });

  it('takes y and n', async () => {
    const id = await session();
    const terminal = attach(id);
    for (const [key, confirmed] of [['y', true], ['n', false]]) {
      const question = await ask(id, { kind: 'confirm', prompt: `Really ${key}?` });
      await terminal.sees(`? Really ${key}?`);
      await terminal.sees('(y/n)', terminal.shown.lastIndexOf(`? Really ${key}?`));
      terminal.type(`q${key}`);
      assert.deepEqual(await answered(id, question), { confirmed });
    }
    await over(terminal, id);
  });

  it('drops a question that was answered elsewhere, and asks the next', async () => {
    const id = await session();
    const question = await ask(id, { kind: 'confirm', prompt: 'First?' });
    const next = await ask(id, { kind: 'confirm', prompt: 'Next?' });
    const terminal = attach(id);
    await terminal.sees('? First?');
    await terminal.sees('(y/n)');
    await server.ok('POST', `/v1/sessions/${id}/interactions/${question}/response`, { confirmed: true });
    await terminal.sees('the question was answered elsewhere');
    await terminal.sees('? Next?');
    terminal.type('n');
    assert.deepEqual(await answered(id, next), { confirmed: false });
    await over(terminal, id);
  });

  it('shows what happens meanwhile above the question', async () => {
    const id = await session();
    const terminal = attach(id);
    const question = await ask(id, { kind: 'waitForInput', prompt: 'Name?' });
    await terminal.sees('? Name?');
    terminal.type('Ada');
    await terminal.sees('> Ada');
    const from = terminal.shown.length;
    await server.append(id, { type: 'log', data: 'meanwhile' });
    await terminal.sees('meanwhile', from);
    await terminal.sees('> Ada', terminal.shown.indexOf('meanwhile', from));
    terminal.type(ENTER);
    assert.deepEqual(await answered(id, question), { input: 'Ada' });
    await over(terminal, id);
  });

  it('puts the terminal back when it is interrupted, and when it is left', async () => {
    for (const [key, code, says] of [['\x03', 130, ''], ['\x04', 0, 'the question stays open']]) {
      const id = await session();
      const question = await ask(id, { kind: 'confirm', prompt: 'Really?' });
      // An interrupt is for the whole foreground: the shell goes on to look at the terminal.
      const terminal = new Terminal(`trap : INT; '${BINARY}' attach ${id} --server ${server.url}; s=$?; `
        + "stty -a | grep -q ' icanon' && stty -a | grep -q ' echo ' && echo 'ordinary again'; exit $s");
      terminals.push(terminal);
      await terminal.sees('(y/n)');
      terminal.type(key);
      await terminal.sees('ordinary again');
      await terminal.sees(says);
      assert.equal(await terminal.exit(), code, terminal.shown);
      const { state } = await server.ok('GET', `/v1/sessions/${id}/interactions/${question}`);
      assert.equal(state, 'pending');
    }
  });

  it('goes on asking after the server was restarted', async () => {
    const own = await startServer();
    try {
      const { id } = await own.create({ app: 'a', name: 'x', status: 'ACTIVE' });
      const terminal = new Terminal(`'${BINARY}' attach ${id} --server ${own.url}`);
      terminals.push(terminal);
      await terminal.sees('session_created');
      await own.restart({ samePort: true });
      const { id: question } = await own.ok('POST', `/v1/sessions/${id}/interactions`, { kind: 'confirm', prompt: 'Still?' });
      await terminal.sees('? Still?');
      await terminal.sees('(y/n)');
      terminal.type('y');
      const view = await own.ok('GET', `/v1/sessions/${id}/interactions/${question}?waitMs=10000`);
      assert.deepEqual(view.response, { confirmed: true });
      await own.ok('POST', `/v1/sessions/${id}/close`, {});
      assert.equal(await terminal.exit(), 0);
    } finally {
      await own.dispose();
    }
  });

  it('without a terminal it says what there is instead', async () => {
    const id = await session();
    const refused = await run(['attach', id, '--server', server.url]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /--lines/);
    const missing = await run(['attach', 'no:such', '--lines', '--server', server.url]);
    assert.equal(missing.code, 3);
  });

  it('takes answers from lines of standard input', async () => {
    const id = await session();
    const first = await ask(id, { kind: 'waitForInput', prompt: 'Name?' });
    const second = await ask(id, { kind: 'waitForChoice', prompt: 'Which?', choices: colours, selectionMode: 'multiple' });
    const third = await ask(id, { kind: 'confirm', prompt: 'Sure?' });
    const attached = run(['attach', id, '--lines', '--server', server.url],
      { input: 'Ada\nmauve\nred, blue paint\ny' });
    assert.deepEqual(await answered(id, first), { input: 'Ada' });
    assert.deepEqual(await answered(id, second), { selected: ['red', 'blue'] });
    assert.deepEqual(await answered(id, third), { confirmed: true });
    await close(id);
    const { code, stdout, stderr } = await attached;
    assert.equal(code, 0);
    assert.match(stderr, /'mauve' is no choice/);
    assert.match(stdout, /input_received/);
  });

  it('with --json it shows events and asks nothing', async () => {
    const id = await session();
    await ask(id, { kind: 'confirm', prompt: 'Really?' });
    await close(id);
    const { code, stdout } = await run(['attach', id, '--json', '--server', server.url]);
    assert.equal(code, 0);
    const types = stdout.trim().split('\n').map((line) => JSON.parse(line).type);
    assert.equal(types[0], 'session_created');
    assert.ok(types.includes('input_required'));
  });
});
