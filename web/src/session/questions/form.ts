// The state of a form made from a JSON Schema: texts as they are typed, and the value they stand for.
import type { JsonSchema } from '../../api/types';

export type FieldKind = 'text' | 'longText' | 'number' | 'boolean' | 'choice' | 'choices' | 'object' | 'json';

export function kindOf(schema: JsonSchema): FieldKind {
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type;
  if (schema.enum) return 'choice';
  if (type === 'object' && schema.properties) return 'object';
  if (type === 'array' && schema.items?.enum) return 'choices';
  if (type === 'boolean') return 'boolean';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'string') return (schema.maxLength ?? 0) > 200 ? 'longText' : 'text';
  return 'json';
}

// What is in a field: a text, a box, several choices, or fields again.
export type Draft = string | boolean | string[] | { [name: string]: Draft };

export function emptyDraft(schema: JsonSchema): Draft {
  const kind = kindOf(schema);
  if (kind === 'object') {
    return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, emptyDraft(inner)]));
  }
  if (kind === 'boolean') return schema.default === true;
  if (kind === 'choices') return [];
  if (schema.default === undefined) return '';
  return kind === 'json' || kind === 'choice' ? JSON.stringify(schema.default) : String(schema.default);
}

export interface Reading {
  value: unknown;  // undefined: left out
  errors: Record<string, string>;  // by JSON pointer
}

// The value of a draft. What is empty and not required is left out; the server has the last word on the rest.
export function readDraft(schema: JsonSchema, draft: Draft, isRequired: boolean, pointer = ''): Reading {
  const kind = kindOf(schema);
  if (kind === 'object' && typeof draft === 'object' && !Array.isArray(draft)) return readObject(schema, draft, pointer);
  if (kind === 'boolean' || kind === 'choices') {
    return { value: kind === 'choices' ? (draft as string[]).map((text) => JSON.parse(text) as unknown) : draft, errors: {} };
  }
  const text = String(draft);
  const wrong = (detail: string): Reading => ({ value: undefined, errors: { [pointer]: detail } });
  if (text.trim() === '') return isRequired ? wrong('This is needed.') : { value: undefined, errors: {} };
  if (kind === 'number') {
    const value = Number(text);
    if (Number.isNaN(value)) return wrong('This is not a number.');
    if (schema.minimum !== undefined && value < schema.minimum) return wrong(`At least ${schema.minimum}.`);
    if (schema.maximum !== undefined && value > schema.maximum) return wrong(`At most ${schema.maximum}.`);
    return { value, errors: {} };
  }
  if (kind === 'json' || kind === 'choice') {
    try {
      return { value: JSON.parse(text) as unknown, errors: {} };
    } catch {
      return wrong('This is not JSON.');
    }
  }
  if (schema.minLength !== undefined && [...text].length < schema.minLength) return wrong(`At least ${schema.minLength} characters.`);
  if (schema.maxLength !== undefined && [...text].length > schema.maxLength) return wrong(`At most ${schema.maxLength} characters.`);
  return { value: text, errors: {} };
}

function readObject(schema: JsonSchema, draft: { [name: string]: Draft }, pointer: string): Reading {
  const value: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const isRequired = schema.required?.includes(name) ?? false;
    const reading = readDraft(inner, draft[name] ?? '', isRequired, `${pointer}/${name}`);
    Object.assign(errors, reading.errors);
    if (reading.value !== undefined) value[name] = reading.value;
  }
  return { value, errors };
}
