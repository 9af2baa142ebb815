// Fields for a JSON Schema.
import type { JsonSchema } from '../../api/types';
import { Field } from '../../ui/parts';
import { type Draft, kindOf } from './form';

interface Props {
  schema: JsonSchema;
  name: string;
  draft: Draft;
  errors: Record<string, string>;
  pointer: string;
  isRequired: boolean;
  onDraft: (draft: Draft) => void;
}

export function SchemaFields(props: Props) {
  const { schema, name, draft, errors, pointer, isRequired, onDraft } = props;
  const kind = kindOf(schema);
  const label = `${schema.title ?? name}${isRequired ? '' : ' (optional)'}`;
  const about = { ...(schema.description ? { hint: schema.description } : {}), ...(errors[pointer] ? { error: errors[pointer] } : {}) };
  switch (kind) {
    case 'object':
      return <ObjectFields {...props} />;
    case 'boolean':
      return (
        <label class="field-check">
          <input type="checkbox" checked={draft === true} onChange={(event) => onDraft(event.currentTarget.checked)} />
          {schema.title ?? name}
        </label>
      );
    case 'choice':
      return (
        <Field label={label} {...about}>
          <select class="input" value={String(draft)} onChange={(event) => onDraft(event.currentTarget.value)}>
            <option value="">–</option>
            {schema.enum?.map((value) => <option key={JSON.stringify(value)} value={JSON.stringify(value)}>{wordOf(value)}</option>)}
          </select>
        </Field>
      );
    case 'choices':
      return (
        <fieldset class="fieldset">
          <legend>{label}</legend>
          {schema.items?.enum?.map((value) => {
            const text = JSON.stringify(value);
            const chosen = draft as string[];
            return (
              <label key={text} class="field-check">
                <input type="checkbox" checked={chosen.includes(text)}
                  onChange={() => onDraft(chosen.includes(text) ? chosen.filter((one) => one !== text) : [...chosen, text])} />
                {wordOf(value)}
              </label>
            );
          })}
        </fieldset>
      );
    case 'longText':
    case 'json':
      return (
        <Field label={kind === 'json' ? `${label} – JSON` : label} {...about}>
          <textarea class="input" rows={4} value={String(draft)} onInput={(event) => onDraft(event.currentTarget.value)} />
        </Field>
      );
    default:
      return (
        <Field label={label} {...about}>
          <input class="input" type={kind === 'number' ? 'number' : inputType(schema)} step="any" value={String(draft)}
            onInput={(event) => onDraft(event.currentTarget.value)} />
        </Field>
      );
  }
}

function ObjectFields({ schema, name, draft, errors, pointer, onDraft }: Props) {
  const fields = draft as { [name: string]: Draft };
  const inner = Object.entries(schema.properties ?? {}).map(([key, part]) => (
    <SchemaFields key={key} schema={part} name={key} draft={fields[key] ?? ''} errors={errors} pointer={`${pointer}/${key}`}
      isRequired={schema.required?.includes(key) ?? false} onDraft={(next) => onDraft({ ...fields, [key]: next })} />
  ));
  if (pointer === '') return <>{inner}</>;
  return <fieldset class="fieldset"><legend>{schema.title ?? name}</legend>{inner}</fieldset>;
}

const wordOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function inputType(schema: JsonSchema): string {
  return { email: 'email', date: 'date', uri: 'url', 'date-time': 'text' }[schema.format ?? ''] ?? 'text';
}
