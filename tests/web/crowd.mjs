// A crowd of sessions, made as fast as one process can ask for them. A connection's requests are answered one after another,
// those of all connections are committed together: many connections, and a few requests under way on each.
//
//     const ids = await crowd(server, 100_000);    // ids, newest first, as lists show them
import net from 'node:net';
import { within } from '../e2e/harness.mjs';

const connections = 200;
const batch = 20;

export async function crowd(server, total, app = 'crowd') {
  const ids = [];
  let next = 0;
  const work = async () => {
    const socket = net.connect({ host: server.host, port: server.port, noDelay: true });
    socket.setEncoding('latin1');
    try {
      while (next < total) {
        const first = next;
        next = Math.min(next + batch, total);
        const bodies = Array.from({ length: next - first }, (_, n) => `{"app":"${app}","name":"row-${first + n}","graphId":"g${n % 7}"}`);
        ids.push(...await exchange(socket, `${server.host}:${server.port}`, bodies));
      }
    } finally {
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return ids.sort().reverse();
}

// Sends all bodies at once, and gives the ids of what was made of them.
function exchange(socket, host, bodies) {
  const answers = new Promise((resolve, reject) => {
    let rest = '';
    const made = [];
    const read = (chunk) => {
      rest += chunk;
      let at = 0;
      for (;;) {
        const head = rest.indexOf('\r\n\r\n', at);
        if (head < 0) break;
        const length = Number(/content-length: (\d+)/i.exec(rest.slice(at, head))?.[1]);
        const end = head + 4 + length;
        if (rest.length < end) break;
        const id = /"id":"([^"]+)"/.exec(rest.slice(head, end))?.[1];
        if (!rest.startsWith('HTTP/1.1 201', at) || id === undefined) return over(reject, new Error(rest.slice(at, end)));
        made.push(id);
        at = end;
      }
      rest = rest.slice(at);
      return made.length === bodies.length ? over(resolve, made) : undefined;
    };
    const broken = (error) => over(reject, error instanceof Error ? error : new Error('the connection was closed'));
    const over = (settle, value) => {
      socket.off('data', read).off('error', broken).off('close', broken);
      settle(value);
    };
    socket.on('data', read).on('error', broken).on('close', broken);
  });
  socket.write(bodies.map((body) =>
    `POST /v1/sessions HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`).join(''));
  return within(answers, 30_000, 'a batch of sessions');
}
