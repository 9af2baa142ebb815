// What the server sends, as far as the page uses it. api/openapi.yaml describes it whole.

export type Status = 'INITIALIZING' | 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'CLEANUP';
export const statuses: readonly Status[] =
  ['INITIALIZING', 'ACTIVE', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED', 'CLEANUP'];

export interface PendingInteraction {
  id: string;
  kind: string;
  prompt?: string;
  askedAt: string;
  deadlineAt: string | null;
}

export interface Session {
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
  expiresAt: string | null;
  ttlSeconds: number | null;
  messageCount: number;
  isActive: boolean;
  subscriberCount: number;
  lastSeq: number;
  lastError: string | null;
  activeTabId: string | null;
  pendingInteractions: PendingInteraction[];
  metadata: Record<string, unknown>;
}

export interface SessionPage {
  sessions: Session[];
  nextCursor: string | null;
  monitorId: string;
  countsByStatus: Partial<Record<Status, number>>;
}

export interface StoredEvent {
  seq: number;
  type: string;
  at: string;
  data: unknown;
  by?: string;
}

export interface EventPage {
  events: StoredEvent[];
  nextAfter: number;
  lastSeq: number;
  hasMore: boolean;
}

export interface Choice {
  id: string;
  label?: string;
  description?: string;
}

export interface Interaction {
  id: string;
  kind: 'inputNode' | 'waitForInput' | 'waitForChoice' | 'confirm';
  prompt?: string;
  schema?: JsonSchema;
  choices?: Choice[];
  selectionMode?: 'single' | 'multiple';
  layout?: 'list' | 'grid';
  skipLabel?: string;
  noneOfTheAboveLabel?: string;
  nodeId?: string;
  deadlineAt?: string;
  state: 'pending' | 'answered' | 'expired' | 'cancelled';
  seq: number;
  askedAt: string;
  askedBy?: string;
  response: Record<string, unknown> | null;
  resolvedAt?: string;
  resolvedBy?: string;
}

export interface JsonSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
}

export interface Artifact {
  path: string;
  version: number;
  versions?: number;
  kind: string;
  contentType: string;
  size: number;
  sha256: string;
  createdAt: string;
  seq: number;
  by?: string;
}

export interface ArtifactPage {
  artifacts: Artifact[];
  nextCursor: string | null;
  usedBytes: number;
  maxBytes: number;
}

export interface AuditVerdict {
  valid: boolean;
  entries: number;
  head: string;
  firstBadSeq?: number;
  reason?: string;
}

export interface ToolCall {
  id: string;
  toolName: string;
  status: 'open' | 'success' | 'failure' | 'cancelled';
  seq: number;
  startedAt: string;
  by: string | null;
  inputSummary: string | null;
  finishedSeq: number | null;
  finishedAt: string | null;
  durationMs: number | null;
  outputSummary: string | null;
  error: string | null;
}

export interface Capture {
  picture: string;
  snapshot: string;
  log?: string | null;  // of a CommandLog; null: the page said and asked for nothing
}

export interface LoggedMessage {
  level: 'error' | 'warning' | 'info' | 'debug';
  text: string;
  place: string;
}

export interface LoggedRequest {
  method: string;
  url: string;
  kind: string;
  status: number | null;
  type: string | null;
  error: string | null;
  durationMs: number | null;
}

export interface CommandLog {
  console: LoggedMessage[];
  consoleOmitted: number;
  requests: LoggedRequest[];
  requestsOmitted: number;
}

export interface Command {
  seq: number;
  id: string;
  tool: string;
  args: Record<string, unknown>;
  ok: boolean;
  startedAt: string;
  durationMs: number;
  tabId: string | null;
  source: string;
  error: { code: string; message: string } | null;
  target: Record<string, unknown> | null;
  capture: Capture | null;
  by?: string;
}

export interface Pool {
  poolKey: string;
  kind: string;
  status: 'alive' | 'stale';
  heartbeatAt: string | null;
  location?: string;  // of a pool of another process
  contexts: number;
  maxContexts: number;
  waiting: number;
  lastError: string | null;
  browsers: { pid: number; version: string; contexts: number; memoryBytes: number; isDraining: boolean }[];
}

export interface Agent {
  id: string;
  status: 'alive' | 'lost';
  generation: number;
  heartbeatSeconds: number;
  registeredAt: string;
  lastHeartbeatAt: string | null;
  lostAt: string | null;
}

export interface Health {
  status: 'ok' | 'degraded';
  version: string;
  uptimeSeconds: number;
  store: { engine: string; state: string; bytesOnDisk: number; freeBytes: number; memoryBytes: number };
  sessions: { loaded: number };
  agents: { alive: number; lost: number };
  http: { connections: number; streams: number };
  problems: string[];
}

export interface GraphNode {
  id: string;
  type: 'Pool' | 'Session' | 'Context' | 'Tab';
  key: string;
  properties: Record<string, unknown>;
}

export interface GraphEdge {
  type: string;
  from: string;
  to: string;
  properties: Record<string, unknown>;
  node: GraphNode | null;
}

export interface LoggedIn {
  name: string;
  scope: 'read' | 'write' | 'admin';
  apps: string[] | null;
  isLoginNeeded: boolean;
}
