// The shared worker: holds the feed, and hands what it says to every tab.
import { Feed } from './feed';
import type { FeedMessage, PageMessage } from './row';

declare const self: { onconnect: ((event: MessageEvent) => void) | null };

const ports = new Set<MessagePort>();
const feed = new Feed((message) => {
  for (const port of ports) port.postMessage(message);
});
let hasStarted = false;

self.onconnect = (event) => {
  const port = event.ports[0];
  if (!port) return;
  ports.add(port);
  port.onmessage = (said: MessageEvent<PageMessage>) => {
    if (said.data === 'leave') ports.delete(port);
    if (said.data === 'loggedIn') feed.loggedIn();
  };
  if (!hasStarted) {
    hasStarted = true;
    feed.start();
  }
  const state: FeedMessage = { kind: 'state', state: feed.state };
  port.postMessage(state);
  // Whoever comes later has loaded nothing yet: it may begin at once.
  if (feed.state === 'live') port.postMessage({ kind: 'restart' } satisfies FeedMessage);
};
