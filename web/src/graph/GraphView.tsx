// Pool → session → context → tab, drawn and kept up to date.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { GraphNode, Status } from '../api/types';
import { feedEpoch, onChanges } from '../monitor/monitor';
import { go, sessionAddress } from '../route';
import { Empty } from '../ui/parts';
import { count } from '../ui/times';
import { showProblem } from '../ui/toasts';
import { childrenShown, layOut, loadTree, nodeHeight, nodeWidth, type Opened, type Placed, type TreeNode } from './tree';

const everyMs = 3_000;
const soonMs = 250;

export function GraphView() {
  const trees = useSignal<TreeNode[] | undefined>(undefined);
  const opened = useRef<Opened>({ limits: new Map() });
  const refresh = useRef<() => void>(() => {});

  useEffect(() => {
    let isOver = false;
    let timer = 0;
    let isLoading = false;
    const load = async () => {
      clearTimeout(timer);
      if (!isLoading && !document.hidden) {
        isLoading = true;
        try {
          const loaded = await loadTree(opened.current);
          if (!isOver) trees.value = loaded;
        } catch (error) {
          if (!isOver && trees.peek() === undefined) showProblem(error);
        }
        isLoading = false;
      }
      if (!isOver) timer = window.setTimeout(() => void load(), everyMs);
    };
    refresh.current = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => void load(), soonMs);
    };
    void load();
    // What a session does with its browser is not always a change of its row: the graph is asked for by itself, too.
    const stop = onChanges(() => refresh.current());
    return () => {
      isOver = true;
      clearTimeout(timer);
      stop();
    };
  }, [feedEpoch.value]);

  const drawing = useMemo(() => layOut(trees.value ?? []), [trees.value]);
  const byId = useMemo(() => new Map(drawing.placed.map((one) => [one.id, one])), [drawing]);
  const openMore = (id: string) => {
    const now = opened.current.limits.get(id) ?? childrenShown;
    opened.current.limits.set(id, now + childrenShown);
    refresh.current();
  };
  const sessions = (trees.value ?? []).reduce((sum, { children, folded }) => sum + children.length + folded, 0);
  return (
    <main class="view">
      <header class="view-head">
        <h1>Graph</h1>
        <span class="view-count">{sessions > 0 && `${count(sessions)} with a browser`}</span>
      </header>
      {trees.value === undefined && <Empty title="Loading …" />}
      {trees.value?.length === 0 && <Empty title="No pools" />}
      {trees.value !== undefined && trees.value.length > 0 && (
        <div class="graph" tabIndex={0} role="group" aria-label="Pools, sessions, contexts and tabs">
          <div class="graph-columns" aria-hidden="true">{['Pool', 'Session', 'Context', 'Tab'].map((word) => <span key={word}>{word}</span>)}</div>
          <svg width={drawing.width} height={drawing.height}>
            {drawing.placed.map((one) => {
              const parent = byId.get(one.parent);
              return parent && <path key={`to ${one.id}`} class="graph-edge" d={edgePath(parent, one)} />;
            })}
            {drawing.placed.map((one) => <Node key={one.id} place={one} onMore={() => openMore(one.parent)} parents={byId} />)}
          </svg>
          {sessions === 0 && <Empty title="No session has a browser now">The first browser tool an agent calls opens one.</Empty>}
        </div>
      )}
    </main>
  );
}

function edgePath(from: Placed, to: Placed): string {
  const [x1, y1, x2, y2] = [from.x + nodeWidth, from.y + nodeHeight / 2, to.x, to.y + nodeHeight / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

function Node({ place, onMore, parents }: { place: Placed; onMore: () => void; parents: Map<string, Placed> }) {
  const { node } = place;
  if (!node) {
    return (
      <foreignObject x={place.x} y={place.y} width={nodeWidth} height={nodeHeight}>
        <button type="button" class="graph-node graph-more" onClick={onMore}>{place.folded} …</button>
      </foreignObject>
    );
  }
  const address = addressOfNode(place, parents);
  const label = labelOf(node);
  return (
    <foreignObject x={place.x} y={place.y} width={nodeWidth} height={nodeHeight}>
      <button type="button" class={`graph-node graph-${node.type.toLowerCase()} ${stateOf(node)}`} title={`${node.type} ${label}`}
        onClick={() => go(address)}>
        <span class="dot" aria-hidden="true" />
        <span class="graph-label">{label}</span>
      </button>
    </foreignObject>
  );
}

function labelOf({ type, key, properties }: GraphNode): string {
  if (type === 'Tab') return String(properties['title'] || properties['url'] || key);
  if (type === 'Context') return `${String(properties['browserType'] ?? 'context')} · ${String(properties['status'] ?? '')}`;
  return key;
}

function stateOf({ type, properties }: GraphNode): string {
  if (type === 'Session') return `status-${String(properties['status'] as Status).toLowerCase()}`;
  if (type === 'Pool') return 'status-active';
  const status = String(properties['status']);
  return status === 'open' ? 'status-active' : status === 'crashed' || status === 'orphaned' ? 'status-failed' : 'status-paused';
}

// A pool leads to the fleet, everything else to the session it belongs to.
function addressOfNode(place: Placed, parents: Map<string, Placed>): string {
  for (let at: Placed | undefined = place; at; at = parents.get(at.parent)) {
    if (at.node?.type === 'Session') return sessionAddress(at.node.id, at === place ? 'timeline' : 'browser');
  }
  return '#/fleet';
}
