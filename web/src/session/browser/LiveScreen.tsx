// The live picture of the active tab, and the controls of whoever has taken over.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { artifactPath, call, mayWrite, post, sessionPath } from '../../api/client';
import { Button, Empty, Notice } from '../../ui/parts';
import { fullTime } from '../../ui/times';
import { showProblem } from '../../ui/toasts';
import { handOver } from './input';
import { Live, type LiveState } from './live';
import { TabStrip } from './TabStrip';

const browserWords = {
  open: '', hibernated: 'The browser sleeps; the next command wakes it.',
  orphaned: 'The browser crashed; the next command opens its tabs again.', closed: 'The browser was closed.',
  none: 'The first browser tool an agent calls opens one.',
};

export function LiveScreen({ session, isHidden }: { session: string; isHidden: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const live = useSignal<Live | undefined>(undefined);
  const shown = useSignal({ url: '', title: '', hasPicture: false });
  useEffect(() => {
    const made = new Live(session, (frame, picture) => {
      const element = canvas.current;
      if (!element) return;
      if (element.width !== picture.width || element.height !== picture.height) {
        element.width = picture.width;
        element.height = picture.height;
      }
      element.getContext('2d')?.drawImage(picture, 0, 0);
      const { url, title, hasPicture } = shown.peek();
      if (!hasPicture || url !== frame.url || title !== frame.title) shown.value = { url: frame.url, title: frame.title, hasPicture: true };
    });
    live.value = made;
    return () => made.close();
  }, [session]);

  const { value: view } = live;
  const lease = view?.lease.value ?? '';
  useEffect(() => {
    if (lease === '' || !canvas.current || !view) return undefined;
    canvas.current.focus();
    return handOver(canvas.current, view);
  }, [lease, view]);

  if (!view) return null;
  const state = view.state.value;
  const isOpen = state?.browser === 'open';
  if (view.connection.value === 'over') return <Empty title="The live view is over">{view.why.value}</Empty>;
  const hasTaken = lease !== '';
  const activate = (tabId: string) => {
    if (hasTaken) view.send({ type: 'tab', action: 'activate', tabId });
    else post(sessionPath(session, `/tabs/${tabId}/activate`)).catch(showProblem);
  };
  return (
    <div class="live" hidden={isHidden}>
      {state && (
        <TabStrip tabs={state.tabs} isUsable={mayWrite() && (hasTaken || !state.takeOver)} onActivate={activate}
          onClose={hasTaken ? (tabId) => view.send({ type: 'tab', action: 'close', tabId }) : undefined}
          onNew={hasTaken ? () => view.send({ type: 'tab', action: 'new' }) : undefined} />
      )}
      <AddressBar live={view} state={state} url={shown.value.url} />
      {lease !== '' && view.refusal.value !== '' && <Notice>{view.refusal.value}</Notice>}
      {lease !== '' && state && <Asked live={view} state={state} session={session} />}
      <div class={`screen${lease === '' ? '' : ' screen-taken'}`}>
        {state && !isOpen && <Empty title="No live picture">{browserWords[state.browser]}</Empty>}
        {(!state || isOpen) && !shown.value.hasPicture && <Empty title="Waiting for a picture …" />}
        <canvas ref={canvas} class="screen-picture" hidden={!isOpen || !shown.value.hasPicture} data-takes-keys={lease === '' ? undefined : ''}
          tabIndex={lease === '' ? -1 : 0} role={lease === '' ? 'img' : 'application'}
          aria-label={lease === '' ? `The tab ${shown.value.title || shown.value.url}, live` : 'The page: mouse and keys go to it; Shift and Escape leave it'} />
      </div>
    </div>
  );
}

function AddressBar({ live, state, url }: { live: Live; state: LiveState | undefined; url: string }) {
  const hasTaken = live.lease.value !== '';
  const other = !hasTaken && state?.takeOver;
  const takeOver = () => void live.takeOver().catch(showProblem);
  const handBack = () => void live.handBack().catch(showProblem);
  const navigate = (event: Event) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget as HTMLFormElement).get('url');
    if (typeof typed === 'string' && typed !== '') live.send({ type: 'navigate', url: /^[a-z]+:/i.test(typed) ? typed : `https://${typed}` });
  };
  return (
    <div class="address">
      {hasTaken
        ? (
          <>
            <Button icon="back" kind="quiet" label="Back" onClick={() => live.send({ type: 'back' })} />
            <Button icon="next" kind="quiet" label="Forward" onClick={() => live.send({ type: 'forward' })} />
            <Button icon="reload" kind="quiet" label="Reload" onClick={() => live.send({ type: 'reload' })} />
            <form class="address-form" onSubmit={navigate}>
              <input key={url} class="input" name="url" aria-label="Address" defaultValue={url} />
            </form>
          </>
        )
        : <span class="address-text" title={url}>{url}</span>}
      {live.connection.value === 'lost' && <span class="quiet">Reconnecting …</span>}
      {other && <span class="taken" title={fullTime(other.takenAt)}>Taken over by {other.by ?? 'somebody'}</span>}
      {mayWrite() && !hasTaken && !other && state?.browser === 'open' && <Button icon="hand" onClick={takeOver}>Take over</Button>}
      {hasTaken && <Button kind="primary" onClick={handBack}>Hand back</Button>}
    </div>
  );
}

// What the page asks of whoever has taken over, outside of the page.
function Asked({ live, state, session }: { live: Live; state: LiveState; session: string }) {
  const { dialog, fileChooser, select } = state;
  const answerDialog = (event: SubmitEvent) => {
    event.preventDefault();
    const text = new FormData(event.currentTarget as HTMLFormElement).get('text');
    live.send({ type: 'dialog', accept: true, ...(typeof text === 'string' ? { text } : {}) });
  };
  const upload = async (files: FileList | null) => {
    const paths: string[] = [];
    try {
      for (const file of files ?? []) {
        const path = `uploads/live/${file.name.replace(/[^\w.-]+/g, '_')}`;
        await call('PUT', artifactPath(session, path), file);
        paths.push(path);
      }
      live.send({ type: 'files', paths });
    } catch (error) {
      showProblem(error);
    }
  };
  return (
    <>
      {dialog && (
        <form class="asked" onSubmit={answerDialog} aria-label="The page asks">
          <p><b>{dialog.kind}</b> {dialog.message}</p>
          {dialog.kind === 'prompt' && <input class="input" name="text" aria-label="Answer" defaultValue={dialog.defaultText} />}
          <Button kind="primary" type="submit">OK</Button>
          {dialog.kind !== 'alert' && <Button onClick={() => live.send({ type: 'dialog', accept: false })}>Cancel</Button>}
        </form>
      )}
      {fileChooser && (
        <div class="asked" role="group" aria-label="The page asks for files">
          <label class="button file-button">Choose files<input type="file" multiple class="hidden" onChange={(event) => void upload(event.currentTarget.files)} /></label>
          <Button onClick={() => live.send({ type: 'files' })}>None</Button>
        </div>
      )}
      {select && (
        <div class="asked" role="group" aria-label="The page’s list">
          {select.options.map((option) => (
            <Button key={option.value} disabled={option.isDisabled} pressed={option.isSelected}
              onClick={() => live.send({ type: 'select', values: [option.value] })}>{option.label}</Button>
          ))}
          <Button kind="quiet" onClick={() => live.send({ type: 'select', values: [] })}>Close</Button>
        </div>
      )}
    </>
  );
}
