// A DevTools client that sends and does not read: it waits, and what the server holds for it is bounded.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, unique, until, within } from './harness.mjs';

// A text frame of a client, masked with zeros.
const frame = (text) => {
  const payload = Buffer.from(text);
  assert.ok(payload.length < 126);
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
};

describe('a DevTools client', () => {
  let server;
  before(async () => { server = await startServer({ args: ['--browser-dir', browserDirectory()] }); });
  after(() => server.dispose());

  it('that sends and does not read is read no further, until it reads', async () => {
    const session = await server.create({ app: unique('slow'), status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, { capture: 'none' }, {}, 201);
    const socket = await within(new Promise((resolve, reject) => {
      const request = http.request({ host: server.host, port: server.port, path: `/v1/sessions/${session.id}/cdp`, agent: false,
        headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': 13, 'Sec-WebSocket-Key': randomBytes(16).toString('base64') } });
      request.on('upgrade', (_, upgraded) => resolve(upgraded));
      request.on('response', (response) => reject(new Error(`refused with ${response.statusCode}`)));
      request.on('error', reject);
      request.end();
    }), 10_000, 'the upgrade');
    let closed = false;
    socket.on('close', () => { closed = true; });
    socket.on('error', () => {});
    socket.pause();
    // Answered without the browser, by more than was asked; all of it is many times what sockets and the server hold.
    const batch = Buffer.concat(Array(20_000).fill(frame('{"id":1,"method":"Page.enable","sessionId":"0"}')));
    const batches = 60;
    for (let i = 0; i < batches; i += 1) socket.write(batch);
    // It stands still when nothing has moved for a while; where it does not, everything is taken.
    let left = -1;
    let since = Date.now();
    await until(() => {
      if (socket.writableLength !== left) since = Date.now();
      left = socket.writableLength;
      return left === 0 || Date.now() - since > 2_000;
    }, 60_000, 'it stands still');
    assert.ok(left > batch.length * batches / 4, `${left} of ${batch.length * batches} bytes are left`);
    assert.equal(closed, false);
    // Nobody else waits for it.
    const answer = await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_evaluate`, { function: '() => 6 * 7' }, {}, 200);
    assert.equal(answer.result, 42);
    socket.resume();
    await until(() => socket.writableLength === 0 || closed, 60_000, 'all is taken');
    assert.equal(closed, false);
    socket.destroy();
  });
});
