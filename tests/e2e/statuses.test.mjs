// Statuses: the table of moves, the moves with names, and the vocabularies.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startServer, unique, until } from './harness.mjs';

// The contract's tables, typed in again from its text.
const MOVES = {
  INITIALIZING: ['ACTIVE', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED'],
  ACTIVE: ['PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED'],
  PAUSED: ['ACTIVE', 'COMPLETED', 'FAILED', 'CANCELLED'],
  COMPLETED: ['CLEANUP'],
  FAILED: ['CLEANUP'],
  CANCELLED: ['CLEANUP'],
};
const STATUSES = [...Object.keys(MOVES), 'CLEANUP'];
const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED'];
const VOCABULARIES = ['browser', 'agent', 'registry', 'graph', 'connection', 'execution'];
const WORDS = {
  INITIALIZING: ['starting', 'planning', 'active', 'running', 'CONNECTING', 'PENDING'],
  ACTIVE: ['active', 'running', 'active', 'running', 'CONNECTED', 'IN_PROGRESS'],
  PAUSED: ['active', 'waiting_for_input', 'paused', 'suspended', 'RATE_LIMITED', 'IN_PROGRESS'],
  COMPLETED: ['ended', 'completed', 'completed', 'completed', 'DISCONNECTED', 'COMPLETED'],
  FAILED: ['failed', 'failed', 'error', 'failed', 'ERROR', 'FAILED'],
  CANCELLED: ['ended', 'cancelled', 'completed', 'cancelled', 'DISCONNECTED', 'SKIPPED'],
  CLEANUP: ['ending', 'cancelled', 'completed', 'cancelled', 'DISCONNECTED', 'SKIPPED'],
};
const REASONS = ['input', 'operator', 'rateLimit', 'workerLost'];

describe('statuses', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.dispose());

  const move = (id, body) => server.call('POST', `/v1/sessions/${id}/status`, body);
  const named = (id, verb) => server.call('POST', `/v1/sessions/${id}/${verb}`);

  async function sessionIn(status, more = {}) {
    const { id } = await server.create(more);
    const way = { INITIALIZING: [], ACTIVE: ['ACTIVE'] }[status] ?? ['ACTIVE', status];
    for (const step of way) {
      const answer = await move(id, { status: step });
      assert.equal(answer.status, 200, answer.text);
    }
    assert.equal((await server.get(id)).status, status);
    return id;
  }

  async function assertMoved(id, answer, status) {
    assert.equal(answer.status, 200, answer.text);
    const record = await server.get(id);
    assert.equal(record.status, status);
    return record;
  }

  async function assertRefused(id, answer, before) {
    assert.equal(answer.status, 409, answer.text);
    const now = await server.get(id);
    for (const field of ['status', 'lastSeq', 'updatedAt', 'etag', 'pauseReason', 'lastError']) {
      assert.deepEqual(now[field], before[field], field);
    }
  }

  for (const from of Object.keys(MOVES)) {
    it(`allows from ${from} exactly the moves of the table`, async () => {
      for (const to of STATUSES) {
        if (ENDED.includes(from) && to === 'CLEANUP') continue; // the way to gone has its own rules
        const id = await sessionIn(from);
        const before = await server.get(id);
        const answer = await move(id, { status: to });
        if (to === from) {
          const record = await assertMoved(id, answer, from);
          assert.equal(record.lastSeq, before.lastSeq, 'a no-op writes nothing');
        } else if (MOVES[from].includes(to)) {
          const record = await assertMoved(id, answer, to);
          assert.equal(record.lastSeq, before.lastSeq + 1);
          const [event] = await server.events(id, before.lastSeq);
          assert.equal(event.type, 'status_change');
        } else {
          await assertRefused(id, answer, before);
        }
      }
    });
  }

  it('refuses unknown words, missing and unknown fields with 422', async () => {
    const id = await sessionIn('ACTIVE');
    const wrong = [{}, { status: 'NONSENSE' }, { status: 5 }, { status: '' }, { status: null },
      { status: 'PAUSED', unknown: 1 }, { status: 'PAUSED', expectedStatus: 'NONSENSE' }];
    for (const body of wrong) {
      await server.refused(422, undefined, 'POST', `/v1/sessions/${id}/status`, body);
    }
    assert.equal((await server.get(id)).status, 'ACTIVE');
  });

  it('moves only from the expected status', async () => {
    const id = await sessionIn('ACTIVE');
    const before = await server.get(id);
    const wrong = await move(id, { status: 'PAUSED', expectedStatus: 'INITIALIZING' });
    assert.equal(wrong.body.code, 'wrong_status');
    await assertRefused(id, wrong, before);
    const right = await move(id, { status: 'COMPLETED', expectedStatus: 'ACTIVE' });
    await assertMoved(id, right, 'COMPLETED');
  });

  it('lets exactly one of two racing moves from the same expected status win', async () => {
    const id = await sessionIn('ACTIVE');
    const answers = await Promise.all(ENDED.map((status) => move(id,
      { status, expectedStatus: 'ACTIVE' })));
    const won = ENDED.filter((_, index) => answers[index].status === 200);
    assert.equal(won.length, 1);
    assert.equal((await server.get(id)).status, won[0]);
  });

  it('keeps the error of a failed session', async () => {
    const id = await sessionIn('ACTIVE');
    await move(id, { status: 'FAILED', error: 'the model went home', reason: 'late' });
    const record = await server.get(id);
    assert.equal(record.lastError, 'the model went home');
    assert.equal(record.isActive, false);
  });

  describe('moves with names', () => {
    it('pauses and resumes, and says why it is paused', async () => {
      const id = await sessionIn('ACTIVE');
      const paused = await assertMoved(id, await named(id, 'pause'), 'PAUSED');
      assert.deepEqual(paused.pauseReasons, ['operator']);
      assert.equal(paused.pauseReason, 'operator');
      const again = await assertMoved(id, await named(id, 'pause'), 'PAUSED');
      assert.equal(again.lastSeq, paused.lastSeq);
      const resumed = await assertMoved(id, await named(id, 'resume'), 'ACTIVE');
      assert.deepEqual(resumed.pauseReasons ?? [], []);
      assert.equal(resumed.pauseReason, null);
      await assertMoved(id, await named(id, 'resume'), 'ACTIVE');
    });

    it('gives a pause by status a reason from the list, its first as pauseReason', async () => {
      for (const word of ['PAUSED', 'waiting_for_input', 'RATE_LIMITED', 'suspended']) {
        const id = await sessionIn('ACTIVE');
        const record = await assertMoved(id, await move(id, { status: word }), 'PAUSED');
        assert.ok(record.pauseReasons.length > 0);
        assert.ok(record.pauseReasons.every((reason) => REASONS.includes(reason)));
        assert.equal(record.pauseReason, record.pauseReasons[0]);
        await assertMoved(id, await named(id, 'resume'), 'ACTIVE');
      }
    });

    it('cancels what lives and nothing that has ended otherwise', async () => {
      for (const from of ['INITIALIZING', 'ACTIVE', 'PAUSED', 'CANCELLED']) {
        const id = await sessionIn(from);
        await assertMoved(id, await named(id, 'cancel'), 'CANCELLED');
      }
      for (const from of ['COMPLETED', 'FAILED']) {
        const id = await sessionIn(from);
        await assertRefused(id, await named(id, 'cancel'), await server.get(id));
      }
    });

    it('closes: completes and keeps the history', async () => {
      for (const from of ['INITIALIZING', 'ACTIVE', 'PAUSED', 'COMPLETED']) {
        const id = await sessionIn(from);
        const history = await server.events(id);
        const record = await assertMoved(id, await named(id, 'close'), 'COMPLETED');
        assert.equal(record.isActive, false);
        assert.deepEqual((await server.events(id)).slice(0, history.length), history);
      }
    });

    it('refuses pause and resume of an ended session', async () => {
      for (const verb of ['pause', 'resume']) {
        const id = await sessionIn('COMPLETED');
        await assertRefused(id, await named(id, verb), await server.get(id));
      }
    });

    it('touches: activity and expiry move on, the history does not', async () => {
      const { id, ...before } = await server.create({ ttlSeconds: 100 });
      await until(() => Date.now() > Date.parse(before.lastActivityAt) + 5);
      const answer = await named(id, 'touch');
      assert.ok(answer.status === 200 || answer.status === 204, answer.text);
      const now = await server.get(id);
      assert.ok(now.expiresAt > before.expiresAt);
      assert.ok(now.lastActivityAt > before.lastActivityAt);
      assert.equal(now.lastSeq, before.lastSeq);
    });

    it('answers 404 for every move of an unknown session', async () => {
      for (const verb of ['pause', 'resume', 'cancel', 'close', 'reset', 'touch']) {
        await server.refused(404, 'session_not_found', 'POST', `/v1/sessions/nobody:here/${verb}`);
      }
    });
  });

  describe('reset', () => {
    it('leads from every status to ACTIVE', async () => {
      for (const from of Object.keys(MOVES)) {
        const id = await sessionIn(from);
        await assertMoved(id, await named(id, 'reset'), 'ACTIVE');
        await server.append(id, { type: 'log', data: {} });
      }
    });

    it('hides the history, zeroes the messages, and the sequence goes on', async () => {
      const app = unique('app');
      const id = await sessionIn('ACTIVE', { app, name: 'again' });
      const messages = Array.from({ length: 5 }, (_, n) => ({ type: 'message', data: { n } }));
      const { lastSeq } = await server.append(id, messages);
      assert.equal((await server.get(id)).messageCount, 5);
      const record = await assertMoved(id, await named(id, 'reset'), 'ACTIVE');
      assert.equal(record.messageCount, 0);
      assert.equal(record.key, `${app}:again`);
      for (const after of [0, 2, lastSeq]) {
        const events = await server.events(id, after);
        assert.equal(events[0].type, 'session_reset', `after=${after}`);
        assert.ok(events[0].seq > lastSeq);
        assert.ok(events.every((event) => event.type !== 'message'));
      }
      const next = await server.append(id, { type: 'message', data: { n: 6 } });
      assert.equal(next.firstSeq, record.lastSeq + 1);
      assert.equal((await server.get(id)).messageCount, 1);
      await server.restart({ how: 'kill' });
      assert.equal((await server.get(id)).messageCount, 1);
      assert.equal((await server.events(id))[0].type, 'session_reset');
    });

    it('is 409 when another living session holds the key by now', async () => {
      const app = unique('app');
      const id = await sessionIn('COMPLETED', { app, name: 'taken' });
      await server.create({ app, name: 'taken' });
      const before = await server.get(id);
      await assertRefused(id, await named(id, 'reset'), before);
    });

    it('takes the key back when it is free', async () => {
      const app = unique('app');
      const id = await sessionIn('FAILED', { app, name: 'back' });
      await assertMoved(id, await named(id, 'reset'), 'ACTIVE');
      assert.equal((await server.get(`${app}:back`)).id, id);
      await server.refused(409, 'key_taken', 'POST', '/v1/sessions', { app, name: 'back' });
    });
  });

  describe('vocabularies', () => {
    for (const status of Object.keys(MOVES)) {
      it(`shows ${status} in every vocabulary`, async () => {
        const id = await sessionIn(status);
        for (const [column, vocabulary] of VOCABULARIES.entries()) {
          const path = `/v1/sessions/${id}?vocabulary=${vocabulary}`;
          const record = await server.ok('GET', path, undefined, {}, 200);
          assert.equal(record.status, WORDS[status][column], vocabulary);
        }
      });
    }

    it('refuses an unknown vocabulary with 400', async () => {
      const id = await sessionIn('ACTIVE');
      await server.refused(400, undefined, 'GET', `/v1/sessions/${id}?vocabulary=klingon`);
    });

    it('understands every word on a write', async () => {
      for (const word of new Set(STATUSES.flatMap((status) => WORDS[status]))) {
        const rows = STATUSES.filter((status) => WORDS[status].includes(word));
        let meant = rows.includes('ACTIVE') ? 'ACTIVE' : rows[0];
        if (word === 'DISCONNECTED') meant = 'FAILED';
        const id = await sessionIn('INITIALIZING');
        const answer = await move(id, { status: word });
        if (meant === 'CLEANUP') assert.equal(answer.status, 409, `${word}: ${answer.text}`);
        else await assertMoved(id, answer, meant);
      }
    });
  });
});
