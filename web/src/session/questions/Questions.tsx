// The questions of a session: open ones first, then what was said.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get, sessionPath } from '../../api/client';
import type { Interaction } from '../../api/types';
import { Empty } from '../../ui/parts';
import { showProblem } from '../../ui/toasts';
import type { OpenSession } from '../SessionView';
import { Question } from './Question';

export function Questions({ opened }: { opened: OpenSession }) {
  const { session } = opened;
  const questions = useSignal<Interaction[] | undefined>(undefined);
  const load = async () => {
    try {
      const pages = await Promise.all(['state=pending&limit=200', 'limit=100'].map((query) =>
        get<{ interactions: Interaction[] }>(sessionPath(session.id, `/interactions?${query}`))));
      const byId = new Map(pages.flatMap(({ interactions }) => interactions).map((one) => [one.id, one]));
      questions.value = [...byId.values()].sort((a, b) => a.seq - b.seq);
    } catch (error) {
      showProblem(error);
    }
  };
  // Asked again whenever one is asked or answered, here or elsewhere.
  const pendingIds = session.pendingInteractions.map(({ id }) => id).join(' ');
  useEffect(() => void load(), [session.id, pendingIds, session.status]);

  // A question that was open when the page came stays in its place when it is answered, so that the answer is seen.
  const wasOpen = useRef(new Set<string>());
  const all = questions.value ?? [];
  for (const { id, state } of all) if (state === 'pending') wasOpen.current.add(id);
  const first = all.filter(({ id }) => wasOpen.current.has(id));
  const rest = all.filter(({ id }) => !wasOpen.current.has(id)).reverse();
  if (questions.value === undefined) return <Empty title="Loading …" />;
  if (all.length === 0) {
    return <Empty title="No questions">What an agent asks a person appears here, as a form.</Empty>;
  }
  return (
    <div class="questions" tabIndex={0} role="group" aria-label="Questions">
      {[...first, ...rest].map((question) => (
        <Question key={question.id} session={session.id} question={question} onAnswered={() => void load()} />
      ))}
    </div>
  );
}
