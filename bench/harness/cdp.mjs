// The DevTools endpoint of a session beside a Chromium of the same kind that is asked directly: what a round trip, a
// Playwright script and a new page cost more.
import {spawn} from "node:child_process";
import {chmodSync, mkdtempSync, rmSync} from "node:fs";
import http from "node:http";
import {createRequire} from "node:module";
import {join} from "node:path";

import {benchDirectory} from "./build.mjs";
import {median} from "./results.mjs";
import {start} from "./servers.mjs";

const require = createRequire(join(benchDirectory, "peers/package.json"));
const page = `<title>Bench</title><label>Name <input id=name></label><output id=out></output>
  <button id=go onclick="out.textContent = document.querySelector('#name').value">Go</button>
  ${Array.from({length: 40}, (_, i) => `<p><a href="/${i}">link ${i}</a></p>`).join("")}`;

// Each with {connect(): {endpoint, end()}}: a place for one client, as new as a session is.
async function direct(context) {
  const profile = mkdtempSync(join(context.root, "chromium-"));
  const child = spawn(
      "/usr/bin/chromium-headless-shell",
      ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
       "--disable-component-update", "--disable-sync", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"],
      {stdio: ["ignore", "ignore", "pipe"], detached: true});
  const endpoint = await new Promise((found, failed) => {
    let text = "";
    child.stderr.on("data", (bytes) => {
      text += bytes;
      const line = /DevTools listening on (ws:\S+)/.exec(text);
      if (line) found(line[1]);
    });
    child.once("exit", () => failed(new Error(`chromium-headless-shell ended: ${text.slice(-500)}`)));
  });
  return {
    name: "chromium",
    place: async () => ({endpoint}),
    stop: async () => {
      const ended = new Promise((over) => child.once("exit", over));
      process.kill(-child.pid, "SIGKILL");
      await ended;
      rmSync(profile, {recursive: true, force: true, maxRetries: 10});
    },
  };
}

let started = 0;
async function ours(context, pool = ["--pool-clients", "400"]) {
  // The browser runs as another user, who must be able to pass through.
  chmodSync(context.root, 0o711);
  const directory = join(context.root, `browsers-${++started}`);
  const server = await start.reprise(context, [...pool, "--browser-no-sandbox", "--browser-dir", directory]);
  const post = (path, body) => fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify(body),
  }).then((answer) => answer.json());
  return {
    name: "reprise",
    place: async () => {
      const {id} = await post("/v1/sessions", {status: "ACTIVE"});
      return {id, endpoint: `ws://127.0.0.1:${server.port}/v1/sessions/${id}/cdp`};
    },
    stop: () => server.stop(),
  };
}

class Client {
  static async connect(endpoint) {
    const WebSocket = require("ws");
    const socket = new WebSocket(endpoint, {perMessageDeflate: false, maxPayload: 0});
    await new Promise((opened, failed) => {
      socket.once("open", opened);
      socket.once("error", failed);
    });
    return new Client(socket);
  }
  constructor(socket) {
    this.socket = socket;
    this.lastId = 0;
    this.waiting = new Map();
    socket.on("message", (data) => {
      const message = JSON.parse(data);
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    });
  }
  call(method, params = {}, sessionId = undefined) {
    const id = ++this.lastId;
    const reply = new Promise((told) => this.waiting.set(id, told));
    this.socket.send(JSON.stringify({id, method, params, sessionId}));
    return reply.then(({result, error}) => {
      if (error) throw new Error(`${method}: ${error.message}`);
      return result;
    });
  }
  async page() {
    const {targetInfos} = await this.call("Target.getTargets");
    const {targetId} = targetInfos.find(({type}) => type === "page");
    return (await this.call("Target.attachToTarget", {targetId, flatten: true})).sessionId;
  }
}

const micros = (begun) => Number(process.hrtime.bigint() - begun) / 1000;

// Sequential round trips, in turns of a hundred, so that the machine's noise hits both alike.
async function roundTrips(context, servers) {
  const clients = [];
  for (const server of servers) {
    const client = await Client.connect((await server.place()).endpoint);
    clients.push({server, client, session: await client.page()});
  }
  const calls = {
    "Browser.getVersion": ({client}) => client.call("Browser.getVersion"),
    "Runtime.evaluate": ({client, session}) => client.call("Runtime.evaluate", {expression: "1"}, session),
    "100 KB result": ({client, session}) => client.call("Runtime.evaluate", {expression: "'x'.repeat(1e5)"}, session),
  };
  for (const [name, call] of Object.entries(calls)) {
    const taken = new Map(clients.map((one) => [one, []]));
    for (const one of clients) for (let i = 0; i < 200; ++i) await call(one);
    for (let turn = 0; turn < context.scale.cdpTurns; ++turn) {
      for (let i = 0; i < clients.length; ++i) {
        const one = clients[(turn + i) % clients.length];
        for (let count = 0; count < 100; ++count) {
          const begun = process.hrtime.bigint();
          await call(one);
          taken.get(one).push(micros(begun));
        }
      }
    }
    for (const [{server}, all] of taken) {
      all.sort((a, b) => a - b);
      const at = (share) => all[Math.floor(all.length * share)];
      // The tenth best is what it costs when nobody else wants the cores.
      const sample = {latencyP50Us: at(0.5), latencyP10Us: at(0.1), latencyP99Us: at(0.99)};
      context.results.add("cdp-trips", name, server.name, 0, sample);
      context.progress("cdp-trips", name, server.name, sample);
    }
  }
  for (const {client} of clients) client.socket.terminate();
}

// What a script does from connecting to closing.
async function script(endpoint, origin) {
  const {chromium} = require("playwright-core");
  const begun = process.hrtime.bigint();
  const browser = await chromium.connectOverCDP(endpoint);
  const tab = await browser.contexts()[0].newPage();
  for (let i = 0; i < 3; ++i) {
    await tab.goto(origin);
    await tab.fill("#name", `round ${i}`);
    await tab.click("#go");
    if (await tab.textContent("#out") !== `round ${i}`) throw new Error("the page says something else");
    await tab.screenshot();
    await tab.evaluate(() => document.querySelectorAll("a").length);
  }
  await tab.close();
  await browser.close();
  return micros(begun);
}

async function scripts(context, servers, origin) {
  const places = new Map();
  for (const server of servers) {
    places.set(server, await server.place());
    await script(places.get(server).endpoint, origin);
  }
  for (let round = 0; round < context.scale.cdpPairs; ++round) {
    for (let i = 0; i < servers.length; ++i) {
      const server = servers[(round + i) % servers.length];
      const sample = {latencyP50Us: await script(places.get(server).endpoint, origin)};
      context.results.add("cdp-script", "connect to close", server.name, round, sample);
    }
  }
  for (const server of servers)
    context.progress("cdp-script", "connect to close", server.name,
                     {latencyP50Us: context.results.median("cdp-script", "connect to close", server.name, "latencyP50Us")});
}

// A new page of one session while clients are attached to others and wait: in one browser, and in as many as the
// limit of clients per browser makes of it.
async function newPages(context, server, where) {
  const {chromium} = require("playwright-core");
  const idle = [];
  const place = await server.place();
  const browser = await chromium.connectOverCDP(place.endpoint);
  const measure = async (variant) => {
    const taken = [];
    for (let i = 0; i < context.scale.cdpPages; ++i) {
      const begun = process.hrtime.bigint();
      const tab = await browser.contexts()[0].newPage();
      taken.push(micros(begun));
      await tab.close();
    }
    const sample = {latencyP50Us: median(taken)};
    context.results.add("cdp-pages", `${variant}, ${where}`, server.name, 0, sample);
    context.progress("cdp-pages", `${variant}, ${where}`, server.name, sample);
  };
  await measure("warm-up");
  await measure("alone");
  for (let i = 0; i < context.scale.cdpIdleClients; ++i) {
    const client = await Client.connect((await server.place()).endpoint);
    await client.call("Target.setDiscoverTargets", {discover: true});
    await client.call("Target.setAutoAttach", {autoAttach: true, waitForDebuggerOnStart: true, flatten: true});
    idle.push(client);
  }
  await measure(`${context.scale.cdpIdleClients} idle clients`);
  for (const client of idle) client.socket.terminate();
  await browser.close();
}

export async function cdp(context) {
  const site = http.createServer((_, response) => {
    response.writeHead(200, {"Content-Type": "text/html"});
    response.end(page);
  });
  await new Promise((ready) => site.listen(0, "127.0.0.1", ready));
  const origin = `http://127.0.0.1:${site.address().port}/`;
  const servers = [];
  try {
    if (context.binary) servers.push(await ours(context));
    if (context.withPeers) servers.push(await direct(context));
    await roundTrips(context, servers);
    await scripts(context, servers, origin);
    if (context.binary) {
      await newPages(context, servers[0], "one browser");
      servers.push(await ours(context, ["--pool-browsers", "3"]));
      await newPages(context, servers.at(-1), "50 clients a browser");
    }
  } finally {
    for (const server of servers) await server.stop();
    site.closeAllConnections();
    site.close();
  }
}
