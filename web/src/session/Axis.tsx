// The time axis: tool calls and commands as bars, other events as marks, on a canvas; drag to look at a part of it.
import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { color, themeEpoch } from '../ui/theme';
import { clockTime, duration } from '../ui/times';
import type { Entry } from './entry';
import type { Selection } from './selection';

const height = 84;
const lanes = 5;
const laneTop = 8;
const laneHeight = 9;
const markTop = laneTop + lanes * laneHeight + 3;
const markHeight = 9;
const minBar = 2;

interface Scale {
  from: number;
  to: number;
  width: number;
}

export function Axis({ selection }: { selection: Selection }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scale = useRef<Scale>({ from: 0, to: 1, width: 1 });
  const frame = useRef(0);
  const brush = useRef<[number, number] | undefined>(undefined);

  const draw = () => {
    frame.current = 0;
    const element = canvas.current;
    if (element) scale.current = drawAxis(element, selection, brush.current);
  };
  const drawSoon = () => { if (frame.current === 0) frame.current = requestAnimationFrame(draw); };
  useSignalEffect(() => {
    void selection.lines.value;
    void selection.chosen.value;
    void themeEpoch.value;
    drawSoon();
  });
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(drawSoon);
    observer.observe(element);
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame.current);
    };
  }, []);

  const timeAt = (x: number) => {
    const { from, to, width } = scale.current;
    return from + (x / width) * (to - from);
  };
  const onDown = (event: PointerEvent) => {
    canvas.current?.setPointerCapture(event.pointerId);
    brush.current = [event.offsetX, event.offsetX];
  };
  const onMove = (event: PointerEvent) => {
    if (!brush.current) return;
    brush.current = [brush.current[0], event.offsetX];
    drawSoon();
  };
  const onUp = () => {
    const drawn = brush.current;
    brush.current = undefined;
    if (!drawn) return;
    const [first, last] = drawn[0] < drawn[1] ? drawn : [drawn[1], drawn[0]];
    if (last - first > 4) selection.range.value = [timeAt(first), timeAt(last)];
    else chooseNear(selection, timeAt(first));
    drawSoon();
  };
  const last = selection.lines.value.at(-1);
  const first = selection.lines.value[0];
  const label = first && last
    ? `Time axis, from ${clockTime(first.startedAt)} to ${clockTime(last.at)}: drag to look at a part of it` : 'Time axis, empty';
  return (
    <div class="axis">
      <canvas ref={canvas} role="img" aria-label={label} height={height} onPointerDown={onDown} onPointerMove={onMove}
        onPointerUp={onUp} onDblClick={() => { selection.range.value = undefined; }} />
    </div>
  );
}

function chooseNear(selection: Selection, time: number): void {
  let best: Entry | undefined;
  let bestDistance = Infinity;
  for (const entry of selection.lines.value) {
    const end = entry.startedAt + (entry.durationMs ?? 0);
    const distance = time < entry.startedAt ? entry.startedAt - time : time > end ? time - end : 0;
    if (distance < bestDistance || (distance === bestDistance && entry.isTool)) {
      best = entry;
      bestDistance = distance;
    }
  }
  if (best) selection.choose(best.seq);
}

function drawAxis(element: HTMLCanvasElement, selection: Selection, brush: [number, number] | undefined): Scale {
  const ratio = devicePixelRatio;
  const width = element.clientWidth;
  if (element.width !== width * ratio || element.height !== height * ratio) {
    element.width = width * ratio;
    element.height = height * ratio;
  }
  const context = element.getContext('2d');
  const lines = selection.lines.value;
  const scale = scaleOf(lines, selection.range.value, width);
  if (!context) return scale;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  drawTicks(context, scale);
  drawEntries(context, lines, scale);
  const chosen = selection.chosen.value === undefined ? undefined : selection.history.entry(selection.chosen.value);
  if (chosen) {
    context.fillStyle = color('accent');
    context.fillRect(placeOf(scale, chosen.startedAt) - 1, 0, 2, height - 16);
  }
  if (brush) {
    context.fillStyle = color('accent');
    context.globalAlpha = 0.18;
    context.fillRect(Math.min(...brush), 0, Math.abs(brush[1] - brush[0]), height - 16);
    context.globalAlpha = 1;
  }
  return scale;
}

function scaleOf(lines: readonly Entry[], range: [number, number] | undefined, width: number): Scale {
  if (range) return { from: range[0], to: range[1], width };
  let from = Infinity;
  let to = -Infinity;
  for (const entry of lines) {
    if (entry.startedAt < from) from = entry.startedAt;
    const end = entry.startedAt + (entry.durationMs ?? 0);
    if (end > to) to = end;
  }
  if (from > to) return { from: 0, to: 1, width };
  const margin = Math.max((to - from) * 0.02, 5);
  return { from: from - margin, to: to + margin, width };
}

const placeOf = ({ from, to, width }: Scale, time: number) => ((time - from) / (to - from)) * width;

function drawTicks(context: CanvasRenderingContext2D, scale: Scale): void {
  const span = scale.to - scale.from;
  if (span <= 1) return;
  const wanted = Math.max(2, Math.floor(scale.width / 130));
  const step = niceStep(span / wanted);
  context.fillStyle = color('text-faint');
  context.strokeStyle = color('line');
  context.font = '11px sans-serif';
  context.beginPath();
  for (let time = Math.ceil(scale.from / step) * step; time < scale.to; time += step) {
    const x = Math.round(placeOf(scale, time)) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, height - 16);
    // The length of it all stands at the end.
    const label = clockTime(time, step < 1000);
    if (x + 3 + context.measureText(label).width < scale.width - 54) context.fillText(label, x + 3, height - 4);
  }
  context.stroke();
  context.textAlign = 'right';
  context.fillText(duration(span), scale.width - 6, height - 4);
  context.textAlign = 'left';
}

function niceStep(rough: number): number {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1.5e4, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5];
  return steps.find((step) => step >= rough) ?? Math.ceil(rough / 864e5) * 864e5;
}

// Bars go to the first lane that is free; what would fall on the same pixel is drawn once.
function drawEntries(context: CanvasRenderingContext2D, lines: readonly Entry[], scale: Scale): void {
  const colors = {
    tool: color('blue-dot'), browser: color('green-dot'), person: color('violet-dot'), message: color('text-quiet'),
    session: color('amber-dot'), other: color('grey-dot'),
  };
  const failed = color('red-dot');
  const freeAt: number[] = Array.from({ length: lanes }, () => -Infinity);
  let lastFill = '';
  let lastPixel = -1;
  for (const entry of lines) {
    const fill = entry.isFailure ? failed : colors[entry.family];
    const x = placeOf(scale, entry.startedAt);
    if (entry.isTool || entry.durationMs !== undefined) {
      const end = entry.outcome === 'open' ? scale.width : placeOf(scale, entry.startedAt + (entry.durationMs ?? 0));
      const wide = Math.max(end - x, minBar);
      let lane = freeAt.findIndex((free) => free <= x);
      if (lane < 0) lane = lanes - 1;
      if (x + wide <= (freeAt[lane] ?? 0)) continue;
      freeAt[lane] = x + wide + 1;
      context.fillStyle = fill;
      context.globalAlpha = entry.outcome === 'open' ? 0.45 : 1;
      context.fillRect(x, laneTop + lane * laneHeight, wide, laneHeight - 2);
      context.globalAlpha = 1;
    } else {
      const pixel = Math.round(x);
      if (lastPixel === pixel && lastFill === fill) continue;
      lastPixel = pixel;
      lastFill = fill;
      context.fillStyle = fill;
      context.fillRect(pixel, markTop, 1.5, markHeight);
    }
  }
}
