// Files in and out of a session's browser: downloads become artifacts of the session, and pages are given artifacts and
// nothing else.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, unique, until } from './harness.mjs';

const page = `<title>Files</title>
  <a id=plain href="/file?name=report.txt">report</a>
  <a id=popup href="/file?name=popup.txt" target=_blank>popup</a>
  <a id=odd href="/file?name=..%2F..%2Fetc%2Fpasswd">odd</a>
  <a id=huge href="/huge">huge</a>
  <a id=slow href="/slow">slow</a>
  <button id=blob onclick="const a = document.createElement('a'); a.href = window.URL.createObjectURL(new Blob(['from a script']));
    a.download = 'made.txt'; a.click()">blob</button>
  <iframe src="/inner"></iframe>
  <input type=file id=one onchange="read(this.files)"><input type=file id=many multiple onchange="read(this.files)">
  <div id=drop style="width:200px;height:100px;background:#ccc">drop here</div><output></output>
  <script>
    const say = (value) => { document.querySelector('output').textContent = JSON.stringify(value); };
    const read = async (files) => say(await Promise.all([...files].map(async (file) => [file.name, await file.text()])));
    const area = document.getElementById('drop');
    area.ondragover = (event) => event.preventDefault();
    area.ondrop = async (event) => {
      event.preventDefault();
      const text = event.dataTransfer.getData('text/plain');
      const files = await Promise.all([...event.dataTransfer.files].map(async (file) => [file.name, await file.text()]));
      say({ text, files });
    };
  </script>`;

function startSite() {
  const waiting = [];
  const site = http.createServer((request, response) => {
    const url = new URL(request.url, 'http://site');
    const attach = (name, more = {}) => response.writeHead(200, {
      'Content-Type': 'application/octet-stream', 'Content-Disposition': `attachment; filename="${name}"`, ...more });
    if (url.pathname === '/file') {
      attach(url.searchParams.get('name'));
      response.end(`content of ${url.searchParams.get('name')} for ${url.searchParams.get('who') ?? 'all'}`);
    } else if (url.pathname === '/huge') {
      attach('huge.bin', { 'Content-Length': String(3 * 1024 ** 3) });
      response.write('x'.repeat(4096));
      waiting.push(response);
    } else if (url.pathname === '/slow') {
      attach('slow.txt');
      response.write('begin'.padEnd(4096));  // a browser looks at the beginning first
      waiting.push(response);
    } else {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(url.pathname === '/inner' ? '<a id=inner href="/file?name=inner.txt">inner</a>' : page);
    }
  });
  return new Promise((ready) => site.listen(0, '127.0.0.1', () => ready({ site, waiting, port: site.address().port })));
}

describe('files of browsers', () => {
  let server;
  let web;
  let origin;
  const directory = browserDirectory();
  before(async () => {
    web = await startSite();
    origin = `http://127.0.0.1:${web.port}`;
    server = await startServer({ args: ['--browser-dir', directory, '--max-artifact-bytes', '1000000'] });
  });
  after(async () => {
    await server.dispose();
    web.site.closeAllConnections();
    web.site.close();
  });

  const start = async (options = { capture: 'none' }) => {
    const session = await server.create({ app: unique('files'), status: 'ACTIVE' });
    await server.ok('POST', `/v1/sessions/${session.id}/browser`, options, {}, 201);
    await done(session, 'navigate', { url: `${origin}/` });
    return session;
  };
  const tool = (session, name, args = {}) =>
    server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
  const done = async (session, name, args) => {
    const answer = await tool(session, name, args);
    assert.ok(answer.ok, JSON.stringify(answer.error));
    return answer;
  };
  const downloadsOf = async (session) =>
    (await server.ok('GET', `/v1/sessions/${session.id}/artifacts?prefix=downloads/`)).artifacts.map(({ path }) => path);
  const contentOf = async (session, path) =>
    (await server.call('GET', `/v1/sessions/${session.id}/artifacts/${encodeURI(path)}`)).text;
  const put = (session, path, text) =>
    server.ok('PUT', `/v1/sessions/${session.id}/artifacts/${path}`, text, { 'Content-Type': 'text/plain' }, 201);
  const output = async (session) => {
    const text = await until(async () => (await done(session, 'evaluate', { function: `() => document.querySelector('output').textContent` })).result);
    return JSON.parse(text);
  };
  // What is left of downloads and lent files, whatever browser has them.
  const leftFiles = () => readdirSync(join(directory, 'profiles')).flatMap((name) => ['in', 'out'].flatMap((side) => {
    const folder = join(directory, 'profiles', name, side);
    return existsSync(folder) ? readdirSync(folder) : [];
  }));

  it('come out of pages as artifacts, each under a name of its own', async () => {
    const session = await start();
    const answer = await done(session, 'click', { target: '#plain' });
    assert.deepEqual(answer.events, ['downloaded: artifact downloads/report.txt (29 bytes)']);
    assert.equal(await contentOf(session, 'downloads/report.txt'), 'content of report.txt for all');
    await done(session, 'click', { target: '#plain' });
    await done(session, 'click', { target: '#blob' });
    await until(async () => (await downloadsOf(session)).includes('downloads/made.txt'));
    const odd = await done(session, 'click', { target: '#odd' });
    assert.match(odd.events[0], /^downloaded: artifact downloads\//);
    const direct = await done(session, 'navigate', { url: `${origin}/file?name=direct.txt` });
    assert.equal(direct.result.isDownload, true);
    const popup = await done(session, 'click', { target: '#popup' });
    await until(async () => (await downloadsOf(session)).includes('downloads/popup.txt'));
    assert.ok(popup.ok);
    await done(session, 'tabs', { action: 'select', index: 0 });
    await done(session, 'evaluate', { function: `() => document.querySelector('iframe').contentDocument.querySelector('a').click()` });
    await until(async () => (await downloadsOf(session)).includes('downloads/inner.txt'));
    const paths = await downloadsOf(session);
    assert.equal(await contentOf(session, 'downloads/report (2).txt'), 'content of report.txt for all');
    assert.equal(await contentOf(session, 'downloads/made.txt'), 'from a script');
    assert.equal(await contentOf(session, 'downloads/direct.txt'), 'content of direct.txt for all');
    assert.equal(paths.length, 7, paths.join());
    assert.ok(paths.every((path) => /^downloads\/[^/]+$/.test(path)), paths.join());
    const created = (await server.events(session.id)).filter(({ type, data }) => type === 'artifact_created' && data.path.startsWith('downloads/'));
    assert.equal(created.length, 7);
    await server.ok('DELETE', `/v1/sessions/${session.id}/browser`, undefined, {}, 204);
    assert.deepEqual(leftFiles(), []);
  });

  it('are told of while they go on, and when they are given up', async () => {
    const session = await start();
    const going = await done(session, 'click', { target: '#slow' });
    assert.deepEqual(going.events, ['downloading: slow.txt']);
    web.waiting.splice(0).forEach((response) => response.end('end'));
    await until(async () => (await downloadsOf(session)).includes('downloads/slow.txt'));
    assert.match(await contentOf(session, 'downloads/slow.txt'), /^begin *end$/);
    assert.deepEqual((await done(session, 'tabs', { action: 'list' })).events, ['downloaded: artifact downloads/slow.txt (4099 bytes)']);
    const huge = await done(session, 'click', { target: '#huge' });
    assert.deepEqual(huge.events, ['not downloaded: huge.bin: it has more than 1000000 bytes']);
    web.waiting.splice(0).forEach((response) => response.destroy());
    assert.deepEqual(await downloadsOf(session), ['downloads/slow.txt']);
  });

  it('are of one session alone', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    await Promise.all([['one', one], ['two', two]].map(([who, session]) =>
      done(session, 'navigate', { url: `${origin}/file?name=mine.txt&who=${who}` })));
    for (const [who, session] of [['one', one], ['two', two]]) {
      await until(async () => (await downloadsOf(session)).length === 1);
      assert.equal(await contentOf(session, 'downloads/mine.txt'), `content of mine.txt for ${who}`);
    }
  });

  it('are refused where nobody wants them', async () => {
    const session = await start({ capture: 'none', acceptDownloads: false });
    await done(session, 'click', { target: '#plain' });
    assert.deepEqual(await downloadsOf(session), []);
  });

  it('go into file choosers, from artifacts', async () => {
    const session = await start();
    const before = leftFiles();
    assert.equal((await tool(session, 'file_upload', { paths: ['a.txt'] })).error.code, 'no_file_chooser');
    await put(session, 'notes/a.txt', 'first');
    await put(session, 'b.txt', 'second');
    await done(session, 'click', { target: '#one' });
    await done(session, 'file_upload', { paths: ['notes/a.txt'] });
    assert.deepEqual(await output(session), [['a.txt', 'first']]);
    await done(session, 'click', { target: '#many' });
    await done(session, 'file_upload', { paths: ['notes/a.txt', 'b.txt'] });
    await until(async () => (await output(session)).length === 2);
    assert.deepEqual(await output(session), [['a.txt', 'first'], ['b.txt', 'second']]);
    await done(session, 'click', { target: '#one' });
    await done(session, 'file_upload');
    assert.equal((await tool(session, 'file_upload', { paths: [] })).error.code, 'no_file_chooser');
    const { commands } = await server.ok('GET', `/v1/sessions/${session.id}/commands?tool=browser_file_upload`);
    assert.ok(commands.every(({ args }) => !JSON.stringify(args).includes(directory)));
    assert.ok(leftFiles().length > before.length);
    await server.ok('POST', `/v1/sessions/${session.id}/close`);
    await until(() => leftFiles().length === before.length);
  });

  it('are dropped onto pages, and so is data', async () => {
    const session = await start();
    await put(session, 'c.txt', 'dropped');
    await done(session, 'drop', { target: '#drop', paths: ['c.txt'], data: { 'text/plain': 'words' } });
    assert.deepEqual(await output(session), { text: 'words', files: [['c.txt', 'dropped']] });
    assert.equal((await tool(session, 'drop', { target: '#drop' })).error.code, 'nothing_to_drop');
  });

  it('are artifacts of the session, whatever else is named', async () => {
    const session = await start();
    const stranger = await start();
    await put(stranger, 'theirs.txt', 'theirs');
    await put(session, 'mine.txt', 'mine');
    const names = ['/etc/passwd', '../../etc/passwd', 'mine.txt/../../etc/passwd', './mine.txt', 'file:///etc/passwd', 'theirs.txt', '',
      '/proc/self/environ', 'mine.txt\u0000.png', '\\\\host\\share', `${server.data}/LOCK`, `../${stranger.id}/theirs.txt`, '~/.ssh/id_rsa', 'mine.txt/'];
    await done(session, 'click', { target: '#many' });
    for (const name of names) {
      const answer = await tool(session, 'file_upload', { paths: ['mine.txt', name] });
      assert.equal(answer.ok, false, name);
      assert.ok(['bad_path', 'artifact_not_found'].includes(answer.error.code), `${name}: ${answer.error.code}`);
    }
    await done(session, 'file_upload');
    for (const name of names) {
      const answer = await tool(session, 'drop', { target: '#drop', paths: [name] });
      assert.ok(['bad_path', 'artifact_not_found'].includes(answer.error?.code), `${name}: ${JSON.stringify(answer)}`);
    }
    const length = (await done(session, 'evaluate', { function: `() => document.getElementById('many').files.length` })).result;
    assert.equal(length, 0);
  });

  it('lie where only the browser can read them', async (t) => {
    if (process.getuid() !== 0) return t.diagnostic('the browser is the same user');
    const session = await start();
    await put(session, 'private.txt', 'private');
    await done(session, 'click', { target: '#one' });
    await done(session, 'file_upload', { paths: ['private.txt'] });
    const [folder] = readdirSync(join(directory, 'profiles')).map((name) => join(directory, 'profiles', name, 'in')).filter(existsSync);
    const find = (at) => readdirSync(at, { withFileTypes: true }).flatMap((entry) => entry.isDirectory() ? find(join(at, entry.name)) : [join(at, entry.name)]);
    const lent = find(folder).find((path) => path.endsWith('private.txt'));
    assert.equal(readFileSync(lent, 'utf8'), 'private');
    assert.equal(statSync(lent).mode & 0o777, 0o640);
    assert.equal(statSync(folder).mode & 0o777, 0o750);
    assert.equal(statSync(folder).uid, 0);
  });
});
