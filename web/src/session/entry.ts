// Entry: an event as a line of the timeline. Its payload is not kept: it is loaded when somebody opens it.
import type { StoredEvent } from '../api/types';

export type Outcome = 'open' | 'success' | 'failure' | 'cancelled';

// Which colour an entry has, in the list and on the axis.
export type Family = 'tool' | 'browser' | 'person' | 'message' | 'session' | 'other';

export interface Entry {
  seq: number;
  type: string;
  family: Family;
  at: number;
  text: string;
  by: string;
  // Of what takes time: a tool call, a command, a question.
  isTool: boolean;
  outcome: Outcome | undefined;
  startedAt: number;
  durationMs: number | undefined;
  // What belongs together has one id: started and finished, asked and answered.
  pairId: string;
  opens: boolean;
  closes: boolean;
  picture: string;  // the artifact that shows the page after it
  tab: string;  // of a command
  isFailure: boolean;
  isAside: boolean;  // told by the line it belongs to
  // Set by the history when both halves are there.
  end: Entry | undefined;
  start: Entry | undefined;
}

const maxText = 200;

export function entryOf(event: StoredEvent): Entry {
  const at = Date.parse(event.at);
  const entry: Entry = {
    seq: event.seq, type: event.type, family: familyOf(event.type), at, text: '', by: event.by ?? '', isTool: false, outcome: undefined, startedAt: at,
    durationMs: undefined, pairId: '', opens: false, closes: false, picture: '', tab: '', isFailure: false, isAside: false,
    end: undefined, start: undefined,
  };
  const data = isObject(event.data) ? event.data : undefined;
  (data && describers[event.type]?.(entry, data)) ?? describePlainly(entry, event.data);
  entry.text = shorten(entry.text);
  return entry;
}

function familyOf(type: string): Family {
  if (type === 'log') return 'other';
  if (type === 'message') return 'message';
  if (type === 'command' || type.startsWith('tab_') || type.startsWith('context_')) return 'browser';
  if (type.startsWith('tool_')) return 'tool';
  if (type.startsWith('input_')) return 'person';
  return type.startsWith('session_') || type === 'status_change' ? 'session' : 'other';
}

type Data = Record<string, unknown>;
type Describer = (entry: Entry, data: Data) => true;

const isObject = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown) => (typeof value === 'string' ? value : '');

const describers: Record<string, Describer> = {
  tool_started: (entry, data) => {
    entry.text = `${text(data['toolName'])}  ${text(data['inputSummary'])}`;
    Object.assign(entry, { isTool: true, outcome: 'open', pairId: text(data['id']), opens: true });
    return true;
  },
  tool_finished: (entry, data) => {
    entry.text = `${text(data['toolName'])}  ${text(data['error']) || text(data['outputSummary'])}`;
    Object.assign(entry, { isTool: true, pairId: text(data['id']), closes: true });
    entry.outcome = outcomeOf(data['status']);
    entry.isFailure = entry.outcome === 'failure';
    takeDuration(entry, data['durationMs']);
    return true;
  },
  command: (entry, data) => {
    const error = isObject(data['error']) ? text(data['error']['message']) : '';
    entry.text = `${text(data['tool']).replace(/^browser_/, '')}  ${error || argumentsOf(data)}`;
    entry.isTool = true;
    entry.outcome = data['ok'] === true ? 'success' : 'failure';
    entry.isFailure = data['ok'] !== true;
    entry.picture = isObject(data['capture']) ? text(data['capture']['picture']) : '';
    entry.tab = text(data['tabId']);
    takeDuration(entry, data['durationMs']);
    return true;
  },
  input_required: (entry, data) => {
    entry.text = text(data['prompt']) || text(data['kind']);
    Object.assign(entry, { outcome: 'open', pairId: text(data['id']), opens: true });
    return true;
  },
  input_received: (entry, data) => {
    entry.text = `answered  ${compact(data['response'] ?? data['state'] ?? data)}`;
    Object.assign(entry, { outcome: 'success', pairId: text(data['id']), closes: true });
    return true;
  },
  status_change: (entry, data) => {
    const from = text(data['from']);
    const to = text(data['to']) || text(data['status']);
    entry.text = `${from === '' ? '' : `${from} → `}${to}${text(data['error']) ? `  ${text(data['error'])}` : ''}`;
    entry.isFailure = to === 'FAILED';
    return true;
  },
  artifact_created: (entry, data) => {
    entry.text = `${text(data['path'])}  version ${String(data['version'])}`;
    entry.isAside = text(data['path']).startsWith('captures/');
    return true;
  },
  session_created: (entry, data) => {
    entry.text = ['graph', text(data['graphId']), text(data['ownerAgent']) && `owner ${text(data['ownerAgent'])}`].filter(Boolean).join(' ');
    return true;
  },
  context_opened: describeContext,
  context_closed: describeContext,
  diff: (entry, data) => {
    entry.text = `${text(data['path'])}  version ${String(data['fromVersion'])} → ${String(data['toVersion'])}`;
    return true;
  },
  tab_opened: describeTab,
  tab_updated: describeTab,
  tab_closed: describeTab,
  message: (entry, data) => {
    entry.text = [text(data['role']), text(data['text']) || text(data['content']) || compact(data)].filter(Boolean).join('  ');
    return true;
  },
  log: (entry, data) => {
    entry.text = text(data['text']) || text(data['message']) || compact(data);
    entry.isFailure = data['level'] === 'error';
    return true;
  },
};

function describeTab(entry: Entry, data: Data): true {
  entry.text = [text(data['title']), text(data['url'])].filter(Boolean).join('  ');
  return true;
}

function describeContext(entry: Entry, data: Data): true {
  entry.text = [text(data['browserType']), `pool ${text(data['poolKey'])}`, text(data['status']), text(data['reason'])].filter(Boolean).join('  ');
  return true;
}

function describePlainly(entry: Entry, data: unknown): true {
  entry.text = typeof data === 'string' ? data : data === null ? '' : compact(data);
  if (entry.type === 'error') entry.isFailure = true;
  return true;
}

function argumentsOf(data: Data): string {
  const args = isObject(data['args']) ? data['args'] : {};
  const target = isObject(data['target']) ? `${text(data['target']['role'])} “${text(data['target']['name'])}”` : '';
  const rest = Object.entries(args).filter(([name]) => !(name === 'target' && target !== '')).map(([, value]) =>
    (typeof value === 'string' ? value : compact(value)));
  return [target, ...rest].filter(Boolean).join('  ');
}

function outcomeOf(word: unknown): Outcome {
  return word === 'success' || word === 'cancelled' ? word : 'failure';
}

function takeDuration(entry: Entry, ms: unknown): void {
  if (typeof ms !== 'number') return;
  entry.durationMs = ms;
  entry.startedAt = entry.at - ms;
}

function compact(value: unknown): string {
  // A long text is cut before it is written out, not after.
  const json = JSON.stringify(value, (_, inner: unknown) =>
    (typeof inner === 'string' && inner.length > maxText ? `${inner.slice(0, maxText)}…` : inner));
  return json ?? '';
}

function shorten(whole: string): string {
  const line = whole.length > 2 * maxText ? whole.slice(0, 2 * maxText) : whole;
  const flat = line.replace(/\s*\n\s*/g, ' ').trim();
  return flat.length > maxText ? `${flat.slice(0, maxText)}…` : flat;
}
