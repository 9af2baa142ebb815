// Chromium itself, driven over its pipe with no more than the protocol's own messages: what a session must cost at
// least.
import {spawn} from "node:child_process";

const binaries = ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium-headless-shell"];

export class BareChromium {
  #pending = new Map();
  #last = 0;
  #text = "";

  constructor(directory) {
    const flags = [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--remote-debugging-pipe", `--user-data-dir=${directory}`,
    ];
    this.child = spawn(binaries[0], flags, {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
    this.child.stdio[4].setEncoding("utf8").on("data", (bytes) => this.#take(bytes));
    this.exited = new Promise((resolve) => this.child.once("exit", resolve));
  }

  #take(bytes) {
    const parts = (this.#text + bytes).split("\0");
    this.#text = parts.pop();
    for (const part of parts) {
      const {id, result, error} = JSON.parse(part);
      const waiting = this.#pending.get(id);
      if (!waiting) continue;
      this.#pending.delete(id);
      if (error) waiting.reject(new Error(error.message));
      else waiting.resolve(result);
    }
  }

  call(method, params = {}, sessionId) {
    const id = ++this.#last;
    this.child.stdio[3].write(`${JSON.stringify({id, method, params, sessionId})}\0`);
    return new Promise((resolve, reject) => this.#pending.set(id, {resolve, reject}));
  }

  // A context with a page that can be worked with, and the milliseconds it took.
  async newSession() {
    const begun = performance.now();
    const {browserContextId} = await this.call("Target.createBrowserContext", {disposeOnDetach: true});
    const {targetId} = await this.call("Target.createTarget", {url: "about:blank", browserContextId});
    const {sessionId} = await this.call("Target.attachToTarget", {targetId, flatten: true});
    await Promise.all(["Page.enable", "Runtime.enable", "Network.enable", "DOM.enable"].map(
        (method) => this.call(method, {}, sessionId)));
    await this.call("Page.addScriptToEvaluateOnNewDocument", {source: "0", worldName: "bench"}, sessionId);
    const took = performance.now() - begun;
    return {took, dispose: () => this.call("Target.disposeBrowserContext", {browserContextId})};
  }

  async stop() {
    this.child.stdio[3].end();
    await this.exited;
  }
}
