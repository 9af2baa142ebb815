// The loads, in the order they run. Each starts fresh servers, alternates between them round by
// round (the first of a round changes every time) so that the machine's noise hits everyone, and
// stops them.
import {cdp} from "./cdp.mjs";
import {
  alternate,
  attempt,
  connections,
  fill,
  newLogs,
  newPrefix,
  startAll,
  stopAll
} from "./rounds.mjs";
import {browserDensity, browserReady, browserTools} from "./browser/loads.mjs";
import {start} from "./servers.mjs";
import {streams} from "./streams.mjs";

async function appends(context) {
  const servers =
      await startAll(context, ["reprise", "redisAlways", "redisEverysec", "durableStreams"]);
  const files = new Map();
  for (const count of [1, 100, 10_000]) {
    for (const server of servers) {
      files.set(
          `${server.name} ${count}`,
          context.generator.idsFile(await newLogs(context, server, count)));
    }
  }
  for (const count of [1, 100, 10_000]) {
    const variant = `${count} sessions`;
    await alternate(
        context, servers,
        (server, round) => attempt(
            context, "append", variant, server, round,
            () => context.generator.run("append", server, {
              ids: files.get(`${server.name} ${count}`),
              connections,
              seconds: context.scale.seconds,
            })));
  }
  // Half the peak each reached just now, at fixed moments, latency counted from the moment a call
  // was due.
  await alternate(context, servers, (server, round) => {
    const peak = context.results.median("append", "10000 sessions", server.name);
    if (!(peak > 0)) return undefined;
    return attempt(
        context, "latency", "half of peak", server, round,
        () => context.generator.run("append", server, {
          ids: files.get(`${server.name} 10000`),
          connections,
          seconds: context.scale.seconds,
          rate: peak / 2,
        }));
  });
  await stopAll(servers);
}

async function creation(context) {
  const servers = await startAll(context, ["reprise", "durableStreams"]);
  const reprise = servers.find((server) => server.name === "reprise");
  const ids = reprise && context.generator.idsFile(await newLogs(context, reprise, 10_000));
  for (const isNamed of [false, true]) {
    await alternate(context, servers, async (server, round) => {
      if (server.target === "reprise") {
        // The append rate that creation is compared with, from the same moment.
        await attempt(
            context, "create", isNamed ? "append beside named" : "append beside", server, round,
            () => context.generator.run(
                "append", server, {ids, connections, seconds: context.scale.seconds}));
      }
      await attempt(
          context, "create", isNamed ? "named" : "unnamed", server, round,
          () => context.generator.run("create", server, {
            connections,
            seconds: context.scale.seconds,
            prefix: newPrefix(),
            named: isNamed,
          }));
    });
  }
  await stopAll(servers);
}

async function replay(context) {
  const servers = await startAll(context, ["reprise", "redisAlways", "durableStreams"]);
  const files = new Map();
  for (const server of servers) {
    const [id] = await newLogs(context, server, 1);
    await fill(context, server, id, context.scale.replayEvents);
    files.set(server.name, context.generator.idsFile([id]));
  }
  const once = (variant) => (server, round) => attempt(
      context, "replay", variant, server, round,
      () => context.generator.run("replay", server, {ids: files.get(server.name)}));
  const cold = once("cold");
  await alternate(context, servers, async (server, round) => {
    await server.restart({isCold: true});
    await cold(server, round);
  });
  for (const server of servers)
    await context.generator.run("replay", server, {ids: files.get(server.name)});
  await alternate(context, servers, once("warm"), Math.max(context.rounds, 3));
  await stopAll(servers);
}

async function fanout(context) {
  const servers = await startAll(context, ["reprise", "durableStreams"]);
  const shapes = [
    ["single", {batch: 1, window: 1}],
    ["burst", {batch: 100, window: 4}],
  ];
  for (const readers of context.scale.readers) {
    for (const [shape, options] of shapes) {
      await alternate(
          context, servers,
          (server, round) => attempt(
              context, "fanout", `${shape}, ${readers} readers`, server, round, async () => {
                // A fresh log each time: the Node peer reads its file again for every delivery.
                const ids = context.generator.idsFile(await newLogs(context, server, 1));
                return context.generator.run("fanout", server, {
                  ids,
                  readers,
                  seconds: context.scale.seconds,
                  after: server.target === "reprise" ? 0 : 1,
                  ...options,
                });
              }));
    }
  }
  await stopAll(servers);
}

async function idle(context) {
  const servers = await startAll(context, ["reprise", "durableStreams"]);
  const readers = context.scale.idleReaders;
  await alternate(
      context, servers,
      (server, round) => attempt(context, "idle", `${readers} readers`, server, round, async () => {
        const ids = context.generator.idsFile(await newLogs(context, server, 100));
        const after = server.target === "reprise" ? 0 : 1;
        // What the first readers ever cost (pages touched, caches filled) is not the cost of a
        // subscriber.
        const first = context.generator.hold("idle", server, {ids, readers: 100, after});
        await first.ready;
        await first.release();
        const before = server.residentBytes();
        const held = context.generator.hold("idle", server, {ids, readers, after});
        await held.ready;
        const bytesPerReader = (server.residentBytes() - before) / readers;
        await held.release();
        await server.restart();
        return {bytesPerReader};
      }));
  await stopAll(servers);
}

async function lastSeq(server, id) {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/sessions/${id}`);
  return (await response.json()).lastSeq;
}

// Appends to, and openings near the head of, sessions whose histories differ only in length, in one
// server.
async function history(context) {
  const servers = await startAll(context, ["reprise"]);
  for (const server of servers) {
    const [long] = await newLogs(context, server, 1);
    await fill(context, server, long, context.scale.historyEvents);
    await server.restart();
    const measure = async (variant, id, round) => {
      const ids = context.generator.idsFile([id]);
      const after = Math.max(0, (await lastSeq(server, id)) - 10);
      await attempt(
          context, "history", `open, ${variant}`, server, round,
          () => context.generator.run("open", server, {ids, after, count: context.scale.opens}));
      await attempt(
          context, "history", `append, ${variant}`, server, round,
          () => context.generator.run(
              "append", server, {ids, connections, count: context.scale.growthAppends}));
    };
    for (let round = 0; round < Math.max(context.rounds, 3); ++round) {
      const [short] = await newLogs(context, server, 1);
      await fill(context, server, short, 20);
      const both = [["short", short], ["long", long]];
      if (round % 2 === 1) both.reverse();
      for (const [variant, id] of both) await measure(variant, id, round);
    }
  }
  await stopAll(servers);
}

// Data directories with more and more sessions at rest: start-up, memory, and the cost of an append
// and of opening a stream beside a server that holds 1,000.
async function population(context) {
  const sizes = context.scale.populations;
  const [small] = await startAll(context, ["reprise"]);
  if (!small) return;
  const large = await start.reprise(context);
  const ids = {small: await newLogs(context, small, 1000), large: []};
  for (const size of sizes) {
    ids.large = ids.large.concat(await newLogs(context, large, size - ids.large.length));
    for (let round = 0; round < context.rounds; ++round) {
      await large.restart();
      await attempt(
          context, "population", `start, ${size}`, large, round,
          async () => ({
            startSeconds: large.startSeconds,
            residentBytes: large.residentBytes(),
          }));
    }
    // As many sessions touched in both, so that only the number at rest differs.
    const step = Math.floor(ids.large.length / 1000);
    const sample = ids.large.filter((_, i) => i % step === 0).slice(0, 1000);
    const files = {
      small: context.generator.idsFile(ids.small),
      large: context.generator.idsFile(sample)
    };
    // Creating them left work behind, which is not the cost of an append.
    await large.settle();
    for (let round = 0; round < Math.max(context.rounds, 3); ++round) {
      const both = [[small, "small"], [large, "large"]];
      if (round % 2 === 1) both.reverse();
      for (const [server, which] of both) {
        const variant = which === "small" ? `1000 beside ${size}` : `${size}`;
        await attempt(
            context, "population", `append, ${variant}`, server, round,
            () => context.generator.run(
                "append", server,
                {ids: files[which], connections, count: context.scale.growthAppends}));
        await attempt(
            context, "population", `open, ${variant}`, server, round,
            () => context.generator.run(
                "open", server, {ids: files[which], count: context.scale.opens}));
      }
    }
  }
  await stopAll([small, large]);
}

export const loads = {
  append: appends,
  create: creation,
  replay,
  fanout,
  idle,
  streams,
  history,
  population,
  "browser-ready": browserReady,
  "browser-tools": browserTools,
  "browser-density": browserDensity,
  cdp
};

export const scales = {
  full: {
    seconds: 3,
    replayEvents: 100_000,
    readers: [1, 100, 1000, 5000],
    idleReaders: 5000,
    streamAppends: 20_000,
    streamReads: 20,
    streamReaders: 2000,
    streamTailCalls: 4,
    historyEvents: 1_000_000,
    growthAppends: 20_000,
    opens: 1000,
    cdpTurns: 30,
    cdpPairs: 30,
    cdpPages: 30,
    cdpIdleClients: 100,
    populations: [10_000, 100_000, 1_000_000],
    browserCalls: 20,
    browserDelays: [0, 50, 100, 150, 200, 250, 300, 350, 400],
    browserSeconds: 20,
    browserSessions: 300,
    browserActive: 50,
    browserMinutes: 5,
    browserCycles: 100,
    rounds: 3,
  },
  quick: {
    seconds: 1,
    replayEvents: 20_000,
    readers: [1, 100],
    idleReaders: 500,
    streamAppends: 2000,
    streamReads: 20,
    streamReaders: 200,
    streamTailCalls: 4,
    historyEvents: 20_000,
    growthAppends: 3000,
    opens: 200,
    cdpTurns: 5,
    cdpPairs: 3,
    cdpPages: 5,
    cdpIdleClients: 10,
    populations: [10_000],
    browserCalls: 5,
    browserDelays: [0, 200, 400],
    browserSeconds: 5,
    browserSessions: 20,
    browserActive: 5,
    browserMinutes: 0.25,
    browserCycles: 10,
    rounds: 1,
  },
};
