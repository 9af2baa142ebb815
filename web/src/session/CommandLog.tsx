// What the page said and asked for during a command: console messages and requests, loaded when somebody looks.
import { useEffect, useState } from 'preact/hooks';
import { artifactPath, get } from '../api/client';
import type { CommandLog as Log, LoggedMessage, LoggedRequest } from '../api/types';
import { Notice } from '../ui/parts';
import { count, duration } from '../ui/times';

export function CommandLog({ session, path }: { session: string; path: string }) {
  const [loaded, setLoaded] = useState<{ path: string; log?: Log; problem?: string }>({ path: '' });
  useEffect(() => {
    let isOver = false;
    get<Log>(artifactPath(session, path)).then(
      (log) => { if (!isOver) setLoaded({ path, log }); },
      (error: Error) => { if (!isOver) setLoaded({ path, problem: error.message }); },
    );
    return () => { isOver = true; };
  }, [session, path]);
  if (loaded.path !== path) return <p class="quiet">Loading …</p>;
  if (!loaded.log) return <Notice>{loaded.problem}</Notice>;
  const { console: said, consoleOmitted, requests, requestsOmitted } = loaded.log;
  return (
    <div class="log">
      {said.length > 0 && (
        <>
          <h4>Console</h4>
          <Omitted n={consoleOmitted} what="earlier messages" />
          <ul class="log-list" aria-label="Console">{said.map((message, index) => <Message key={index} message={message} />)}</ul>
        </>
      )}
      {requests.length > 0 && (
        <>
          <h4>Network</h4>
          <Omitted n={requestsOmitted} what="earlier requests" />
          <ul class="log-list" aria-label="Network">{requests.map((request, index) => <Request key={index} request={request} />)}</ul>
        </>
      )}
    </div>
  );
}

function Omitted({ n, what }: { n: number; what: string }) {
  return n > 0 ? <p class="quiet">{count(n)} {what} were not kept.</p> : null;
}

function Message({ message }: { message: LoggedMessage }) {
  // A document without an address has a line, and no place.
  const place = message.place.startsWith(':') ? '' : message.place;
  return (
    <li class={`log-line log-${message.level}`}>
      <span class="log-word">{message.level}</span>
      <span class="log-text">{message.text}{place !== '' && <span class="log-place">{place}</span>}</span>
    </li>
  );
}

function Request({ request }: { request: LoggedRequest }) {
  const { method, url, kind, status, type, error, durationMs } = request;
  const isFailed = error !== null || (status ?? 0) >= 400;
  const outcome = error ?? (status === null ? 'pending' : String(status));
  return (
    <li class={`log-line${isFailed ? ' log-error' : ''}`}>
      <span class="log-word">{method}</span>
      <span class="log-text">
        {url}
        <span class="log-place">{[outcome, kind, type, durationMs === null ? null : duration(durationMs)].filter(Boolean).join(' · ')}</span>
      </span>
    </li>
  );
}
