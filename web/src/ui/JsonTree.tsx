// A JSON value as a tree that opens where it is asked to.
import { useState } from 'preact/hooks';

const maxShown = 100;
const openDepth = 2;

export function JsonTree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const isNested = typeof value === 'object' && value !== null;
  const label = name === undefined ? null : <span class="json-name">{name}: </span>;
  if (!isNested) return <div class="json-leaf">{label}<Leaf value={value} /></div>;
  const members = Array.isArray(value) ? value.map((item, index) => [String(index), item] as const) : Object.entries(value);
  const shape = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`;
  if (members.length === 0) return <div class="json-leaf">{label}<span class="json-shape">{shape}</span></div>;
  return <Branch label={label} shape={shape} members={members} depth={depth} />;
}

function Branch({ label, shape, members, depth }: {
  label: preact.ComponentChildren; shape: string; members: (readonly [string, unknown])[]; depth: number;
}) {
  const [isOpen, setOpen] = useState(depth < openDepth);
  const [shown, setShown] = useState(maxShown);
  return (
    <details class="json-branch" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{label}<span class="json-shape">{shape}</span></summary>
      {isOpen && (
        <div class="json-members">
          {members.slice(0, shown).map(([key, inner]) => <JsonTree key={key} name={key} value={inner} depth={depth + 1} />)}
          {members.length > shown && (
            <button type="button" class="button button-quiet" onClick={() => setShown(shown + 10 * maxShown)}>
              {members.length - shown} more
            </button>
          )}
        </div>
      )}
    </details>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string') return <span class="json-string">{value.includes('\n') ? <pre>{value}</pre> : `"${value}"`}</span>;
  if (value === null || value === undefined) return <span class="json-null">null</span>;
  return <span class="json-number">{String(value)}</span>;
}
