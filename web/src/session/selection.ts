// What of a session's history is shown, and which event is chosen: one answer for list, axis, filmstrip and picture.
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { route, setQuery } from '../route';
import type { Entry } from './entry';
import type { Block, History } from './history';

interface Filter {
  types: ReadonlySet<string>;
  range: [number, number] | undefined;
  words: string;
  failuresOnly: boolean;
}

interface Part {
  version: number;
  filter: Filter;
  lines: Entry[];
  failures: number;
}

function partOf(block: Block, filter: Filter): Part {
  const part: Part = { version: block.version, filter, lines: [], failures: 0 };
  for (const entry of block.entries) {
    if (!entry || !matches(entry, filter)) continue;
    part.lines.push(entry);
    if (entry.isFailure) part.failures += 1;
  }
  return part;
}

function matches(entry: Entry, { types, range, words, failuresOnly }: Filter): boolean {
  if (types.size > 0 ? !types.has(entry.type) : entry.isAside) return false;
  if (failuresOnly && !entry.isFailure) return false;
  if (range && (entry.at < range[0] || entry.startedAt > range[1])) return false;
  return words === '' || entry.text.toLowerCase().includes(words) || entry.type.includes(words);
}

export class Selection {
  // Of the time axis; none: all of it.
  readonly range = signal<[number, number] | undefined>(undefined);
  readonly types: ReadonlySignal<ReadonlySet<string>> = computed(() =>
    new Set((route.value.query.get('types') ?? '').split(',').filter(Boolean)));
  readonly failuresOnly = computed(() => route.value.query.get('failures') === 'true');
  readonly words = computed(() => (route.value.query.get('find') ?? '').toLowerCase());
  readonly chosen = computed(() => {
    const seq = Number(route.value.query.get('event'));
    return Number.isInteger(seq) && seq > 0 ? seq : undefined;
  });

  constructor(readonly history: History) {}

  private readonly filter = computed(() => ({
    types: this.types.value, range: this.range.value, words: this.words.value, failuresOnly: this.failuresOnly.value,
  }));
  // What each block gave, with the version and filter it gave it for: a block that changed is looked at again, no other.
  private parts: Part[] = [];

  // Entries as lines, oldest first.
  private readonly view = computed(() => {
    void this.history.version.value;
    const filter = this.filter.value;
    const lines: Entry[][] = [];
    let failures = 0;
    this.history.blocks.forEach((block, index) => {
      if (!block) return;
      let part = this.parts[index];
      if (!part || part.version !== block.version || part.filter !== filter) {
        part = this.parts[index] = partOf(block, filter);
      }
      lines.push(part.lines);
      failures += part.failures;
    });
    return { lines: lines.flat(), failures };
  });
  readonly lines = computed(() => this.view.value.lines);
  readonly failures = computed(() => this.view.value.failures);

  readonly pending = computed(() => {
    void this.history.version.value;
    return this.history.pending();
  });

  readonly pictures = computed(() => {
    void this.history.version.value;
    const range = this.range.value;
    return this.history.pictures.filter(({ at }) => !range || (at >= range[0] && at <= range[1]));
  });

  readonly typeCounts = computed(() => {
    void this.history.version.value;
    return [...this.history.typeCounts].sort(([a], [b]) => a.localeCompare(b));
  });

  choose(seq: number | undefined): void {
    setQuery({ event: seq === undefined ? null : String(seq) });
  }

  // The place of the chosen event among the lines, or of the line that tells it.
  indexOf(seq: number): number {
    const lines = this.lines.value;
    const index = firstAtLeast(lines, seq);
    if (lines[index]?.seq === seq) return index;
    const start = this.history.entry(seq)?.start;
    if (!start) return -1;
    const other = firstAtLeast(lines, start.seq);
    return lines[other]?.seq === start.seq ? other : -1;
  }

  move(by: 1 | -1): void {
    const lines = this.lines.value;
    if (lines.length === 0) return;
    const chosen = this.chosen.value;
    const at = chosen === undefined ? (by > 0 ? -1 : lines.length) : this.placeNear(chosen, by);
    const next = lines[Math.min(Math.max(at + by, 0), lines.length - 1)];
    if (next) this.choose(next.seq);
  }

  // The next failure in that direction, round the end if need be.
  moveToFailure(by: 1 | -1): void {
    const lines = this.lines.value;
    const start = this.chosen.value === undefined ? (by > 0 ? -1 : lines.length) : this.placeNear(this.chosen.value, by);
    for (let step = 1; step <= lines.length; step += 1) {
      const line = lines[(start + by * step + lines.length * (step + 1)) % lines.length];
      if (line?.isFailure) return this.choose(line.seq);
    }
    return undefined;
  }

  private placeNear(seq: number, by: 1 | -1): number {
    const exact = this.indexOf(seq);
    if (exact >= 0) return exact;
    const next = firstAtLeast(this.lines.value, seq);
    return by > 0 ? next - 1 : next;
  }
}

// Where the first line with this seq or a later one stands.
export function firstAtLeast(lines: readonly Entry[], seq: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.seq ?? Infinity) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
