// Payloads of events, loaded when somebody looks at one. The last ones are kept.
import { get, send, sessionPath } from '../api/client';
import type { EventPage, StoredEvent } from '../api/types';

const maxKept = 100;
const kept = new Map<string, Promise<StoredEvent>>();

export function payloadOf(session: string, seq: number): Promise<StoredEvent> {
  const key = `${session}/${seq}`;
  const known = kept.get(key);
  if (known) return known;
  const loading = get<EventPage>(sessionPath(session, `/events?after=${seq - 1}&limit=1`)).then(({ events }) => {
    const event = events[0];
    if (event?.seq !== seq) throw new Error(`Event ${seq} is not shown any more.`);
    return event;
  });
  loading.catch(() => kept.delete(key));
  kept.set(key, loading);
  const oldest = kept.keys().next().value;
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
  return loading;
}

export async function textOf(path: string): Promise<string> {
  return (await send('GET', path)).text();
}
