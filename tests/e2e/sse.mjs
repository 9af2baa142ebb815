// An SSE client with an incremental parser.
//
//     const reader = await EventStream.open(url, '/v1/sessions/demo:one/events/stream');
//     await reader.replayComplete();
//     await reader.waitFor((frame) => frame.id === '7');
//     reader.close();
import http from 'node:http';
import https from 'node:https';
import { StringDecoder } from 'node:string_decoder';
import { within } from './conditions.mjs';

// An EventSource that keeps everything: frames {event, id, data, json}, comments, and how it ended.
// `id` is undefined when the frame itself has no id line.
export class EventStream {
  frames = [];
  comments = [];
  garbage = [];
  retryMs = undefined;
  ended = undefined; // {clean} once the connection is over
  #waiters = new Set();
  #decoder = new StringDecoder('utf8');
  #rest = '';
  #frame = { data: [] };

  static open(base, path, { headers = {}, tls = {}, deadline = 10_000 } = {}) {
    const transport = base.startsWith('https:') ? https : http;
    const { hostname, port } = new URL(base);
    const opened = new Promise((resolveStream, reject) => {
      const sent = transport.request({
        hostname, port, path, agent: false, ...tls,
        headers: { Accept: 'text/event-stream', ...headers },
      }, (res) => {
        const kind = res.headers['content-type'] ?? 'no content type';
        if (res.statusCode !== 200 || !kind.startsWith('text/event-stream')) {
          sent.destroy();
          return reject(new Error(`GET ${path}: ${res.statusCode} ${kind}, not a stream`));
        }
        resolveStream(new EventStream(sent, res));
      });
      sent.on('error', reject);
      sent.end();
    });
    return within(opened, deadline, `opening ${path}`);
  }

  constructor(sent, response) {
    this.request = sent;
    this.response = response;
    response.on('data', (chunk) => this.#feed(this.#decoder.write(chunk)));
    response.on('error', () => {});
    response.on('close', () => {
      this.ended = { clean: response.complete };
      this.#wake();
    });
  }

  #feed(text) {
    this.#rest += text;
    // A CR at the very end may be half of a CRLF: it waits for the next bytes.
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    for (const line of lines) this.#line(line);
    this.#wake();
  }

  #line(line) {
    if (line === '') return this.#dispatch();
    if (line.startsWith(':')) return void this.comments.push(line.slice(1));
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#frame.data.push(value);
    else if (field === 'event') this.#frame.event = value;
    else if (field === 'id') this.#frame.id = value;
    else if (field === 'retry') this.retryMs = Number(value);
    else this.garbage.push(line);
  }

  #dispatch() {
    const { event, id, data } = this.#frame;
    this.#frame = { data: [] };
    if (id !== undefined) this.lastEventId = id;
    if (data.length === 0 && event === undefined) return; // an id alone moves the cursor only
    const frame = { event, id, data: data.join('\n') };
    Object.defineProperty(frame, 'json', { get: () => JSON.parse(frame.data) });
    this.frames.push(frame);
  }

  #wake() {
    for (const waiter of this.#waiters) waiter();
  }

  // Waits until `condition()` is truthy, looking again whenever something arrived.
  when(condition, deadlineMs = 10_000, what = String(condition)) {
    let look;
    const found = new Promise((resolveFound, reject) => {
      look = () => {
        try {
          const value = condition();
          if (value) resolveFound(value);
          else if (this.ended) reject(new Error(`the stream ended before: ${what}`));
        } catch (error) {
          reject(error);
        }
      };
      this.#waiters.add(look);
      look();
    });
    return within(found, deadlineMs, `${what}; got ${this.frames.length} frames`)
      .finally(() => this.#waiters.delete(look));
  }

  // The first frame, past or to come, that satisfies the predicate.
  waitFor(predicate, deadlineMs = 10_000, what = String(predicate)) {
    return this.when(() => this.frames.find(predicate), deadlineMs, what);
  }

  replayComplete(deadlineMs) {
    return this.waitFor((f) => f.event === 'replayComplete', deadlineMs, 'replayComplete');
  }

  snapshotComplete(deadlineMs) {
    return this.waitFor((f) => f.event === 'snapshotComplete', deadlineMs, 'snapshotComplete');
  }

  closed(deadlineMs = 10_000) {
    return this.when(() => this.ended, deadlineMs, 'the end of the stream');
  }

  // The stored events: unnamed frames with an id.
  get stored() {
    return this.frames.filter((frame) => frame.event === undefined && frame.id !== undefined);
  }

  get seqs() {
    return this.stored.map((frame) => Number(frame.id));
  }

  pause() { this.response.pause(); }
  resume() { this.response.resume(); }
  close() { this.request.destroy(); }
}
