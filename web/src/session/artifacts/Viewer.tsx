// One artifact: shown by what it is, in any of its versions, or as the difference of two.
import { useEffect, useState } from 'preact/hooks';
import { artifactPath } from '../../api/client';
import type { Artifact } from '../../api/types';
import { DiffView } from '../../ui/DiffView';
import { JsonTree } from '../../ui/JsonTree';
import { Empty, Notice } from '../../ui/parts';
import { bytes, fullTime } from '../../ui/times';
import { textOf } from '../payloads';
import { Code } from './highlight';
import { Markdown } from './markdown';

// More than this is not shown but downloaded.
const maxShownBytes = 2 * 1024 * 1024;

export function Viewer({ session, artifact, versions }: { session: string; artifact: Artifact; versions: Artifact[] }) {
  const [version, setVersion] = useState(artifact.version);
  const [against, setAgainst] = useState(0);
  useEffect(() => {
    setVersion(artifact.version);
    setAgainst(0);
  }, [artifact.version]);
  const shown = versions.find((one) => one.version === version) ?? artifact;
  const numbers = versions.map((one) => one.version).sort((a, b) => b - a);
  return (
    <section class="viewer" aria-label={artifact.path}>
      <header class="viewer-head">
        <h2>{artifact.path}</h2>
        <p class="quiet">
          {shown.contentType} · {bytes(shown.size)} · {fullTime(shown.createdAt)}{shown.by && ` · by ${shown.by}`}
        </p>
        <div class="viewer-tools">
          <label class="pick">Version
            <select class="input" aria-label="Version" value={version} onChange={(event) => setVersion(Number(event.currentTarget.value))}>
              {numbers.map((number) => <option key={number} value={number}>{number}</option>)}
            </select>
          </label>
          {numbers.length > 1 && isText(shown) && (
            <label class="pick">Compare with
              <select class="input" aria-label="Compare with" value={against} onChange={(event) => setAgainst(Number(event.currentTarget.value))}>
                <option value={0}>nothing</option>
                {numbers.filter((number) => number !== version).map((number) => <option key={number} value={number}>version {number}</option>)}
              </select>
            </label>
          )}
          <a class="button" href={artifactPath(session, artifact.path, version)} download>Download</a>
        </div>
      </header>
      <Content key={`${artifact.path} ${version} ${against}`} session={session} artifact={shown} against={against} />
    </section>
  );
}

const isText = ({ contentType, path }: Artifact) =>
  /^text\/|json|xml|yaml|javascript|typescript|x-sh|toml/.test(contentType) || /\.(md|txt|log|py|ts|js|json|yaml|yml|c|cpp|h|rs|go)$/.test(path);

function Content({ session, artifact, against }: { session: string; artifact: Artifact; against: number }) {
  const [texts, setTexts] = useState<string[] | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const isPicture = /^image\/(png|jpeg|gif|webp|avif|svg\+xml)/.test(artifact.contentType);
  const isShown = isText(artifact) && artifact.size <= maxShownBytes;
  useEffect(() => {
    if (isPicture || !isShown) return;
    const wanted = against === 0 ? [artifact.version] : [against, artifact.version].sort((a, b) => a - b);
    Promise.all(wanted.map((version) => textOf(artifactPath(session, artifact.path, version))))
      .then(setTexts, (error: Error) => setProblem(error.message));
  }, []);
  if (isPicture) return <div class="viewer-body"><img class="picture" src={artifactPath(session, artifact.path, artifact.version)} alt={artifact.path} /></div>;
  if (!isShown) return <Empty title={artifact.size > maxShownBytes ? 'Too large to show here' : 'Nothing here shows this kind of file'}>It can be downloaded.</Empty>;
  if (problem !== '') return <div class="viewer-body"><Notice>{problem}</Notice></div>;
  const [first, second] = texts ?? [];
  if (first === undefined) return <Empty title="Loading …" />;
  return (
    <div class="viewer-body" tabIndex={0} role="group" aria-label="Content">
      {second !== undefined
        ? <DiffView before={first} after={second} label={`Difference of two versions of ${artifact.path}`} />
        : <Shown artifact={artifact} text={first} />}
    </div>
  );
}

function Shown({ artifact, text }: { artifact: Artifact; text: string }) {
  if (/markdown/.test(artifact.contentType) || artifact.path.endsWith('.md')) return <Markdown text={text} />;
  if (/json/.test(artifact.contentType)) {
    try {
      return <JsonTree value={JSON.parse(text)} />;
    } catch {
      return <Code text={text} isPlain />;
    }
  }
  return <Code text={text} isPlain={/^text\/plain/.test(artifact.contentType) && !/\.(py|ts|js|c|cpp|h|rs|go|sh)$/.test(artifact.path)} />;
}
