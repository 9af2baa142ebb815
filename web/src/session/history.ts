// History: the events of one session, from the tail backwards, and then live.
//
// What is opened first is what a person looks at: the tail, or the event a link names. The rest is loaded behind it,
// block by block, while a bar tells how far it is; no task of it takes long. An event that comes twice, by a page and by
// the stream or by two connections, is one entry. While the tab is hidden the stream is closed, so that many tabs do not
// use up the browser's connections; it goes on from the last event when the tab is seen again.
import { batch, signal } from '@preact/signals';
import { get, sessionPath } from '../api/client';
import type { EventPage, StoredEvent } from '../api/types';
import { type Entry, entryOf } from './entry';

const blockSize = 500;
const tellMs = 120;  // while much is loaded, what is shown of it changes so often
const firstRetryMs = 500;
const lastRetryMs = 10_000;

// A part of the history. Its version changes with its entries.
export interface Block {
  entries: (Entry | undefined)[];
  version: number;
}

export type Following = 'loading' | 'live' | 'lost' | 'ended';

export class History {
  readonly following = signal<Following>('loading');
  readonly loaded = signal(0);
  readonly head = signal(0);  // the last seq there is
  readonly version = signal(0);  // counts changes of what is loaded
  readonly isComplete = signal(false);
  readonly problem = signal<unknown>(undefined);
  readonly blocks: (Block | undefined)[] = [];
  readonly typeCounts = new Map<string, number>();
  readonly pictures: Entry[] = [];  // those with a picture, oldest first
  private loadedCount = 0;
  private isTelling = false;
  private halves = new Map<string, Entry>();  // those whose other half is not there yet
  private floor = 0;  // what is hidden by a reset
  private source: EventSource | undefined;
  private retryMs = firstRetryMs;
  private arrived: StoredEvent[] = [];
  private isTaking = false;
  private readonly abort = new AbortController();

  constructor(private readonly session: string, private readonly onEvent: (event: StoredEvent) => void) {}

  async open(head: number, link?: number): Promise<void> {
    this.head.value = head;
    document.addEventListener('visibilitychange', this.onVisibility);
    try {
      if (link !== undefined && link <= head) await this.loadBlock(blockOf(link));
      await this.loadBlock(blockOf(head));
      if (head % blockSize < blockSize / 4 && head > blockSize) await this.loadBlock(blockOf(head) - 1);
      this.follow();
      for (let block = blockOf(head); block >= blockOf(this.floor + 1); block -= 1) await this.loadBlock(block);
      batch(() => {
        this.isComplete.value = true;
        this.loaded.value = this.loadedCount;
        this.version.value += 1;
      });
    } catch (error) {
      if (!this.abort.signal.aborted) this.problem.value = error;
    }
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.onVisibility);
    this.abort.abort();
    this.source?.close();
    this.source = undefined;
  }

  entry(seq: number): Entry | undefined {
    return this.blocks[blockOf(seq)]?.entries[(seq - 1) % blockSize];
  }

  // What has begun and, as far as is known, not ended; oldest first.
  pending(): Entry[] {
    const open: Entry[] = [];
    for (const entry of this.halves.values()) if (entry.opens) open.push(entry);
    return open.sort((a, b) => a.seq - b.seq);
  }

  private async loadBlock(block: number): Promise<void> {
    if (block < 0 || this.isFull(block)) return;
    let after = Math.max(block * blockSize, this.floor);
    const end = Math.min((block + 1) * blockSize, this.head.peek());
    while (after < end && !this.abort.signal.aborted) {
      const path = sessionPath(this.session, `/events?after=${after}&limit=${end - after}`);
      const page = await get<EventPage>(path, this.abort.signal);
      const first = page.events[0];
      // A reset has hidden what stood before: the server goes on from there.
      if (first && first.seq > after + 1) this.floor = Math.max(this.floor, first.seq - 1);
      this.add(page.events);
      if (page.nextAfter <= after) return;
      after = page.nextAfter;
      await nextTask();
    }
  }

  private isFull(block: number): boolean {
    const known = this.blocks[block];
    if (!known) return false;
    const last = Math.min((block + 1) * blockSize, this.head.peek());
    for (let seq = Math.max(block * blockSize, this.floor) + 1; seq <= last; seq += 1) {
      if (!known.entries[(seq - 1) % blockSize]) return false;
    }
    return true;
  }

  private add(events: StoredEvent[]): void {
    let count = 0;
    for (const event of events) {
      const block = (this.blocks[blockOf(event.seq)] ??= { entries: [], version: 0 });
      const place = (event.seq - 1) % blockSize;
      if (block.entries[place]) continue;
      const entry = entryOf(event);
      block.entries[place] = entry;
      block.version += 1;
      count += 1;
      this.typeCounts.set(entry.type, (this.typeCounts.get(entry.type) ?? 0) + 1);
      if (entry.picture !== '') this.addPicture(entry);
      if (entry.pairId !== '') this.pair(entry);
    }
    if (count > 0) this.tell(count);
  }

  private tell(count: number): void {
    this.loadedCount += count;
    const now = () => batch(() => {
      this.loaded.value = this.loadedCount;
      this.version.value += 1;
    });
    const isFirst = this.loaded.peek() === 0;
    if (isFirst || this.isComplete.peek()) return now();
    if (this.isTelling) return undefined;
    this.isTelling = true;
    setTimeout(() => {
      this.isTelling = false;
      now();
    }, tellMs);
    return undefined;
  }

  private addPicture(entry: Entry): void {
    this.pictures.push(entry);
    const before = this.pictures.at(-2);
    if (before && before.seq > entry.seq) this.pictures.sort((a, b) => a.seq - b.seq);
  }

  private pair(entry: Entry): void {
    const other = this.halves.get(entry.pairId);
    if (!other || other.opens === entry.opens) {
      this.halves.set(entry.pairId, entry);
      return;
    }
    this.halves.delete(entry.pairId);
    const [start, end] = entry.opens ? [entry, other] : [other, entry];
    start.end = end;
    start.outcome = end.outcome;
    start.isFailure = end.isFailure;
    if (end.isFailure) start.text = end.text;
    start.durationMs = end.durationMs ?? end.at - start.at;
    end.start = start;
    end.isAside = true;
    for (const { seq } of [start, end]) {
      const block = this.blocks[blockOf(seq)];
      if (block) block.version += 1;
    }
  }

  private readonly onVisibility = () => {
    if (document.hidden) {
      this.source?.close();
      this.source = undefined;
    } else if (!this.source && this.following.peek() !== 'ended') {
      this.follow();
    }
  };

  private follow(): void {
    if (this.abort.signal.aborted || document.hidden) return;
    const after = this.head.peek();
    const source = new EventSource(sessionPath(this.session, `/events/stream?after=${after}`));
    this.source = source;
    source.onmessage = (event) => this.take(JSON.parse(event.data as string) as StoredEvent);
    source.addEventListener('replayComplete', () => {
      this.retryMs = firstRetryMs;
      this.following.value = 'live';
    });
    source.addEventListener('end', () => {
      source.close();
      this.following.value = 'ended';
    });
    source.onerror = () => {
      if (this.source !== source || this.following.peek() === 'ended') return;
      this.following.value = 'lost';
      // A connection that broke is opened again by the browser; one that was refused is ours to open.
      if (source.readyState === EventSource.CLOSED) this.retry();
    };
  }

  private retry(): void {
    const wait = this.retryMs * (0.75 + Math.random() / 2);
    this.retryMs = Math.min(this.retryMs * 2, lastRetryMs);
    setTimeout(() => this.follow(), wait);
  }

  // Events that come fast are added together.
  private take(event: StoredEvent): void {
    this.arrived.push(event);
    if (this.isTaking) return;
    this.isTaking = true;
    setTimeout(() => {
      this.isTaking = false;
      const events = this.arrived;
      this.arrived = [];
      const fresh = events.filter(({ seq }) => seq > this.head.peek());
      batch(() => {
        const last = events.at(-1);
        if (last) this.head.value = Math.max(this.head.peek(), last.seq);
        this.add(events);
      });
      for (const event of fresh) this.onEvent(event);
    }, 16);
  }
}

const blockOf = (seq: number) => Math.floor((seq - 1) / blockSize);
const nextTask = () => new Promise<void>((resolve) => { setTimeout(resolve, 0); });
