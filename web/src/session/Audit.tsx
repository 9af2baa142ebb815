// The audit: every tool call in order, and whether the chain of hashes over them still holds.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, sessionPath } from '../api/client';
import type { AuditVerdict, ToolCall } from '../api/types';
import { addressOf } from '../route';
import { Icon } from '../ui/icons';
import { Button, CopyButton, Empty } from '../ui/parts';
import { count, dateAndTime, duration } from '../ui/times';
import { showProblem } from '../ui/toasts';
import type { OpenSession } from './SessionView';

interface Page {
  toolCalls: ToolCall[];
  nextCursor: string | null;
}

export function Audit({ opened }: { opened: OpenSession }) {
  const { session, history } = opened;
  const verdict = useSignal<AuditVerdict | undefined>(undefined);
  const calls = useSignal<ToolCall[]>([]);
  const cursor = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  void history.version.value;
  const entries = (history.typeCounts.get('tool_finished') ?? 0) + (history.typeCounts.get('tool_started') ?? 0)
    + (history.typeCounts.get('command') ?? 0);

  const verify = async () => {
    isBusy.value = true;
    try {
      verdict.value = await get<AuditVerdict>(sessionPath(session.id, '/audit/verify'));
    } catch (error) {
      showProblem(error);
    }
    isBusy.value = false;
  };
  const load = async (after: string | null) => {
    const query = after ? `&cursor=${encodeURIComponent(after)}` : '';
    const page = await get<Page>(sessionPath(session.id, `/tool-calls?limit=100${query}`));
    // One that comes twice, because it was asked for twice, is one row.
    const known = after ? calls.peek() : [];
    const seen = new Set(known.map(({ id }) => id));
    calls.value = [...known, ...page.toolCalls.filter(({ id }) => !seen.has(id))];
    cursor.value = page.nextCursor;
  };
  useEffect(() => {
    void verify();
    load(null).catch(showProblem);
  }, [session.id, entries]);

  return (
    <div class="audit">
      <Verdict verdict={verdict.value} isBusy={isBusy.value} onVerify={() => void verify()} session={session.id} />
      {calls.value.length === 0
        ? <Empty title="No tool calls">Each call of a tool is recorded here, summarised without secrets.</Empty>
        : (
          <div class="audit-list" tabIndex={0} role="group" aria-label="Tool calls">
            <table class="plain-table">
              <thead><tr><th>Seq</th><th>Tool</th><th>Outcome</th><th class="column-input">Input</th><th>Output</th><th class="column-time">Started</th><th class="right">Took</th></tr></thead>
              <tbody>{calls.value.map((call) => <Row key={call.id} call={call} session={session.id} />)}</tbody>
            </table>
            {cursor.value !== null && <Button kind="quiet" onClick={() => void load(cursor.value).catch(showProblem)}>More</Button>}
          </div>
        )}
    </div>
  );
}

function Row({ call, session }: { call: ToolCall; session: string }) {
  const address = addressOf({ view: 'session', session, panel: 'timeline', query: new URLSearchParams({ event: String(call.seq) }) });
  return (
    <tr>
      <td class="number"><a href={address}>{call.seq}</a></td>
      <td><b>{call.toolName}</b></td>
      <td class={`outcome outcome-${call.status}`}>{call.status}</td>
      <td class="cut column-input" title={call.inputSummary ?? ''}>{call.inputSummary}</td>
      <td class={`cut${call.error ? ' failure-text' : ''}`} title={call.error ?? call.outputSummary ?? ''}>{call.error ?? call.outputSummary}</td>
      <td class="number column-time">{dateAndTime(call.startedAt)}</td>
      <td class="number right">{call.durationMs === null ? '–' : duration(call.durationMs)}</td>
    </tr>
  );
}

function Verdict({ verdict, isBusy, onVerify, session }: {
  verdict: AuditVerdict | undefined; isBusy: boolean; onVerify: () => void; session: string;
}) {
  const kind = !verdict ? 'busy' : verdict.valid ? 'valid' : 'broken';
  return (
    <header class={`verdict verdict-${kind}`} role="status">
      <Icon name={kind === 'broken' ? 'failure' : 'shield'} />
      <div class="verdict-text">
        {!verdict && <p>Verifying …</p>}
        {verdict?.valid && <p><b>The chain holds.</b> {count(verdict.entries)} entries, re-computed one by one.</p>}
        {verdict && !verdict.valid && (
          <p><b>The chain is broken.</b> {verdict.firstBadSeq !== undefined && `First at event ${verdict.firstBadSeq}. `}{verdict.reason}</p>
        )}
        {verdict && <p class="verdict-head"><code>{verdict.head}</code><CopyButton text={() => verdict.head} label="Copy the head" /></p>}
      </div>
      <a class="button" href={sessionPath(session, '/audit/export')} download>Export</a>
      <Button disabled={isBusy} onClick={onVerify}>Verify again</Button>
    </header>
  );
}
