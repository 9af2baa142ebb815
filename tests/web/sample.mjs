// Sample sessions, as agents would leave them: for the page's tests, and for a look at the page.
//
//     node tests/web/sample.mjs http://127.0.0.1:7450
import { pathToFileURL } from 'node:url';
import { request } from '../e2e/harness.mjs';

const app = 'shop';

export class Sample {
  constructor(base, headers = {}) {
    this.base = base;
    this.headers = headers;
  }

  async call(method, path, body, headers = {}) {
    const answer = await request(this.base, method, path, { body, headers: { ...this.headers, ...headers } });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  put(key, body = {}) { return this.call('PUT', `/v1/sessions/${key}`, { status: 'ACTIVE', ...body }); }
  append(id, events) { return this.call('POST', `/v1/sessions/${id}/events`, { events }); }
  ask(id, question) { return this.call('POST', `/v1/sessions/${id}/interactions`, question); }
  tool(id, name, args) { return this.call('POST', `/v1/sessions/${id}/tools/${name}`, args); }
  artifact(id, path, text, type = 'text/plain') {
    return this.call('PUT', `/v1/sessions/${id}/artifacts/${path}`, text, { 'Content-Type': type });
  }

  async toolCall(id, toolName, input, finish) {
    const started = await this.call('POST', `/v1/sessions/${id}/tool-calls`, { toolName, input });
    if (finish) await this.call('POST', `/v1/sessions/${id}/tool-calls/${started.id}/finish`, finish);
    return started;
  }

  // An agent's session with a plan, messages, tool calls of every outcome and artifacts in versions.
  async research() {
    const session = await this.put(`${app}:research-berlin`, { graphId: 'research', ownerAgent: 'planner-1' });
    const { id } = session;
    await this.append(id, [
      { type: 'plan_update', data: { steps: ['find hotels', 'compare', 'book'] } },
      { type: 'message', data: { role: 'user', text: 'Find a quiet hotel in Berlin for three nights.' } },
      { type: 'message', data: { role: 'assistant', text: 'Looking at what is free in the week of 14 December.' } },
    ]);
    await this.toolCall(id, 'search_hotels', { city: 'Berlin', nights: 3, apiKey: 'sk-not-shown' },
      { status: 'success', output: { found: 42, cheapest: 79.5 } });
    await this.toolCall(id, 'fetch_reviews', { hotel: 'Linden' },
      { status: 'failure', error: 'reviews.example answered 503 three times' });
    await this.toolCall(id, 'fetch_reviews', { hotel: 'Linden', mirror: true },
      { status: 'success', output: { rating: 4.4, reviews: 318 } });
    await this.toolCall(id, 'compare', { hotels: ['Linden', 'Spree', 'Nord'] });
    await this.artifact(id, 'notes/plan.md', plan, 'text/markdown');
    await this.artifact(id, 'notes/plan.md', `${plan}\n## Chosen\n\n**Hotel Linden**, three nights.\n`, 'text/markdown');
    await this.artifact(id, 'report/prices.json', JSON.stringify(prices, null, 2), 'application/json');
    await this.artifact(id, 'src/compare.py', code, 'text/x-python');
    await this.append(id, [{ type: 'log', data: { level: 'info', text: 'waiting for the comparison' } }]);
    return session;
  }

  // A session that waits for a person, with one question of each kind.
  async questions() {
    const session = await this.put(`${app}:refund-4711`, { graphId: 'refunds', ownerAgent: 'support-2' });
    const { id } = session;
    await this.append(id, [{ type: 'message', data: { role: 'user', text: 'I want my money back.' } }]);
    await this.ask(id, {
      kind: 'waitForChoice', prompt: 'Which refund shall be paid?', selectionMode: 'single', layout: 'grid',
      choices: [{ id: 'full', label: 'Full', description: '129.00 €, to the card' },
        { id: 'half', label: 'Half', description: '64.50 €, to the card' },
        { id: 'voucher', label: 'Voucher', description: '150.00 € for the shop' }],
      noneOfTheAboveLabel: 'None of these', deadlineMs: 3_600_000, onDeadline: { default: ['voucher'] },
    });
    await this.ask(id, {
      kind: 'inputNode', prompt: 'Details of the payment', nodeId: 'payment',
      schema: {
        type: 'object', required: ['iban', 'amount'],
        properties: {
          iban: { type: 'string', title: 'IBAN', minLength: 15, maxLength: 34 },
          amount: { type: 'number', title: 'Amount in €', minimum: 0, maximum: 1000 },
          speed: { type: 'string', title: 'Speed', enum: ['standard', 'instant'] },
          notify: { type: 'boolean', title: 'Tell the customer' },
        },
      },
    });
    await this.ask(id, { kind: 'confirm', prompt: 'Close the ticket when it is paid?' });
    await this.ask(id, { kind: 'waitForInput', prompt: 'A note for the customer', skipLabel: 'No note' });
    return session;
  }

  // Ended sessions of each kind.
  async ended() {
    const failed = await this.put(`${app}:import-feed`, { graphId: 'import', ownerAgent: 'importer' });
    await this.append(failed.id, [{ type: 'log', data: 'row 1,204 has no price' }]);
    await this.call('POST', `/v1/sessions/${failed.id}/status`, { status: 'FAILED', error: 'the feed broke off' });
    const done = await this.put(`${app}:weekly-report`, { graphId: 'reports' });
    await this.call('POST', `/v1/sessions/${done.id}/close`, {});
    const cancelled = await this.put('support:ticket-88', { graphId: 'support' });
    await this.call('POST', `/v1/sessions/${cancelled.id}/cancel`, {});
    const paused = await this.put('support:ticket-90', { graphId: 'support' });
    await this.call('POST', `/v1/sessions/${paused.id}/pause`, {});
    return { failed, done, cancelled, paused };
  }

  agents() {
    return Promise.all(['planner-1', 'support-2', 'importer'].map((id) =>
      this.call('PUT', `/v1/agents/${id}`, { heartbeatSeconds: 60 })));
  }

  // A session with a browser that has done things, one of them in vain.
  async browsing() {
    const session = await this.put(`${app}:checkout`, { graphId: 'checkout', ownerAgent: 'planner-1' });
    const { id } = session;
    const page = `data:text/html;charset=utf-8,${encodeURIComponent(checkout)}`;
    await this.tool(id, 'browser_navigate', { url: page });
    await this.tool(id, 'browser_snapshot', {});
    await this.tool(id, 'browser_type', { target: '#name', text: 'Ada Lovelace' });
    await this.tool(id, 'browser_click', { target: '#pay' });
    await this.tool(id, 'browser_click', { target: '#nowhere' });
    await this.call('POST', `/v1/sessions/${id}/tabs`, { url: 'data:text/html,<title>Terms</title><h1>Terms</h1>' });
    return session;
  }

  // Many events in one session, in as few calls as may be.
  async longSession(count, key = `${app}:long`) {
    const session = await this.put(key);
    for (let n = 0; n < count; n += 1000) {
      const events = Array.from({ length: Math.min(1000, count - n) }, (_, i) => ({
        type: (n + i) % 10 === 0 ? 'message' : 'log',
        data: { n: n + i, text: `line ${n + i} of a long history`, level: (n + i) % 97 === 0 ? 'error' : 'info' },
      }));
      await this.append(session.id, events);
    }
    return session;
  }
}

const plan = `# Three nights in Berlin

A quiet hotel, **near a park**, below 120 € a night.

- Linden: quiet, 99 €
- Spree: at the river, 118 €
- Nord: cheap, and loud

\`\`\`python
best = min(hotels, key=lambda hotel: hotel.noise)
\`\`\`
`;
const prices = { currency: 'EUR', nights: 3, hotels: [{ name: 'Linden', price: 99 }, { name: 'Spree', price: 118 }] };
const code = `def quietest(hotels):
    """The hotel with the least noise."""
    return min(hotels, key=lambda hotel: hotel.noise)
`;
const checkout = `<!doctype html><title>Checkout</title><style>body{font:16px sans-serif;max-width:40em;margin:3em auto}
button{padding:.6em 2em}</style><h1>Checkout</h1><p>Two nights at Hotel Linden, 198 €.</p>
<label>Name <input id=name></label> <button id=pay onclick="document.title='Paid';this.textContent='Paid';console.info('paid 198 €');
fetch('data:application/json,{}').then(()=>console.warn('no receipt was asked for'))">Pay</button>`;

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const sample = new Sample(process.argv[2]);
  await sample.agents();
  await sample.ended();
  await sample.research();
  await sample.questions();
  if (!process.argv.includes('--no-browser')) await sample.browsing();
  await sample.longSession(2000);
}
