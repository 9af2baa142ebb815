// The monitor as the page sees it: what changes, and whether the server is there.
import { signal } from '@preact/signals';
import { Feed } from './feed';
import type { FeedChange, FeedMessage, FeedState, PageMessage } from './row';

declare const MONITOR_WORKER: string;

export const feedState = signal<FeedState>('connecting');
// Counts what makes a list out of date: the first connection, and every one that may have missed something.
export const feedEpoch = signal(0);

type Listener = (changes: FeedChange[]) => void;
const listeners = new Set<Listener>();
let say: (message: PageMessage) => void = () => {};

export function onChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function tellLoggedIn(): void {
  say('loggedIn');
}

function take(message: FeedMessage): void {
  if (message.kind === 'state') feedState.value = message.state;
  if (message.kind === 'restart') feedEpoch.value += 1;
  if (message.kind === 'changes') for (const listener of listeners) listener(message.changes);
}

export function startMonitor(): void {
  if (typeof SharedWorker === 'undefined') {
    const feed = new Feed(take);
    say = (message) => { if (message === 'loggedIn') feed.loggedIn(); };
    feed.start();
    return;
  }
  const worker = new SharedWorker(MONITOR_WORKER, { name: 'reprise-monitor' });
  worker.port.onmessage = (event: MessageEvent<FeedMessage>) => take(event.data);
  say = (message) => worker.port.postMessage(message);
  addEventListener('pagehide', () => say('leave'));
  // A page that comes back from the browser's memory has left: it starts anew.
  addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });
}
