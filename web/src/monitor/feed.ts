// Feed: one connection to the server's monitor, for all tabs of the page.
//
// It has no filter and no snapshot: each tab loads its own page of rows and applies what comes here. Changes are handed
// on in bunches, so that a thousand a second cost a tab twenty messages.
import type { Session, SessionPage } from '../api/types';
import { type FeedChange, type FeedMessage, type FeedState, rowOf } from './row';

const bunchMs = 50;
const firstRetryMs = 500;
const lastRetryMs = 10_000;

export class Feed {
  state: FeedState = 'connecting';
  private source: EventSource | undefined;
  private cursor = '';
  private retryMs = firstRetryMs;
  private changes: FeedChange[] = [];
  private isBunching = false;
  private isRetrying = false;

  constructor(private readonly tell: (message: FeedMessage) => void) {}

  start(): void {
    void this.connect();
  }

  loggedIn(): void {
    if (this.state === 'loginNeeded') void this.connect();
  }

  private async connect(): Promise<void> {
    this.isRetrying = false;
    this.source?.close();
    this.enter('connecting');
    const isFresh = this.cursor === '';
    try {
      // Asked first also when the cursor is known: an EventSource does not say why it was refused.
      const response = await fetch('/v1/sessions?limit=1', { headers: { Accept: 'application/json' } });
      if (response.status === 401) return this.enter('loginNeeded');
      if (!response.ok) return this.retry();
      if (isFresh) this.cursor = ((await response.json()) as SessionPage).monitorId;
    } catch {
      return this.retry();
    }
    this.follow();
    if (isFresh) this.tell({ kind: 'restart' });
  }

  private follow(): void {
    const source = new EventSource(`/v1/sessions?snapshot=false&after=${encodeURIComponent(this.cursor)}`);
    this.source = source;
    let hasOpened = false;
    source.onopen = () => {
      hasOpened = true;
      this.retryMs = firstRetryMs;
      this.enter('live');
    };
    source.addEventListener('session', (event) => {
      this.note(event, { row: rowOf(JSON.parse(event.data) as Session) });
    });
    for (const name of ['removed', 'deleted']) {
      source.addEventListener(name, (event) => {
        this.note(event, { gone: (JSON.parse(event.data) as { id: string }).id });
      });
    }
    // Sent in place of what is too old to be told: rows that went meanwhile are not in it.
    source.addEventListener('snapshotComplete', (event) => {
      this.cursor = event.lastEventId || this.cursor;
      this.tell({ kind: 'restart' });
    });
    source.onerror = () => {
      if (this.source !== source) return;
      this.enter('lost');
      // A connection that broke is opened again by the browser, from where it was; a refused one is ours to open.
      if (source.readyState !== EventSource.CLOSED) return;
      if (!hasOpened) this.cursor = '';  // it may be the cursor that is refused
      this.retry();
    };
  }

  private note(event: MessageEvent, change: FeedChange): void {
    if (event.lastEventId) this.cursor = event.lastEventId;
    this.changes.push(change);
    if (this.isBunching) return;
    this.isBunching = true;
    setTimeout(() => {
      this.isBunching = false;
      const changes = this.changes;
      this.changes = [];
      this.tell({ kind: 'changes', changes });
    }, bunchMs);
  }

  private retry(): void {
    this.enter('lost');
    if (this.isRetrying) return;
    this.isRetrying = true;
    const wait = this.retryMs * (0.75 + Math.random() / 2);
    this.retryMs = Math.min(this.retryMs * 2, lastRetryMs);
    setTimeout(() => void this.connect(), wait);
  }

  private enter(state: FeedState): void {
    if (this.state === state && state !== 'connecting') return;
    this.state = state;
    this.tell({ kind: 'state', state });
  }
}
