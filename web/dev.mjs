// For work on the page: builds it anew whenever it is loaded, and hands every other request to a running server.
//
//     node web/dev.mjs http://127.0.0.1:7450 [8450]
//
// No part of the product: the binary serves the page by itself.
import http from 'node:http';
import { buildPage } from './build.mjs';

const server = new URL(process.argv[2] ?? 'http://127.0.0.1:7450');
const port = Number(process.argv[3] ?? 8450);
let files = [];

// The server sees its own name and origin, as if the page were its own.
function headersFor(request) {
  const headers = { ...request.headers, host: server.host };
  if (headers.origin) headers.origin = server.origin;
  return headers;
}

async function findFile(pathname) {
  if (pathname === '/') files = await buildPage();
  return files.find((file) => file.path === pathname);
}

const front = http.createServer(async (request, response) => {
  const { pathname } = new URL(request.url, server);
  try {
    const file = await findFile(pathname);
    if (file) return response.writeHead(200, { 'Content-Type': file.type, 'Cache-Control': 'no-store' }).end(file.bytes);
  } catch (error) {
    return response.writeHead(500, { 'Content-Type': 'text/plain' }).end(String(error));
  }
  const { hostname, port: serverPort } = server;
  const onward = http.request({
    hostname, port: serverPort, path: request.url, method: request.method, headers: headersFor(request),
  }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers).flushHeaders();
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
});

front.on('upgrade', (request, socket) => {
  const { hostname, port: serverPort } = server;
  const onward = http.request({ hostname, port: serverPort, path: request.url, headers: headersFor(request) });
  onward.on('upgrade', (answer, behind, rest) => {
    const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
    socket.write(rest);
    behind.pipe(socket).pipe(behind);
    behind.on('error', () => socket.destroy());
    socket.on('error', () => behind.destroy());
  });
  onward.on('response', () => socket.destroy());
  onward.on('error', () => socket.destroy());
  onward.end();
});

front.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port} over ${server.origin}`));
