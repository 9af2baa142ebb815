// Sessions of a running Reprise with a browser each, as a client of its API has them.
export class Sessions {
  constructor(server) {
    this.base = `http://127.0.0.1:${server.port}/v1`;
  }

  async ask(method, path, body) {
    const answer = await fetch(this.base + path, {
      method,
      headers: body === undefined ? {} : {"Content-Type": "application/json"},
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return text === "" ? null : JSON.parse(text);
  }

  async open(options = {}) {
    const {id} = await this.ask("POST", "/sessions", {status: "ACTIVE"});
    const session = new BrowserSession(this, id);
    await this.ask("POST", `/sessions/${id}/browser`, options);
    return session;
  }
}

class BrowserSession {
  name = "reprise";

  constructor(sessions, id) {
    this.sessions = sessions;
    this.id = id;
  }

  // What a tool answered with, as text; throws if it failed.
  async tool(name, args) {
    const answer = await this.sessions.ask("POST", `/sessions/${this.id}/tools/browser_${name}`, args);
    if (!answer.ok) throw new Error(`${name}: ${answer.error.code} ${answer.error.message}`);
    return JSON.stringify(answer.result ?? null);
  }

  async remove() {
    await this.sessions.ask("DELETE", `/sessions/${this.id}`);
  }
}
