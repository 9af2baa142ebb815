// Runs the load generator and gives back the JSON line it prints.
import {spawn} from "node:child_process";
import {writeFileSync} from "node:fs";
import {join} from "node:path";

let files = 0;

export class Generator {
  constructor({program, scratch, timeoutSeconds = 1800}) {
    Object.assign(this, {program, scratch, timeoutSeconds});
  }

  // A file with one id per line, for --ids.
  idsFile(ids) {
    const path = join(this.scratch, `ids-${files++}`);
    writeFileSync(path, ids.join("\n") + "\n");
    return path;
  }

  newFile() {
    return join(this.scratch, `ids-${files++}`);
  }

  arguments(load, server, options) {
    const args = [
      load, "--target", server.target, "--port", String(server.port), "--pid", String(server.pid)
    ];
    for (const [name, value] of Object.entries(options)) {
      if (value === true)
        args.push(`--${name}`);
      else if (value !== undefined && value !== false)
        args.push(`--${name}`, String(value));
    }
    return args;
  }

  // Rejects when the load could not be done; what the generator said is the message.
  run(load, server, options = {}) {
    return this.hold(load, server, options).finished;
  }

  // For loads that hold connections open: `ready` resolves with the line, `release()` lets go.
  hold(load, server, options = {}) {
    const child = spawn(this.program, this.arguments(load, server, options), {
      stdio: ["pipe", "pipe", "pipe"],
      cwd: this.scratch,
      timeout: this.timeoutSeconds * 1000,
    });
    let out = "";
    let errors = "";
    child.stderr.on("data", (bytes) => {
      errors += bytes;
    });
    const exited =
        new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code)));
    const closed = new Promise((resolve) => child.stdout.once("close", resolve));
    const ready = new Promise((resolve, reject) => {
      child.stdout.on("data", (bytes) => {
        out += bytes;
        if (out.includes("\n")) resolve(JSON.parse(out));
      });
      closed.then(async () => {
        const code = await exited;
        if (!out.includes("\n"))
          reject(new Error(`${load} on ${server.name}: ${errors.trim() || code}`));
      });
    });
    const finished = ready.then(async (report) => {
      const code = await exited;
      if (code !== 0) throw new Error(`${load} on ${server.name}: ${errors.trim() || code}`);
      return report;
    });
    finished.catch(() => {});
    return {
      ready,
      finished,
      release: async () => {
        child.stdin.end();
        await exited;
      },
    };
  }
}
