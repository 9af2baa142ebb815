// A look: what one call has found out about the page.
//
// Everything in it is true until the page's next task and no longer, so each call of the api makes its own and drops
// it. It carries the call's budget as well: when the time or the number of nodes is spent, `isSpent` is set and every
// walk ends early with what it has.
class Look {
  styles = new Map();      // element -> styleOf
  contents = new Map();    // element -> the text it adds to a name from content
  names = new Map();       // element -> nameOf
  owners = new Map();      // element -> the element whose aria-owns took it
  owned = new Map();       // the other way round
  rootsSeen = new Set();   // document and shadow roots whose aria-owns are noted
  labels = new Map();      // root -> control -> its labels
  pseudo = new Map();      // root -> the elements that may have generated text, or null for any
  nodesLeft = LIMITS.nodes;
  nesting = 0;
  isFollowing = false;     // inside an aria-labelledby
  isSpent = false;

  constructor(milliseconds = LIMITS.snapshotMs) {
    this.deadline = performance.now() + milliseconds;
    noteOwners(this, document);
  }

  // Counts a node; false when there must be no more of them.
  spend() {
    if (this.isSpent) return false;
    this.nodesLeft -= 1;
    if (this.nodesLeft <= 0 || (this.nodesLeft % 64 === 0 && performance.now() > this.deadline)) this.isSpent = true;
    return !this.isSpent;
  }
}

const computedStyle = window.getComputedStyle.bind(window);

// How an element is drawn, as bits: one small number per element leaves nothing for the garbage collector, which
// took a third of the time when it was an object.
const DRAWN = 1;      // it has a box, or its children stand in its place
const SHOWN = 2;      // and is not made invisible
const CONTENTS = 4;   // display: contents
const INLINE = 8;     // in a line of text (display: contents is, too)
const POINTER = 16;   // the cursor over it is a hand
const TARGET = 32;    // it takes pointer events
const SKIPPED = 64;   // what is in it is not drawn: content-visibility: hidden, and with it hidden="until-found"

function styleOf(look, element) {
  const known = look.styles.get(element);
  if (known !== undefined) return known;
  const css = computedStyle(element);
  const display = css.display;
  let style = display === 'contents' ? CONTENTS | INLINE : display === 'inline' ? INLINE : 0;
  if (display === 'contents' ? isDrawnContents(look, element) : hasBoxNow(element)) {
    style |= DRAWN;
    if (css.visibility === 'visible') style |= SHOWN;
    if (css.cursor === 'pointer') style |= POINTER;
    if (css.pointerEvents !== 'none') style |= TARGET;
    if (css.contentVisibility === 'hidden') style |= SKIPPED;
  }
  look.styles.set(element, style);
  return style;
}

const isDrawn = (look, element) => (styleOf(look, element) & DRAWN) !== 0;
const isShown = (look, element) => (styleOf(look, element) & SHOWN) !== 0;

function isDrawnContents(look, element) {
  const parent = flatParentOf(element);
  return parent === null || isDrawn(look, parent);
}

// The children in the tree that is drawn, with aria-owns obeyed: nodes, elements and texts.
function childrenOf(look, element) {
  const shadow = shadowOf(element);
  let children = null;
  if (shadow) {
    noteOwners(look, shadow);
    children = childNodesOf(shadow);
  } else if (element instanceof HTMLSlotElement) {
    children = assignedOf(element);
  }
  if (!children?.length && !shadow) children = childNodesOf(element);
  if (element instanceof HTMLDetailsElement && !isDetailsOpen(element)) children = children.filter(isSummary);
  if (look.owners.size === 0) return children;
  children = children.filter((child) => !look.owners.has(child));
  return look.owned.has(element) ? [...children, ...look.owned.get(element)] : children;
}

const isDetailsOpen = reader(HTMLDetailsElement, 'open');
const isSummary = (node) => isElement(node) && tagOf(node) === 'summary';

function childNodesOf(node) {
  const children = [];
  for (let child = firstChildOf(node); child; child = nextSiblingOf(child)) children.push(child);
  return children;
}

// Who owns whom by aria-owns in a tree. The first owner counts, and nobody owns what it is in.
function noteOwners(look, root) {
  if (look.rootsSeen.has(root)) return;
  look.rootsSeen.add(root);
  for (const owner of queryAll(root, '[aria-owns]')) {
    for (const element of referencedBy(owner, 'aria-owns')) {
      if (look.owners.has(element) || isAbove(look, element, owner)) continue;
      look.owners.set(element, owner);
      if (look.owned.has(owner)) look.owned.get(owner).push(element);
      else look.owned.set(owner, [element]);
    }
    if (!look.spend()) return;
  }
}

function isAbove(look, element, below) {
  let steps = 0;
  for (let at = below; at && steps < LIMITS.nesting * 4; at = look.owners.get(at) ?? flatParentOf(at), ++steps) {
    if (at === element) return true;
  }
  return false;
}

function referencedBy(element, attribute) {
  const ids = (attributeOf(element, attribute) ?? '').trim().split(/\s+/, LIMITS.ids);
  const root = rootOf(element);
  if (!isShadowRoot(root) && !isDocument(root)) return [];
  return ids.filter(Boolean).map((id) => elementById(root, id)).filter(Boolean);
}

// --- generated text ------------------------------------------------------------------------------------------
//
// Asking for ::before and ::after of every element is half of the time of a snapshot (measured: 95 of 190 ms for
// 16,000 elements). So the style sheets are asked first which elements can have any. A sheet of another origin cannot
// be read, and one with many more rules than there are elements takes longer to read than the elements: then every
// element is asked.

const sheetFindings = new WeakMap();  // sheet -> {length, selectors, isUnclear}
const pseudoPattern = /::?(?:before|after)\b/i;

function mayHaveGeneratedText(look, element) {
  const root = rootOf(element);
  if (!look.pseudo.has(root)) look.pseudo.set(root, elementsWithGeneratedText(root));
  const elements = look.pseudo.get(root);
  return elements === null || elements.has(element);
}

function elementsWithGeneratedText(root) {
  if (!isDocument(root) && !isShadowRoot(root)) return null;
  const search = { selectors: [], rulesLeft: 500 + LIMITS.styleRules * queryAll(root, '*').length };
  for (const sheet of [...styleSheetsOf(root), ...adoptedSheetsOf(root)]) {
    const found = searchSheet(sheet, search, 0);
    if (found.isUnclear) return null;
    search.selectors.push(...found.selectors);
  }
  if (search.selectors.length > LIMITS.pseudoRules) return null;
  const elements = new Set();
  try {
    for (const selector of search.selectors) for (const element of queryAll(root, selector)) elements.add(element);
  } catch {
    return null;
  }
  return elements;
}

const unclear = { isUnclear: true, selectors: [] };

function searchSheet(sheet, search, nesting) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return unclear;
  }
  const known = sheetFindings.get(sheet);
  if (known?.length === rules.length) return known;
  const found = { length: rules.length, selectors: [], isUnclear: false };
  const owner = sheet.ownerNode;
  if (!(owner instanceof HTMLStyleElement) || /before|after|@import/i.test(textContentOf(owner))) {
    search.rulesLeft -= rules.length;
    if (search.rulesLeft < 0) return unclear;
    searchRules(rules, found, search, nesting);
  }
  sheetFindings.set(sheet, found);
  return found;
}

function searchRules(rules, found, search, nesting) {
  if (nesting > 20) found.isUnclear = true;
  for (const rule of rules) {
    if (found.isUnclear) return;
    if (rule instanceof CSSStyleRule) {
      if (pseudoPattern.test(rule.selectorText)) noteRule(rule, found);
      // A nested rule may be "&::before"; it is rare enough to ask every element then.
      if (rule.cssRules.length > 0) found.isUnclear ||= hasNestedText(rule.cssRules);
    } else if (rule instanceof CSSImportRule) {
      const imported = rule.styleSheet ? searchSheet(rule.styleSheet, search, nesting + 1) : unclear;
      found.isUnclear ||= imported.isUnclear;
      found.selectors.push(...imported.selectors);
    } else if (rule instanceof CSSScopeRule) {
      found.isUnclear ||= pseudoPattern.test(rule.cssText);
    } else if (rule instanceof CSSGroupingRule) {
      searchRules(rule.cssRules, found, search, nesting + 1);
    }
  }
}

function hasNestedText(rules) {
  return [...rules].some((rule) =>
    (rule.style && pseudoPattern.test(rule.selectorText ?? '') && saysSomething(rule.style.content))
    || (rule.cssRules && hasNestedText(rule.cssRules)));
}

function noteRule(rule, found) {
  if (!saysSomething(rule.style.content)) return;
  // "a > ::before, b::after" as the selector of the elements themselves: "a > *, b".
  found.selectors.push(rule.selectorText.replace(/(^|[\s>+~,(])::?(?:before|after)\b/gi, '$1*')
    .replace(/::?(?:before|after)\b/gi, ''));
}

function saysSomething(content) {
  if (!content || content === 'none' || content === 'normal') return false;
  if (/\b(?:var|attr|counters?)\(/.test(content)) return true;
  return tidyText(generatedTextOf(content)) !== '';
}

// The text of a computed `content`; what follows a slash is its alternative text.
function generatedTextOf(content) {
  let text = '';
  let alternative = null;
  for (const [token, string] of content.matchAll(/"((?:[^"\\]|\\.)*)"|\/|[^"/]+/g)) {
    if (token === '/') alternative = '';
    else if (string === undefined) continue;
    else if (alternative === null) text += unescapeCss(string);
    else alternative += unescapeCss(string);
  }
  return alternative ?? text;
}

function unescapeCss(string) {
  return string.replace(/\\(?:([0-9a-f]{1,6})\s?|(.))/gi, (_, hex, character) => {
    if (!hex) return character;
    const code = Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
}

function generatedText(look, element, which) {
  if (!mayHaveGeneratedText(look, element)) return '';
  const css = computedStyle(element, which);
  const content = css.content;
  if (!content || content === 'none' || content === 'normal' || css.display === 'none') return '';
  const text = generatedTextOf(content);
  if (css.visibility !== 'visible') return '';
  return css.display === 'inline' ? text : ` ${text} `;
}
