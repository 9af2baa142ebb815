// A session as a row of the panel: what the monitor tells, without what a row does not show.
import type { PendingInteraction, Session, Status } from '../api/types';

export interface SessionRow {
  id: string;
  key: string | null;
  app: string;
  name: string | null;
  graphId: string;
  ownerAgent: string | null;
  status: Status;
  pauseReason: string | null;
  createdAt: string;
  updatedAt: string;
  lastActivityAt: string;
  messageCount: number;
  lastError: string | null;
  pending: PendingInteraction[];
}

export function rowOf(session: Session): SessionRow {
  return {
    id: session.id,
    key: session.key,
    app: session.app,
    name: session.name,
    graphId: session.graphId,
    ownerAgent: session.ownerAgent,
    status: session.status,
    pauseReason: session.pauseReason,
    createdAt: session.createdAt,
    updatedAt: session.updatedAt,
    lastActivityAt: session.lastActivityAt,
    messageCount: session.messageCount,
    lastError: session.lastError,
    pending: session.pendingInteractions,
  };
}

// What the feed says to the pages.
export type FeedState = 'connecting' | 'live' | 'lost' | 'loginNeeded';
export type FeedChange = { row: SessionRow } | { gone: string };
export type FeedMessage =
  | { kind: 'state'; state: FeedState }
  | { kind: 'changes'; changes: FeedChange[] }
  // Changes may be missing: whoever shows a list loads it again.
  | { kind: 'restart' };
// What a page says to the feed.
export type PageMessage = 'leave' | 'loggedIn';
