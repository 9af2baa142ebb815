// bench/run: see --help below and bench/README.md.
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {cpus, tmpdir, totalmem} from "node:os";
import {join, resolve} from "node:path";
import {parseArgs} from "node:util";
import {spawnSync} from "node:child_process";

import {benchDirectory, buildLoad, buildReprise, installPeers} from "./build.mjs";
import {judge} from "./goals.mjs";
import {Generator} from "./load.mjs";
import {loads, scales} from "./loads.mjs";
import {markdown} from "./report.mjs";
import {Results} from "./results.mjs";
import {killAll} from "./servers.mjs";

const help = `bench/run: Reprise and its peers under the same loads, interleaved, on loopback

  --quick          small loads, about a minute; goals that need a million of something are left out
  --only LOAD      one load, may be repeated: ${Object.keys(loads).join(", ")}
  --rounds N       rounds per load (3; quick 1)
  --binary PATH    measure this reprise instead of building one
  --no-peers       ours alone
  --peers-only     the peers alone
  --dir PATH       where data directories are made (the system's temporary directory; not a tmpfs)
  --help

Results: standard output, bench/results/latest.md and bench/results/latest.json.
`;

function commandLine() {
  try {
    return parseArgs({
             options: {
               quick: {type: "boolean"},
               only: {type: "string", multiple: true},
               rounds: {type: "string"},
               binary: {type: "string"},
               "no-peers": {type: "boolean"},
               "peers-only": {type: "boolean"},
               dir: {type: "string"},
               help: {type: "boolean"},
             },
           })
        .values;
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${help}`);
    process.exit(2);
  }
}

function describeMachine(generator, directory) {
  const probe = spawnSync(generator.program, ["disk", "--seconds", "1"], {cwd: directory});
  const disk = JSON.parse(probe.stdout);
  const type = spawnSync("stat", ["-f", "-c", "%T", directory]).stdout.toString().trim();
  const release = readFileSync("/etc/os-release", "utf8").match(/PRETTY_NAME="(.*)"/)?.[1];
  return `${release}, ${cpus().length} × ${cpus()[0].model}, ${
             Math.round(totalmem() / 2 ** 30)} GiB, ${type}; ` +
      `a 4 KiB write with fdatasync takes ${Math.round(disk.latencyP50Us)} µs (p99 ${
             Math.round(disk.latencyP99Us)} µs); ` +
      `Redis ${version("redis-server", ["--version"], /v=(\S+)/)}, Node.js ${process.version}.`;
}

function version(program, args, pattern) {
  return spawnSync(program, args).stdout?.toString().match(pattern)?.[1] ?? "(not installed)";
}

function progress(load, variant, server, sample) {
  const figure = sample.failed ?
      `failed: ${sample.failed}` :
      sample.perSecond !== undefined ?
      `${Math.round(sample.perSecond)}/s` :
      Object.entries(sample)
          .filter(([, value]) => typeof value === "number")
          .map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`)
          .join(", ");
  const errors =
      sample.errors > 0 ? `, ${sample.errors} errors (${sample.firstError?.slice(0, 120)})` : "";
  process.stderr.write(`${load}, ${variant}, ${server}: ${figure}${errors}\n`);
}

const flags = commandLine();
if (flags.help) {
  process.stdout.write(help);
  process.exit(0);
}
const only = flags.only ?? Object.keys(loads);
for (const name of only) {
  if (!loads[name]) {
    process.stderr.write(`no load is called ${name}; there are ${Object.keys(loads).join(", ")}\n`);
    process.exit(2);
  }
}
const scale = flags.quick ? scales.quick : scales.full;
const rounds = flags.rounds ? Number(flags.rounds) : scale.rounds;

const binary = flags["peers-only"] ? null : flags.binary ? resolve(flags.binary) : buildReprise();
if (binary && !existsSync(binary)) {
  process.stderr.write(`${binary} does not exist\n`);
  process.exit(1);
}
const program = buildLoad();
const withPeers = !flags["no-peers"];
if (withPeers) installPeers();

const root = mkdtempSync(join(resolve(flags.dir ?? tmpdir()), "reprise-bench-"));
const clean = () => {
  killAll();
  rmSync(root, {recursive: true, force: true});
};
for (const signal of ["SIGINT", "SIGTERM"])
  process.on(signal, () => {
    clean();
    process.exit(130);
  });

const results = new Results();
const generator = new Generator({program, scratch: root});
const begun = new Date();
let status = 0;
try {
  const machine = describeMachine(generator, root);
  const context = {binary, withPeers, root, rounds, scale, generator, results, progress};
  for (const name of only) await loads[name](context);
  const verdicts = judge(results, scale);
  const minutes = ((Date.now() - begun) / 60_000).toFixed(1);
  const settings =
      `${begun.toISOString().slice(0, 16)}Z, ${flags.quick ? "quick" : "full"} run of ` +
      `${only.join(", ")}, ${rounds} rounds, ${minutes} minutes.`;
  const text = markdown({results, verdicts, machine, settings});
  const directory = join(benchDirectory, "results");
  mkdirSync(directory, {recursive: true});
  writeFileSync(join(directory, "latest.md"), text);
  writeFileSync(
      join(directory, "latest.json"),
      JSON.stringify(
          {begun, settings, machine, scale, verdicts, samples: results.samples}, null, 1));
  process.stdout.write(text);
} catch (error) {
  process.stderr.write(`bench/run: ${error.message}\n`);
  status = 1;
} finally {
  clean();
}
process.exit(status);
