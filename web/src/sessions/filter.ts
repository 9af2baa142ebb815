// Which sessions the panel shows. The same filter is the server's, for pages, and ours, for what the monitor tells.
import type { SessionRow } from '../monitor/row';
import { statuses } from '../api/types';

export interface SessionFilter {
  app: string;
  graphId: string;
  ownerAgent: string;
  status: string;
  q: string;
  waiting: boolean;
}

export const filterNames = ['q', 'status', 'app', 'graphId', 'ownerAgent'] as const;

export function filterOf(query: URLSearchParams): SessionFilter {
  const status = query.get('status') ?? '';
  return {
    app: query.get('app') ?? '',
    graphId: query.get('graphId') ?? '',
    ownerAgent: query.get('ownerAgent') ?? '',
    status: statuses.some((known) => known === status) ? status : '',
    q: query.get('q') ?? '',
    waiting: query.get('waiting') === 'true',
  };
}

export function filterQuery(filter: SessionFilter): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of filterNames) if (filter[name] !== '') query.set(name, filter[name]);
  if (filter.waiting) query.set('waiting', 'true');
  return query;
}

export const isFiltered = (filter: SessionFilter) => filterQuery(filter).size > 0;

export function matchesFilter(row: SessionRow, filter: SessionFilter): boolean {
  return (filter.app === '' || row.app === filter.app)
    && (filter.graphId === '' || row.graphId === filter.graphId)
    && (filter.ownerAgent === '' || row.ownerAgent === filter.ownerAgent)
    && (filter.status === '' || row.status === filter.status)
    && (filter.q === '' || (row.name ?? '').startsWith(filter.q))
    && (!filter.waiting || row.pending.length > 0);
}
