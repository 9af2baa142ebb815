// From what an agent calls an element to the element, and back to words that outlive a ref.
//
// A target is a ref (e12, f2e12), a selector, a visible text, or a role with a name. A selector is CSS, or
// text=Save, text="Save" (exactly), role=button[name="Save"], xpath=//button, and >> between parts, each searched
// inside what the part before found; a part nth=2 picks one. CSS may end in :has-text("...") or :visible. Every part
// looks into open shadow roots; one CSS part does not reach across the edge of one. A target must be unique.

const refPattern = /^(?:f\d+)?e\d+$/;

function resolve(target) {
  if (target instanceof Element) return target;
  if (typeof target === 'string') return refPattern.test(target) ? elementOfRef(target) : resolveSelector(target);
  if (target?.ref !== undefined) return elementOfRef(String(target.ref));
  if (target?.selector !== undefined) return resolveSelector(String(target.selector));
  const nth = target?.nth ?? null;
  if (target?.role !== undefined) {
    const { role, name = null } = target;
    return onlyOne(byRole(document, role, name), `role ${role}${name === null ? '' : ` named ${quoted(name)}`}`, nth);
  }
  if (target?.text !== undefined) {
    return onlyOne(byText(document, String(target.text)), `text ${quoted(target.text)}`, nth);
  }
  return fail('invalid', 'a target is a ref, a selector, a text, or a role and a name');
}

const quoted = (text) => JSON.stringify(shorten(String(text), 100));

function onlyOne(found, what, nth = null) {
  if (nth !== null && found.length > 0) {
    return found.at(nth) ?? fail('not_found', `${what}: number ${nth} of ${found.length} does not exist`);
  }
  if (found.length === 1) return found[0];
  if (found.length === 0) return fail('not_found', `nothing on the page matches ${what}`);
  const listed = found.slice(0, LIMITS.listed).map(tagText).join(', ');
  const more = found.length > LIMITS.listed ? ', ...' : '';
  return fail('not_unique', `${found.length} matches for ${what}: ${listed}${more}`);
}

// --- selectors -----------------------------------------------------------------------------------------------

function resolveSelector(selector) {
  let found = [document];
  for (const part of splitChain(selector)) {
    if (part.startsWith('nth=')) {
      found = [found.at(Number(part.slice(4)))].filter(Boolean);
    } else {
      found = [...new Set(found.slice(0, LIMITS.matches).flatMap((scope) => bySelector(scope, part)))];
    }
  }
  return onlyOne(found, `selector ${quoted(selector)}`);
}

// The parts between ">>", which may stand in quotes.
function splitChain(selector) {
  const parts = [''];
  for (const [token] of selector.matchAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|>>|[^]/g)) {
    if (token === '>>') parts.push('');
    else parts[parts.length - 1] += token;
  }
  const trimmed = parts.map((part) => part.trim());
  if (trimmed.includes('')) fail('invalid', `selector ${quoted(selector)} has an empty part`);
  return trimmed;
}

function bySelector(scope, part) {
  const [, engine, body] = /^(css|text|role|xpath|id)=(.*)$/s.exec(part) ?? [];
  if (engine === 'text') return byText(scope, body.trim());
  if (engine === 'role') return byRoleSelector(scope, body.trim());
  if (engine === 'xpath') return byXPath(scope, body);
  if (engine === 'id') return byCss(scope, `#${CSS.escape(body)}`);
  if (!engine && /^(?:\(*\/|\.\.)/.test(part)) return byXPath(scope, part);
  return byCss(scope, engine ? body : part);
}

// CSS with one :has-text("...") and one :visible at its end, as agents write it.
function byCss(scope, selector) {
  const [, css, quote, wanted, visible] = /^(.*?)(?::has-text\((["'])(.*)\2\))?(:visible)?$/s.exec(selector);
  let found = [];
  try {
    found = allRoots(scope).flatMap((root) => [...queryAll(root, quote || visible ? css || '*' : selector)]);
  } catch {
    fail('invalid', `${quoted(selector)} is not a selector`);
  }
  if (quote) {
    const text = tidyText(wanted).toLowerCase();
    found = found.filter((element) => tidyText(textContentOf(element)).toLowerCase().includes(text));
  }
  const look = new Look();
  return visible ? found.filter((element) => isSeen(look, element)) : found;
}

function byXPath(scope, expression) {
  try {
    const found = evaluateXPath(document, expression, scope, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    return Array.from({ length: Math.min(found.snapshotLength, LIMITS.matches) }, (_, i) => found.snapshotItem(i))
      .filter((node) => isElement(node));
  } catch {
    return fail('invalid', `${quoted(expression)} is not an XPath of elements`);
  }
}

// --- text ----------------------------------------------------------------------------------------------------

const isSeen = (look, element) => {
  const box = rectOf(element);
  return isShown(look, element) && box.width > 0 && box.height > 0;
};

// The smallest visible elements with a text: "exactly this" in quotes, /a pattern/, or a part of it in any case.
function byText(scope, wanted) {
  const test = textTest(wanted);
  const look = new Look();
  const found = [];
  const search = (element) => {
    if (!look.spend() || silentTags.has(tagOf(element)) || !test.mayHold(textContentOf(element))) return false;
    let isBelow = false;
    for (let child = firstChildOf(element); child; child = nextSiblingOf(child)) {
      if (isElement(child) && search(child)) isBelow = true;
    }
    if (isBelow) return true;
    if (!isSeen(look, element) || !test.isMatch(tidyText(shownText(look, element)))) return false;
    found.push(element);
    return true;
  };
  for (const root of allRoots(scope)) {
    for (const element of root instanceof Element ? [root] : childNodesOf(root).filter(isElement)) search(element);
    for (const button of queryAll(root, 'input[type=submit],input[type=button],input[type=reset]')) {
      if (isSeen(look, button) && test.isMatch(nameOf(look, button).text)) found.push(button);
    }
  }
  return found;
}

// The text in an element that is drawn, without what is in shadow roots: they are searched by themselves.
function shownText(look, element) {
  let text = '';
  const isSilent = !isShown(look, element);
  for (let child = firstChildOf(element); child && look.spend(); child = nextSiblingOf(child)) {
    const type = nodeTypeOf(child);
    if (type === TEXT_NODE && !isSilent) text += dataOf(child);
    if (type !== ELEMENT_NODE || silentTags.has(tagOf(child))) continue;
    const style = styleOf(look, child);
    if (style & DRAWN) text += style & INLINE ? shownText(look, child) : ` ${shownText(look, child)} `;
    else if (tagOf(child) === 'br') text += ' ';
  }
  return text;
}

function textTest(wanted) {
  const exact = /^(["'])(.*)\1$/s.exec(wanted);
  if (/^\/.+\/[a-z]*$/s.test(wanted)) {
    const pattern = regexOf(wanted);
    return { mayHold: () => true, isMatch: (text) => pattern.test(text.slice(0, LIMITS.regexLine)) };
  }
  const text = tidyText(exact ? exact[2] : wanted);
  const lower = text.toLowerCase();
  const letters = compact(lower);
  const hasSpaces = /[\s\u00ad\u200b]+/g;
  return {
    mayHold: (content) => content.toLowerCase().replace(hasSpaces, '').includes(letters),
    isMatch: exact ? (content) => content === text : (content) => content.toLowerCase().includes(lower),
  };
}

// --- roles ---------------------------------------------------------------------------------------------------

// Tags that can have a role by their place or attributes.
const tagsByContext = {
  button: 'input,summary', cell: 'td', columnheader: 'th', combobox: 'input,select', complementary: 'aside',
  contentinfo: 'footer', banner: 'header', checkbox: 'input', form: 'form', gridcell: 'td', img: 'img,svg',
  link: 'a,area', listbox: 'select', listitem: 'li', radio: 'input', region: 'section', row: 'tr', rowgroup: 'tbody',
  rowheader: 'th', searchbox: 'input', slider: 'input', spinbutton: 'input', switch: 'input',
  textbox: 'input,[contenteditable]',
};

function candidatesSelector(role) {
  if (role === 'generic' || role === 'none') return '*';
  const tags = Object.keys(plainTagRoles).filter((tag) => plainTagRoles[tag] === role);
  return [...tags, Object.hasOwn(tagsByContext, role) ? tagsByContext[role] : '', '[role]'].filter(Boolean).join(',');
}

// Seen, or reached through something that is: an option of a closed list, a checkbox that only its label shows.
function isReachable(look, element) {
  if (isShown(look, element) || isOption(element)) return true;
  if (!isInput(element) || !['checkbox', 'radio'].includes(typeOfInput(element))) return false;
  return labelsIn(look, element).some((label) => isShown(look, label));
}

// Visible elements of a role, in the order of the document; with a name, those that have it, or if none has it
// exactly, those whose name has it as a part in any case.
function byRole(scope, role, name = null, states = []) {
  const look = new Look();
  const wantedRole = Object.hasOwn(roleAliases, role) ? roleAliases[role] : String(role);
  let found = [];
  for (const root of allRoots(scope)) {
    for (const element of queryAll(root, candidatesSelector(wantedRole))) {
      if (!look.spend()) break;
      if (roleOf(element) !== wantedRole) continue;
      if (isReachable(look, element)) found.push(element);
    }
  }
  if (states.length > 0) {
    const focused = focusedElement();
    found = found.filter((element) => {
      const said = statesOf({ element, role: wantedRole }, focused);
      return states.every(({ text, isWanted }) => said.includes(text) === isWanted);
    });
  }
  if (name === null || name === undefined) return found;
  const wanted = tidyText(String(name));
  const exact = found.filter((element) => nameOf(look, element).text === wanted);
  if (exact.length > 0) return exact;
  const part = wanted.toLowerCase();
  return found.filter((element) => nameOf(look, element).text.toLowerCase().includes(part));
}

// button[name="Save"][disabled][level=2]
const attributePattern = new RegExp(String.raw`^\[\s*([\w-]+)\s*`
  + String.raw`(?:\*?=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\]\s]+)\s*[is]?\s*)?\]`);
function byRoleSelector(scope, text) {
  const role = /^[\w-]*/.exec(text)[0];
  let name = null;
  const states = [];
  for (let rest = text.slice(role.length).trim(); rest; ) {
    const attribute = attributePattern.exec(rest);
    if (!attribute) fail('invalid', `${quoted(rest)} in role=${shorten(text, 100)} is not understood`);
    const [all, key, raw = 'true'] = attribute;
    const value = /^["']/.test(raw) ? raw.slice(1, -1).replace(/\\(.)/g, '$1') : raw;
    if (key === 'name') name = value;
    else if (value === 'true' || value === 'false') states.push({ text: ` [${key}]`, isWanted: value === 'true' });
    else states.push({ text: ` [${key}=${value}]`, isWanted: true });
    rest = rest.slice(all.length).trim();
  }
  return byRole(scope, role, name, states);
}
