// The public client of Durable Streams against the real binary: what it writes is there once and in order, however often
// connections break and the server is killed.
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, describe, it } from 'node:test';
import { DurableStream, IdempotentProducer, stream } from '@durable-streams/client';
import { randomFrom, startServer, unique, until } from '../e2e/harness.mjs';

const SEED = Number(process.env.REPRISE_SEED ?? 20261116);

// A proxy that breaks connections: after a chance number of bytes either way, it resets both sides.
class BreakingProxy {
  constructor(target, random) {
    this.target = target;
    this.random = random;
    this.breaks = 0;
    this.isBreaking = true;
    this.sockets = new Set();
    this.server = net.createServer((client) => this.relay(client));
  }

  async listen() {
    await new Promise((ready) => { this.server.listen(0, '127.0.0.1', ready); });
    return `http://127.0.0.1:${this.server.address().port}`;
  }

  relay(client) {
    const { host, port } = this.target();
    const upstream = net.connect(port, host);
    let budget = this.isBreaking && this.random.below(3) === 0 ? this.random.below(1500) : Infinity;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const [from, to] of [[client, upstream], [upstream, client]]) {
      this.sockets.add(from);
      from.on('close', () => {
        this.sockets.delete(from);
        end();
      });
      from.on('error', end);
      from.on('data', (chunk) => {
        budget -= chunk.length;
        if (budget < 0) {
          this.breaks += 1;
          return end();
        }
        to.write(chunk);
      });
    }
  }

  close() {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

describe('the public client', () => {
  let server;
  let proxy;
  let base;
  before(async () => {
    server = await startServer({ args: ['--long-poll-timeout-ms', '500'] });
    console.log(`seed ${SEED} (set REPRISE_SEED for another)`);
    proxy = new BreakingProxy(() => server, randomFrom(SEED));
    base = await proxy.listen();
  });
  after(async () => {
    proxy.close();
    await server.dispose();
  });

  it('loses and repeats nothing over broken connections and a killed server', async () => {
    const path = `/v1/stream/client/${unique('log')}`;
    const direct = () => `${server.url}${path}`;
    await DurableStream.create({ url: direct(), contentType: 'application/json' });
    const seen = [];
    const reading = new AbortController();
    const reader = (async () => {
      const read = await stream({
        url: `${base}${path}`, offset: '-1', live: 'long-poll', json: true, signal: reading.signal,
        backoffOptions: { initialDelay: 10, maxDelay: 100, multiplier: 2 },
      });
      read.subscribeJson(async (batch) => { seen.push(...batch.items); });
      await read.closed.catch(() => {});
    })();

    // A producer that sends again until it is told that an append is there.
    const total = 200;
    for (let seq = 0; seq < total; seq += 1) {
      for (;;) {
        try {
          const answer = await fetch(`${base}${path}`, {
            method: 'POST',
            headers: {
              'Content-Type': 'application/json',
              'Producer-Id': 'writer', 'Producer-Epoch': '0', 'Producer-Seq': String(seq),
              Connection: 'close',
            },
            body: JSON.stringify({ n: seq }),
          });
          await answer.arrayBuffer();
          assert.ok([200, 204].includes(answer.status), `append ${seq}: ${answer.status}`);
          break;
        } catch (error) {
          if (error.code === 'ERR_ASSERTION') throw error;
        }
      }
      if (seq === 60 || seq === 120) await server.restart({ how: 'kill', samePort: true });
    }
    await until(() => seen.length >= total, 20_000, 'the reader has everything');
    reading.abort();
    await reader;
    assert.deepEqual(seen.map(({ n }) => n), Array.from({ length: total }, (_, n) => n));
    assert.ok(proxy.breaks > 20, `only ${proxy.breaks} connections broke`);
    const stored = await (await fetch(direct())).json();
    assert.equal(stored.length, total);
  });

  it('takes what its own idempotent producer sends, once', async () => {
    const path = `/v1/stream/client/${unique('producer')}`;
    const log = await DurableStream.create({ url: `${server.url}${path}`, contentType: 'application/json' });
    const producer = new IdempotentProducer(log, 'p', { autoClaim: true, maxBatchBytes: 1024, lingerMs: 1 });
    for (let n = 0; n < 500; n += 1) producer.append(JSON.stringify({ n }));
    await producer.flush();
    await producer.close?.();
    const stored = await (await fetch(`${server.url}${path}`)).json();
    assert.deepEqual(stored.map(({ n }) => n), Array.from({ length: 500 }, (_, n) => n));
  });
});
