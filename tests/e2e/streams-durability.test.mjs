// Durable Streams and the end of the process: kill -9 under idempotent producers, the graceful stop under live
// readers, and what time to live and forks are after a restart.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Server, assertProblem, randomFrom, seedFor, startServer, unique, until, within,
} from './harness.mjs';

const plain = { 'Content-Type': 'text/plain' };
const json = { 'Content-Type': 'application/json' };

// Every message of a JSON stream, chunk by chunk.
async function messages(server, path) {
  const all = [];
  for (let offset = '-1'; ;) {
    const answer = await server.call('GET', `${path}?offset=${offset}`);
    assert.equal(answer.status, 200, answer.text);
    all.push(...answer.body);
    if (answer.headers['stream-up-to-date'] === 'true') return all;
    assert.notEqual(answer.headers['stream-next-offset'], offset, 'a chunk must move on');
    offset = answer.headers['stream-next-offset'];
  }
}

// A producer of one stream, which sends what was not answered again with the same number.
class Producer {
  constructor(server, path, id, random) {
    Object.assign(this, { server, path, id, random });
    this.epoch = 0;
    this.seq = 0;          // of the next append
    this.sent = [];        // [epoch, seq], acknowledged
    this.retried = 0;
    this.duplicates = 0;
    this.unanswered = undefined;
  }

  async send(isRunning) {
    const body = this.unanswered ?? Array.from({ length: 1 + this.random.below(3) },
      (_, part) => ({ id: this.id, epoch: this.epoch, seq: this.seq, part, fill: 'x'.repeat(this.random.below(300)) }));
    if (this.unanswered) this.retried += 1;
    this.unanswered = body;
    const answer = await this.server.call('POST', this.path, body, {
      ...json, 'Producer-Id': this.id, 'Producer-Epoch': String(this.epoch), 'Producer-Seq': String(this.seq),
    }).catch(() => undefined);
    if (!answer) return isRunning.stop();
    assert.ok([200, 204].includes(answer.status), `${this.id} ${this.seq}: ${answer.status} ${answer.text}`);
    if (answer.status === 204) this.duplicates += 1;
    assert.equal(answer.headers['producer-epoch'], String(this.epoch));
    assert.equal(answer.headers['producer-seq'], String(this.seq));
    this.sent.push({ epoch: this.epoch, seq: this.seq, parts: body.length });
    this.unanswered = undefined;
    this.seq += 1;
    if (this.random.below(40) === 0) { // it starts anew
      this.epoch += 1;
      this.seq = 0;
    }
  }

  async run(isRunning) {
    while (isRunning.value) await this.send(isRunning);
  }
}

describe('streams and kill -9', () => {
  it('have every acknowledged append once and in order, whoever sends again', async (test) => {
    const random = randomFrom(seedFor('REPRISE_STREAMS_SEED'));
    const server = await new Server({}).start();
    const paths = Array.from({ length: 3 }, () => `/v1/stream/${unique('kill')}`);
    for (const path of paths) await server.ok('PUT', path, undefined, json, 201);
    const producers = paths.flatMap((path) => Array.from({ length: 4 },
      () => new Producer(server, path, unique('p'), random)));
    const verify = async () => {
      for (const path of paths) {
        const stored = await messages(server, path);
        for (const producer of producers.filter((one) => one.path === path)) {
          const own = stored.filter((message) => message.id === producer.id)
            .map(({ epoch, seq, part }) => `${epoch}/${seq}/${part}`);
          const expected = producer.sent.flatMap(({ epoch, seq, parts }) =>
            Array.from({ length: parts }, (_, part) => `${epoch}/${seq}/${part}`));
          // What was not answered may be there, whole and last, or not.
          const tail = own.slice(expected.length);
          assert.deepEqual(own.slice(0, expected.length), expected, producer.id);
          if (tail.length > 0) {
            assert.deepEqual(tail, producer.unanswered?.map(({ epoch, seq, part }) => `${epoch}/${seq}/${part}`));
          }
        }
      }
    };
    for (let kill = 0; kill < 8; kill += 1) {
      const isRunning = { value: true, stop() { this.value = false; } };
      const before = producers.map((one) => one.sent.length);
      const running = Promise.all(producers.map((producer) => producer.run(isRunning)));
      running.catch(() => isRunning.stop()); // told at the end of the round
      const wanted = 3 + random.below(12);
      await until(() => !isRunning.value
        || producers.every((one, at) => one.sent.length >= before[at] + wanted), 30_000, 'appends');
      await server.kill();
      isRunning.stop();
      await within(running, 30_000, 'the producers notice');
      await server.start();
      await verify();
    }
    const isRunning = { value: true, stop() { this.value = false; } };
    for (const producer of producers) if (producer.unanswered) await producer.send(isRunning);
    assert.ok(isRunning.value);
    await verify();
    const sum = (name) => producers.reduce((all, one) => all + one[name], 0);
    test.diagnostic(`${producers.reduce((all, one) => all + one.sent.length, 0)} appends, `
      + `${sum('retried')} sent again, ${sum('duplicates')} of them were there`);
    assert.ok(sum('retried') > 0, 'nothing was in flight at any kill');
    await server.dispose();
  });

  it('keep Stream-Seq, closing and the epoch of a producer', async () => {
    const server = await startServer();
    const path = `/v1/stream/${unique('kept')}`;
    await server.ok('PUT', path, undefined, plain, 201);
    await server.ok('POST', path, 'one', plain, 204);
    const open = `${path}-open`;
    await server.ok('PUT', open, undefined, plain, 201);
    await server.ok('POST', open, 'one', { ...plain, 'Stream-Seq': 'b' }, 204);
    const claim = { 'Producer-Id': 'p', 'Producer-Epoch': '3', 'Producer-Seq': '0' };
    await server.ok('POST', path, 'two', { ...plain, ...claim, 'Stream-Closed': 'true' }, 200);
    await server.restart({ how: 'kill' });
    const again = await server.call('POST', path, 'two', { ...plain, ...claim, 'Stream-Closed': 'true' });
    assert.deepEqual([again.status, again.headers['stream-closed']], [204, 'true']);
    const other = await server.call('POST', path, 'three', plain);
    assert.deepEqual([other.status, other.headers['stream-closed']], [409, 'true']);
    assert.equal((await server.call('POST', open, 'x', { ...plain, 'Stream-Seq': 'b' })).status, 409);
    await server.ok('POST', open, 'two', { ...plain, 'Stream-Seq': 'c' }, 204);
    const read = await server.call('GET', path);
    assert.deepEqual([read.text, read.headers['stream-closed']], ['onetwo', 'true']);
    await server.dispose();
  });
});

describe('streams and the graceful stop', () => {
  it('ends long polls and event streams at once and loses nothing acknowledged', async () => {
    const server = await startServer(); // long polls wait 20 s
    const path = `/v1/stream/${unique('drain')}`;
    await server.ok('PUT', path, undefined, json, 201);
    await server.ok('POST', path, [{ n: -1 }], json, 204);
    const quiet = `/v1/stream/${unique('quiet')}`;
    await server.ok('PUT', quiet, undefined, plain, 201);
    const followed = await Promise.all(Array.from({ length: 5 },
      () => server.stream(`${path}?offset=-1&live=sse`)));
    const idle = await server.stream(`${quiet}?offset=-1&live=sse`);
    for (const stream of [...followed, idle]) await stream.waitFor((frame) => frame.event === 'control');
    const polls = Array.from({ length: 5 },
      () => server.call('GET', `${quiet}?offset=now&live=long-poll`));
    const acknowledged = [];
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; ; n += 1) {
        const answer = await server.call('POST', path, [{ writer, n }], json).catch(() => undefined);
        if (answer?.status !== 204) return answer?.status;
        acknowledged.push(`${writer}/${n}`);
      }
    });
    await until(() => acknowledged.length >= 40);
    const start = Date.now();
    await server.stop({ deadline: 8_000 });
    for (const poll of polls) {
      const { status, headers } = await poll;
      assert.equal(status, 204);
      assert.equal(headers['stream-closed'], undefined);
      assert.match(headers['stream-next-offset'], /^\d{16}_\d{16}$/);
    }
    assert.ok(Date.now() - start < 8_000, 'the long polls held up the stop');
    for (const stream of [...followed, idle]) {
      assert.equal((await stream.closed()).clean, true, 'cut off in the middle');
      assert.doesNotMatch(stream.frames.map((frame) => frame.data).join(), /streamClosed/);
    }
    for (const status of await within(Promise.all(writing), 10_000, 'the writers end')) {
      assert.ok(status === undefined || status === 503, `an append was answered ${status}`);
    }
    await server.start();
    const stored = await messages(server, path);
    const names = stored.map(({ writer, n }) => `${writer}/${n}`);
    assert.equal(new Set(names).size, names.length, 'something is there twice');
    for (const name of acknowledged) assert.ok(names.includes(name), `${name} is lost`);
    // Who followed goes on where it was told that it is.
    for (const stream of followed) {
      const offset = stream.frames.findLast((frame) => frame.event === 'control').json.streamNextOffset;
      const before = stream.frames.filter((frame) => frame.event === 'data').flatMap((frame) => frame.json);
      const rest = await server.call('GET', `${path}?offset=${offset}`);
      assert.deepEqual([...before, ...rest.body], stored);
    }
    await server.dispose();
  });
});

describe('streams and time', () => {
  it('are gone after a restart if their time is over, and there if it is not', async () => {
    const server = await startServer();
    const base = `/v1/stream/${unique('time')}`;
    const make = (name, headers) => server.ok('PUT', `${base}-${name}`, 'x', { ...plain, ...headers }, 201);
    await make('short', { 'Stream-TTL': '1' });
    await make('fixed', { 'Stream-Expires-At': new Date(Date.now() + 1_000).toISOString() });
    await make('long', { 'Stream-TTL': '3600' });
    await make('ever', {});
    await server.kill();
    const over = Date.now() + 1_400; // a use that was not written down is granted a tenth
    await until(() => Date.now() > over);
    await server.start();
    for (const name of ['short', 'fixed']) {
      assertProblem(await server.call('GET', `${base}-${name}`), 404, 'stream_not_found');
      assertProblem(await server.call('POST', `${base}-${name}`, 'y', plain), 404);
    }
    for (const name of ['long', 'ever']) assert.equal((await server.call('GET', `${base}-${name}`)).text, 'x');
    // Their names are free, for any configuration.
    const anew = await server.call('PUT', `${base}-short`, '[1]', { ...json, 'Stream-TTL': '60' });
    assert.equal(anew.status, 201);
    assert.deepEqual((await server.call('GET', `${base}-short`)).body, [1]);
    await server.dispose();
  });

  it('go on for who follows them, also over a restart', async () => {
    const server = await startServer();
    const path = `/v1/stream/${unique('followed')}`;
    await server.ok('PUT', path, 'x', { ...plain, 'Stream-TTL': '2' }, 201);
    const stream = await server.stream(`${path}?offset=-1&live=sse`);
    await stream.waitFor((frame) => frame.event === 'control');
    const later = Date.now() + 3_500;
    await until(() => Date.now() > later);
    await server.ok('HEAD', path, undefined, {}, 200);
    stream.close();
    await server.restart({ how: 'stop' });
    await server.ok('GET', path, undefined, {}, 200);
    await until(async () => (await server.call('HEAD', path)).status === 404, 10_000, 'its end');
    await server.dispose();
  });
});

describe('forks', () => {
  it('outlive a restart and the deletion of their sources', async () => {
    const server = await startServer();
    const source = `/v1/stream/${unique('source')}`;
    const fork = `${source}-fork`;
    const second = `${source}-second`;
    await server.ok('PUT', source, '[1,2]', json, 201);
    const { headers } = await server.call('POST', source, '[3]', json);
    await server.ok('PUT', fork, undefined, { 'Stream-Forked-From': source }, 201);
    await server.ok('POST', source, '[4]', json, 204);
    await server.ok('POST', fork, '["a"]', json, 204);
    await server.ok('PUT', second, '["b"]', {
      ...json, 'Stream-Forked-From': fork, 'Stream-Fork-Offset': headers['stream-next-offset'],
    }, 201);
    await server.restart({ how: 'kill' });
    assert.deepEqual(await messages(server, source), [1, 2, 3, 4]);
    assert.deepEqual(await messages(server, fork), [1, 2, 3, 'a']);
    await server.ok('DELETE', source, undefined, {}, 204);
    await server.ok('DELETE', fork, undefined, {}, 204);
    await server.restart({ how: 'kill' });
    for (const path of [source, fork]) {
      assert.equal((await server.call('GET', path)).status, 410);
      assert.equal((await server.call('PUT', path, undefined, json)).status, 409);
    }
    assert.deepEqual(await messages(server, second), [1, 2, 3, 'b']);
    const stream = await server.stream(`${second}?offset=-1&live=sse`);
    await server.ok('POST', second, '["c"]', json, 204);
    const shown = () => stream.frames.filter((frame) => frame.event === 'data').flatMap((frame) => frame.json);
    await stream.when(() => shown().length === 5);
    assert.deepEqual(shown(), [1, 2, 3, 'b', 'c']);
    stream.close();
    await server.ok('DELETE', second, undefined, {}, 204);
    for (const path of [source, fork, second]) assert.equal((await server.call('GET', path)).status, 404);
    await server.ok('PUT', source, undefined, json, 201);
    assert.deepEqual(await messages(server, source), []);
    await server.dispose();
  });
});
