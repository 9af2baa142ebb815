// Pages of the tests, served from loopback: pages.add(html) gives the address of a page with that content.
import { createServer } from 'node:http';

export async function servePages() {
  const stored = new Map();
  const server = createServer((request, response) => {
    const page = stored.get(new URL(request.url, 'http://localhost').pathname);
    response.writeHead(page === undefined ? 404 : 200, {
      'Content-Type': page?.type ?? 'text/html; charset=utf-8', 'Cache-Control': 'no-store', ...page?.headers,
    });
    response.end(page?.body ?? 'not found');
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address();
  let last = 0;
  return {
    port,
    add(html, { name = `/p${++last}`, host = '127.0.0.1', type, headers } = {}) {
      const body = type ? html : `<!doctype html><title>A page</title>${html}`;
      stored.set(name, { body, type, headers });
      return `http://${host}:${port}${name}`;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => { server.close(resolve); });
    },
  };
}

// A page that loads once and takes one content after the other, which is much quicker than opening as many pages.
// `show(html)` replaces its content (scripts in it run) and leaves our world and its refs as they are.
export async function openStage(browser, pages) {
  const page = await browser.newPage();
  await page.open(pages.add('<body></body>'));
  const world = await page.world();
  return {
    page,
    world,
    async show(html) {
      await page.send('Page.setDocumentContent', {
        frameId: page.frameId, html: `<!doctype html><html><head><title>A page</title></head><body>`
          + `${html}</body></html>`,
      });
      await page.evaluate(`document.readyState === 'complete' || new Promise((resolve) => { onload = () => `
        + `resolve(true); })`);
    },
    async lines(options = {}) {
      return (await world.call('snapshot', options)).text;
    },
  };
}

export const withoutRefs = (text) => text.replace(/ \[ref=(?:f\d+)?e\d+\]/g, '');

// The ref of the first line that matches.
export function refIn(text, pattern) {
  const line = text.split('\n').find((candidate) => pattern.test(candidate));
  const ref = /\[ref=(\w+)\]/.exec(line ?? '')?.[1];
  if (!ref) throw new Error(`no ref in a line that matches ${pattern}:\n${text}`);
  return ref;
}
