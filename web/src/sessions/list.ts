// SessionList: the rows of the panel. A page of them first, further pages when they are scrolled to, and what the
// monitor tells on top.
//
// Rows that wait for a person stand first, longest waiting first; the others are newest first, by id, which is the order
// of creation. A change of a row beyond what is loaded is left to the page that will bring it.
import { batch, effect, signal } from '@preact/signals';
import { get } from '../api/client';
import type { SessionPage, Status } from '../api/types';
import { type FeedChange, rowOf, type SessionRow } from '../monitor/row';
import { filterQuery, matchesFilter, type SessionFilter } from './filter';
import { leaving } from './removal';

const firstPageRows = 100;
const pageRows = 500;
const maxWaitingRows = 200;
const recountMs = 2_000;

export class SessionList {
  readonly isLoading = signal(false);
  readonly problem = signal<unknown>(undefined);
  readonly counts = signal<Partial<Record<Status, number>>>({});
  readonly hasMore = signal(true);
  private readonly rows = new Map<string, SessionRow>();
  // Those shown: who waits for a person, longest waiting first, and the others, newest first. A change moves a few ids
  // and copies none: with 100,000 rows a copy for each change would be felt.
  private waiting: string[] = [];
  private readonly others: string[] = [];
  private lastLoaded = '';  // the oldest id of the pages so far
  private hidden: ReadonlySet<string> = leaving.peek();
  private readonly stopHiding: () => void;
  private isRecounting = false;
  private readonly version = signal(0);
  private cursor: string | null = '';
  private readonly abort = new AbortController();
  private early: FeedChange[] | undefined = [];  // what came before the first page did

  hasRows = false;  // those of the first page, be they none
  // The first page is there, or could not be had.
  readonly isReady: Promise<void>;

  constructor(readonly filter: SessionFilter) {
    this.stopHiding = effect(() => this.hide(leaving.value));
    this.isReady = this.loadFirst();
  }

  // How many rows are shown. Reading it is what makes a view follow the list.
  get count(): number {
    void this.version.value;
    return this.waiting.length + this.others.length;
  }

  at(index: number): SessionRow | undefined {
    const id = index < this.waiting.length ? this.waiting[index] : this.others[index - this.waiting.length];
    return id === undefined ? undefined : this.rows.get(id);
  }

  // Where an id is shown; -1 if it is not.
  indexOf(id: string): number {
    const first = this.waiting.indexOf(id);
    if (first >= 0) return first;
    const place = placeAmong(this.others, id);
    return this.others[place] === id ? this.waiting.length + place : -1;
  }

  row(id: string): SessionRow | undefined {
    return this.rows.get(id);
  }

  dispose(): void {
    this.stopHiding();
    this.abort.abort();
  }

  apply(changes: FeedChange[]): void {
    if (this.early) {
      this.early.push(...changes);
      return;
    }
    for (const change of changes) {
      if ('gone' in change) this.remove(change.gone);
      else if (!matchesFilter(change.row, this.filter)) this.remove(change.row.id);
      else this.update(change.row);
    }
    this.version.value += 1;
    if (changes.length > 0) this.recountSoon();
  }

  // How many there are, loaded or not; undefined where the server counts otherwise than this filter asks.
  get total(): number | undefined {
    const { q, graphId, ownerAgent, waiting, status } = this.filter;
    if (q !== '' || graphId !== '' || ownerAgent !== '' || waiting) return undefined;
    const counts = this.counts.value;
    return status === '' ? Object.values(counts).reduce((sum, n) => sum + n, 0) : counts[status as Status] ?? 0;
  }

  // Loads the next page, if there is one and none is on its way.
  async loadMore(): Promise<void> {
    if (this.isLoading.peek() || this.cursor === null || this.cursor === '') return;
    await this.load(async () => {
      const page = await this.fetchPage(pageRows, this.cursor ?? '');
      batch(() => this.addPage(page));
    });
  }

  private async loadFirst(): Promise<void> {
    await this.load(async () => {
      const [page, waiting] = await Promise.all([
        this.fetchPage(firstPageRows, ''),
        this.fetchPage(maxWaitingRows, '', { waiting: 'true', sort: 'waiting' }),
      ]);
      batch(() => {
        this.addPage(page);
        for (const session of waiting.sessions) this.set(rowOf(session));
        this.counts.value = page.countsByStatus;
        const early = this.early ?? [];
        this.early = undefined;
        this.hasRows = true;
        this.apply(early);
      });
    });
  }

  private recountSoon(): void {
    if (this.isRecounting) return;
    this.isRecounting = true;
    setTimeout(() => {
      this.isRecounting = false;
      if (this.abort.signal.aborted) return;
      this.fetchPage(1, '').then((page) => { this.counts.value = page.countsByStatus; }, () => {});
    }, recountMs);
  }

  private async load(work: () => Promise<void>): Promise<void> {
    this.isLoading.value = true;
    try {
      await work();
      this.problem.value = undefined;
    } catch (error) {
      if (!this.abort.signal.aborted) this.problem.value = error;
    } finally {
      this.isLoading.value = false;
    }
  }

  private fetchPage(limit: number, cursor: string, more: Record<string, string> = {}): Promise<SessionPage> {
    const query = filterQuery(this.filter);
    query.set('limit', String(limit));
    if (cursor !== '') query.set('cursor', cursor);
    for (const [name, value] of Object.entries(more)) query.set(name, value);
    return get<SessionPage>(`/v1/sessions?${query}`, this.abort.signal);
  }

  private addPage(page: SessionPage): void {
    for (const session of page.sessions) {
      this.lastLoaded = session.id;
      // What the monitor has told meanwhile is newer.
      if (!this.rows.has(session.id)) this.set(rowOf(session));
    }
    this.cursor = page.nextCursor;
    this.hasMore.value = page.nextCursor !== null;
    this.version.value += 1;
  }

  private update(row: SessionRow): void {
    const known = this.rows.get(row.id);
    if (known) {
      if (row.updatedAt >= known.updatedAt) this.set(row);
      return;
    }
    const isBeyond = this.cursor !== null && row.id < this.lastLoaded;
    if (!isBeyond || row.pending.length > 0) this.set(row);
  }

  private set(row: SessionRow): void {
    this.rows.set(row.id, row);
    this.place(row.id, row);
  }

  private remove(id: string): void {
    if (this.rows.delete(id)) this.place(id, undefined);
  }

  private hide(hidden: ReadonlySet<string>): void {
    const changed = [...hidden, ...this.hidden].filter((id) => hidden.has(id) !== this.hidden.has(id));
    this.hidden = hidden;
    for (const id of changed) this.place(id, this.rows.get(id));
    if (changed.length > 0) this.version.value = this.version.peek() + 1;
  }

  // Puts an id where it belongs now; without a row, nowhere.
  private place(id: string, row: SessionRow | undefined): void {
    const shown = row && !this.hidden.has(id) ? row : undefined;
    const isWaiting = shown !== undefined && shown.pending.length > 0;
    if (isWaiting || this.waiting.includes(id)) {
      this.waiting = this.waiting.filter((one) => one !== id);
      if (isWaiting) this.waiting.push(id);
      this.waiting.sort((a, b) => this.askedFirst(a).localeCompare(this.askedFirst(b)));
    }
    const place = placeAmong(this.others, id);
    const isThere = this.others[place] === id;
    const belongs = shown !== undefined && !isWaiting;
    if (isThere && !belongs) this.others.splice(place, 1);
    if (!isThere && belongs) this.others.splice(place, 0, id);
  }

  private askedFirst(id: string): string {
    return (this.rows.get(id)?.pending ?? []).reduce((least, { askedAt }) => (askedAt < least ? askedAt : least), '~');
  }
}

// Where an id stands, or would stand, among ids that descend.
function placeAmong(ids: readonly string[], id: string): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] ?? '') > id) low = middle + 1;
    else high = middle;
  }
  return low;
}
