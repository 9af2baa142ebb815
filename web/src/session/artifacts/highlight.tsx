// Code with its comments, texts, numbers and words of the language in colours. Coarse, and the same for every language.
import type { ComponentChildren } from 'preact';

const words = new Set((`abstract and as async await break case catch class const continue def default delete do elif else enum export
extends false final finally fn for from func function if impl import in interface is lambda let match mod module mut namespace
new nil None not null or override package pass private protected pub public raise return self static struct super switch
template this throw trait true True False try type typeof union use using var virtual void while with yield`).split(/\s+/));

const token = /(\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->)|("""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|(\b\d[\w.]*\b)|([A-Za-z_]\w*)/g;
// Beyond this a text is shown as it is.
const maxBytes = 200_000;

export function Code({ text, isPlain = false }: { text: string; isPlain?: boolean }) {
  return <pre class="code code-file" tabIndex={0}>{isPlain || text.length > maxBytes ? text : partsOf(text)}</pre>;
}

function partsOf(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const found of text.matchAll(token)) {
    const [whole, comment, quoted, number, word] = found;
    const kind = comment ? 'comment' : quoted ? 'text' : number ? 'number' : word && words.has(word) ? 'word' : '';
    if (kind === '') continue;
    parts.push(text.slice(at, found.index), <span class={`code-${kind}`}>{whole}</span>);
    at = found.index + whole.length;
  }
  parts.push(text.slice(at));
  return parts;
}
