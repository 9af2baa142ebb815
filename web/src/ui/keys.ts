// Keys of a view, while nobody types.
type Keys = Record<string, (event: KeyboardEvent) => void>;

const isTyping = (target: EventTarget | null) => target instanceof HTMLElement
  && (target.isContentEditable || target.closest('input, textarea, select, dialog[open], [data-takes-keys]') !== null);

// A button or link keeps Enter and space for itself.
const isControl = (target: EventTarget | null) => target instanceof HTMLElement && target.closest('button, a, summary') !== null;

export function onKeys(keys: Keys): () => void {
  const listener = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key !== 'Escape' && isTyping(event.target)) return;
    if ((event.key === 'Enter' || event.key === ' ') && isControl(event.target)) return;
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  };
  addEventListener('keydown', listener);
  return () => removeEventListener('keydown', listener);
}
