// The pages that browsers are measured on, served on loopback.
import {createServer} from "node:http";

const rows = (count, row) => Array.from({length: count}, (_, i) => row(i)).join("");

// 40 links, 40 buttons and 40 fields: what browser.md's figures were taken on.
const light = `<!doctype html><title>Light</title><h1>Light</h1>
  <input id=name><button id=press onclick="this.dataset.n = 1 + +(this.dataset.n ?? 0)">Press</button>
  ${rows(40, (i) => `<p><a href="/next?${i}">Link ${i}</a><button>Button ${i}</button><input aria-label="Field ${i}"></p>`)}`;

// What an action sets off arrives `after` milliseconds later; `kind` says how.
const late = (kind, after) => {
  const show = "document.getElementById('out').textContent = 'arrived'";
  const wait = `fetch('/wait?ms=${after}')`;
  const how = {
    timer: `setTimeout(() => { ${show} }, ${after})`,
    fetch: `${wait}.then(() => { ${show} })`,
    chain: `fetch('/wait?ms=${Math.round(after / 2)}').then(() => fetch('/wait?ms=${Math.round(after / 2)}')).then(() => { ${show} })`,
    navigation: `location.href = '/arrived?ms=${after}'`,
  }[kind];
  return `<!doctype html><title>Late</title><button id=go onclick="${how}">Go</button><p id=out>nothing yet</p>`;
};

export async function startSite() {
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://site");
    const ms = Number(url.searchParams.get("ms") ?? 0);
    const html = (text) => {
      response.writeHead(200, {"Content-Type": "text/html; charset=utf-8"});
      response.end(text);
    };
    switch (url.pathname) {
      case "/light":
        return html(light);
      case "/late":
        return html(late(url.searchParams.get("kind"), ms));
      case "/wait":
        return setTimeout(() => response.end("done"), ms);
      case "/arrived":
        return setTimeout(() => html("<!doctype html><title>There</title><p>arrived</p>"), ms);
      case "/next":
        return html("<!doctype html><title>Next</title><h1>Next</h1>");
      default:
        response.writeHead(404);
        return response.end();
    }
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
