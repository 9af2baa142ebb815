// The filmstrip: what the page looked like after each command. Pictures are loaded when they come into sight.
import { useEffect, useRef } from 'preact/hooks';
import { artifactPath } from '../api/client';
import { clockTime } from '../ui/times';
import type { Selection } from './selection';

const maxShown = 200;

export function Filmstrip({ selection, session }: { selection: Selection; session: string }) {
  const strip = useRef<HTMLDivElement>(null);
  const pictures = selection.pictures.value.slice(-maxShown);
  const chosen = selection.chosen.value;
  // The picture of the chosen event, or the last before it.
  const current = chosen === undefined ? undefined : pictures.findLast((entry) => entry.seq <= chosen)?.seq;
  useEffect(() => {
    strip.current?.querySelector('[aria-pressed=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  if (pictures.length === 0) return null;
  return (
    <div class="filmstrip" ref={strip} role="group" aria-label="Pictures of the page">
      {pictures.map((entry) => (
        <button key={entry.seq} type="button" class={`frame${entry.isFailure ? ' frame-failed' : ''}`} aria-pressed={entry.seq === current}
          title={`${clockTime(entry.at)}  ${entry.text}`} onClick={() => selection.choose(entry.seq)}>
          <img src={artifactPath(session, entry.picture)} alt={entry.text} loading="lazy" width={96} height={60} />
        </button>
      ))}
    </div>
  );
}
