// What an agent and its people are shown of an action: the difference of two snapshots, and a picture with the box of the
// element that was acted on.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { browserDirectory, startServer, unique, until } from './harness.mjs';

const rows = Array.from({ length: 200 }, (_, index) => `<li>Row ${index}</li>`).join('');
const page = `<!doctype html><title>List</title><body style="margin:0;background:white"><h1 style="margin:0;height:100px">List</h1>
  <button style="position:absolute;left:300px;top:40px;width:120px;height:40px" onclick="document.querySelector('h1').textContent = 'Changed'">Change</button>
  <button id=away style="position:absolute;left:500px;top:40px;width:120px;height:40px" onclick="location = '/next'">Away</button>
  <iframe src="/frame" style="position:absolute;left:0;top:200px;border:0" width=400 height=100></iframe>
  <div style="height:250px"></div><ul>${rows}</ul>`;
const pages = { '/': page, '/next': '<body style="background:white">next',
  '/frame': '<body style="margin:0;background:white"><button style="position:absolute;left:100px;top:30px;width:100px;height:40px">Inner</button>' };

describe('what is shown', () => {
  let server;
  let site;
  let origin;
  let session;
  before(async () => {
    site = http.createServer((request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(pages[request.url] ?? '');
    });
    await new Promise((ready) => { site.listen(0, '127.0.0.1', ready); });
    origin = `http://127.0.0.1:${site.address().port}`;
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
    session = await server.create({ app: unique('shown'), status: 'ACTIVE' });
  });
  after(async () => {
    await server.dispose();
    site.closeAllConnections();
    site.close();
  });
  const done = async (name, args = {}) => {
    const answer = await server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
    assert.ok(answer.ok, JSON.stringify(answer.error));
    return answer.result;
  };

  it('of a snapshot only what has changed, where that is asked for and shorter', async () => {
    await done('navigate', { url: `${origin}/` });
    const first = await done('snapshot', { diff: true });
    assert.match(first.snapshot, /Row 199/, 'there was none before');
    assert.deepEqual(await done('snapshot', { diff: true }), { diff: '' });
    await done('click', { target: 'text=Change' });
    const { diff } = await done('snapshot', { diff: true });
    assert.match(diff, /^-.*heading "List"/m);
    assert.match(diff, /^\+.*heading "Changed"/m);
    assert.ok(diff.length < first.snapshot.length / 4);
    assert.match((await done('snapshot')).snapshot, /heading "Changed"/, 'whole unless asked');
    assert.ok((await done('snapshot', { diff: true, boxes: true })).snapshot, 'one of another kind says nothing');
    await done('navigate', { url: `${origin}/next` });
    assert.match((await done('snapshot', { diff: true, boxes: true })).snapshot, /next/, 'nor does another page');
  });

  it('of a snapshot no more bytes than asked for', async () => {
    await done('navigate', { url: `${origin}/` });
    const { snapshot } = await done('snapshot', { maxBytes: 500 });
    assert.ok(snapshot.length < 700, `${snapshot.length}`);
    assert.match(snapshot, /truncated/);
  });

  // The colours at some points of a command's picture, as the page itself sees them.
  async function coloursOf(command, points) {
    const path = `/v1/sessions/${session.id}/artifacts/${command.capture.picture}`;
    await until(async () => (await server.call('GET', path)).status === 200);
    const bytes = await new Promise((resolve, reject) => {
      http.get(`${server.url}${path}`, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks))).on('error', reject);
      });
    });
    return done('evaluate', { function: `async () => {
      const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (c) => c.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' }));
      const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
      canvas.drawImage(picture, 0, 0);
      return ${JSON.stringify(points)}.map(([x, y]) => { const [r, g, b] = canvas.getImageData(x, y, 1, 1).data;
        return r > 180 && g < 110 && b < 110 ? 'red' : r > 200 && g > 200 && b > 200 ? 'light' : 'other' }) }` });
  }
  const last = async () => (await server.ok('GET', `/v1/sessions/${session.id}/commands?limit=500`)).commands.at(-1);

  it('of an action the box of its element, in the picture and on record', async () => {
    await done('navigate', { url: `${origin}/` });
    await done('click', { target: 'text=Change' });
    const clicked = await last();
    assert.deepEqual(clicked.target.box, { x: 300, y: 40, width: 120, height: 40 });
    assert.deepEqual(await coloursOf(clicked, [[298, 60], [421, 60], [360, 38], [280, 60], [440, 60]]), ['red', 'red', 'red', 'light', 'light']);
    // Inside a frame too, and not where the page has gone elsewhere.
    const inner = /button "Inner".*\[ref=(\w+)\]/.exec((await done('snapshot')).snapshot)[1];
    await done('click', { target: inner });
    assert.deepEqual(await coloursOf(await last(), [[98, 250], [201, 250], [80, 250]]), ['red', 'red', 'light']);
    await done('click', { target: '#away' });
    assert.deepEqual(await coloursOf(await last(), [[498, 60], [621, 60]]), ['light', 'light']);
    assert.equal(await done('evaluate', { function: '() => document.adoptedStyleSheets.length' }), 0);
  });
});
