// One question to a person, as a form of its kind.
import { useEffect, useState } from 'preact/hooks';
import { call, mayWrite, post, Problem, sessionPath, artifactPath } from '../../api/client';
import type { Interaction, JsonSchema } from '../../api/types';
import { Button, Field, Notice } from '../../ui/parts';
import { JsonTree } from '../../ui/JsonTree';
import { ago, duration, fullTime } from '../../ui/times';
import { type Draft, emptyDraft, readDraft } from './form';
import { SchemaFields } from './SchemaFields';

interface Props {
  session: string;
  question: Interaction;
  onAnswered: () => void;
}

export function Question({ session, question, onAnswered }: Props) {
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const answer = async (response: Record<string, unknown>) => {
    setBusy(true);
    setErrors({});
    setProblem('');
    try {
      await post(sessionPath(session, `/interactions/${question.id}/response`), response);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // Somebody was quicker: what they said is shown.
      if (error.status !== 409) {
        setErrors(Object.fromEntries(error.fields.map(({ pointer, detail }) => [pointer.replace(/^\/input/, ''), detail])));
        setProblem(error.message);
      }
    } finally {
      setBusy(false);
      onAnswered();
    }
  };
  const props = { question, session, isBusy, errors, answer, setErrors };
  return (
    <article class={`question question-${question.state}`} aria-label={question.prompt ?? question.kind}>
      <header class="question-head">
        <h2>{question.prompt ?? kindWords[question.kind]}</h2>
        <p class="quiet">
          {kindWords[question.kind]}{question.nodeId && ` · node ${question.nodeId}`} · asked {ago(question.askedAt)}
          {question.state === 'pending' && question.deadlineAt && <> · <Deadline at={question.deadlineAt} /></>}
        </p>
      </header>
      {question.state === 'pending' ? <Form {...props} /> : <Resolved question={question} />}
      {problem !== '' && <Notice>{problem}</Notice>}
    </article>
  );
}

const kindWords = { inputNode: 'Form', waitForInput: 'Text', waitForChoice: 'Choice', confirm: 'Confirmation' };

interface FormProps extends Pick<Props, 'question' | 'session'> {
  isBusy: boolean;
  errors: Record<string, string>;
  answer: (response: Record<string, unknown>) => Promise<void>;
  setErrors: (errors: Record<string, string>) => void;
}

function Form(props: FormProps) {
  const { question } = props;
  if (!mayWrite()) return <p class="quiet">Your token may read, and not answer.</p>;
  if (question.kind === 'confirm') return <Confirm {...props} />;
  if (question.kind === 'waitForChoice') return <Choices {...props} />;
  if (question.schema && typeof question.schema === 'object') return <SchemaForm {...props} schema={question.schema} />;
  return <TextForm {...props} />;
}

function Skip({ question, isBusy, answer }: FormProps) {
  if (!question.skipLabel) return null;
  return <Button disabled={isBusy} onClick={() => void answer({ skipped: true })}>{question.skipLabel}</Button>;
}

function Confirm(props: FormProps) {
  const { isBusy, answer } = props;
  return (
    <footer class="question-foot">
      <Button kind="primary" icon="check" disabled={isBusy} onClick={() => void answer({ confirmed: true })}>Yes</Button>
      <Button disabled={isBusy} onClick={() => void answer({ confirmed: false })}>No</Button>
      <Skip {...props} />
    </footer>
  );
}

function Choices(props: FormProps) {
  const { question, isBusy, answer } = props;
  const [chosen, setChosen] = useState<string[]>([]);
  const isMultiple = question.selectionMode === 'multiple';
  const toggle = (id: string) => {
    if (isMultiple) setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
    else void answer({ selected: [id] });
  };
  return (
    <>
      <div class={`choices choices-${question.layout ?? 'list'}`} role="group" aria-label="Choices">
        {question.choices?.map(({ id, label, description }) => (
          <button key={id} type="button" class="choice" disabled={isBusy} onClick={() => toggle(id)}
            {...(isMultiple ? { 'aria-pressed': chosen.includes(id) } : {})}>
            <b>{label ?? id}</b>
            {description && <span>{description}</span>}
          </button>
        ))}
      </div>
      <footer class="question-foot">
        {isMultiple && (
          <Button kind="primary" disabled={isBusy || chosen.length === 0} onClick={() => void answer({ selected: chosen })}>
            Answer with {chosen.length}
          </Button>
        )}
        {question.noneOfTheAboveLabel && (
          <Button disabled={isBusy} onClick={() => void answer({ selected: [] })}>{question.noneOfTheAboveLabel}</Button>
        )}
        <Skip {...props} />
      </footer>
    </>
  );
}

function SchemaForm(props: FormProps & { schema: JsonSchema }) {
  const { schema, isBusy, errors, answer, setErrors } = props;
  const [draft, setDraft] = useState<Draft>(() => emptyDraft(schema));
  const submit = (event: Event) => {
    event.preventDefault();
    const reading = readDraft(schema, draft, true);
    if (Object.keys(reading.errors).length > 0) setErrors(reading.errors);
    else void answer({ input: reading.value ?? null });
  };
  return (
    <form class="form question-form" onSubmit={submit} noValidate>
      <SchemaFields schema={schema} name="Answer" draft={draft} errors={errors} pointer="" isRequired onDraft={setDraft} />
      <footer class="question-foot">
        <Button kind="primary" type="submit" disabled={isBusy}>Answer</Button>
        <Skip {...props} />
      </footer>
    </form>
  );
}

// A text, or a file, which becomes an artifact of the session.
function TextForm(props: FormProps) {
  const { session, question, isBusy, answer, setErrors, errors } = props;
  const [text, setText] = useState('');
  const [file, setFile] = useState<File | undefined>(undefined);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!file) return text.trim() === '' ? setErrors({ '': 'This is needed.' }) : answer({ input: text });
    const path = `uploads/${question.id}/${file.name.replace(/[^\w.-]+/g, '_')}`;
    try {
      await call('PUT', artifactPath(session, path), file);
    } catch (error) {
      return setErrors({ '': (error as Error).message });
    }
    return answer({ input: { artifact: path } });
  };
  return (
    <form class="form question-form" onSubmit={(event) => void submit(event)}>
      {!file && (
        <Field label="Answer" {...(errors[''] ? { error: errors[''] } : {})}>
          <textarea class="input" rows={3} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
      )}
      <footer class="question-foot">
        <Button kind="primary" type="submit" disabled={isBusy}>{file ? `Answer with ${file.name}` : 'Answer'}</Button>
        <label class="button file-button">
          {file ? 'Another file' : 'A file instead'}
          <input type="file" class="hidden" onChange={(event) => setFile(event.currentTarget.files?.[0])} />
        </label>
        {file && <Button onClick={() => setFile(undefined)}>A text instead</Button>}
        <Skip {...props} />
      </footer>
    </form>
  );
}

const stateWords = { pending: 'Pending', answered: 'Answered', expired: 'Its time ran out', cancelled: 'Cancelled' };

function Resolved({ question }: { question: Interaction }) {
  return (
    <div class="question-answer">
      <p>
        <b>{stateWords[question.state]}</b>
        {question.resolvedBy && ` by ${question.resolvedBy}`}
        {question.resolvedAt && <span class="quiet"> {fullTime(question.resolvedAt)}</span>}
      </p>
      {question.response && <JsonTree value={question.response} />}
    </div>
  );
}

function Deadline({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const left = Date.parse(at) - now;
  return <span class={left < 60_000 ? 'failure-text' : ''} title={fullTime(at)}>{left > 0 ? `${duration(Math.ceil(left / 1000) * 1000)} left` : 'time is up'}</span>;
}
