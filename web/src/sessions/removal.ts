// Deleting with a way back: for five seconds nothing has happened yet.
import { signal } from '@preact/signals';
import { call, sessionPath } from '../api/client';
import { showProblem, showToast } from '../ui/toasts';

const graceMs = 5_000;
const waiting = new Map<string, () => void>();  // id -> deletes at once

// Those that are not shown any more, as if they were gone already.
export const leaving = signal<ReadonlySet<string>>(new Set());

function setLeaving(id: string, isLeaving: boolean): void {
  const next = new Set(leaving.peek());
  if (isLeaving) next.add(id);
  else next.delete(id);
  leaving.value = next;
}

export function removeSession(id: string, title: string, onBack: () => void = () => {}): void {
  if (waiting.has(id)) return;
  setLeaving(id, true);
  const show = () => {
    setLeaving(id, false);
    onBack();
  };
  const timer = setTimeout(() => void remove(), graceMs);
  const remove = async () => {
    clearTimeout(timer);
    waiting.delete(id);
    try {
      await call('DELETE', sessionPath(id));
    } catch (error) {
      show();
      showProblem(error);
    }
  };
  waiting.set(id, () => {
    clearTimeout(timer);
    waiting.delete(id);
    void fetch(sessionPath(id), { method: 'DELETE', keepalive: true });
  });
  const undo = () => {
    clearTimeout(timer);
    waiting.delete(id);
    show();
  };
  showToast(`${title} is deleted`, { undo, forMs: graceMs });
}

// A page that is left has not been told to change its mind.
addEventListener('pagehide', () => {
  for (const removeNow of [...waiting.values()]) removeNow();
});
