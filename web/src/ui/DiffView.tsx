// Two texts side by side as one, changed lines marked; what did not change is folded away.
import { useMemo, useState } from 'preact/hooks';
import { type DiffLine, diffLines } from './diff';

const around = 3;
const signs = { same: ' ', added: '+', removed: '−' };

export function DiffView({ before, after, label }: { before: string; after: string; label: string }) {
  const [isWhole, setWhole] = useState(false);
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const isNear = useMemo(() => nearChanges(lines), [lines]);
  if (lines.every(({ kind }) => kind === 'same')) return <p class="quiet">No difference.</p>;
  const rows = [];
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i];
    if (!line) continue;
    if (isWhole || isNear[i]) {
      rows.push(
        <div key={i} class={`diff-line diff-${line.kind}`}>
          <span class="diff-number">{line.before ?? ''}</span>
          <span class="diff-number">{line.after ?? ''}</span>
          <span class="diff-sign">{signs[line.kind]}</span>
          <span class="diff-text">{line.text}</span>
        </div>,
      );
    } else if (i === 0 || isNear[i - 1]) {
      rows.push(<button key={i} type="button" class="diff-fold" onClick={() => setWhole(true)}>⋯</button>);
    }
  }
  return <div class="diff" role="group" aria-label={label} tabIndex={0}>{rows}</div>;
}

function nearChanges(lines: DiffLine[]): boolean[] {
  const isNear = lines.map(() => false);
  lines.forEach(({ kind }, i) => {
    if (kind === 'same') return;
    for (let j = Math.max(0, i - around); j <= Math.min(lines.length - 1, i + around); j += 1) isNear[j] = true;
  });
  return isNear;
}
