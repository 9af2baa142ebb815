// A person's mouse and keyboard over the live picture, as messages of the live view.
import type { Frame, Live } from './live';

const buttons = ['left', 'middle', 'right'] as const;

function modifiersOf(event: MouseEvent | KeyboardEvent): string[] {
  const held: string[] = [];
  if (event.altKey) held.push('Alt');
  if (event.ctrlKey) held.push('Control');
  if (event.metaKey) held.push('Meta');
  if (event.shiftKey) held.push('Shift');
  return held;
}

// A point of the canvas, which may be drawn smaller than it is, as a point of the page.
export function pointOf(event: MouseEvent, canvas: HTMLCanvasElement, frame: Frame): { x: number; y: number } {
  const box = canvas.getBoundingClientRect();
  return {
    x: Math.round(((event.clientX - box.left) / box.width) * frame.width * 100) / 100,
    y: Math.round((((event.clientY - box.top) / box.height) * frame.height - frame.offsetTop) * 100) / 100,
  };
}

// Hands input over until the returned function is called.
export function handOver(canvas: HTMLCanvasElement, live: Live): () => void {
  let waitingMove: MouseEvent | undefined;
  const mouse = (action: string, event: MouseEvent, more: Record<string, unknown> = {}) => {
    if (!live.frame) return;
    live.send({ type: 'mouse', action, ...pointOf(event, canvas, live.frame), modifiers: modifiersOf(event), ...more });
  };
  const press = (action: 'down' | 'up') => (event: PointerEvent) => {
    event.preventDefault();
    canvas.focus();
    if (action === 'down') canvas.setPointerCapture(event.pointerId);
    mouse(action, event, { button: buttons[event.button] ?? 'left', clickCount: Math.max(clicks(event, action), 1) });
  };
  const move = (event: PointerEvent) => {
    // One for each picture of the screen is plenty.
    if (!waitingMove) {
      requestAnimationFrame(() => {
        if (waitingMove) mouse('move', waitingMove);
        waitingMove = undefined;
      });
    }
    waitingMove = event;
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    mouse('wheel', event, { deltaX: event.deltaX, deltaY: event.deltaY });
  };
  const key = (event: KeyboardEvent) => {
    // The way out for those without a mouse.
    if (event.key === 'Escape' && event.shiftKey) return canvas.blur();
    const isPaste = event.key.toLowerCase() === 'v' && (event.ctrlKey || event.metaKey);
    if (isPaste || event.isComposing || ['Shift', 'Control', 'Alt', 'Meta', 'Dead', 'Process'].includes(event.key)) return undefined;
    event.preventDefault();
    live.send({ type: 'key', key: event.key, modifiers: modifiersOf(event).filter((held) => held !== 'Shift' || event.key.length > 1) });
    return undefined;
  };
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    event.preventDefault();
    if (text !== '') live.send({ type: 'text', text });
  };
  const noMenu = (event: Event) => event.preventDefault();

  let lastDown = { at: 0, x: 0, y: 0, count: 0 };
  // Browsers count clicks in events that pointer events are not.
  function clicks(event: PointerEvent, action: 'down' | 'up'): number {
    if (action === 'up') return lastDown.count;
    const isAgain = event.timeStamp - lastDown.at < 400 && Math.hypot(event.clientX - lastDown.x, event.clientY - lastDown.y) < 6;
    lastDown = { at: event.timeStamp, x: event.clientX, y: event.clientY, count: isAgain ? Math.min(lastDown.count + 1, 3) : 1 };
    return lastDown.count;
  }

  const abort = new AbortController();
  const options = { signal: abort.signal };
  canvas.addEventListener('pointerdown', press('down'), options);
  canvas.addEventListener('pointerup', press('up'), options);
  canvas.addEventListener('pointermove', move, options);
  canvas.addEventListener('wheel', wheel, { ...options, passive: false });
  canvas.addEventListener('keydown', key, options);
  canvas.addEventListener('contextmenu', noMenu, options);
  document.addEventListener('paste', (event) => { if (document.activeElement === canvas) paste(event); }, options);
  return () => abort.abort();
}
