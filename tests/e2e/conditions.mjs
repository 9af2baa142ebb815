// Waiting for conditions with a deadline, seeded randomness, and what must hold of sequences.
// REPRISE_TEST_SLOWNESS (1) stretches every deadline, for sanitizers and slow machines.
import assert from 'node:assert/strict';

export const SLOWNESS = Number(process.env.REPRISE_TEST_SLOWNESS ?? 1);

// Rejects with `what` when `promise` takes longer than the deadline.
export function within(promise, deadlineMs, what) {
  let timer;
  const late = new Promise((_, reject) => {
    const limit = deadlineMs * SLOWNESS;
    timer = setTimeout(() => reject(new Error(`not within ${limit} ms: ${what}`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Asks `condition` again and again until it gives something truthy, which is returned.
export async function until(condition, deadlineMs = 10_000, what = String(condition)) {
  const end = Date.now() + deadlineMs * SLOWNESS;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not within ${deadlineMs * SLOWNESS} ms: ${what}`);
    await new Promise((next) => setTimeout(next, 10));
  }
}

// A small seeded generator (mulberry32): print the seed, and a failure can be repeated.
export function randomFrom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return { next, below: (limit) => Math.floor(next() * limit) };
}

export function seedFor(variable = 'REPRISE_TEST_SEED') {
  const seed = Number(process.env[variable] ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`${variable}=${seed}`);
  return seed;
}

// Asserts first, first+1, ..., last: no gap, no duplicate, in order.
export function assertGapFree(seqs, first, last) {
  const wrong = seqs.findIndex((seq, index) => seq !== first + index);
  assert.equal(wrong, -1, `seq ${seqs[wrong]} stands where ${first + wrong} should`);
  if (last !== undefined) assert.equal(seqs.at(-1) ?? first - 1, last, 'the last seq');
}
