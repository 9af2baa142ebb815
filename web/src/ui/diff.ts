// The difference of two texts by lines, by Myers' greedy algorithm.
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
  before: number | undefined;  // line numbers, from 1
  after: number | undefined;
}

// Beyond this many differences the texts are told as one that went and one that came.
const maxDifferences = 2_000;

export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const lines: DiffLine[] = [];
  const same = (i: number, j: number) => lines.push({ kind: 'same', text: a[i] ?? '', before: i + 1, after: j + 1 });
  for (let i = 0; i < head; i += 1) same(i, i);
  for (const [kind, i, j] of editsOf(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) {
    if (kind === 'same') same(head + i, head + j);
    else if (kind === 'removed') lines.push({ kind, text: a[head + i] ?? '', before: head + i + 1, after: undefined });
    else lines.push({ kind, text: b[head + j] ?? '', before: undefined, after: head + j + 1 });
  }
  for (let i = tail; i > 0; i -= 1) same(a.length - i, b.length - i);
  return lines;
}

type Edit = ['same' | 'added' | 'removed', number, number];

function editsOf(a: string[], b: string[]): Edit[] {
  const most = Math.min(a.length + b.length, maxDifferences);
  const furthest = new Map<number, number>([[1, 0]]);
  const steps: Map<number, number>[] = [];
  for (let d = 0; d <= most; d += 1) {
    steps.push(new Map(furthest));
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
      let x = isDown ? furthest.get(k + 1) ?? 0 : (furthest.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(steps, a.length, b.length);
    }
  }
  return [...a.map((_, i): Edit => ['removed', i, 0]), ...b.map((_, j): Edit => ['added', 0, j])];
}

function walkBack(steps: Map<number, number>[], endX: number, endY: number): Edit[] {
  const edits: Edit[] = [];
  let x = endX;
  let y = endY;
  for (let d = steps.length - 1; d >= 0; d -= 1) {
    const known = steps[d] ?? new Map<number, number>();
    const k = x - y;
    const isDown = k === -d || (k !== d && (known.get(k - 1) ?? -1) < (known.get(k + 1) ?? -1));
    const fromK = isDown ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : known.get(fromK) ?? 0;
    const fromY = d === 0 ? 0 : fromX - fromK;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      edits.push(['same', x, y]);
    }
    if (d === 0) break;
    edits.push(isDown ? ['added', fromX, fromY] : ['removed', fromX, fromY]);
    x = fromX;
    y = fromY;
  }
  return edits.reverse();
}
