// What was done in the browser: outcome, duration, arguments, error.
import { useRef, useLayoutEffect } from 'preact/hooks';
import { sessionPath } from '../../api/client';
import type { Command } from '../../api/types';
import { JsonTree } from '../../ui/JsonTree';
import { CopyButton, Empty, Part } from '../../ui/parts';
import { clockTime, count, duration } from '../../ui/times';
import { VirtualList, type VirtualHandle } from '../../ui/VirtualList';
import { CommandLog } from '../CommandLog';
import { curlOf } from '../curl';

const rowHeight = 44;

export function CommandList({ commands, chosen, onChoose, session }: {
  commands: Command[]; chosen: number; onChoose: (seq: number | undefined) => void; session: string;
}) {
  const handle = useRef<VirtualHandle>(null);
  const index = commands.findIndex(({ seq }) => seq === chosen);
  const command = commands[index];
  useLayoutEffect(() => { if (index >= 0) handle.current?.reveal(index); }, [index]);
  const failed = commands.reduce((sum, { ok }) => sum + (ok ? 0 : 1), 0);
  return (
    <aside class="commands" aria-label="Commands">
      <header class="commands-head">
        <h2>Commands</h2>
        <span class="quiet">{count(commands.length)}{failed > 0 && <>, <span class="failure-text">{count(failed)} failed</span></>}</span>
      </header>
      {commands.length === 0
        ? <Empty title="Nothing was done yet" />
        : (
          <VirtualList count={commands.length} rowHeight={rowHeight} handle={handle} class="commands-list" followsEnd={chosen === 0}
            attributes={{ role: 'listbox', 'aria-label': 'Commands' }}
            keyAt={(at) => commands[at]?.seq} indexOf={(seq) => commands.findIndex((one) => one.seq === seq)}
            render={(at) => {
              const one = commands[at];
              return one && <Line command={one} isChosen={at === index} onChoose={() => onChoose(at === index ? undefined : one.seq)} />;
            }} />
        )}
      {command && <CommandDetail command={command} session={session} />}
    </aside>
  );
}

function Line({ command, isChosen, onChoose }: { command: Command; isChosen: boolean; onChoose: () => void }) {
  return (
    <div class={`command${command.ok ? '' : ' command-failed'}${isChosen ? ' chosen' : ''}`} role="option" aria-selected={isChosen} onClick={onChoose}>
      <span class="command-outcome"><span class="hidden">{command.ok ? 'ok' : 'failed'}</span></span>
      <span class="command-name"><b>{command.tool.replace(/^browser_/, '')}</b> {command.source === 'operator' && <em>by {command.by ?? 'a person'}</em>}</span>
      <span class="command-time">{clockTime(Date.parse(command.startedAt))}</span>
      <span class="command-about">{command.error ? command.error.message : aboutOf(command)}</span>
      <span class="command-duration">{duration(command.durationMs)}</span>
    </div>
  );
}

function aboutOf({ args, target }: Command): string {
  const name = target && typeof target['name'] === 'string' && target['name'] !== '' ? `${String(target['role'])} “${target['name']}”` : '';
  const rest = Object.entries(args).filter(([key]) => key !== 'target' || name === '').map(([, value]) =>
    (typeof value === 'string' ? value : JSON.stringify(value)));
  return [name, ...rest].filter(Boolean).join('  ').slice(0, 160);
}

function CommandDetail({ command, session }: { command: Command; session: string }) {
  return (
    <div class="command-detail" tabIndex={0} role="group" aria-label="The command">
      {command.error && <p class="failure-text"><b>{command.error.code}</b> {command.error.message}</p>}
      <JsonTree value={{ args: command.args, ...(command.target ? { target: command.target } : {}) }} />
      {command.capture?.log && <Part key={command.seq} title="Console and network" isFolded><CommandLog session={session} path={command.capture.log} /></Part>}
      <CopyButton label="Copy as curl" text={() => curlOf('POST', sessionPath(session, `/tools/${command.tool}`), command.args)}>curl</CopyButton>
    </div>
  );
}
