import { useState } from 'preact/hooks';
import { post, Problem } from '../api/client';
import type { Session } from '../api/types';
import { go, sessionAddress } from '../route';
import { Button, Dialog, Field, Notice } from '../ui/parts';

// Names of members, as the server's JSON pointers have them.
type Fields = Record<'app' | 'name' | 'graphId' | 'ownerAgent' | 'ttlSeconds', string>;

export function NewSession({ onClose }: { onClose: () => void }) {
  const [fields, setFields] = useState<Fields>({ app: '', name: '', graphId: '', ownerAgent: '', ttlSeconds: '' });
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);

  const create = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setErrors({});
    setProblem('');
    const body: Record<string, unknown> = { status: 'ACTIVE' };
    for (const [name, value] of Object.entries(fields)) {
      if (value.trim() !== '') body[name] = name === 'ttlSeconds' ? Number(value) : value.trim();
    }
    try {
      const session = await post<Session>('/v1/sessions', body);
      onClose();
      go(sessionAddress(session.id));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const byName = Object.fromEntries(error.fields.map(({ pointer, detail }) => [pointer.slice(1), detail]));
      setErrors(byName);
      if (error.fields.length === 0) setProblem(error.message);
      setBusy(false);
    }
  };

  const input = (name: keyof Fields, label: string, hint: string, type = 'text') => (
    <Field label={label} hint={hint} {...(errors[name] ? { error: errors[name] } : {})}>
      <input class="input" name={name} type={type} value={fields[name]} autocomplete="off"
        onInput={(event) => setFields({ ...fields, [name]: event.currentTarget.value })} />
    </Field>
  );
  return (
    <Dialog title="New session" onClose={onClose}>
      <form class="form" onSubmit={(event) => void create(event)}>
        {input('app', 'App', 'Empty: default')}
        {input('name', 'Name', 'With the app, the key of the session')}
        {input('graphId', 'Graph', 'Empty: the app’s own')}
        {input('ownerAgent', 'Owner', 'The agent that works in it')}
        {input('ttlSeconds', 'Idle time in seconds', 'Empty: what the app says', 'number')}
        {problem !== '' && <Notice>{problem}</Notice>}
        <footer class="form-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isBusy}>Create session</Button>
        </footer>
      </form>
    </Dialog>
  );
}
