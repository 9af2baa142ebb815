// The login: a token for a cookie. The token is not kept anywhere in the page.
import { useState } from 'preact/hooks';
import { post, Problem, who } from '../api/client';
import type { LoggedIn } from '../api/types';
import { tellLoggedIn } from '../monitor/monitor';
import { Button, Field, Notice } from '../ui/parts';

export function LoginView() {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const logIn = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const loggedIn = await post<LoggedIn>('/v1/login', { token });
      tellLoggedIn();
      who.value = loggedIn;
    } catch (error) {
      const isUnknown = error instanceof Problem && error.status === 401;
      setProblem(isUnknown ? 'This token is not known here.' : String((error as Error).message));
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form class="login-box form" onSubmit={(event) => void logIn(event)}>
        <h1>Reprise</h1>
        <p class="quiet">This server asks for a token. It is exchanged for a cookie that lasts twelve hours.</p>
        <Field label="Token">
          <input class="input" type="password" name="token" value={token} autocomplete="current-password" autofocus required
            onInput={(event) => setToken(event.currentTarget.value)} />
        </Field>
        {problem !== '' && <Notice>{problem}</Notice>}
        <footer class="form-foot"><Button kind="primary" type="submit" disabled={isBusy}>Log in</Button></footer>
      </form>
    </main>
  );
}

export async function logOut(): Promise<void> {
  await post('/v1/logout');
  who.value = null;
}
