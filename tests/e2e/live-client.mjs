// A viewer of a live view: a WebSocket over a plain connection, whose pictures and states are kept as they come.
//
//     const viewer = await LiveClient.open(server, session.id);
//     await viewer.state(({ browser }) => browser === 'open');
//     await viewer.picture(({ tabId }) => tabId === tab.id);   // acknowledged, unless it was opened with { ack: false }
//     assert.deepEqual(await viewer.ask({ type: 'back' }), { ok: true });
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { within } from './conditions.mjs';

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

export class LiveClient {
  pictures = [];  // descriptions, with `jpeg` and the time they came
  states = [];
  answers = [];
  closed = null;  // {code, reason}
  #bytes = Buffer.alloc(0);
  #waiters = new Set();
  #lastId = 0;

  static open(server, session, { ack = true, headers = {}, path = `/v1/sessions/${session}/live` } = {}) {
    const client = new LiveClient();
    client.ack = ack;
    const opened = new Promise((resolve, reject) => {
      const request = http.request({
        host: server.host, port: server.port, path, agent: false,
        headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': 13,
          'Sec-WebSocket-Key': randomBytes(16).toString('base64'), ...headers },
      });
      request.on('upgrade', (_, socket, rest) => {
        client.socket = socket;
        socket.on('data', (chunk) => client.#take(chunk));
        socket.on('close', () => client.#end({ code: 1006, reason: '' }));
        socket.on('error', () => {});
        if (rest.length > 0) client.#take(rest);
        resolve(client);
      });
      request.on('response', (response) => {
        response.resume();
        const error = new Error(`refused with ${response.statusCode}`);
        reject(Object.assign(error, { status: response.statusCode }));
      });
      request.on('error', reject);
      request.end();
    });
    return within(opened, 10_000, `a live view of ${session}`);
  }

  #take(chunk) {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (;;) {
      const bytes = this.#bytes;
      if (bytes.length < 2) return;
      const short = bytes[1] & 0x7f;
      const head = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (bytes.length < head) return;
      const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
      if (bytes.length < head + length) return;
      this.#bytes = bytes.subarray(head + length);
      this.#message(bytes[0] & 0x0f, bytes.subarray(head, head + length));
    }
  }

  #message(opcode, payload) {
    if (opcode === PING) this.#frame(PONG, payload);
    if (opcode === CLOSE) {
      this.#end({ code: payload.readUInt16BE(0), reason: payload.subarray(2).toString() });
      this.#frame(CLOSE, payload.subarray(0, 2));
      this.socket.end();
    }
    if (opcode === BINARY) {
      const length = payload.readUInt32BE(0);
      const picture = JSON.parse(payload.subarray(4, 4 + length).toString());
      this.pictures.push({ ...picture, jpeg: payload.subarray(4 + length), at: Date.now() });
      if (this.ack) this.send({ type: 'ack' });
    }
    if (opcode === TEXT) {
      const message = JSON.parse(payload.toString());
      (message.type === 'state' ? this.states : this.answers).push(message);
    }
    this.#wake();
  }

  #frame(opcode, payload) {
    const mask = randomBytes(4);
    const masked = Buffer.from(payload.map((byte, index) => byte ^ mask[index % 4]));
    const head = payload.length < 126 ? Buffer.from([0x80 | opcode, 0x80 | payload.length])
      : payload.length < 65536 ? Buffer.from([0x80 | opcode, 0xfe, payload.length >> 8, payload.length & 0xff])
        : Buffer.concat([Buffer.from([0x80 | opcode, 0xff, 0, 0, 0, 0]), Buffer.from(new Uint32Array([payload.length]).buffer).reverse()]);
    this.socket.write(Buffer.concat([head, mask, masked]));
  }

  #end(how) {
    this.closed ??= how;
    this.#wake();
  }

  #wake() {
    for (const waiter of this.#waiters) waiter();
  }

  when(condition, what = String(condition), deadlineMs = 15_000) {
    let look;
    const found = new Promise((resolve) => {
      look = () => {
        const value = condition();
        if (value) resolve(value);
      };
      this.#waiters.add(look);
      look();
    });
    const shown = () => JSON.stringify({ state: this.states.at(-1), pictures: this.pictures.length, answers: this.answers.slice(-3), closed: this.closed });
    return within(found, deadlineMs, what)
      .catch((error) => { throw new Error(`${error.message}; ${shown()}`); })
      .finally(() => this.#waiters.delete(look));
  }

  // The latest state, once it is so.
  state(condition = () => true) {
    return this.when(() => this.states.length > 0 && condition(this.states.at(-1)) && this.states.at(-1), `a state ${condition}`);
  }

  // The latest picture, once it is so.
  picture(condition = () => true) {
    return this.when(() => this.pictures.length > 0 && condition(this.pictures.at(-1)) && this.pictures.at(-1), `a picture ${condition}`);
  }

  send(message) {
    this.#frame(TEXT, Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)));
    return this;
  }

  // The answer to a message, without what all of them have.
  async ask(message) {
    const id = ++this.#lastId;
    this.send({ ...message, id });
    const { ok, error } = await this.when(() => this.answers.find((answer) => answer.id === id), `an answer to ${JSON.stringify(message)}`, 30_000);
    return error ? { ok, error } : { ok };
  }

  end(deadlineMs = 10_000) {
    return this.when(() => this.closed, 'the end of the view', deadlineMs);
  }

  async close() {
    if (this.closed) return;
    const gone = new Promise((resolve) => { this.socket.once('close', resolve); });
    this.#frame(CLOSE, Buffer.from([0x03, 0xe8]));
    await within(gone, 10_000, 'the close of a live view');
  }
}
