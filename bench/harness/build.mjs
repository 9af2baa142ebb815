// Everything a measurement needs built or installed: Reprise, the load generator, the npm peers.
import {spawnSync} from "node:child_process";
import {existsSync, statSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

export const benchDirectory = dirname(dirname(fileURLToPath(import.meta.url)));
export const rootDirectory = dirname(benchDirectory);

function run(command, args, options = {}) {
  const result = spawnSync(command, args, {
    cwd: rootDirectory,
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64 << 20,
    ...options,
  });
  if (result.error) throw new Error(`${command}: ${result.error.message}`);
  if (result.status !== 0) {
    throw new Error(`${command} ${args.join(" ")} failed\n${result.stdout}${result.stderr}`);
  }
}

// The server: `./run --build-only` where it exists, else what it would call.
export function buildReprise() {
  if (existsSync(join(rootDirectory, "run"))) {
    run("./run", ["--build-only"]);
  } else {
    run("cmake", ["--preset", "release"]);
    run("ninja", ["-C", "build/release", "reprise"]);
  }
  return join(rootDirectory, "build/release/reprise");
}

// The generator is a project of its own, so that it builds in seconds whatever the state of src/.
export function buildLoad() {
  const directory = join(rootDirectory, "build/bench");
  const compiler = spawnSync("clang++-19", ["--version"]).status === 0 ? "clang++-19" : "c++";
  const generator = ["-G", "Ninja", `-DCMAKE_CXX_COMPILER=${compiler}`];
  if (!existsSync(join(directory, "build.ninja")))
    run("cmake", ["-S", "bench", "-B", directory, ...generator]);
  run("ninja", ["-C", directory]);
  return join(directory, "reprise_load");
}

export function installPeers() {
  const peers = join(benchDirectory, "peers");
  const installed = join(peers, "node_modules/.package-lock.json");
  const lock = join(peers, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  // Not `npm ci`: it refuses a lock file without registry addresses when a package has parts for other platforms.
  run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"], {cwd: peers});
}
