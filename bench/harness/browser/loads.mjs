// Browsers: what a session, a tool call and a page cost, beside npm's @playwright/mcp and the bare protocol in the same
// Chromium.
import {mkdtempSync} from "node:fs";
import {join} from "node:path";

import {median} from "../results.mjs";
import {alternate, attempt} from "../rounds.mjs";
import {start} from "../servers.mjs";
import {BareChromium} from "./bare_chromium.mjs";
import {ownPssBytes, treePssBytes} from "./memory.mjs";
import {PlaywrightMcp} from "./playwright_mcp.mjs";
import {Sessions} from "./sessions.mjs";
import {startSite} from "./site.mjs";

const sleep = (ms) => new Promise((next) => setTimeout(next, ms));

function spread(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return {
    calls: times.length,
    latencyP50Us: 1000 * median(sorted),
    latencyP99Us: 1000 * sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))],
  };
}

async function timed(count, work) {
  const times = [];
  for (let i = 0; i < count; ++i) {
    const begun = performance.now();
    await work(i);
    times.push(performance.now() - begun);
  }
  return spread(times);
}

// The same calls for both; `captures` are off, because the peer makes none (a line of its own shows what they cost).
const tools = (origin) => ({
  navigate: (on, i) => on.tool("navigate", {url: `${origin}/light?${i}`}),
  snapshot: (on) => on.tool("snapshot", {}),
  click: (on) => on.tool("click", {element: "Press", target: "#press"}),
  type: (on, i) => on.tool("type", {element: "Name", target: "#name", text: `text ${i}`}),
  "type and submit": (on, i) => on.tool("type", {element: "Name", target: "#name", text: `text ${i}`, submit: true}),
});

export async function browserTools(context) {
  const site = await startSite();
  const server = await start.reprise(context);
  const sessions = new Sessions(server);
  const ours = await sessions.open({capture: "none"});
  const captured = await sessions.open();
  captured.name = "reprise, captured";
  const servers = [ours, captured];
  if (context.withPeers) servers.push(await PlaywrightMcp.start(context.root));
  const calls = tools(site.origin);
  for (const each of servers) for (const name of Object.keys(calls)) await timed(3, (i) => calls[name](each, i));
  for (const name of Object.keys(calls)) {
    await alternate(
        context, servers,
        (each, round) => attempt(
            context, "browser-tools", name, each, round,
            () => timed(context.scale.browserCalls, (i) => calls[name](each, i))));
  }
  await lateOutcomes(context, site, [ours, ...servers.slice(2)]);
  for (const each of servers.slice(2)) await each.stop();
  if (context.withPeers) await twenty(context, site, sessions);
  await server.stop();
  site.stop();
}

// No less safe: does the snapshot right after a click show what the click set off?
async function lateOutcomes(context, site, servers) {
  for (const kind of ["timer", "fetch", "chain", "navigation"]) {
    for (const server of servers) {
      await attempt(context, "browser-late", kind, server, 0, async () => {
        let shown = 0;
        const delays = context.scale.browserDelays;
        for (const ms of delays) {
          await server.tool("navigate", {url: `${site.origin}/late?kind=${kind}&ms=${ms}`});
          await server.tool("click", {element: "Go", target: "#go"});
          if ((await server.tool("snapshot", {})).includes("arrived")) ++shown;
        }
        return {shown: shown / delays.length, calls: delays.length};
      });
    }
  }
}

// Twenty sessions, one call a second each. The peer has one browser for each of its processes.
async function twenty(context, site, sessions) {
  const count = 20;
  const calls = tools(site.origin);
  const pace = async (each, index, seconds, times) => {
    const begun = performance.now() + index * 50;
    for (let i = 0; i < seconds; ++i) {
      await sleep(Math.max(0, begun + i * 1000 - performance.now()));
      const due = performance.now();
      await calls.click(each);
      times.push(performance.now() - due);
    }
  };
  const measure = async (name, make, end) => {
    await attempt(context, "browser-twenty", "click", {name}, 0, async () => {
      const all = [];
      for (let i = 0; i < count; ++i) all.push(await make());
      for (const each of all) await calls.navigate(each, 0);
      const times = [];
      await Promise.all(all.map((each, i) => pace(each, i, context.scale.browserSeconds, times)));
      await Promise.all(all.map(end));
      return spread(times);
    });
  };
  await measure("reprise", () => sessions.open(), (each) => each.remove());
  await measure("playwright-mcp", () => PlaywrightMcp.start(context.root), (each) => each.stop());
}

// A new session, durable and ready to be worked with, beside the bare calls for the same.
export async function browserReady(context) {
  const server = await start.reprise(context);
  const sessions = new Sessions(server);
  const bare = new BareChromium(mkdtempSync(join(context.root, "bare-")));
  const ways = [
    {name: "reprise", run: async () => {
       const {id} = await sessions.ask("POST", "/sessions", {status: "ACTIVE"});
       const begun = performance.now();
       await sessions.ask("POST", `/sessions/${id}/browser`, {});
       const took = performance.now() - begun;
       await sessions.ask("DELETE", `/sessions/${id}`);
       return took;
     }},
    {name: "bare protocol", run: async () => {
       const {took, dispose} = await bare.newSession();
       await dispose();
       return took;
     }},
  ];
  for (const way of ways) for (let i = 0; i < 5; ++i) await way.run();
  await alternate(context, ways, (way, round) => attempt(context, "browser-ready", "warm pool", way, round, async () => {
    const times = [];
    for (let i = 0; i < context.scale.browserCalls; ++i) times.push(await way.run());
    return spread(times);
  }));
  await bare.stop();
  await server.stop();
}

// Many sessions with one light page each, and then some of them at work.
export async function browserDensity(context) {
  const site = await startSite();
  const server = await start.reprise(context);
  const sessions = new Sessions(server);
  const {browserSessions, browserActive, browserMinutes} = context.scale;
  const calls = tools(site.origin);
  const all = [];
  await attempt(context, "browser-density", `${browserSessions} sessions`, server, 0, async () => {
    for (let i = 0; i < browserSessions; ++i) {
      const session = await sessions.open();
      await calls.navigate(session, i);
      all.push(session);
    }
    await sleep(5000);
    return {treeBytes: treePssBytes(server.pid), ownBytes: ownPssBytes(server.pid)};
  });
  for (const session of all.splice(browserActive)) await session.remove();
  await attempt(context, "browser-soak", `${browserActive} active`, server, 0, async () => {
    let failed = 0;
    let firstError = "";
    const times = [];
    const ownBytes = [];
    const end = performance.now() + browserMinutes * 60_000;
    const work = async (session, index) => {
      await sleep(index * (5000 / all.length));
      for (let i = 0; performance.now() < end; ++i) {
        const due = performance.now();
        try {
          await [calls.click, calls.type, calls.snapshot, calls.navigate][i % 4](session, i);
          times.push(performance.now() - due);
        } catch (error) {
          ++failed;
          firstError ||= error.message;
        }
        await sleep(Math.max(0, due + 5000 - performance.now()));
      }
    };
    const watch = async () => {
      while (performance.now() < end) {
        await sleep(Math.min(10_000, Math.max(0, end - performance.now())));
        ownBytes.push(ownPssBytes(server.pid));
      }
    };
    await Promise.all([watch(), ...all.map(work)]);
    const minute = Math.max(1, Math.round(6 * Math.min(1, browserMinutes)));
    return {
      ...spread(times),
      errors: failed,
      firstError,
      growth: median(ownBytes.slice(-minute)) / median(ownBytes.slice(0, minute)),
      ownBytes: ownBytes.at(-1),
    };
  });
  await attempt(context, "browser-left", "per closed session", server, 0, async () => {
    const cycle = async (count) => {
      for (let i = 0; i < count; ++i) {
        const session = await sessions.open();
        await calls.navigate(session, i);
        await session.remove();
      }
    };
    await cycle(context.scale.browserCycles);
    await sleep(3000);
    const before = treePssBytes(server.pid);
    await cycle(context.scale.browserCycles);
    await sleep(3000);
    return {bytesLeft: Math.max(0, treePssBytes(server.pid) - before) / context.scale.browserCycles};
  });
  await server.stop();
  site.stop();
}
