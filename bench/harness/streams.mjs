// Durable Streams side by side: our /v1/stream and the npm server, file-backed and in memory. One
// protocol, so the generator speaks to all of them in the same way.
import {alternate, attempt, connections, newLogs, startAll, stopAll} from "./rounds.mjs";

const peers = ["durable-streams", "durable-streams-memory"];
// Our event streams end after a minute, so a tail is over well before.
const longestTailSeconds = 40;

// Node.js compiles what runs often: nobody is measured before it had a moment for that.
async function warmUp(context, servers) {
  for (const server of servers) {
    const ids = context.generator.idsFile(await newLogs(context, server, 1));
    await context.generator.run("append", server, {ids, connections, seconds: 1});
  }
}

async function append(context, servers) {
  for (const count of [1, 100]) {
    const files = new Map();
    for (const server of servers)
      files.set(server, context.generator.idsFile(await newLogs(context, server, count)));
    await alternate(
        context, servers,
        (server, round) => attempt(
            context, "streams-append", `${count} streams`, server, round,
            () => context.generator.run("append", server, {
              ids: files.get(server),
              connections,
              seconds: context.scale.seconds,
            })));
  }
}

// Every append is a call of its own: a stream written in batches would be cheaper to read for all.
async function fillOneByOne(context, server, appends) {
  const ids = context.generator.idsFile(await newLogs(context, server, 1));
  const done = await context.generator.run("append", server, {ids, connections, count: appends});
  if (done.errors > 0) throw new Error(`fill on ${server.name}: ${done.firstError}`);
  return ids;
}

async function catchUp(context, servers) {
  const {streamAppends: appends, streamReads: count} = context.scale;
  const files = new Map();
  for (const server of servers) files.set(server, await fillOneByOne(context, server, appends));
  const read = async (server) => {
    const sample = await context.generator.run("replay", server, {ids: files.get(server), count});
    if (sample.events !== appends * count)
      throw new Error(`${server.name} gave ${sample.events} of ${appends * count} messages`);
    return sample;
  };
  for (const server of servers) await read(server);
  await alternate(
      context, servers,
      (server, round) => attempt(
          context, "streams-read", `${appends} appends`, server, round, () => read(server)));
}

export function pacedFor(peer, readers) {
  return `half the pace of ${peer}, ${readers} readers`;
}

// A latency compares only under the same load. One append at a time tells how long each server
// takes when nothing queues; half the rate a peer reached in that is a pace it keeps up with, and
// ours is measured at the very same pace beside it.
async function tail(context, servers) {
  const readers = context.scale.streamReaders;
  const lone = `one at a time, ${readers} readers`;
  const follow = (variant, server, round, options) => attempt(
      context, "streams-tail", variant, server, round, async () => {
        // A fresh stream each time: the file-backed peer reads its file again for every delivery.
        const ids = context.generator.idsFile(await newLogs(context, server, 1));
        return context.generator.run("fanout", server, {ids, readers, after: 1, ...options});
      });
  await alternate(
      context, servers,
      (server, round) => follow(lone, server, round, {seconds: context.scale.seconds}));
  const ours = servers.find((server) => server.name === "reprise");
  for (const name of peers) {
    const peer = servers.find((server) => server.name === name);
    const rate =
        context.results.median(
            "streams-tail", lone, name, (sample) => sample.calls / sample.seconds) /
        2;
    if (!peer || !ours || !(rate > 0)) continue;
    const wanted = Math.max(context.scale.seconds, context.scale.streamTailCalls / rate);
    const seconds = Math.min(wanted, longestTailSeconds);
    // A window nobody reaches: an append leaves when it is due, not when readers have the last.
    await alternate(
        context, [ours, peer],
        (server, round) =>
            follow(pacedFor(name, readers), server, round, {seconds, rate, window: 1_000_000}));
  }
}

export async function streams(context) {
  const servers =
      await startAll(context, ["repriseStreams", "durableStreams", "durableStreamsMemory"]);
  await warmUp(context, servers);
  await append(context, servers);
  await catchUp(context, servers);
  await tail(context, servers);
  await stopAll(servers);
}
