// Toasts: what was done, with a way back while there is one.
import { signal } from '@preact/signals';
import { Problem } from '../api/client';
import { Button } from './parts';

interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'problem';
  undo?: () => void;
}

const toasts = signal<Toast[]>([]);
let lastId = 0;

export function showToast(text: string, options: { kind?: Toast['kind']; undo?: () => void; forMs?: number } = {}): () => void {
  lastId += 1;
  const id = lastId;
  const close = () => { toasts.value = toasts.value.filter((toast) => toast.id !== id); };
  const toast: Toast = { id, text, kind: options.kind ?? 'done' };
  if (options.undo) {
    toast.undo = () => {
      close();
      options.undo?.();
    };
  }
  toasts.value = [...toasts.value, toast];
  setTimeout(close, options.forMs ?? 5_000);
  return close;
}

// Shows why something failed; what a login solves is shown by the login.
export function showProblem(error: unknown): void {
  if (error instanceof Problem && error.status === 401) return;
  showToast(error instanceof Error ? error.message : String(error), { kind: 'problem', forMs: 8_000 });
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={`toast toast-${toast.kind}`}>
          <span>{toast.text}</span>
          {toast.undo && <Button kind="quiet" onClick={toast.undo}>Undo</Button>}
        </div>
      ))}
    </div>
  );
}
