// What the server has acknowledged, kept outside of it, and the check that it still holds.
//
// An operation is `begun` before its request is sent and `ended` with the answer. Without an answer
// its outcome is unknown: it may have happened whole, or not at all, and nothing in between. The
// ledger never trusts the server for what was acknowledged; it only asks it.
import assert from 'node:assert/strict';

const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED'];

export class SessionLedger {
  constructor(key) {
    this.key = key;
    this.id = undefined;         // known once a creation was acknowledged
    this.told = new Map();       // seq -> payload id, acknowledged or shown to a reader
    this.batches = new Map();    // payload id -> how many events it must have
    this.unanswered = [];        // appends with an idempotency key that got no answer
    this.round = 0;              // the last in which something was tried on it
    this.status = 'INITIALIZING';
    this.unknownStatus = undefined;
    this.isDeleted = false;
    this.isDeletedUnknown = false;
  }

  tell(seq, payload) {
    const before = this.told.get(seq);
    const shown = `${this.key}: seq ${seq} is ${payload} and was ${before}`;
    assert.ok(before === undefined || before === payload, shown);
    this.told.set(seq, payload);
  }
}

const payloadOf = (event) => (event.data?.p === undefined ? undefined
  : `${event.data.p}/${event.data.i}`);

// Compares one session with its ledger and settles what was unknown.
export async function verifySession(server, ledger) {
  const answer = await server.call('GET', `/v1/sessions/${ledger.id}`);
  if (ledger.isDeleted) {
    assert.equal(answer.status, 404, `${ledger.key}: deleted and there again`);
    return;
  }
  if (ledger.isDeletedUnknown) {
    ledger.isDeletedUnknown = false;
    if (answer.status === 404) {
      ledger.isDeleted = true;
      return;
    }
  }
  assert.equal(answer.status, 200, `${ledger.key}: ${answer.status} ${answer.text}`);
  const record = answer.body;
  const events = await server.events(ledger.id);
  verifyEvents(ledger, record, events);
  verifyStatus(ledger, record, events);
}

function verifyEvents(ledger, record, events) {
  for (const [index, event] of events.entries()) {
    assert.equal(event.seq, index + 1, `${ledger.key}: a gap or a repetition`);
  }
  assert.equal(record.lastSeq, events.length, `${ledger.key}: lastSeq and the stream differ`);
  for (const [seq, payload] of ledger.told) {
    const event = events[seq - 1];
    assert.ok(event, `${ledger.key}: seq ${seq} is lost, the head is ${events.length}`);
    assert.equal(payloadOf(event), payload, `${ledger.key}: seq ${seq} has another payload`);
  }
  const messages = events.filter((event) => event.type === 'message').length;
  assert.equal(record.messageCount, messages, `${ledger.key}: messageCount`);

  // Every append is there whole and once, in one piece, or not at all.
  const places = new Map();
  for (const event of events) {
    if (event.data?.p === undefined) continue;
    if (!places.has(event.data.p)) places.set(event.data.p, []);
    places.get(event.data.p).push(event);
  }
  for (const [payload, pieces] of places) {
    const size = ledger.batches.get(payload);
    assert.equal(pieces.length, size, `${ledger.key}: ${payload} has ${pieces.length} of ${size}`);
    pieces.forEach((event, i) => {
      assert.equal(event.data.i, i, `${ledger.key}: ${payload} is out of order`);
      assert.equal(event.seq, pieces[0].seq + i, `${ledger.key}: ${payload} is torn apart`);
      assert.equal(event.data.fill, fillOf(payload, i), `${ledger.key}: ${payload} is damaged`);
    });
  }
}

function verifyStatus(ledger, record, events) {
  const allowed = [ledger.status, ledger.unknownStatus].filter(Boolean);
  assert.ok(allowed.includes(record.status),
    `${ledger.key}: status ${record.status}, acknowledged ${allowed}`);
  ledger.status = record.status;
  ledger.unknownStatus = undefined;
  const changes = events.filter((event) => event.type === 'status_change');
  const last = changes.at(-1);
  const isFirst = record.status === 'INITIALIZING';
  assert.equal(last === undefined, isFirst, `${ledger.key}: ${record.status} after no change`);
  if (last) assert.ok(JSON.stringify(last.data).includes(record.status), `${ledger.key}: the fold`);
  assert.equal(record.isActive, !ENDED.includes(record.status), `${ledger.key}: isActive`);
}

// The text of an event follows from its name, so that a damaged one is found without keeping it.
export function fillOf(payload, index) {
  const unit = `${payload}/${index};`;
  return unit.repeat(1 + ((payload.length * 7 + index * 13) % 40));
}

// What holds over all sessions: lists complete, keys unique among the living, the deleted gone.
export async function verifyList(server, app, ledgers) {
  const rows = await server.list(`app=${app}`);
  const byId = new Map(rows.map((row) => [row.id, row]));
  assert.equal(byId.size, rows.length, 'a row came twice');
  const living = new Map();
  for (const row of rows) {
    if (ENDED.includes(row.status)) continue;
    assert.ok(!living.has(row.key), `two living sessions hold ${row.key}`);
    living.set(row.key, row.id);
  }
  for (const ledger of ledgers) {
    if (ledger.id === undefined) continue;
    const row = byId.get(ledger.id);
    if (ledger.isDeleted) assert.equal(row, undefined, `${ledger.key}: deleted and listed`);
    else if (!ledger.isDeletedUnknown) {
      assert.ok(row, `${ledger.key}: acknowledged and not listed`);
      assert.equal(row.status, ledger.status, `${ledger.key}: the list has another status`);
    }
  }
  return living;
}
