// The graph as a tree to draw: pools, the sessions that have a browser in them now, contexts and tabs. Children beyond a
// number are folded into one node that says how many there are and opens the next ones.
import { get, Problem } from '../api/client';
import type { GraphEdge, GraphNode, Pool } from '../api/types';

export interface TreeNode {
  node: GraphNode;
  children: TreeNode[];
  folded: number;  // further children
  isMore: boolean;  // there are even more than these
}

export const childrenShown = 50;
const pageNodes = 500;
// What is over is part of the record, and not of the picture.
const livingStates = ['open', 'orphaned', 'hibernated'] as const;

interface EdgePage {
  edges: GraphEdge[];
  nextCursor: string | null;
}

interface NodePage {
  nodes: GraphNode[];
  nextCursor: string | null;
}

export interface Opened {
  limits: Map<string, number>;  // how many children of a node are shown, where it is not the usual number
}

// A pool's own edges lead to every session it ever had: what is there now is found by the state of its context.
export async function loadTree(opened: Opened): Promise<TreeNode[]> {
  const [{ pools }, ...pages] = await Promise.all([
    get<{ pools: Pool[] }>('/v1/pools'),
    ...livingStates.map((state) => get<NodePage>(`/v1/graph/queries/contextsByStatus?status=${state}&limit=${pageNodes}`)),
  ]);
  const contexts = pages.flatMap(({ nodes }) => nodes);
  const isMore = pages.some(({ nextCursor }) => nextCursor !== null);
  const roots = await Promise.all(pools.map(async ({ poolKey }) =>
    (await get<{ nodes: GraphNode[] }>(`/v1/graph/nodes/Pool?key=${encodeURIComponent(poolKey)}`)).nodes));
  return Promise.all(roots.flat().map(async (node) => {
    const own = newestFirst(contexts.filter(({ properties }) => properties['poolKey'] === node.key));
    const limit = limitOf(node, opened);
    const children = await Promise.all(own.slice(0, limit).map((context) => sessionOf(context, opened)));
    return {
      node, children: children.filter((child): child is TreeNode => child !== undefined),
      folded: Math.max(own.length - limit, 0), isMore: isMore && own.length > 0,
    };
  }));
}

const limitOf = ({ id }: GraphNode, opened: Opened) => opened.limits.get(id) ?? childrenShown;
// An id begins with the time it was made at.
const newestFirst = (nodes: GraphNode[]) => nodes.sort((a, b) => (a.id < b.id ? 1 : -1));

// A session with its context and its open tabs; nothing if it was deleted meanwhile.
async function sessionOf(context: GraphNode, opened: Opened): Promise<TreeNode | undefined> {
  const edges = (direction: string, edge: string) =>
    get<EdgePage>(`/v1/graph/nodes/${encodeURIComponent(context.id)}/${direction}/${edge}?limit=${pageNodes}`);
  let pages: [EdgePage, EdgePage];
  try {
    pages = await Promise.all([edges('in', 'SessionHasContext'), edges('out', 'ContextHasTab')]);
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
  const [sessions, tabs] = pages.map((page) => page.edges.map(({ node }) => node).filter((node) => node !== null));
  const session = sessions?.[0];
  if (!session) return undefined;
  const open = (tabs ?? []).filter(({ properties }) => properties['status'] !== 'closed');
  const limit = limitOf(context, opened);
  const leaf = (node: GraphNode): TreeNode => ({ node, children: [], folded: 0, isMore: false });
  const inner = { node: context, children: open.slice(0, limit).map(leaf), folded: Math.max(open.length - limit, 0), isMore: false };
  return { node: session, children: [inner], folded: 0, isMore: false };
}

export interface Placed {
  id: string;
  node: GraphNode | undefined;  // none: what is folded
  folded: string;  // and how many
  parent: string;
  x: number;
  y: number;
}

export interface Drawing {
  placed: Placed[];
  width: number;
  height: number;
}

export const nodeWidth = 210;
export const nodeHeight = 30;
const columnGap = 64;
const rowGap = 8;

// Columns by depth; a parent stands in the middle of its children.
export function layOut(roots: TreeNode[]): Drawing {
  const placed: Placed[] = [];
  let row = 0;
  let depthMost = 0;
  const place = (tree: TreeNode, depth: number, parent: string): number => {
    depthMost = Math.max(depthMost, depth);
    const ys = tree.children.map((child) => place(child, depth + 1, tree.node.id));
    if (tree.folded > 0) {
      ys.push(row);
      const folded = `${tree.folded}${tree.isMore ? '+' : ''} more`;
      placed.push({ id: `${tree.node.id}+`, node: undefined, folded, parent: tree.node.id, x: xOf(depth + 1), y: yOf(row) });
      row += 1;
    }
    const y = ys.length === 0 ? row++ : ((ys[0] ?? 0) + (ys.at(-1) ?? 0)) / 2;
    placed.push({ id: tree.node.id, node: tree.node, folded: '', parent, x: xOf(depth), y: yOf(y) });
    return y;
  };
  for (const root of roots) place(root, 0, '');
  return { placed, width: xOf(depthMost) + nodeWidth + 24, height: yOf(row) + 16 };
}

const xOf = (depth: number) => 20 + depth * (nodeWidth + columnGap);
const yOf = (row: number) => 20 + row * (nodeHeight + rowGap);
