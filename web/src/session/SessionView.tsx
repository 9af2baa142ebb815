// One session: what it is, what may be done with it, and its panels.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, mayWrite, post, Problem, sessionPath } from '../api/client';
import type { Session, StoredEvent } from '../api/types';
import { onChanges } from '../monitor/monitor';
import { addressOf, go, type Panel, route, sessionAddress } from '../route';
import { removeSession } from '../sessions/removal';
import { Button, CopyButton, Empty, StatusLabel } from '../ui/parts';
import { count, fullTime } from '../ui/times';
import { showProblem } from '../ui/toasts';
import { Artifacts } from './artifacts/Artifacts';
import { Audit } from './Audit';
import { Browser } from './browser/Browser';
import { History } from './history';
import { Questions } from './questions/Questions';
import { ReplayState } from './ReplayState';
import { Selection } from './selection';
import { Timeline } from './Timeline';

export interface OpenSession {
  session: Session;
  history: History;
  selection: Selection;
}

const panelWords: [Panel, string][] = [
  ['timeline', 'Timeline'], ['questions', 'Questions'], ['browser', 'Browser'], ['artifacts', 'Artifacts'], ['audit', 'Audit'],
];

function PanelOf({ panel, opened }: { panel: Panel; opened: OpenSession }) {
  switch (panel) {
    case 'questions': return <Questions opened={opened} />;
    case 'browser': return <Browser opened={opened} />;
    case 'artifacts': return <Artifacts opened={opened} />;
    case 'audit': return <Audit opened={opened} />;
    default: return <Timeline opened={opened} />;
  }
}

// Another session is another view: nothing of the one before is shown, or asked for, under its address.
export function SessionView() {
  const id = route.value.session;
  return <OneSession key={id} id={id} />;
}

function OneSession({ id }: { id: string }) {
  const open = useSignal<OpenSession | undefined>(undefined);
  const problem = useSignal<unknown>(undefined);
  useEffect(() => openSession(id, open, problem), []);

  if (problem.value !== undefined) return <main class="view"><NoSession problem={problem.value} id={id} /></main>;
  const { value: opened } = open;
  if (!opened) return <main class="view"><Empty title="Opening the session …" /></main>;
  const { session } = opened;
  const { panel } = route.value;
  return (
    <main class="view">
      <Head opened={opened} />
      <div class="tabs" role="tablist" aria-label="Panels">
        {panelWords.map(([name, word]) => (
          <a key={name} role="tab" aria-selected={panel === name} class="tab" href={sessionAddress(session.id, name)}>
            {word}
            {name === 'questions' && session.pendingInteractions.length > 0 && <span class="tab-count">{session.pendingInteractions.length}</span>}
          </a>
        ))}
      </div>
      <PanelOf panel={panel} opened={opened} />
    </main>
  );
}

// Follows a session until the returned function is called.
function openSession(id: string, open: { value: OpenSession | undefined; peek(): OpenSession | undefined }, problem: { value: unknown }) {
  let isOver = false;
  let history: History | undefined;
  const refresh = async () => {
    const present = open.peek();
    try {
      const session = await get<Session>(sessionPath(present?.session.id ?? id));
      const now = open.peek();
      if (!isOver && now) open.value = { ...now, session };
    } catch (error) {
      if (!isOver && error instanceof Problem && error.status === 404) problem.value = error;
    }
  };
  let isAsked = false;
  const refreshSoon = () => {
    if (isAsked) return;
    isAsked = true;
    setTimeout(() => {
      isAsked = false;
      void refresh();
    }, 100);
  };
  const onEvent = (event: StoredEvent) => {
    // What the server writes itself changes the record.
    if (/^(status_change|input_|session_|context_|tab_|message$)/.test(event.type)) refreshSoon();
  };
  const start = async () => {
    try {
      const session = await get<Session>(sessionPath(id));
      if (isOver) return;
      history = new History(session.id, onEvent);
      const selection = new Selection(history);
      open.value = { session, history, selection };
      await history.open(session.lastSeq, selection.chosen.peek());
    } catch (error) {
      if (!isOver) problem.value = error;
    }
  };
  void start();
  const stop = onChanges((changes) => {
    const known = open.peek()?.session.id;
    if (known !== undefined && changes.some((change) => ('gone' in change ? change.gone : change.row.id) === known)) refreshSoon();
  });
  return () => {
    isOver = true;
    stop();
    history?.close();
  };
}

function NoSession({ problem, id }: { problem: unknown; id: string }) {
  if (problem instanceof Problem && problem.status === 401) return null;
  const isGone = problem instanceof Problem && problem.status === 404;
  return (
    <Empty title={isGone ? 'There is no such session' : 'The session cannot be shown'}>
      {isGone ? <>It was deleted, or <code>{id}</code> never was one.</> : String((problem as Error).message)}
      <p><a href={addressOf({ view: 'sessions' })}>All sessions</a></p>
    </Empty>
  );
}

function Head({ opened }: { opened: OpenSession }) {
  const { session, history } = opened;
  const title = session.key ?? session.id;
  useEffect(() => { document.title = `${title} · Reprise`; }, [title]);
  const isEnded = ['COMPLETED', 'FAILED', 'CANCELLED', 'CLEANUP'].includes(session.status);
  const act = (move: string) => () => void post(sessionPath(session.id, `/${move}`)).catch(showProblem);
  const remove = () => {
    removeSession(session.id, title, () => go(sessionAddress(session.id)));
    go(addressOf({ view: 'sessions' }));
  };
  return (
    <header class="view-head session-head">
      <a class="button button-quiet button-icon" href={addressOf({ view: 'sessions' })} aria-label="All sessions" title="All sessions">
        <BackIcon />
      </a>
      <div class="session-title">
        <h1>{title}</h1>
        <CopyButton text={() => session.id} label="Copy the id" />
      </div>
      <StatusLabel status={session.status} reason={session.pauseReason} />
      <ReplayState history={history} />
      {mayWrite() && (
        <div class="session-actions">
          {!isEnded && session.status !== 'PAUSED' && <Button icon="pause" onClick={act('pause')}>Pause</Button>}
          {session.status === 'PAUSED' && <Button icon="play" onClick={act('resume')}>Resume</Button>}
          {!isEnded && <Button icon="stop" onClick={act('cancel')}>Cancel</Button>}
          <Button icon="trash" kind="danger" onClick={remove}>Delete</Button>
        </div>
      )}
      <dl class="facts">
        <Fact name="Graph">{session.graphId}</Fact>
        <Fact name="Owner">{session.ownerAgent ?? '–'}</Fact>
        <Fact name="Messages">{count(session.messageCount)}</Fact>
        <Fact name="Readers" isMinor>{count(session.subscriberCount)}</Fact>
        <Fact name="Created" isMinor>{fullTime(session.createdAt)}</Fact>
        <Fact name="Expires" isMinor>{session.expiresAt ? fullTime(session.expiresAt) : 'never'}</Fact>
        {session.lastError && <Fact name="Error"><span class="failure-text">{session.lastError}</span></Fact>}
      </dl>
    </header>
  );
}

function BackIcon() {
  return <svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d="M12 4l-6 6 6 6" /></svg>;
}

// A minor one is left out where there is little room.
function Fact({ name, isMinor, children }: { name: string; isMinor?: boolean; children: preact.ComponentChildren }) {
  return <div class={isMinor ? 'fact-minor' : undefined}><dt>{name}</dt><dd>{children}</dd></div>;
}
