// Where the page is: `#/sessions?app=shop`, `#/session/<id>/<panel>?event=17`, `#/graph`, `#/fleet`.
//
// Everything a person would want to send to a colleague is in the address: filters, the session, the event.
import { computed, signal } from '@preact/signals';

export type View = 'sessions' | 'session' | 'graph' | 'fleet';
export type Panel = 'timeline' | 'questions' | 'browser' | 'artifacts' | 'audit';
const panels: readonly Panel[] = ['timeline', 'questions', 'browser', 'artifacts', 'audit'];

export interface Route {
  view: View;
  session: string;
  panel: Panel;
  query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  const [head, session = '', panel = ''] = path.split('/');
  const parsed: Route = { view: 'sessions', session: '', panel: 'timeline', query: new URLSearchParams(query) };
  if (head === 'graph' || head === 'fleet') parsed.view = head;
  if (head === 'session' && session !== '') {
    parsed.view = 'session';
    parsed.session = decodeURIComponent(session);
    parsed.panel = panels.find((known) => known === panel) ?? 'timeline';
  }
  return parsed;
}

const hash = signal(location.hash);
addEventListener('hashchange', () => { hash.value = location.hash; });
export const route = computed(() => parseRoute(hash.value));

export function addressOf(to: Partial<Route> & { view: View }): string {
  const query = to.query?.toString() ?? '';
  const path = to.view === 'session' ? `session/${encodeURIComponent(to.session ?? '')}/${to.panel ?? 'timeline'}` : to.view;
  return `#/${path}${query === '' ? '' : `?${query}`}`;
}

export const sessionAddress = (session: string, panel: Panel = 'timeline') =>
  addressOf({ view: 'session', session, panel });

export function go(address: string): void {
  location.hash = address;
}

// Changes parameters of the present address; an empty value leaves one out. Typing does not fill the history.
export function setQuery(changes: Record<string, string | null>): void {
  const query = new URLSearchParams(route.peek().query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const address = addressOf({ ...route.peek(), query });
  if (address === location.hash) return;
  history.replaceState(null, '', address);
  hash.value = address;
}
