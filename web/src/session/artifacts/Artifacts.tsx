// The files of a session.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, sessionPath } from '../../api/client';
import type { Artifact, ArtifactPage } from '../../api/types';
import { route, setQuery } from '../../route';
import { Button, Empty } from '../../ui/parts';
import { bytes } from '../../ui/times';
import { showProblem } from '../../ui/toasts';
import type { OpenSession } from '../SessionView';
import { Viewer } from './Viewer';

const maxPages = 20;

export function Artifacts({ opened }: { opened: OpenSession }) {
  const { session, history } = opened;
  const artifacts = useSignal<Artifact[] | undefined>(undefined);
  const versions = useSignal<Artifact[]>([]);
  const used = useSignal('');
  const hasCaptures = useSignal(false);
  const path = route.value.query.get('path') ?? '';
  // What is created or deleted is told by the history.
  const changes = (history.typeCounts.get('artifact_created') ?? 0) + (history.typeCounts.get('artifact_deleted') ?? 0);
  void history.version.value;

  useEffect(() => {
    const load = async () => {
      const page = await loadAll(session.id, '');
      artifacts.value = page.artifacts;
      used.value = `${bytes(page.usedBytes)} of ${bytes(page.maxBytes)}`;
    };
    load().catch(showProblem);
  }, [session.id, changes]);
  const all = artifacts.value ?? [];
  const chosen = all.find((artifact) => artifact.path === path);
  useEffect(() => {
    if (!chosen) return;
    versions.value = [chosen];
    loadAll(session.id, `&versions=true&prefix=${encodeURIComponent(chosen.path)}`)
      .then((page) => { versions.value = page.artifacts.filter((one) => one.path === chosen.path); }, showProblem);
  }, [session.id, chosen?.path, chosen?.version]);

  if (artifacts.value === undefined) return <Empty title="Loading …" />;
  if (all.length === 0) return <Empty title="No artifacts">Files that an agent writes, and pictures of its browser, appear here.</Empty>;
  const captures = all.filter((artifact) => artifact.path.startsWith('captures/')).length;
  const listed = all.filter((artifact) => hasCaptures.value || artifact === chosen || !artifact.path.startsWith('captures/'));
  return (
    <div class="artifacts">
      <nav class="files" aria-label="Artifacts" tabIndex={0}>
        {listed.map((artifact) => (
          <button key={artifact.path} type="button" class="file" aria-current={artifact.path === path}
            onClick={() => setQuery({ path: artifact.path })}>
            <span class="file-name">{artifact.path}</span>
            <span class="file-about">{artifact.version > 1 && `v${artifact.version} · `}{bytes(artifact.size)}</span>
          </button>
        ))}
        <p class="files-foot">
          {captures > 0 && (
            <Button kind="quiet" pressed={hasCaptures.value} onClick={() => { hasCaptures.value = !hasCaptures.value; }}>
              {captures} captures
            </Button>
          )}
          <span>{used.value}</span>
        </p>
      </nav>
      {chosen
        ? <Viewer key={path} session={session.id} artifact={chosen} versions={versions.value.filter((one) => one.path === path)} />
        : <Empty title="Choose a file" />}
    </div>
  );
}

async function loadAll(session: string, query: string): Promise<ArtifactPage> {
  let cursor = '';
  const artifacts: Artifact[] = [];
  for (let pages = 1; ; pages += 1) {
    const page = await get<ArtifactPage>(sessionPath(session, `/artifacts?limit=200${query}${cursor}`));
    artifacts.push(...page.artifacts);
    if (page.nextCursor === null || pages === maxPages) return { ...page, artifacts };
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
}
