// The servers under load, each a child process on loopback with a temporary data directory.
//
//     const server = await start.reprise({ binary, root });   // start.redisAlways(...),
//     start.redisEverysec, ... server.pid, server.port, server.residentBytes() await
//     server.restart();   // same data directory; startSeconds is the time from exec to ready await
//     server.stop();      // SIGTERM, then the data directory is removed
import {spawn, spawnSync} from "node:child_process";
import {mkdtempSync, readFileSync, readdirSync, rmSync} from "node:fs";
import {createServer} from "node:net";
import {join} from "node:path";

import {benchDirectory} from "./build.mjs";

const readyDeadlineMs = 120_000;
const stopDeadlineMs = 60_000;
const settleDeadlineMs = 120_000;

const running = new Set();

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const {port} = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

class Server {
  // `command(directory, port)` gives [program, ...args]; `ready(line)` gives the port once a line
  // says so.
  constructor({name, target, root, command, ready, wantsPort = false}) {
    Object.assign(this, {name, target, command, ready, wantsPort});
    this.directory = mkdtempSync(join(root, `${name}-`));
  }

  async start() {
    const port = this.wantsPort ? await freePort() : 0;
    const [program, ...args] = this.command(this.directory, port);
    const begun = process.hrtime.bigint();
    this.child = spawn(program, args, {stdio: ["ignore", "pipe", "pipe"]});
    this.pid = this.child.pid;
    running.add(this);
    let errors = "";
    this.child.stderr.on("data", (bytes) => {
      errors = (errors + bytes).slice(-4000);
    });
    this.exited = new Promise((resolve) => this.child.once("exit", (code, signal) => {
      running.delete(this);
      resolve(signal ?? code);
    }));
    await new Promise((resolve, reject) => {
      const timer = setTimeout(
          () => reject(new Error(`${this.name} is not ready\n${errors}`)), readyDeadlineMs);
      let text = "";
      let isReady = false;
      // Read to the end of its life: a full pipe would stop the server.
      this.child.stdout.on("data", (bytes) => {
        if (isReady) return;
        text += bytes;
        for (const line of text.split("\n").slice(0, -1)) {
          const found = this.ready(line, port);
          if (!found) continue;
          this.startSeconds = Number(process.hrtime.bigint() - begun) / 1e9;
          this.port = found;
          isReady = true;
          clearTimeout(timer);
          resolve();
          return;
        }
      });
      this.child.once("error", reject);
      this.exited.then(
          (code) =>
              reject(new Error(`${this.name} ended with ${code} before it was ready\n${errors}`)));
    });
    return this;
  }

  async end() {
    this.child.kill("SIGTERM");
    const timer = setTimeout(() => this.child.kill("SIGKILL"), stopDeadlineMs);
    await this.exited;
    clearTimeout(timer);
  }

  async restart({isCold = false} = {}) {
    await this.end();
    if (isCold) this.evictFiles();
    await this.start();
  }

  async stop() {
    await this.end();
    rmSync(this.directory, {recursive: true, force: true});
  }

  // Asks the kernel to drop the pages it caches of the data files; clean pages go without
  // privileges.
  evictFiles() {
    for (const entry of readdirSync(this.directory, {recursive: true, withFileTypes: true})) {
      if (!entry.isFile()) continue;
      spawnSync(
          "dd",
          [`if=${join(entry.parentPath ?? entry.path, entry.name)}`, "iflag=nocache", "count=0"]);
    }
  }

  // Processor time so far, in hundredths of a second.
  cpuTicks() {
    const fields = readFileSync(`/proc/${this.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return Number(fields[11]) + Number(fields[12]);
  }

  // Until what was loaded before no longer costs anything (compactions): less than 2 % of a core.
  async settle() {
    const end = Date.now() + settleDeadlineMs;
    for (let before = this.cpuTicks(); Date.now() < end;) {
      await new Promise((next) => setTimeout(next, 1000));
      const now = this.cpuTicks();
      if (now - before < 2) return;
      before = now;
    }
  }

  residentBytes() {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)[1]) * 1024;
  }
}

const listening = (line) => {
  const found = /^listening on https?:\/\/.*:(\d+)\/?$/.exec(line.trim());
  return found && Number(found[1]);
};

function redis(name, policy, root) {
  return new Server({
           name,
           target: "redis",
           root,
           wantsPort: true,
           command: (directory, port) =>
               ["redis-server",
                "--port",
                String(port),
                "--bind",
                "127.0.0.1",
                "--dir",
                directory,
                "--appendonly",
                "yes",
                "--appendfsync",
                policy,
                "--save",
                "",
                "--daemonize",
                "no",
  ],
           ready: (line, port) => line.includes("Ready to accept connections") && port,
         })
      .start();
}

function reprise(target, {binary, root}, more = []) {
  return new Server({
           name: "reprise",
           target,
           root,
           ready: listening,
           command: (directory) =>
               [binary, "serve", "--listen", "127.0.0.1:0", "--data", directory, ...more],
         })
      .start();
}

const durableStreamsPeer = join(benchDirectory, "peers/durable-streams.mjs");

export const start = {
  // With further flags, where a load needs some.
  reprise: (context, more) => reprise("reprise", context, more),
  // The same server, spoken to as its Durable Streams peers are.
  repriseStreams: (context) => reprise("durable-streams", context),
  redisAlways: ({root}) => redis("redis-always", "always", root),
  redisEverysec: ({root}) => redis("redis-everysec", "everysec", root),
  durableStreams: ({root}) =>
      new Server({
        name: "durable-streams",
        target: "durable-streams",
        root,
        ready: listening,
        command: (directory) => [process.execPath, durableStreamsPeer, directory],
      }).start(),
  // Keeps nothing: there for scale, as Redis with everysec is.
  durableStreamsMemory: ({root}) =>
      new Server({
        name: "durable-streams-memory",
        target: "durable-streams",
        root,
        ready: listening,
        command: () => [process.execPath, durableStreamsPeer],
      }).start(),
};

// For an interrupted run: nothing of ours stays behind.
export function killAll() {
  for (const server of running) {
    server.child.kill("SIGKILL");
    rmSync(server.directory, {recursive: true, force: true});
  }
}
