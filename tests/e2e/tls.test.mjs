// TLS by flags, with a certificate made for the test.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  assertGapFree, removeDirectory, run, startServer, temporaryDirectory,
} from './harness.mjs';
import { RawClient } from './raw.mjs';

describe('tls', () => {
  let directory;
  let cert;
  let key;
  let server;
  before(async () => {
    directory = temporaryDirectory();
    cert = join(directory, 'cert.pem');
    key = join(directory, 'key.pem');
    execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256',
      '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=localhost',
      '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'], { stdio: 'ignore' });
    server = await startServer({
      args: ['--tls-cert', cert, '--tls-key', key], tls: { ca: readFileSync(cert) },
    });
  });
  after(async () => {
    await server?.dispose();
    removeDirectory(directory);
  });

  it('says https in the line it prints', () => {
    assert.match(server.stdout, /^listening on https:\/\/127\.0\.0\.1:\d+$/m);
  });

  it('serves the API', async () => {
    const { id } = await server.create({ status: 'ACTIVE' });
    const text = 'x'.repeat(100_000);
    const made = await Promise.all(Array.from({ length: 50 }, (_, n) => server.append(id,
      { type: 'log', data: { n, text } })));
    assert.equal(made.length, 50);
    assert.equal((await server.events(id)).length, (await server.get(id)).lastSeq);
  });

  it('serves streams', async () => {
    const { id } = await server.create({ status: 'ACTIVE' });
    const reader = await server.reader(id);
    await reader.replayComplete();
    await server.append(id, { type: 'log', data: { over: 'tls' } });
    await reader.waitFor((frame) => frame.data.includes('tls'));
    assertGapFree(reader.seqs, 1);
    reader.close();
  });

  it('does not answer plain HTTP with anything of use, and lives on', async () => {
    const client = await RawClient.connect(server);
    client.sendRequest('GET /v1/sessions');
    await client.closed();
    assert.doesNotMatch(client.bytes.toString('latin1'), /^HTTP\/1\.1 2/);
    client.destroy();
    await server.assertAlive();
  });

  it('does not mind a client that vanishes in the handshake', async () => {
    for (let n = 0; n < 20; n += 1) {
      const client = await RawClient.connect(server);
      client.send(Buffer.from('160301020001000', 'hex'));
      client.socket.resetAndDestroy();
    }
    await server.assertAlive();
  });

  it('refuses to start with half of a pair, a missing file or a broken one', async () => {
    const broken = join(directory, 'broken.pem');
    writeFileSync(broken, 'not a certificate');
    const wrong = [['--tls-cert', cert], ['--tls-key', key],
      ['--tls-cert', join(directory, 'missing'), '--tls-key', key],
      ['--tls-cert', broken, '--tls-key', key], ['--tls-cert', cert, '--tls-key', broken]];
    for (const flags of wrong) {
      const data = temporaryDirectory();
      const args = ['serve', '--listen', '127.0.0.1:0', '--data', data, ...flags];
      const { code, stdout, stderr } = await run(args);
      assert.notEqual(code, 0, flags.join(' '));
      assert.doesNotMatch(stdout, /listening/);
      assert.match(stderr, /\S/);
      removeDirectory(data);
    }
  });
});
