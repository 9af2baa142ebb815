// The shell: where one can go, whether the server is there, who one is.
import { effect, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { who } from './api/client';
import { FleetView } from './fleet/FleetView';
import { GraphView } from './graph/GraphView';
import { LoginView, logOut } from './login/LoginView';
import { feedState } from './monitor/monitor';
import { addressOf, route, type View } from './route';
import { SessionView } from './session/SessionView';
import { SessionsView } from './sessions/SessionsView';
import { Icon, type IconName } from './ui/icons';
import { onKeys } from './ui/keys';
import { Button, Dialog, Empty } from './ui/parts';
import { nextTheme, theme } from './ui/theme';
import { showProblem, Toasts } from './ui/toasts';

const places: { view: View; icon: IconName; word: string }[] = [
  { view: 'sessions', icon: 'sessions', word: 'Sessions' },
  { view: 'graph', icon: 'graph', word: 'Graph' },
  { view: 'fleet', icon: 'fleet', word: 'Fleet' },
];
const stateWords = { connecting: 'Connecting …', live: 'Connected', lost: 'Reconnecting …', loginNeeded: 'Not logged in' };
const themeIcons = { system: 'half', light: 'sun', dark: 'moon' } as const;
const themeWords = { system: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' };

effect(() => {
  const word = places.find(({ view }) => view === route.value.view)?.word;
  document.title = word ? `${word} · Reprise` : 'Reprise';
});

export function App() {
  const isHelpShown = useSignal(false);
  useLayoutEffect(() => onKeys({ '?': () => { isHelpShown.value = true; } }), []);
  if (who.value === null) return <><LoginView /><Toasts /></>;
  const { view } = route.value;
  return (
    <div class="shell">
      <nav class="rail" aria-label="Views">
        <a class="brand" href={addressOf({ view: 'sessions' })} aria-label="Reprise, sessions"><Mark /></a>
        {places.map((place) => {
          const isHere = view === place.view || (view === 'session' && place.view === 'sessions');
          return (
            <a key={place.view} class={`rail-link${isHere ? ' here' : ''}`} href={addressOf({ view: place.view })}
              aria-current={isHere ? 'page' : undefined}>
              <Icon name={place.icon} />
              {place.word}
            </a>
          );
        })}
        <span class="rail-gap" />
        <Button icon="help" kind="quiet" label="Keys ( ? )" onClick={() => { isHelpShown.value = true; }} />
        <Button icon={themeIcons[theme.value]} kind="quiet" label={themeWords[theme.value]} onClick={nextTheme} />
        {who.value?.isLoginNeeded && (
          <Button icon="leave" kind="quiet" label={`Log out ${who.value.name}`} onClick={() => void logOut().catch(showProblem)} />
        )}
        <span class={`feed feed-${feedState.value}`} role="status" title={stateWords[feedState.value]}>
          <span class="dot" aria-hidden="true" />
          <span class="hidden">{stateWords[feedState.value]}</span>
        </span>
      </nav>
      {who.value === undefined
        ? <main class="view"><Empty title="Looking for the server …" /></main>
        : <Place view={view} />}
      <Toasts />
      {isHelpShown.value && <Help onClose={() => { isHelpShown.value = false; }} />}
    </div>
  );
}

function Place({ view }: { view: View }) {
  switch (view) {
    case 'session': return <SessionView />;
    case 'graph': return <GraphView />;
    case 'fleet': return <FleetView />;
    default: return <SessionsView />;
  }
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" class="mark" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M9 8.500v15M13.200 8.500v15" />
      <circle cx="20.500" cy="13" r="1.900" />
      <circle cx="20.500" cy="19.500" r="1.900" />
    </svg>
  );
}

const keys: [string, string][] = [
  ['j, k', 'next and previous row'],
  ['Enter', 'open the session'],
  ['/', 'search'],
  ['c', 'new session'],
  ['n, p', 'next and previous failure'],
  ['l', 'to the end, and follow it'],
  ['Escape', 'close the event, show the whole time'],
  ['?', 'these keys'],
];

function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {keys.map(([key, meaning]) => (
          <div key={key}><dt>{key.split(', ').map((one) => <kbd key={one}>{one}</kbd>)}</dt><dd>{meaning}</dd></div>
        ))}
      </dl>
    </Dialog>
  );
}
