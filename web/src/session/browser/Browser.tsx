// The browser of a session: its tabs, what they show now or showed after a command, and the commands.
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { artifactPath, get, sessionPath } from '../../api/client';
import type { Command, GraphEdge } from '../../api/types';
import { route, setQuery } from '../../route';
import { onKeys } from '../../ui/keys';
import { Button, Empty } from '../../ui/parts';
import { showProblem } from '../../ui/toasts';
import { fullTime } from '../../ui/times';
import type { OpenSession } from '../SessionView';
import { CommandList } from './CommandList';
import { LiveScreen } from './LiveScreen';

interface CommandPage {
  commands: Command[];
  nextAfter: number;
  hasMore: boolean;
}

export function Browser({ opened }: { opened: OpenSession }) {
  const { session, history } = opened;
  const hasBrowser = useSignal<boolean | undefined>(undefined);
  const commands = useSignal<Command[]>([]);
  void history.version.value;
  const count = (type: string) => history.typeCounts.get(type) ?? 0;
  const tabChanges = ['context_opened', 'context_closed', 'tab_opened', 'tab_updated', 'tab_closed'].reduce((sum, type) => sum + count(type), 0);
  const commandCount = count('command');

  useEffect(() => {
    // The graph has an answer also where there is none; to ask for a browser that is not there would be an error.
    get<{ edges: GraphEdge[] }>(`/v1/graph/nodes/${session.id}/out/SessionHasContext`).then(
      ({ edges }) => { hasBrowser.value = edges.some(({ node }) => node?.properties['status'] !== 'closed'); },
      showProblem,
    );
  }, [session.id, session.activeTabId, tabChanges]);
  useEffect(() => {
    const load = async () => {
      // Only what is new.
      for (let after = commands.peek().at(-1)?.seq ?? 0; ;) {
        const page = await get<CommandPage>(sessionPath(session.id, `/commands?after=${after}&limit=500`));
        const last = commands.peek().at(-1)?.seq ?? 0;
        commands.value = [...commands.peek(), ...page.commands.filter(({ seq }) => seq > last)];
        if (!page.hasMore || page.nextAfter <= after) return;
        after = page.nextAfter;
      }
    };
    load().catch(showProblem);
  }, [session.id, commandCount]);

  const chosenSeq = Number(route.value.query.get('command') ?? 0);
  const index = commands.value.findIndex(({ seq }) => seq === chosenSeq);
  const chosen = commands.value[index];
  const choose = (seq: number | undefined) => setQuery({ command: seq === undefined ? null : String(seq) });
  const move = (by: number) => {
    const all = commands.value;
    const next = all[Math.min(Math.max((index < 0 ? all.length : index) + by, 0), all.length - 1)];
    if (next) choose(next.seq);
  };
  const moveToFailure = (by: 1 | -1) => {
    const all = commands.value;
    for (let step = 1; step <= all.length; step += 1) {
      const next = all[(Math.max(index, by > 0 ? -1 : 0) + by * step + all.length * (step + 1)) % all.length];
      if (next && !next.ok) return choose(next.seq);
    }
    return undefined;
  };
  useLayoutEffect(() => onKeys({
    j: () => move(1), k: () => move(-1), n: () => moveToFailure(1), p: () => moveToFailure(-1), Escape: () => choose(undefined),
  }));

  const isEnded = ['COMPLETED', 'FAILED', 'CANCELLED', 'CLEANUP'].includes(session.status);
  if (hasBrowser.value === undefined) return <Empty title="Loading …" />;
  if (!hasBrowser.value && commands.value.length === 0) {
    return <Empty title="No browser">The first browser tool an agent calls opens one, isolated from every other session’s.</Empty>;
  }
  return (
    <div class="browser">
      <section class="browser-main" aria-label="Browser">
        {isEnded
          ? !chosen && <Empty title="The session has ended">Choose a command to see the page as it was then.</Empty>
          : <LiveScreen session={session.id} isHidden={chosen !== undefined} />}
        {chosen && <Then session={session.id} command={chosen} onNow={() => choose(undefined)} />}
      </section>
      <CommandList commands={commands.value} chosen={chosenSeq} onChoose={choose} session={session.id} />
    </div>
  );
}

// The page as it was after a command.
function Then({ session, command, onNow }: { session: string; command: Command; onNow: () => void }) {
  return (
    <>
      <div class="address">
        <span class="address-text">After <b>{command.tool.replace(/^browser_/, '')}</b>, {fullTime(command.startedAt)}</span>
        <Button onClick={onNow}>Show it now</Button>
      </div>
      {command.capture
        ? <div class="screen"><img class="screen-picture" src={artifactPath(session, command.capture.picture)} alt={`The page after ${command.tool}`} /></div>
        : <Empty title="No picture of this">Pictures are kept of actions, or of failures only, as the browser was opened.</Empty>}
    </>
  );
}
