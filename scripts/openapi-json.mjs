// Writes api/openapi.json from api/openapi.yaml: `node scripts/openapi-json.mjs`. Both are in the tree, because the
// server embeds the JSON and building it must not need Node; tests/tidy checks that they agree.
//
// The YAML is a strict subset, so that a parser of one page reads it as every YAML parser does: two spaces a level;
// block mappings and sequences; a value is a plain scalar, a JSON string in double quotes, a flow sequence or mapping
// on one line, or a folded block (`>-`); comments stand on lines of their own. Anything else is refused.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export function openapiJson(yaml) {
  return `${JSON.stringify(parseYaml(yaml), null, 1)}\n`;
}

export function parseYaml(text) {
  const lines = text.split('\n').map((line, index) => ({ number: index + 1, indent: /^ */.exec(line)[0].length, text: line.trim(), raw: line }))
    .filter(({ text: content }) => !content.startsWith('#'));
  let at = 0;
  const refuse = (line, why) => { throw new Error(`openapi.yaml:${line?.number ?? 'end'}: ${why}`); };
  const skipEmpty = () => { while (at < lines.length && lines[at].text === '') ++at; };

  const peek = () => {
    skipEmpty();
    const line = lines[at];
    if (line && (line.raw.includes('\t') || /\s$/.test(line.raw))) refuse(line, 'a tab or white space at the end');
    return line;
  };

  function block(indent) {
    const line = peek();
    if (!line || line.indent !== indent) refuse(line, `expected a block at column ${indent}`);
    return line.text.startsWith('- ') ? sequence(indent) : mapping(indent);
  }

  function sequence(indent) {
    const items = [];
    for (let line = peek(); line?.indent === indent && line.text.startsWith('- '); line = peek()) {
      // The item begins two columns further in, on the same line.
      const content = line.text.slice(2);
      if (/^("(?:[^"\\]|\\.)*"|[\w$/.{}+-]+):( |$)/.test(content)) {
        lines[at] = { ...line, indent: indent + 2, text: content, raw: `${' '.repeat(indent + 2)}${content}` };
        items.push(mapping(indent + 2));
      } else {
        ++at;
        items.push(scalar(content, line));
      }
    }
    end(indent);
    return items;
  }

  function mapping(indent) {
    const result = {};
    for (let line = peek(); line?.indent === indent && !line.text.startsWith('- '); line = peek()) {
      const entry = /^("(?:[^"\\]|\\.)*"|[\w$/.{}+-]+):(?: (.*))?$/.exec(line.text);
      if (!entry) refuse(line, 'expected `key: value`');
      const key = entry[1].startsWith('"') ? JSON.parse(entry[1]) : entry[1];
      if (Object.hasOwn(result, key)) refuse(line, `${key} stands here twice`);
      ++at;
      if (entry[2] === undefined) result[key] = block(indent + 2);
      else if (entry[2] === '>-') result[key] = folded(indent);
      else result[key] = scalar(entry[2], line);
    }
    end(indent);
    return result;
  }

  function end(indent) {
    const line = peek();
    if (line && line.indent > indent) refuse(line, 'is indented too far');
  }

  // Lines further in than the key, joined by spaces; an empty line is a line break.
  function folded(indent) {
    const parts = [];
    while (at < lines.length && (lines[at].text === '' || lines[at].indent > indent)) {
      if (lines[at].text !== '' && lines[at].indent !== indent + 2) refuse(lines[at], 'folded text is indented by two');
      parts.push(lines[at++].text);
    }
    while (parts.at(-1) === '') parts.pop();
    return parts.join('\n').replace(/([^\n])\n(?=[^\n])/g, '$1 ').replace(/\n\n/g, '\n');
  }

  function scalar(source, line) {
    const [value, rest] = flow(source, line, false);
    if (rest !== '') refuse(line, `cannot read ${source}`);
    return value;
  }

  // One value and what follows it.
  function flow(source, line, isInside) {
    if (source.startsWith('"')) {
      const quoted = /^"(?:[^"\\]|\\.)*"/.exec(source)?.[0] ?? refuse(line, 'a string without its end');
      return [JSON.parse(quoted), source.slice(quoted.length)];
    }
    if (source.startsWith('[')) return flowItems(source, line, ']');
    if (source.startsWith('{')) return flowItems(source, line, '}');
    const plain = isInside ? /^[^,[\]{}]+/.exec(source)?.[0] : source;
    if (!plain || /^[&*!|>%@`'#?-](?![0-9a-zA-Z])|: |:$| #|^[&*!'"%@`]/.test(plain.trim())) refuse(line, `quote ${source}`);
    return [typed(plain.trim()), source.slice(plain.length)];
  }

  function flowItems(source, line, close) {
    const result = close === ']' ? [] : {};
    let rest = source.slice(1).trimStart();
    while (!rest.startsWith(close)) {
      let key;
      if (close === '}') {
        const named = /^("(?:[^"\\]|\\.)*"|[\w$/.-]+): */.exec(rest) ?? refuse(line, `expected key: value at ${rest}`);
        key = named[1].startsWith('"') ? JSON.parse(named[1]) : named[1];
        if (Object.hasOwn(result, key)) refuse(line, `${key} stands here twice`);
        rest = rest.slice(named[0].length);
      }
      const [value, after] = flow(rest, line, true);
      if (close === ']') result.push(value);
      else result[key] = value;
      rest = after.trimStart();
      if (rest.startsWith(',')) rest = rest.slice(1).trimStart();
      else if (!rest.startsWith(close)) refuse(line, `expected , or ${close} at ${rest}`);
    }
    return [result, rest.slice(1)];
  }

  const document = block(0);
  if (peek()) refuse(peek(), 'does not belong to the block before it');
  return document;
}

// Plain scalars of YAML's core schema, as far as they are used. Words that YAML 1.1 reads as booleans must be quoted.
function typed(plain) {
  if (plain === 'true' || plain === 'false' || plain === 'null') return JSON.parse(plain);
  if (/^(y|n|yes|no|on|off|~|True|False|Null|TRUE|FALSE|NULL)$/i.test(plain)) throw new Error(`openapi.yaml: quote ${plain}`);
  if (/^-?(0|[1-9]\d*)(\.\d+)?$/.test(plain)) return Number(plain);
  if (/^[\d.+-][\d._:eExXoTZ+-]*$/.test(plain)) throw new Error(`openapi.yaml: quote ${plain}`);
  return plain;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
  writeFileSync(path.join(root, 'api/openapi.json'), openapiJson(readFileSync(path.join(root, 'api/openapi.yaml'), 'utf8')));
}
