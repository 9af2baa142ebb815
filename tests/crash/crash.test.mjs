// kill -9 under load, again and again: nothing acknowledged is lost, nothing is half done.
//
// Writers create sessions by key, append single events and batches (with and without idempotency
// keys), move statuses and delete; readers follow live. At a random moment the server is killed,
// sometimes again while it starts, and started on the same directory. Then everything it ever said
// is compared with what it says now (see ledger.mjs).
//
// Two servers go through it side by side, each with half of the kills.
//
//     node --test tests/crash/                                    # 200 kills, about a minute
//     REPRISE_CRASH_KILLS=1000 node --test tests/crash/           # 1,000 kills, some minutes
//     REPRISE_CRASH_SEED=7 node --test tests/crash/               # the choices of that seed again
//
// REPRISE_CRASH_WRITERS (8) is how many write at once.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import {
  BINARY, Server, randomFrom, seedFor, unique, until, within,
} from '../e2e/harness.mjs';
import { SessionLedger, fillOf, verifyList, verifySession } from './ledger.mjs';

const SERVERS = 2;
const KILLS = Math.ceil(Number(process.env.REPRISE_CRASH_KILLS ?? 200) / SERVERS); // of each
const WRITERS = Number(process.env.REPRISE_CRASH_WRITERS ?? 8);
const MOVES = {
  INITIALIZING: ['ACTIVE', 'PAUSED'],
  ACTIVE: ['PAUSED', 'PAUSED', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED'],
  PAUSED: ['ACTIVE', 'ACTIVE', 'ACTIVE', 'COMPLETED', 'FAILED', 'CANCELLED'],
};
const isLiving = (status) => status in MOVES;

class Load {
  constructor(random) {
    this.random = random;
    this.app = unique('crash');
    this.server = new Server({});
    this.ledgers = [];      // all sessions there ever were
    this.shared = [];       // sessions every writer appends to
    this.isRunning = false;
    this.appends = 0;
    this.payloads = 0;
    this.retried = 0;
    this.shown = 0;
  }

  pick(list) { return list[this.random.below(list.length)]; }

  // A call whose answer may never come: undefined then.
  async attempt(method, path, body, headers) {
    if (!this.isRunning) return undefined;
    const answer = await this.server.call(method, path, body, headers).catch(() => undefined);
    if (answer === undefined) this.isRunning = false; // the server is dead; so is this round
    return answer;
  }

  async create(key) {
    const ledger = new SessionLedger(key);
    const answer = await this.attempt('PUT', `/v1/sessions/${key}`);
    if (!answer) return undefined;
    assert.ok([200, 201].includes(answer.status), `${answer.status} ${answer.text}`);
    ledger.id = answer.body.id;
    const known = this.ledgers.find((other) => other.id === ledger.id);
    if (known) {
      known.round = this.round;
      return known;
    }
    ledger.round = this.round;
    ledger.status = answer.body.status;
    this.ledgers.push(ledger);
    return ledger;
  }

  eventsOf(payload, size, random) {
    return Array.from({ length: size }, (_, i) => ({
      type: random.below(3) === 0 ? 'message' : 'log',
      data: { p: payload, i, fill: fillOf(payload, i) },
    }));
  }

  async append(ledger) {
    const size = this.random.below(3) === 0 ? 2 + this.random.below(6) : 1;
    this.payloads += 1;
    const payload = `p${this.payloads}`;
    const events = this.eventsOf(payload, size, this.random);
    const body = size === 1 ? events[0] : { events };
    const isKeyed = this.random.below(2) === 0;
    ledger.batches.set(payload, size);
    ledger.round = this.round;
    const headers = isKeyed ? { 'Idempotency-Key': payload } : {};
    const path = `/v1/sessions/${ledger.id}/events`;
    const answer = await this.attempt('POST', path, body, headers);
    if (!answer) {
      if (isKeyed) ledger.unanswered.push({ path, body, headers, payload, size });
      return;
    }
    this.acknowledge(ledger, answer, payload, size);
  }

  acknowledge(ledger, answer, payload, size) {
    assert.equal(answer.status, 201, `${ledger.key}: ${answer.status} ${answer.text}`);
    const { firstSeq, lastSeq } = answer.body;
    assert.equal(lastSeq - firstSeq + 1, size);
    for (let i = 0; i < size; i += 1) ledger.tell(firstSeq + i, `${payload}/${i}`);
    this.appends += size;
  }

  async move(ledger) {
    const status = this.pick(MOVES[ledger.status]);
    ledger.unknownStatus = status;
    const answer = await this.attempt('POST', `/v1/sessions/${ledger.id}/status`, { status });
    if (!answer) return;
    assert.equal(answer.status, 200, `${ledger.key}: ${answer.status} ${answer.text}`);
    ledger.status = status;
    ledger.unknownStatus = undefined;
  }

  async remove(ledger) {
    ledger.isDeletedUnknown = true;
    const answer = await this.attempt('DELETE', `/v1/sessions/${ledger.id}`);
    if (!answer) return;
    assert.equal(answer.status, 204, `${ledger.key}: ${answer.status} ${answer.text}`);
    ledger.isDeletedUnknown = false;
    ledger.isDeleted = true;
  }

  // One writer with a session of its own and a share in the common ones. Returns when the server
  // is gone.
  async write(writer) {
    let own;
    for (let name = 0; this.isRunning; name += 1) {
      if (!own || own.isDeleted || !isLiving(own.status)) {
        // Half of the keys are used again, so that an ended session's key makes a new one.
        const suffix = this.random.below(2) === 0 ? 'again' : `${this.round}-${name}`;
        own = await this.create(`${this.app}:w${writer}-${suffix}`);
        if (!own) return;
        if (!isLiving(own.status)) continue;
      }
      const choice = this.random.below(100);
      if (choice < 60) await this.append(own);
      else if (choice < 85) await this.append(this.pick(this.shared));
      else if (choice < 98) await this.move(own);
      else await this.remove(own);
    }
  }

  // Follows a shared session live. What a reader was shown must be there after the crash.
  async watch(ledger) {
    const reader = await this.server.reader(ledger.id).catch(() => undefined);
    if (!reader) return;
    await until(() => reader.ended, 120_000, 'the reader ends with the server');
    for (const frame of reader.stored) {
      const { seq, data } = frame.json;
      assert.equal(String(seq), frame.id);
      if (data?.p !== undefined) ledger.tell(seq, `${data.p}/${data.i}`);
      this.shown += 1;
    }
  }

  async startRound(round) {
    this.round = round;
    this.isRunning = true;
    if (round % 10 === 0) {
      // Fresh common sessions now and then, so that a round's check stays short.
      const keys = [0, 1, 2].map((n) => `${this.app}:shared-${round}-${n}`);
      this.shared = await Promise.all(keys.map((key) => this.create(key)));
    }
    this.running = [
      ...Array.from({ length: WRITERS }, (_, writer) => this.write(writer)),
      this.watch(this.shared[0]), this.watch(this.shared[1]),
    ];
    // Nothing may fail unseen while the round goes on; the failure is reported at its end.
    for (const task of this.running) task.catch(() => { this.isRunning = false; });
  }

  async endRound() {
    await this.server.kill();
    this.isRunning = false;
    await within(Promise.all(this.running), 60_000, 'writers and readers end with the server');
  }

  // Starts the binary and kills it before or just after it listens.
  async crashWhileStarting() {
    const args = ['serve', '--listen', '127.0.0.1:0', '--data', this.server.data];
    const child = spawn(BINARY, args, { stdio: 'ignore' });
    const exited = new Promise((resolve) => { child.once('exit', resolve); });
    const end = Date.now() + this.random.below(60);
    await until(() => Date.now() >= end);
    child.kill('SIGKILL');
    await within(exited, 10_000, 'exit after SIGKILL');
  }

  // Calls without an answer that had an idempotency key are sent again: they must be stored once.
  async retryUnanswered() {
    for (const ledger of this.ledgers) {
      const unanswered = ledger.unanswered.splice(0);
      if (ledger.isDeleted || !isLiving(ledger.status)) continue;
      for (const { path, body, headers, payload, size } of unanswered) {
        const answer = await this.server.call('POST', path, body, headers);
        this.acknowledge(ledger, answer, payload, size);
        this.retried += 1;
      }
    }
  }

  async verify(ledgers) {
    for (const ledger of ledgers) await verifySession(this.server, ledger);
    const living = await verifyList(this.server, this.app, this.ledgers);
    for (const ledger of ledgers) {
      if (ledger.isDeleted || !isLiving(ledger.status)) continue;
      assert.equal(living.get(ledger.key), ledger.id, `${ledger.key} leads elsewhere`);
    }
  }
}

describe('crash', { concurrency: SERVERS }, () => {
  const seed = seedFor('REPRISE_CRASH_SEED');
  const losesNothing = (which) => async (test) => {
    const random = randomFrom(seed + which);
    const load = new Load(random);
    // Bounded in time: a slow machine makes fewer kills rather than a longer test.
    const limit = Date.now() + Math.max(60_000, KILLS * 1_500);
    let kills = 0;
    await load.server.start();
    try {
      for (let round = 0; kills < KILLS && (Date.now() < limit || kills < KILLS / 4); round += 1) {
        await load.startRound(round);
        const end = Date.now() + 30 + random.below(500);
        await until(() => Date.now() >= end || !load.isRunning, 30_000);
        await load.endRound();
        kills += 1;
        while (kills < KILLS && random.below(4) === 0) {
          await load.crashWhileStarting();
          kills += 1;
        }
        await load.server.start();
        // What this round touched, and some of the old ones; at the end, all.
        const isChecked = (ledger) => ledger.round === round || random.below(20) === 0;
        await load.verify(load.ledgers.filter(isChecked));
        await load.retryUnanswered();
      }
      await load.verify(load.ledgers);
      await load.server.restart();
      await load.verify(load.ledgers);
    } finally {
      load.isRunning = false;
      await load.server.dispose();
    }
    test.diagnostic(`${kills} kills, ${load.ledgers.length} sessions, ${load.appends} events `
      + `acknowledged, ${load.retried} appends sent again, ${load.shown} events shown live`);
    assert.ok(kills >= KILLS / 4 && load.appends > kills, 'there was no load to speak of');
  };
  for (let which = 0; which < SERVERS; which += 1) {
    it(`server ${which + 1} loses nothing acknowledged over ${KILLS} kills`,
      { timeout: 3_600_000 }, losesNothing(which));
  }
});
