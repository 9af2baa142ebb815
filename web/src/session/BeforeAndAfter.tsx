// What a command did to the page: pictures before and after it, what the page says, and what changed of that. Before it was
// what the last command of the same tab left behind.
import { useEffect, useState } from 'preact/hooks';
import { artifactPath } from '../api/client';
import { Button } from '../ui/parts';
import { DiffView } from '../ui/DiffView';
import { textOf } from './payloads';
import type { Selection } from './selection';

const snapshotOf = (picture: string) => picture.replace(/\.jpg$/, '.yaml');

type Side = 'before' | 'after' | 'text' | 'changes';

export function BeforeAndAfter({ selection, session, seq }: { selection: Selection; session: string; seq: number }) {
  const [side, setSide] = useState<Side>('after');
  void selection.history.version.value;  // the event may be linked to, and come later
  const after = selection.history.entry(seq);
  const before = selection.history.pictures.findLast((entry) => entry.seq < seq && entry.tab === after?.tab);
  if (!after || after.picture === '') return null;
  const shown = side === 'before' && before ? before : after;
  return (
    <div class="part">
      <div class="switch" role="group" aria-label="The page">
        {before && <Button pressed={side === 'before'} onClick={() => setSide('before')}>Before</Button>}
        <Button pressed={side === 'after'} onClick={() => setSide('after')}>After</Button>
        <Button pressed={side === 'text'} onClick={() => setSide('text')}>As text</Button>
        {before && <Button pressed={side === 'changes'} onClick={() => setSide('changes')}>What changed</Button>}
      </div>
      {side === 'text' && <Snapshot session={session} pictures={[after.picture]} />}
      {side === 'changes' && before && <Snapshot session={session} pictures={[before.picture, after.picture]} />}
      {side !== 'text' && !(side === 'changes' && before) && (
        <img class="picture" src={artifactPath(session, shown.picture)} alt={`The page ${shown === after ? 'after' : 'before'} ${after.text}`} />
      )}
    </div>
  );
}

// What the page said in words: one snapshot, or the difference of two.
function Snapshot({ session, pictures }: { session: string; pictures: [string] | [string, string] }) {
  const [texts, setTexts] = useState<string[] | string | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    setTexts(undefined);
    Promise.all(pictures.map((picture) => textOf(artifactPath(session, snapshotOf(picture))))).then(
      (loaded) => { if (!isOver) setTexts(loaded); },
      (error: Error) => { if (!isOver) setTexts(error.message); },
    );
    return () => { isOver = true; };
  }, [session, ...pictures]);
  if (texts === undefined) return <p class="quiet">Loading …</p>;
  if (typeof texts === 'string') return <p class="quiet">{texts}</p>;
  const [first = '', second] = texts;
  if (second === undefined) return <pre class="code" tabIndex={0} aria-label="What the page says">{first}</pre>;
  return <DiffView before={first} after={second} label="What changed on the page" />;
}
