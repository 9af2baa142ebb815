// The sessions panel: every session, live, what waits for a person first.
import { useSignal, useSignalEffect } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { mayWrite, post, Problem, sessionPath } from '../api/client';
import { statuses } from '../api/types';
import { feedEpoch, onChanges } from '../monitor/monitor';
import type { SessionRow } from '../monitor/row';
import { go, route, sessionAddress, setQuery } from '../route';
import { onKeys } from '../ui/keys';
import { Button, Empty, StatusLabel, statusWord } from '../ui/parts';
import { count, dateAndTime, fullTime } from '../ui/times';
import { showProblem } from '../ui/toasts';
import { VirtualList, type VirtualHandle } from '../ui/VirtualList';
import { filterNames, filterOf, filterQuery, isFiltered } from './filter';
import { SessionList } from './list';
import { NewSession } from './NewSession';
import { removeSession } from './removal';

const rowHeight = 36;

const titleOf = (row: SessionRow) => row.key ?? `${row.app}:${row.id.slice(0, 13)}`;

export function SessionsView() {
  const filter = filterOf(route.value.query);
  const address = filterQuery(filter).toString();
  const list = useSignal<SessionList | undefined>(undefined);
  const isCreating = useSignal(false);
  const chosen = useSignal('');
  const handle = useRef<VirtualHandle>(null);
  const search = useRef<HTMLInputElement>(null);
  const filterAddress = useSignal(address);
  filterAddress.value = address;

  // A list belongs to one filter and one unbroken feed; until the next one has its rows, or cannot have them, the old one
  // stays in sight: whoever reads a row does not lose it for the time of a request.
  useSignalEffect(() => {
    void feedEpoch.value;
    const made = new SessionList(filterOf(new URLSearchParams(filterAddress.value)));
    const stop = onChanges((changes) => made.apply(changes));
    let isWanted = true;
    const show = () => { if (isWanted) list.value = made; };
    if (list.peek()?.hasRows) void made.isReady.then(show);
    else show();
    return () => {
      isWanted = false;
      stop();
      made.dispose();
    };
  });

  const rows = list.value;
  const shown = rows?.count ?? 0;
  const move = (by: number) => {
    if (!rows || shown === 0) return;
    const at = chosen.value === '' ? (by > 0 ? -1 : shown) : rows.indexOf(chosen.value);
    const index = Math.min(Math.max(at + by, 0), shown - 1);
    chosen.value = rows.at(index)?.id ?? '';
    handle.current?.reveal(index);
  };
  const openChosen = () => { if (rows?.row(chosen.value)) go(sessionAddress(chosen.value)); };
  useLayoutEffect(() => onKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: openChosen,
    '/': () => search.current?.focus(),
    c: () => { if (mayWrite()) isCreating.value = true; },
  }));

  const total = rows?.total;
  return (
    <main class="view">
      <header class="view-head">
        <h1>Sessions</h1>
        <span class="view-count">{total !== undefined && total > 0 && count(total)}</span>
        <div class="filters" role="search">
          <input ref={search} class="input input-search" type="search" placeholder="Name begins with …  ( / )"
            aria-label="Name begins with" value={filter.q} onInput={(event) => setQuery({ q: event.currentTarget.value })} />
          <select class="input" aria-label="Status" value={filter.status}
            onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">Every status</option>
            {statuses.map((status) => <option key={status} value={status}>{statusWord(status)}</option>)}
          </select>
          {filterNames.slice(2).map((name) => (
            <input key={name} class="input input-narrow" type="text" placeholder={filterWords[name]} aria-label={filterWords[name]}
              value={filter[name]} onInput={(event) => setQuery({ [name]: event.currentTarget.value })} />
          ))}
          <Button pressed={filter.waiting} onClick={() => setQuery({ waiting: filter.waiting ? null : 'true' })}>Waiting</Button>
          {isFiltered(filter) && (
            <Button kind="quiet" onClick={() => setQuery({ ...Object.fromEntries(filterNames.map((name) => [name, null])), waiting: null })}>
              Clear
            </Button>
          )}
        </div>
        {mayWrite() && <Button kind="primary" icon="plus" onClick={() => { isCreating.value = true; }}>New session</Button>}
      </header>
      {rows?.problem.value !== undefined && <ListProblem list={rows} />}
      <div class="table" role="grid" aria-label="Sessions" aria-rowcount={shown + 1}>
        <div class="table-head table-row" role="row" aria-rowindex={1}>
          {['Status', 'Session', 'Graph', 'Owner', 'Messages', 'Active', 'Created'].map((word) => (
            <span key={word} role="columnheader">{word}</span>
          ))}
          <span role="columnheader"><span class="hidden">Actions</span></span>
        </div>
        {shown === 0
          ? <NoRows isLoading={rows?.isLoading.value ?? true} isFiltered={isFiltered(filter)} />
          : (
            <VirtualList count={shown} rowHeight={rowHeight} handle={handle} class="table-rows"
              attributes={{ role: 'rowgroup' }}
              keyAt={(index) => rows?.at(index)?.id} indexOf={(key) => rows?.indexOf(String(key)) ?? -1}
              onRange={(_, last) => { if (rows && last > shown - 100) void rows.loadMore(); }}
              render={(index) => {
                const row = rows?.at(index);
                return row && (
                  <Row row={row} index={index} isChosen={chosen.value === row.id} onChoose={() => { chosen.value = row.id; }} />
                );
              }} />
          )}
      </div>
      {isCreating.value && <NewSession onClose={() => { isCreating.value = false; }} />}
    </main>
  );
}

const filterWords = { app: 'App', graphId: 'Graph', ownerAgent: 'Owner', q: 'Name', status: 'Status' };

function NoRows({ isLoading, isFiltered: hasFilter }: { isLoading: boolean; isFiltered: boolean }) {
  const command = useMemo(() => `curl -X PUT ${location.origin}/v1/sessions/demo:first`, []);
  if (isLoading) return <Empty title="Loading …" />;
  if (hasFilter) return <Empty title="No session matches">Another filter may find what you look for.</Empty>;
  return (
    <Empty title="No sessions yet">
      Sessions appear here as soon as an agent makes one. To make the first by hand:
      <code class="block">{command}</code>
    </Empty>
  );
}

function ListProblem({ list }: { list: SessionList }) {
  const problem = list.problem.value;
  if (problem instanceof Problem && problem.status === 401) return null;
  return <p class="notice notice-problem" role="alert">{problem instanceof Error ? problem.message : String(problem)}</p>;
}

interface RowProps {
  row: SessionRow;
  index: number;
  isChosen: boolean;
  onChoose: () => void;
}

function Row({ row, index, isChosen, onChoose }: RowProps) {
  const title = titleOf(row);
  const isEnded = ['COMPLETED', 'FAILED', 'CANCELLED', 'CLEANUP'].includes(row.status);
  const note = row.pending[0]?.prompt ?? row.lastError;
  const cancel = async () => {
    try {
      await post(sessionPath(row.id, '/cancel'), { reason: 'by a person, from the page' });
    } catch (error) {
      showProblem(error);
    }
  };
  return (
    <div class={`table-row${isChosen ? ' chosen' : ''}`} role="row" aria-rowindex={index + 2} aria-selected={isChosen} onClick={onChoose}>
      <span role="gridcell"><StatusLabel status={row.status} reason={row.pauseReason} /></span>
      <span role="gridcell" class="cell-title">
        <a href={sessionAddress(row.id, row.pending.length > 0 ? 'questions' : 'timeline')}>{title}</a>
        {note && <span class="cell-note" title={note}>{note}</span>}
      </span>
      <span role="gridcell" class="cell-quiet">{row.graphId}</span>
      <span role="gridcell" class="cell-quiet">{row.ownerAgent ?? '–'}</span>
      <span role="gridcell" class="cell-number">{count(row.messageCount)}</span>
      <span role="gridcell" class="cell-time" title={fullTime(row.lastActivityAt)}>{dateAndTime(row.lastActivityAt)}</span>
      <span role="gridcell" class="cell-time" title={fullTime(row.createdAt)}>{dateAndTime(row.createdAt)}</span>
      <span role="gridcell" class="cell-actions">
        {mayWrite() && !isEnded && <Button icon="stop" kind="quiet" label={`Cancel ${title}`} onClick={() => void cancel()} />}
        {mayWrite() && (
          <Button icon="trash" kind="quiet" label={`Delete ${title}`}
            onClick={() => removeSession(row.id, title)} />
        )}
      </span>
    </div>
  );
}
