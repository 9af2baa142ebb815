// What the loads share: starting servers, taking turns between them, and making logs in them.
import {readFileSync} from "node:fs";

import {start} from "./servers.mjs";

export const connections = 64;

function lines(path) {
  return readFileSync(path, "utf8").trim().split("\n");
}

// The servers of one load; ours is left out by --peers-only, theirs by --no-peers.
export async function startAll(context, names) {
  const isWanted = (name) => name.startsWith("reprise") ? context.binary : context.withPeers;
  const servers = [];
  for (const name of names.filter(isWanted)) servers.push(await start[name](context));
  return servers;
}

export async function stopAll(servers) {
  for (const server of servers) await server.stop();
}

// `measure(server, round)` for every server in every round.
export async function alternate(context, servers, measure, rounds = context.rounds) {
  for (let round = 0; round < rounds; ++round) {
    for (let i = 0; i < servers.length; ++i)
      await measure(servers[(round + i) % servers.length], round);
  }
}

// A load that a peer cannot do is a result too.
export async function attempt(context, load, variant, server, round, measure) {
  // It is not asked a second time: a peer that cannot do something often takes its time-outs to say
  // so.
  if (context.results.select(load, variant, server.name).some((sample) => sample.failed))
    return undefined;
  try {
    const sample = await measure();
    context.results.add(load, variant, server.name, round, sample);
    context.progress(load, variant, server.name, sample);
    return sample;
  } catch (error) {
    context.results.add(load, variant, server.name, round, {failed: error.message});
    context.progress(load, variant, server.name, {failed: error.message});
    return undefined;
  }
}

// Names that no log of this run has begun with yet.
let prefixes = 0;
export function newPrefix() {
  return `b${prefixes++}x`;
}

// `count` new logs and their ids. Redis makes a stream at its first entry, so its ids are only
// names.
export async function newLogs(context, server, count) {
  const prefix = newPrefix();
  if (server.target === "redis") return Array.from({length: count}, (_, i) => `${prefix}${i}`);
  const out = context.generator.newFile();
  const made = await context.generator.run("create", server, {
    count,
    prefix,
    out,
    connections: Math.min(connections, count),
  });
  if (made.errors > 0) throw new Error(`create on ${server.name}: ${made.firstError}`);
  return lines(out);
}

export async function fill(context, server, id, events) {
  const batch = Math.min(1000, events);
  const done = await context.generator.run("append", server, {
    ids: context.generator.idsFile([id]),
    connections: 1,
    batch,
    count: Math.ceil(events / batch),
  });
  if (done.errors > 0) throw new Error(`fill on ${server.name}: ${done.firstError}`);
}
