// What the tests of the DevTools endpoint have in common: a small site, and a client that speaks the protocol as it is.
import http from 'node:http';
import WebSocket from 'ws';
import { within } from '../e2e/harness.mjs';

const pages = {
  '/': `<title>Home</title><h1>Home</h1><label>Name <input id=name></label>
    <button id=greet onclick="out.textContent = 'hello ' + document.querySelector('#name').value">Greet</button>
    <output id=out></output><a id=next href="/next">Next</a>
    <button id=popup onclick="window.open('/popup')">Popup</button>
    <button id=blank onclick="const w = window.open(''); w.document.title = 'Blank'; w.alert('from the popup'); out.textContent = 'alerted'">Blank</button>
    <button id=ask onclick="out.textContent = confirm('Sure?') ? 'yes' : 'no'">Ask</button>`,
  '/next': '<title>Next</title><h1>Next</h1>',
  '/popup': '<title>Popup</title><h1>Popup</h1>',
  '/cookie': `<title>Cookie</title><script>document.title = 'was ' + document.cookie;
    document.cookie = 'who=' + location.hash.slice(1);</script>`,
  '/worker': `<title>Worker</title><script>
    const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(6 * 7)'])));
    worker.onmessage = ({ data }) => { document.title = 'worker ' + data; };</script>`,
};

export async function startSite() {
  const server = http.createServer((request, response) => {
    const page = pages[request.url.split('?')[0]];
    response.writeHead(page ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(page ?? 'none');
  });
  await new Promise((ready) => { server.listen(0, '127.0.0.1', ready); });
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => { server.closeAllConnections(); server.close(); },
  };
}

export const socketUrl = (server, session) => `${server.url.replace(/^http/, 'ws')}/v1/sessions/${session.id}/cdp`;

// A DevTools client that hides nothing: it sends what it is told, and keeps every message.
export class RawClient {
  static async connect(url, options) {
    const client = new RawClient(new WebSocket(url, options));
    await within(new Promise((opened, failed) => {
      client.socket.once('open', opened);
      client.socket.once('error', failed);
      client.socket.once('unexpected-response', (_, response) => failed(Object.assign(
        new Error(`answered ${response.statusCode}`), { status: response.statusCode, headers: response.headers })));
    }), 30_000, `a WebSocket to ${url}`);
    return client;
  }

  constructor(socket) {
    this.socket = socket;
    this.lastId = 0;
    this.waiting = new Map();
    this.events = [];
    this.closed = new Promise((over) => { socket.once('close', (code, reason) => over({ code, reason: String(reason) })); });
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const message = JSON.parse(data);
      if (message.id === undefined) return this.events.push(message);
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    });
  }

  // The whole reply: {result} or {error}.
  send(method, params = {}, sessionId = undefined) {
    this.lastId += 1;
    const id = this.lastId;
    const reply = new Promise((told) => { this.waiting.set(id, told); });
    this.socket.send(JSON.stringify({ id, method, params, sessionId }));
    return within(reply, 20_000, `${method} to be answered`);
  }

  async call(method, params, sessionId) {
    const reply = await this.send(method, params, sessionId);
    if (reply.error) throw new Error(`${method}: ${reply.error.message}`);
    return reply.result;
  }

  close() {
    this.socket.close();
    return within(this.closed, 10_000, 'the socket to close');
  }
}
