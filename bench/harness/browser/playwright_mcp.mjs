// npm's @playwright/mcp over its standard input and output, in the browser that ours uses.
import {spawn} from "node:child_process";
import {join} from "node:path";
import {createInterface} from "node:readline";

import {benchDirectory} from "../build.mjs";

const program = join(benchDirectory, "peers/node_modules/@playwright/mcp/cli.js");

export class PlaywrightMcp {
  name = "playwright-mcp";
  #pending = new Map();
  #last = 0;

  static async start(directory) {
    const peer = new PlaywrightMcp();
    peer.child = spawn(
        process.execPath,
        [
          program, "--headless", "--isolated", "--no-sandbox", "--executable-path",
          "/usr/lib/chromium/chromium-headless-shell",
        ],
        {stdio: ["pipe", "pipe", "ignore"], cwd: directory});  // it writes files where it stands
    peer.exited = new Promise((resolve) => peer.child.once("exit", resolve));
    createInterface({input: peer.child.stdout}).on("line", (line) => peer.#take(line));
    await peer.#call("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: {name: "bench", version: "1"},
    });
    peer.child.stdin.write(`${JSON.stringify({jsonrpc: "2.0", method: "notifications/initialized"})}\n`);
    return peer;
  }

  #take(line) {
    const {id, result, error} = JSON.parse(line);
    const waiting = this.#pending.get(id);
    if (!waiting) return;
    this.#pending.delete(id);
    if (error) waiting.reject(new Error(error.message));
    else waiting.resolve(result);
  }

  #call(method, params) {
    const id = ++this.#last;
    this.child.stdin.write(`${JSON.stringify({jsonrpc: "2.0", id, method, params})}\n`);
    return new Promise((resolve, reject) => this.#pending.set(id, {resolve, reject}));
  }

  // The text that a tool answered with; throws if it failed.
  async tool(name, args) {
    const result = await this.#call("tools/call", {name: `browser_${name}`, arguments: args});
    const text = result.content.map((block) => block.text ?? "").join("\n");
    if (result.isError) throw new Error(`${name}: ${text.slice(0, 300)}`);
    return text;
  }

  get pid() {
    return this.child.pid;
  }

  async stop() {
    this.child.stdin.end();
    const timer = setTimeout(() => this.child.kill("SIGKILL"), 10_000);
    await this.exited;
    clearTimeout(timer);
  }
}
