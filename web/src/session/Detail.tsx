// The chosen event: what it was called with, what came of it, what the page looked like, and its whole payload.
import { useEffect, useState } from 'preact/hooks';
import { sessionPath } from '../api/client';
import type { Command, StoredEvent } from '../api/types';
import { Button, CopyButton, Notice, Part } from '../ui/parts';
import { JsonTree } from '../ui/JsonTree';
import { duration, fullTime } from '../ui/times';
import { BeforeAndAfter } from './BeforeAndAfter';
import { CommandLog } from './CommandLog';
import { curlOf } from './curl';
import { payloadOf } from './payloads';
import type { Selection } from './selection';

interface Loaded {
  seq: number;
  event?: StoredEvent;
  end?: StoredEvent;
  problem?: string;
}

export function Detail({ selection, session, seq }: { selection: Selection; session: string; seq: number }) {
  void selection.history.version.value;
  const entry = selection.history.entry(seq);
  const start = entry?.start ?? entry;
  const startSeq = start?.seq ?? seq;
  const endSeq = start?.end?.seq;
  const [loaded, setLoaded] = useState<Loaded>({ seq: 0 });
  useEffect(() => {
    let isOver = false;
    const load = async () => {
      try {
        const [event, end] = await Promise.all([payloadOf(session, startSeq), endSeq === undefined ? undefined : payloadOf(session, endSeq)]);
        if (!isOver) setLoaded({ seq, event, ...(end ? { end } : {}) });
      } catch (error) {
        if (!isOver) setLoaded({ seq, problem: (error as Error).message });
      }
    };
    void load();
    return () => { isOver = true; };
  }, [session, startSeq, endSeq, seq]);

  const { event, end } = loaded;
  return (
    <section class="detail" aria-label={`Event ${startSeq}`}>
      <header class="detail-head">
        <h2>{event ? titleOf(event) : `Event ${startSeq}`}</h2>
        <Button icon="close" kind="quiet" label="Close ( Escape )" onClick={() => selection.choose(undefined)} />
      </header>
      {loaded.problem && <Notice>{loaded.problem}</Notice>}
      {event && (
        <div class="detail-body" tabIndex={0} role="group" aria-label="Details">
          <p class="detail-facts">
            <span>#{event.seq}{end && `–${end.seq}`}</span>
            <span>{event.type}</span>
            <span>{fullTime(event.at)}</span>
            {start?.durationMs !== undefined && <span>{duration(start.durationMs)}</span>}
            {event.by && <span>by {event.by}</span>}
            {start?.outcome && <span class={`outcome outcome-${start.outcome}`}>{start.outcome}</span>}
          </p>
          <div class="detail-actions">
            <CopyButton text={() => location.href} label="Copy the link to this event">Link</CopyButton>
            <CopyButton text={() => repeat(session, event)} label="Copy as curl">curl</CopyButton>
            <CopyButton text={() => JSON.stringify(event, null, 2)} label="Copy as JSON">JSON</CopyButton>
          </div>
          <Parts event={event} end={end} selection={selection} session={session} />
        </div>
      )}
    </section>
  );
}

function Parts({ event, end, selection, session }: {
  event: StoredEvent; end: StoredEvent | undefined; selection: Selection; session: string;
}) {
  const data = (typeof event.data === 'object' && event.data !== null ? event.data : {}) as Record<string, unknown>;
  const ended = (end?.data ?? {}) as Record<string, unknown>;
  if (event.type === 'command') {
    const command = data as unknown as Command;
    return (
      <>
        {command.error && <Part title="Error"><p class="failure-text"><b>{command.error.code}</b> {command.error.message}</p></Part>}
        <Part title="Arguments"><JsonTree value={command.args} /></Part>
        {command.target && <Part title="Target"><JsonTree value={command.target} /></Part>}
        <BeforeAndAfter selection={selection} session={session} seq={event.seq} />
        {command.capture?.log && <Part title="Console and network" isFolded><CommandLog session={session} path={command.capture.log} /></Part>}
        <Part title="Payload" isFolded><JsonTree value={event.data} /></Part>
      </>
    );
  }
  if (event.type === 'tool_started') {
    return (
      <>
        {typeof ended['error'] === 'string' && <Part title="Error"><p class="failure-text">{ended['error']}</p></Part>}
        <Part title="Arguments"><Summary value={data['input'] ?? data['inputSummary']} /></Part>
        {end
          ? <Part title="Result"><Summary value={ended['output'] ?? ended['outputSummary']} /></Part>
          : <p class="quiet">It has not finished yet.</p>}
        <Part title="Payload" isFolded><JsonTree value={{ started: event.data, ...(end ? { finished: end.data } : {}) }} /></Part>
      </>
    );
  }
  if (event.type === 'diff' && typeof data['diff'] === 'string') {
    return <Part title={String(data['path'] ?? 'Difference')}><pre class="code">{data['diff']}</pre></Part>;
  }
  return (
    <>
      <Part title="Data"><JsonTree value={event.data} /></Part>
      {end && <Part title={end.type}><JsonTree value={end.data} /></Part>}
    </>
  );
}

// Summaries are JSON that may have been cut.
function Summary({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <p class="quiet">None.</p>;
  if (typeof value !== 'string') return <JsonTree value={value} />;
  try {
    return <JsonTree value={JSON.parse(value)} />;
  } catch {
    return <pre class="code">{value}</pre>;
  }
}

function titleOf(event: StoredEvent): string {
  const data = (event.data ?? {}) as Record<string, unknown>;
  return String(data['tool'] ?? data['toolName'] ?? event.type);
}

function repeat(session: string, event: StoredEvent): string {
  const data = (event.data ?? {}) as Record<string, unknown>;
  if (event.type === 'command') return curlOf('POST', sessionPath(session, `/tools/${String(data['tool'])}`), data['args']);
  if (event.type === 'tool_started') {
    const { toolName, inputSummary } = data;
    return curlOf('POST', sessionPath(session, '/tool-calls'), { toolName, inputSummary });
  }
  return curlOf('POST', sessionPath(session, '/events'), { type: event.type, data: event.data });
}
