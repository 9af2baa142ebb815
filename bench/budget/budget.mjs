// Instructions per append and per delivery, counted by callgrind on the release binary, against
// budgets.json.
//
// A run is: start the server under callgrind, one session, R readers, N appends one after another,
// SIGTERM; callgrind then says how many instructions the process executed. Start-up, opening the
// readers and shutdown cost the same whatever N, so they cancel out between two runs:
//
//     append   = (run(0 readers, 2N) - run(0 readers, N)) / N
//     delivery = ((run(R readers, 2N) - run(R readers, N)) / N - append) / R
//
// Unlike times, these figures repeat to about 2 % on a busy machine, so they may fail a build.
import {spawn, spawnSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join, resolve} from "node:path";
import {parseArgs} from "node:util";
import {fileURLToPath} from "node:url";

import {buildLoad, rootDirectory} from "../harness/build.mjs";

const help =
    `bench/budget/run: instructions per append and per delivery against bench/budget/budgets.json

  --binary PATH   the server to count (build/release/reprise)
  --load PATH     the load generator (built when not given)
  --appends N     appends of the shorter runs (400)
  --readers R     readers of the runs with deliveries (10)
  --update        write what was counted into budgets.json instead of judging it
  --help
`;

const {values: flags} = parseArgs({
  options: {
    binary: {type: "string", default: join(rootDirectory, "build/release/reprise")},
    load: {type: "string"},
    appends: {type: "string", default: "400"},
    readers: {type: "string", default: "10"},
    update: {type: "boolean"},
    help: {type: "boolean"},
  },
});
if (flags.help) {
  process.stdout.write(help);
  process.exit(0);
}
const appends = Number(flags.appends);
const readers = Number(flags.readers);
const binary = resolve(flags.binary);
const load = flags.load ? resolve(flags.load) : buildLoad();
const budgetsFile = join(dirname(fileURLToPath(import.meta.url)), "budgets.json");
const scratch = mkdtempSync(join(tmpdir(), "reprise-budget-"));
const children = new Set();
const readyDeadlineMs = 60_000;
const loadDeadlineMs = 120_000;

function finish(status) {
  for (const child of children) child.kill("SIGKILL");
  rmSync(scratch, {recursive: true, force: true});
  process.exit(status);
}

function startServer(name) {
  const log = join(scratch, `${name}.log`);
  const child = spawn(
      "valgrind",
      [
        "--tool=callgrind",
        `--callgrind-out-file=${join(scratch, `${name}.out`)}`,
        `--log-file=${log}`,
        binary,
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data",
        join(scratch, `${name}.data`),
      ],
      {stdio: ["ignore", "pipe", "pipe"]});
  children.add(child);
  let errors = "";
  child.stderr.on("data", (bytes) => {
    errors = (errors + bytes).slice(-4000);
  });
  const exited = new Promise((done) => child.once("exit", (code, signal) => {
    children.delete(child);
    done(signal ?? code);
  }));
  const port = new Promise((done, failed) => {
    const timer =
        setTimeout(() => failed(new Error(`the server is not ready\n${errors}`)), readyDeadlineMs);
    let text = "";
    child.stdout.on("data", (bytes) => {
      text += bytes;
      const found = /listening on https?:\/\/.*:(\d+)/.exec(text);
      if (!found) return;
      clearTimeout(timer);
      done(Number(found[1]));
    });
    child.once("error", failed);
    exited.then(
        (code) => failed(new Error(`the server ended with ${code}\n${errors}${readIfThere(log)}`)));
  });
  return {child, exited, port, log};
}

function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function generate(args) {
  return new Promise((done, failed) => {
    const child = spawn(load, args, {stdio: ["ignore", "ignore", "pipe"], timeout: loadDeadlineMs});
    children.add(child);
    let errors = "";
    child.stderr.on("data", (bytes) => {
      errors += bytes;
    });
    child.once("error", failed);
    child.once("exit", (code) => {
      children.delete(child);
      if (code === 0)
        done();
      else
        failed(new Error(`${args[0]}: ${errors || "took too long"}`));
    });
  });
}

// Instructions of a whole server life with so many readers and appends.
async function count(readerCount, appendCount) {
  const name = `r${readerCount}-n${appendCount}`;
  const server = startServer(name);
  const port = String(await server.port);
  const ids = join(scratch, `${name}.ids`);
  const target = ["--target", "reprise", "--port", port];
  await generate(["create", ...target, "--count", "1", "--connections", "1", "--out", ids]);
  const calls = [...target, "--ids", ids, "--count", String(appendCount), "--seconds", "60"];
  if (readerCount === 0)
    await generate(["append", ...calls, "--connections", "1"]);
  else
    await generate(["fanout", ...calls, "--readers", String(readerCount)]);
  server.child.kill("SIGTERM");
  await server.exited;
  const collected = /Collected : (\d+)/.exec(readIfThere(server.log));
  if (!collected) throw new Error(`callgrind counted nothing\n${readIfThere(server.log)}`);
  return Number(collected[1]);
}

async function main() {
  if (spawnSync("valgrind", ["--version"]).status !== 0)
    throw new Error("valgrind is not installed");
  // Two at a time: counts do not depend on how busy the machine is.
  const [plain, plainTwice] = await Promise.all([count(0, appends), count(0, 2 * appends)]);
  const [read, readTwice] =
      await Promise.all([count(readers, appends), count(readers, 2 * appends)]);
  const append = (plainTwice - plain) / appends;
  const delivery = ((readTwice - read) / appends - append) / readers;
  const counted = {
    instructionsPerAppend: Math.round(append),
    instructionsPerDelivery: Math.round(delivery),
  };
  const budgets = JSON.parse(readFileSync(budgetsFile, "utf8"));
  if (flags.update) {
    writeFileSync(budgetsFile, `${JSON.stringify({...budgets, ...counted}, null, 2)}\n`);
    process.stdout.write(`budgets.json: ${JSON.stringify(counted)}\n`);
    return 0;
  }
  let isOver = false;
  for (const [name, value] of Object.entries(counted)) {
    const limit = budgets[name] * (1 + budgets.tolerance);
    const verdict = value > limit ? "OVER BUDGET" : "ok";
    isOver ||= value > limit;
    process.stdout.write(
        `${name}: ${value} of ${budgets[name]} (+${budgets.tolerance * 100} %): ${verdict}\n`);
  }
  return isOver ? 1 : 0;
}

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => finish(130));
main().then(finish, (error) => {
  process.stderr.write(`bench/budget/run: ${error.message}\n`);
  finish(1);
});
