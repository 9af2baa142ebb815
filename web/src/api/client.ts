// Calls of the server. A failed one throws a Problem; one that needs a login shows the login.
import { signal } from '@preact/signals';
import type { LoggedIn } from './types';

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: { pointer: string; detail: string }[] = [],
  ) {
    super(message);
  }
}

// Who the page speaks for: unknown until the server has said it; null: a login is needed.
export const who = signal<LoggedIn | null | undefined>(undefined);
export const mayWrite = () => who.value != null && who.value.scope !== 'read';

export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(method, path, body, signal);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const get = <T>(path: string, signal?: AbortSignal) => call<T>('GET', path, undefined, signal);
export const post = <T>(path: string, body: unknown = {}) => call<T>('POST', path, body);

export async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const init: RequestInit = { method, headers: { Accept: 'application/json, */*;q=0.5' } };
  if (signal) init.signal = signal;
  if (body instanceof Blob) {
    init.body = body;
    init.headers = { 'Content-Type': body.type || 'application/octet-stream' };
  } else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { 'Content-Type': 'application/json' };
  }
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, 'unreachable', 'The server does not answer.');
  }
  if (response.ok) return response;
  throw await problemOf(response);
}

async function problemOf(response: Response): Promise<Problem> {
  let said: { code?: string; detail?: string; title?: string; errors?: { pointer: string; detail: string }[] } = {};
  try {
    said = await response.json();
  } catch {
    // A proxy between us and the server answers in its own words.
  }
  if (response.status === 401) who.value = null;
  const text = said.detail || said.title || `The server answered ${response.status}.`;
  return new Problem(response.status, said.code ?? 'unknown', text, said.errors);
}

export async function learnWho(): Promise<void> {
  try {
    who.value = await get<LoggedIn>('/v1/login');
  } catch (error) {
    if (!(error instanceof Problem && error.status === 401)) throw error;
  }
}

export const sessionPath = (id: string, rest = '') => `/v1/sessions/${encodeURIComponent(id)}${rest}`;
export const artifactPath = (id: string, path: string, version?: number) =>
  sessionPath(id, `/artifacts/${path.split('/').map(encodeURIComponent).join('/')}`)
  + (version === undefined ? '' : `?version=${version}`);
