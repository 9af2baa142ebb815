// A worker as its own process: makes a report in five steps and knows nothing but what the session's stream says. It
// registers, takes the session over, and goes on where the stream ends. Before the last step it asks a person.
//
//     node worker.mjs BASE_URL SESSION AGENT [STOP_IN_STEP]
//
// With STOP_IN_STEP it hangs in the middle of that step's tool call, so that it can be killed there. Prints a line of
// JSON for each thing it did. A server that is away is asked again.
import { setTimeout as pause } from 'node:timers/promises';

const [, , base, session, agent, stopInStep] = process.argv;
const STEPS = 5;
const here = `/v1/sessions/${session}`;
let lease;

const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);

async function call(method, path, body, headers = {}) {
  for (;;) {
    let reply;
    try {
      reply = await fetch(base + path, {
        method,
        headers: { 'Content-Type': 'application/json', ...(lease && { 'Reprise-Lease': String(lease) }), ...headers },
        body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await reply.text();
      if (reply.status < 300) return text ? JSON.parse(text) : undefined;
      if (reply.status !== 503) throw Object.assign(new Error(`${method} ${path}: ${reply.status} ${text}`), { isAnswer: true });
    } catch (error) {
      if (error.isAnswer) throw error;
    }
    await pause(100);  // the server is away: a worker has time
  }
}

async function everything() {
  const events = [];
  for (let after = 0, more = true; more;) {
    const page = await call('GET', `${here}/events?after=${after}&limit=1000`);
    events.push(...page.events);
    after = page.nextAfter;
    more = page.hasMore;
  }
  return events;
}

async function beat() {
  for (;;) {
    await pause(200);
    await call('POST', `/v1/agents/${agent}/heartbeat`, { generation: lease });
  }
}

async function doStep(step) {
  const { id } = await call('POST', `${here}/tool-calls`, { toolName: 'research', input: { step, password: 'hunter2' } });
  say({ started: step });
  if (Number(stopInStep) === step) await new Promise(() => {});  // until somebody kills it
  await call('PUT', `${here}/artifacts/workspace/part-${step}.md`, `# Part ${step}\n`, { 'Content-Type': 'text/markdown' });
  await call('POST', `${here}/tool-calls/${id}/finish`, { status: 'success', output: { step } });
  await call('POST', `${here}/events`, { type: 'step_done', data: { step } }, { 'Idempotency-Key': `step-${step}` });
  say({ done: step });
}

async function ask(events) {
  const before = events.find(({ type }) => type === 'input_required');
  const { id } = before?.data ?? await call('POST', `${here}/interactions`, { kind: 'confirm', prompt: 'Publish it?' });
  say({ asked: id });
  for (;;) {
    const { state, response } = await call('GET', `${here}/interactions/${id}?waitMs=2000`);
    if (state === 'answered') return response;
  }
}

({ generation: lease } = await call('PUT', `/v1/agents/${agent}`, { heartbeatSeconds: 1 }));
beat().catch((error) => { say({ failed: error.message }); process.exit(1); });
const record = await call('GET', here);
if (record.ownerAgent !== agent) {
  // The owner's lease guards the session: the new owner's counts once it is the owner.
  const shown = lease;
  lease = undefined;
  await call('PATCH', here, { ownerAgent: agent });
  lease = shown;
}
if (record.status === 'PAUSED') await call('POST', `${here}/resume`, {});
const events = await everything();
const started = new Map(events.filter(({ type }) => type === 'tool_started').map(({ data }) => [data.id, data]));
for (const { data } of events.filter(({ type }) => type === 'tool_finished')) started.delete(data.id);
for (const id of started.keys()) await call('POST', `${here}/tool-calls/${id}/finish`, { status: 'cancelled' });
const done = new Set(events.filter(({ type }) => type === 'step_done').map(({ data }) => data.step));
say({ took: agent, done: [...done], leftOpen: started.size });
for (let step = 1; step <= STEPS; ++step) {
  if (done.has(step)) continue;
  if (step === STEPS) say({ answer: await ask(events) });
  await doStep(step);
}
await call('POST', `${here}/close`, { reason: 'published' });
say({ finished: true });
process.exit(0);
