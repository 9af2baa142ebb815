// The timeline: time axis, filmstrip, list of events and the chosen event, with one selection for all of them.
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { setQuery } from '../route';
import { onKeys } from '../ui/keys';
import { Button, Empty } from '../ui/parts';
import { clockTime, count, duration } from '../ui/times';
import { VirtualList, type VirtualHandle } from '../ui/VirtualList';
import { Axis } from './Axis';
import { Detail } from './Detail';
import type { Entry } from './entry';
import { Filmstrip } from './Filmstrip';
import { firstAtLeast, type Selection } from './selection';
import type { OpenSession } from './SessionView';

const rowHeight = 28;

export function Timeline({ opened }: { opened: OpenSession }) {
  const { selection, session } = opened;
  const handle = useRef<VirtualHandle>(null);
  const find = useRef<HTMLInputElement>(null);
  const follows = useSignal(selection.chosen.peek() === undefined);
  const lines = selection.lines.value;
  const chosen = selection.chosen.value;

  const toEnd = () => {
    selection.choose(undefined);
    follows.value = true;
    handle.current?.toEnd();
  };
  useLayoutEffect(() => onKeys({
    j: () => selection.move(1),
    k: () => selection.move(-1),
    n: () => selection.moveToFailure(1),
    p: () => selection.moveToFailure(-1),
    l: toEnd,
    '/': () => find.current?.focus(),
    Escape: () => {
      selection.range.value = undefined;
      selection.choose(undefined);
    },
  }), [selection]);
  // Whatever chose it, the list shows it; also when its part of the history comes later.
  const index = chosen === undefined ? -1 : selection.indexOf(chosen);
  const isThere = index >= 0;
  useLayoutEffect(() => {
    if (isThere) handle.current?.reveal(index);
  }, [chosen, isThere]);

  return (
    <div class="timeline">
      <Toolbar selection={selection} find={find} isFollowing={follows.value} onEnd={toEnd} />
      <Pending selection={selection} />
      <Axis selection={selection} />
      <Filmstrip selection={selection} session={session.id} />
      <div class="timeline-body">
        {lines.length === 0
          ? <Empty title={selection.history.loaded.value === 0 ? 'Nothing has happened yet' : 'No event matches'} />
          : (
            <VirtualList count={lines.length} rowHeight={rowHeight} handle={handle} class="events" followsEnd={chosen === undefined}
              onFollow={(isFollowing) => { follows.value = isFollowing; }}
              attributes={{
                role: 'listbox', 'aria-label': 'Events', ...(isThere ? { 'aria-activedescendant': `event-${lines[index]?.seq}` } : {}),
              }}
              keyAt={(at) => lines[at]?.seq} indexOf={(seq) => firstAtLeast(lines, Number(seq))}
              render={(at) => {
                const entry = lines[at];
                return entry && <Line entry={entry} isChosen={at === index} onChoose={() => selection.choose(entry.seq)} />;
              }} />
          )}
        {chosen !== undefined && <Detail selection={selection} session={session.id} seq={chosen} />}
      </div>
    </div>
  );
}

function Toolbar({ selection, find, isFollowing, onEnd }: {
  selection: Selection; find: preact.RefObject<HTMLInputElement>; isFollowing: boolean; onEnd: () => void;
}) {
  const failures = selection.failures.value;
  return (
    <div class="toolbar">
      <input ref={find} class="input input-search" type="search" placeholder="Find in events  ( / )" aria-label="Find in events"
        value={selection.words.value} onInput={(event) => setQuery({ find: event.currentTarget.value })} />
      <TypeMenu selection={selection} />
      <Button pressed={selection.failuresOnly.value} onClick={() => setQuery({ failures: selection.failuresOnly.value ? null : 'true' })}>
        Failures
      </Button>
      {selection.range.value && <Button kind="quiet" icon="close" onClick={() => { selection.range.value = undefined; }}>Whole time</Button>}
      <span class="grow" />
      <span class="toolbar-count">{count(selection.lines.value.length)} lines</span>
      <Button kind="quiet" icon="failure" label="Next failure ( n )" disabled={failures === 0} onClick={() => selection.moveToFailure(1)}>
        {count(failures)}
      </Button>
      <Button kind="quiet" icon="down" label="To the end ( l )" disabled={isFollowing && selection.chosen.value === undefined} onClick={onEnd} />
    </div>
  );
}

function TypeMenu({ selection }: { selection: Selection }) {
  const chosen = selection.types.value;
  const toggle = (type: string) => {
    const next = new Set(chosen);
    if (!next.delete(type)) next.add(type);
    setQuery({ types: [...next].join(',') });
  };
  return (
    <details class="menu">
      <summary class="button">{chosen.size === 0 ? 'Every type' : chosen.size === 1 ? [...chosen][0] : `${chosen.size} types`}</summary>
      <div class="menu-body">
        {selection.typeCounts.value.map(([type, number]) => (
          <label key={type} class="menu-row">
            <input type="checkbox" checked={chosen.has(type)} onChange={() => toggle(type)} />
            <span>{type}</span>
            <span class="menu-count">{count(number)}</span>
          </label>
        ))}
        {chosen.size > 0 && <Button kind="quiet" onClick={() => setQuery({ types: null })}>Every type</Button>}
      </div>
    </details>
  );
}

// What has begun and not ended stands before everything else.
function Pending({ selection }: { selection: Selection }) {
  const pending = selection.pending.value;
  if (pending.length === 0) return null;
  const shown = pending.slice(-6);
  return (
    <div class="pending" role="group" aria-label="Pending">
      <span class="pending-word">Pending</span>
      {shown.map((entry) => (
        <button key={entry.seq} type="button" class="pending-item" onClick={() => selection.choose(entry.seq)}>
          <span class="dot" aria-hidden="true" />
          {entry.text.split('  ')[0]}
        </button>
      ))}
      {pending.length > shown.length && <span class="quiet">and {count(pending.length - shown.length)} more</span>}
    </div>
  );
}

function Line({ entry, isChosen, onChoose }: { entry: Entry; isChosen: boolean; onChoose: () => void }) {
  const [head = '', ...rest] = entry.text.split('  ');
  const kind = entry.isFailure ? ' line-failed' : entry.outcome === 'open' ? ' line-open' : '';
  return (
    <div id={`event-${entry.seq}`} class={`line line-${entry.family}${kind}${isChosen ? ' chosen' : ''}`} role="option"
      aria-selected={isChosen} onClick={onChoose}>
      <span class="line-seq">{entry.seq}</span>
      <span class="line-time">{clockTime(entry.at, true)}</span>
      <span class="line-type">{wordOf(entry)}</span>
      <span class="line-text">
        {entry.isTool ? <><b>{head}</b> {rest.join('  ')}</> : entry.text}
      </span>
      <span class="line-duration">{entry.durationMs !== undefined && duration(entry.durationMs)}</span>
    </div>
  );
}

// What began and what ended is one line.
function wordOf(entry: Entry): string {
  if (entry.type === 'tool_started') return 'tool call';
  if (entry.type === 'input_required') return 'question';
  return entry.type;
}
