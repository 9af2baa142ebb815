// A client that sends bytes, not requests: for input no decent HTTP library would send.
//
//     const client = await RawClient.connect(server);
//     client.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
//     const answer = await client.response();
import net from 'node:net';
import { within } from './conditions.mjs';

export class RawClient {
  bytes = Buffer.alloc(0);
  over = false; // the server closed or reset the connection
  #waiters = new Set();

  static connect(server) {
    const client = new RawClient();
    client.host = `${server.host}:${server.port}`;
    client.socket = net.connect({ host: server.host, port: server.port, allowHalfOpen: true });
    client.socket.on('data', (chunk) => {
      client.bytes = Buffer.concat([client.bytes, chunk]);
      client.#wake();
    });
    const close = () => {
      client.over = true;
      client.#wake();
    };
    client.socket.on('end', close);
    client.socket.on('close', close);
    client.socket.on('error', close);
    const connected = new Promise((resolve, reject) => {
      client.socket.once('connect', () => resolve(client));
      client.socket.once('error', reject);
    });
    return within(connected, 5_000, 'connecting');
  }

  #wake() {
    for (const waiter of this.#waiters) waiter();
  }

  when(condition, deadlineMs = 10_000, what = String(condition)) {
    let look;
    const found = new Promise((resolve) => {
      look = () => {
        const value = condition();
        if (value) resolve(value);
      };
      this.#waiters.add(look);
      look();
    });
    const got = () => JSON.stringify(this.bytes.toString('latin1').slice(0, 300));
    return within(found, deadlineMs, what)
      .catch((error) => { throw new Error(`${error.message}; received ${got()}`); })
      .finally(() => this.#waiters.delete(look));
  }

  send(bytes) {
    this.socket.write(bytes);
    return this;
  }

  // A whole request with a Host header; `lines` are further header lines.
  sendRequest(line, lines = [], body = '') {
    const head = [`${line} HTTP/1.1`, `Host: ${this.host}`, ...lines, '', ''].join('\r\n');
    return this.send(Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]));
  }

  // The next whole response, taken off the received bytes; undefined if the server just closed.
  async response({ head = false, deadline = 10_000 } = {}) {
    const found = await this.when(() => {
      const parsed = parseResponse(this.bytes, head, this.over);
      return parsed ?? (this.over ? 'closed' : undefined);
    }, deadline, 'a response');
    if (found === 'closed') return undefined;
    this.bytes = this.bytes.subarray(found.length);
    return found;
  }

  closed(deadlineMs = 10_000) {
    return this.when(() => this.over, deadlineMs, 'the server closes the connection');
  }

  end() { this.socket.end(); }
  destroy() { this.socket.destroy(); }
}

function parseResponse(bytes, head, over) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first, ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const match = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first);
  if (!match) throw new Error(`not a status line: ${JSON.stringify(first)}`);
  const status = Number(match[1]);
  const headers = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const start = end + 4;
  const make = (body, length) => {
    const text = body.toString('utf8');
    const json = /[/+]json/.test(headers['content-type'] ?? '') && text !== '';
    return { status, headers, text, body: json ? JSON.parse(text) : undefined, length };
  };
  if (head || status < 200 || status === 204 || status === 304) return make(Buffer.alloc(0), start);
  if (/chunked/i.test(headers['transfer-encoding'] ?? '')) {
    return parseChunks(bytes, start, make);
  }
  if (headers['content-length'] === undefined) {
    return over ? make(bytes.subarray(start), bytes.length) : undefined;
  }
  const length = start + Number(headers['content-length']);
  return bytes.length < length ? undefined : make(bytes.subarray(start, length), length);
}

function parseChunks(bytes, start, make) {
  const parts = [];
  for (let at = start; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    const next = line + 2 + size + 2;
    if (bytes.length < next) return undefined;
    if (size === 0) return make(Buffer.concat(parts), next);
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = next;
  }
}
