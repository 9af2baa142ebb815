// The snapshot's text: YAML-like lines.
//
//     - heading "Orders" [level=1] [ref=e2]
//     - list [ref=e3]:
//       - listitem [ref=e4]:
//         - text: Paid
//         - link "Invoice 7" [ref=e5] [cursor=pointer]:
//           - /url: /invoices/7
//
// A ref is given to what has a box and takes pointer events. `frames` says below which lines the snapshots of child
// frames belong. When the text would grow over `maxBytes` the rest is only counted, and the last line says how much
// it was.

let lastPrefix = '';  // a call that names none has that of the call before

class Rendering {
  lines = [];       // {text, said, ref, parent}; said is what the line says before it is quoted
  frames = [];
  nodes = 0;
  bytes = 0;
  leftLines = 0;
  leftBytes = 0;

  constructor(look, { prefix, depth, boxes, maxBytes }) {
    this.look = look;
    this.prefix = lastPrefix = prefix ?? lastPrefix;
    this.depth = depth > 0 ? depth : Infinity;
    this.hasBoxes = boxes ?? false;
    this.maxBytes = maxBytes ?? LIMITS.snapshotBytes;
  }

  add(children) {
    for (const child of children) this.#child(child, 0, -1, false);
  }

  // `isPointerShown`: an ancestor has said [cursor=pointer] already.
  #child(child, level, parent, isPointerShown) {
    if (typeof child === 'string') {
      this.#line(level, `text: ${yamlValue(child)}`, { said: child, parent });
      return;
    }
    this.nodes += 1;
    const { ref, suffix } = this.#refAndBox(child, isPointerShown);
    const key = yamlKey(child.role + (child.name ? ` ${JSON.stringify(child.name)}` : '') + child.states + suffix);
    const below = [...child.props.map(([name, value]) => `/${name}: ${yamlValue(value)}`),
      ...(child.text ? [child.text] : []), ...child.children];
    const isOneText = child.props.length === 0 && below.length === 1 && typeof below[0] === 'string';
    if (isOneText) {
      this.#line(level, `${key}: ${yamlValue(below[0])}`, { said: `${child.name} ${below[0]}`, parent, ref });
      return;
    }
    const isOpen = below.length > 0 && level + 1 < this.depth;
    const at = this.#line(level, isOpen ? `${key}:` : key, { said: child.name, parent, ref });
    if (child.role === 'iframe' && at >= 0) this.frames.push({ ref, line: at, indent: level * 2 });
    if (!isOpen) return;
    const isShown = isPointerShown || (ref !== null && child.state.isPointer);
    for (const [index, inner] of below.entries()) {
      if (index < child.props.length) this.#line(level + 1, inner, { said: child.props[index][1], parent: at });
      else this.#child(inner, level + 1, at, isShown);
    }
  }

  #refAndBox({ element, role, name, fullName = name, style, state }, isPointerShown) {
    const box = rectOf(element);
    const hasArea = box.width > 0 && box.height > 0 && (style & (DRAWN | CONTENTS)) === DRAWN;
    const isTarget = hasArea && ((!state.isInert && style & TARGET) || role === 'iframe');
    const ref = isTarget ? refFor(element, this.prefix, role, fullName, box) : null;
    let suffix = ref === null ? '' : ` [ref=${ref}]`;
    if (ref !== null && state.isPointer && !isPointerShown) suffix += ' [cursor=pointer]';
    if (this.hasBoxes && hasArea) suffix += ` [box=${[box.x, box.y, box.width, box.height].map(Math.round).join(',')}]`;
    return { ref, suffix };
  }

  // The line's index, or -1 if there was no room for it.
  #line(level, text, { said, parent, ref = null }) {
    const line = `${'  '.repeat(level)}- ${text}`.toWellFormed();
    const size = byteLength(line) + 1;
    if (this.leftLines > 0 || this.bytes + size > this.maxBytes) {
      this.leftLines += 1;
      this.leftBytes += size;
      return -1;
    }
    this.bytes += size;
    return this.lines.push({ text: line, said, ref, parent }) - 1;
  }

  result() {
    const lines = this.lines.map(({ text }) => text);
    const isTruncated = this.leftLines > 0 || this.look.isSpent;
    if (this.leftLines > 0) {
      const left = `${this.leftLines} more lines (${this.leftBytes} bytes)`;
      lines.push(`# truncated: ${left} do not fit in ${this.maxBytes} bytes;`
        + ' ask for a part of the page by its ref, or for less depth');
    }
    if (this.look.isSpent) lines.push('# truncated: the page is too large; what comes after this was not read');
    return { text: lines.join('\n'), frames: this.frames, truncated: isTruncated, nodes: this.nodes };
  }
}

const yamlKey = (key) => (/:\s| #|:$/.test(key) ? `'${key.replaceAll("'", "''")}'` : key);

// Plain where YAML reads a plain string, else quoted as JSON does it.
const yamlIndicator = /^[-?:,[\]{}#&*!|>'"%@`\s]|:\s|:$|\s#|\s$/;
const yamlWord = /^(?:<<|=|y|n|yes|no|on|off|true|false|null|~|\.inf|\.nan|[-+]?[\d.][\d.,:_eExXoa-fA-F+-]*)$/i;
const isPlainYaml = (text) => text !== '' && !yamlIndicator.test(text) && !yamlWord.test(text);
const yamlValue = (text) => (isPlainYaml(text) ? text : JSON.stringify(text));

const startOfPage = () => bodyOf(document) ?? documentElementOf(document);

function render(options) {
  const look = new Look(options.timeBudget ?? LIMITS.snapshotMs);
  const root = options.root ? resolve(options.root) : startOfPage();
  const rendering = new Rendering(look, options);
  if (root) rendering.add(new Walk(look).read(root));
  return rendering;
}

function snapshot(options = {}) {
  return render(options).result();
}

// The lines that say something, with the lines they stand under.
function find({ text, regex, maxMatches = LIMITS.findMatches, ...options } = {}) {
  const wanted = text === undefined || text === null ? null : tidyText(String(text)).toLowerCase();
  const pattern = regex === undefined || regex === null ? null : regexOf(String(regex));
  if (wanted === null && pattern === null) fail('invalid', 'find needs a text or a regex');
  const { lines } = render({ ...options, maxBytes: LIMITS.findBytes });
  const isMatch = pattern ? (said) => pattern.test(said.slice(0, LIMITS.regexLine))
    : (said) => said.toLowerCase().includes(wanted);
  const matching = [];
  let total = 0;
  for (const line of lines) {
    if (!isMatch(line.said) && !isMatch(line.text)) continue;
    total += 1;
    if (matching.length >= maxMatches) continue;
    const context = [];
    let ref = line.ref;
    for (let at = line.parent; at >= 0; at = lines[at].parent) {
      context.unshift(lines[at].text);
      ref ??= lines[at].ref;
    }
    matching.push({ line: line.text, ref, context });
  }
  return { matches: matching, total };
}

// `pattern` or `/pattern/flags`.
function regexOf(text) {
  const [, pattern = text, flags = 'i'] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? [];
  try {
    return new RegExp(pattern, flags.replace(/[gy]/g, ''));
  } catch (error) {
    return fail('invalid', `regex ${JSON.stringify(text)}: ${error.message}`);
  }
}
