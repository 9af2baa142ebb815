// Markdown as elements: headings, lists, quotes, code, emphasis, links. No HTML of the text is ever taken as HTML, and a
// link leads to http and https only.
import type { ComponentChildren } from 'preact';

export function Markdown({ text }: { text: string }) {
  return <div class="markdown">{blocksOf(text.split('\n'))}</div>;
}

function blocksOf(lines: string[]): ComponentChildren[] {
  const blocks: ComponentChildren[] = [];
  let at = 0;
  // The lines from here on that belong together.
  const take = (belongs: (line: string) => boolean) => {
    const start = at;
    while (at < lines.length && belongs(lines[at] ?? '')) at += 1;
    return lines.slice(start, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (line.trim() === '') {
      at += 1;
    } else if (/^(```|~~~)/.test(line)) {
      at += 1;
      const code = take((one) => !/^(```|~~~)/.test(one));
      at += 1;
      blocks.push(<pre class="code">{code.join('\n')}</pre>);
    } else if (heading) {
      at += 1;
      const Tag = `h${Math.min((heading[1]?.length ?? 1) + 2, 6)}` as 'h3';
      blocks.push(<Tag>{inline(heading[2] ?? '')}</Tag>);
    } else if (/^\s*([-*+]|\d+[.)])\s+/.test(line)) {
      const isOrdered = /^\s*\d/.test(line);
      const items = take((one) => /^\s*([-*+]|\d+[.)])\s+/.test(one)).map((one) => one.replace(/^\s*([-*+]|\d+[.)])\s+/, ''));
      const List = isOrdered ? 'ol' : 'ul';
      blocks.push(<List>{items.map((item, index) => <li key={index}>{inline(item)}</li>)}</List>);
    } else if (/^>/.test(line)) {
      blocks.push(<blockquote>{blocksOf(take((one) => /^>/.test(one)).map((one) => one.replace(/^>\s?/, '')))}</blockquote>);
    } else if (/^(-{3,}|\*{3,})$/.test(line.trim())) {
      at += 1;
      blocks.push(<hr />);
    } else {
      const paragraph = take((one) => one.trim() !== '' && !/^(```|~~~|#{1,6}\s|>|\s*([-*+]|\d+[.)])\s)/.test(one));
      blocks.push(<p>{inline(paragraph.join(' '))}</p>);
    }
  }
  return blocks;
}

const spans = /(`[^`]+`)|(\*\*[^*]+\*\*)|(\*[^*\s][^*]*\*)|(\[[^\]]+\]\([^)\s]+\))/;

function inline(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let rest = text;
  for (let found = spans.exec(rest); found; found = spans.exec(rest)) {
    parts.push(rest.slice(0, found.index), spanOf(found[0]));
    rest = rest.slice(found.index + found[0].length);
  }
  parts.push(rest);
  return parts;
}

function spanOf(span: string): ComponentChildren {
  if (span.startsWith('`')) return <code>{span.slice(1, -1)}</code>;
  if (span.startsWith('**')) return <strong>{span.slice(2, -2)}</strong>;
  if (span.startsWith('*')) return <em>{span.slice(1, -1)}</em>;
  const [, label = '', target = ''] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(span) ?? [];
  if (!/^https?:\/\//.test(target)) return <>{label}</>;
  return <a href={target} target="_blank" rel="noreferrer noopener">{label}</a>;
}
