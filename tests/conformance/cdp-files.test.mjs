// Files of pages while a DevTools client is attached: downloads are the session's, and what a client calls a file is an
// artifact of it.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { browserDirectory, startServer, unique, until } from '../e2e/harness.mjs';
import { socketUrl } from './cdp-site.mjs';

describe('files over the DevTools endpoint', () => {
  let server;
  let site;
  let origin;
  before(async () => {
    site = http.createServer((request, response) => {
      const name = /^\/file\/(.+)$/.exec(request.url)?.[1];
      response.writeHead(200, name ? { 'Content-Type': 'application/octet-stream', 'Content-Disposition': `attachment; filename="${name}"` }
        : { 'Content-Type': 'text/html' });
      response.end(name ? `content of ${name}` : `<title>Files</title><a id=one href="/file/one.txt">one</a>
        <a id=two href="/file/two.txt">two</a><a id=three href="/file/three.txt">three</a><input type=file>`);
    });
    await new Promise((ready) => { site.listen(0, '127.0.0.1', ready); });
    origin = `http://127.0.0.1:${site.address().port}`;
    server = await startServer({ args: ['--browser-dir', browserDirectory()] });
  });
  after(async () => {
    await server.dispose();
    site.closeAllConnections();
    site.close();
  });
  const start = () => server.create({ app: unique('cdp-files'), status: 'ACTIVE' });
  const tool = (session, name, args) => server.ok('POST', `/v1/sessions/${session.id}/tools/browser_${name}`, args, {}, 200);
  const arrived = (session, path) => until(async () => {
    const { artifacts } = await server.ok('GET', `/v1/sessions/${session.id}/artifacts?prefix=downloads/`);
    return artifacts.some((artifact) => artifact.path === path);
  });

  it('go into the session while Playwright or Puppeteer is attached, and after it has left', async () => {
    const session = await start();
    const browser = await chromium.connectOverCDP(`${server.url}/v1/sessions/${session.id}/cdp`);
    const [page] = browser.contexts()[0].pages();
    await page.goto(origin);
    await page.click('#one');
    await arrived(session, 'downloads/one.txt');
    await browser.close();
    assert.ok((await tool(session, 'click', { target: '#two' })).ok);
    await arrived(session, 'downloads/two.txt');
    const puppet = await puppeteer.connect({ browserWSEndpoint: socketUrl(server, session), defaultViewport: null });
    const [again] = await puppet.pages();
    await again.click('#three');
    await arrived(session, 'downloads/three.txt');
    await puppet.disconnect();
  });

  it('are artifacts where a client names them', async () => {
    const session = await start();
    await server.ok('PUT', `/v1/sessions/${session.id}/artifacts/notes/a.txt`, 'from the session', { 'Content-Type': 'text/plain' }, 201);
    const browser = await chromium.connectOverCDP(`${server.url}/v1/sessions/${session.id}/cdp`);
    const [page] = browser.contexts()[0].pages();
    await page.goto(origin);
    const protocol = await page.context().newCDPSession(page);
    const { root } = await protocol.send('DOM.getDocument');
    const { nodeId } = await protocol.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'input' });
    await protocol.send('DOM.setFileInputFiles', { nodeId, files: ['notes/a.txt'] });
    assert.deepEqual(await page.$eval('input', async (input) => [input.files[0].name, await input.files[0].text()]), ['a.txt', 'from the session']);
    for (const path of ['/etc/passwd', '../../etc/passwd', 'notes/../../../etc/passwd', 'none.txt', ''])
      await assert.rejects(protocol.send('DOM.setFileInputFiles', { nodeId, files: [path] }), /Files are artifacts/, path);
    await browser.close();
  });
});
