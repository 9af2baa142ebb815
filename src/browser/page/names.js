// Accessible names, by "Accessible Name and Description Computation 1.2" and the HTML mapping of it.
//
// The order: aria-labelledby, aria-label, what HTML gives (labels, alt, value, legend, caption), what is in the
// element if its role allows it, title, placeholder. Text in a hidden element counts only where it is referred to.
// The text an element adds to a name is worked out once per look, so that a row's name costs no second walk of its
// cells. A name that went on for too long is cut; the snapshot drops it.

const valueOfInput = reader(HTMLInputElement, 'value');
const valueOfTextArea = reader(HTMLTextAreaElement, 'value');
const filesOf = reader(HTMLInputElement, 'files');
const labelOfOption = reader(HTMLOptionElement, 'label');
const textOfOption = reader(HTMLOptionElement, 'text');
const isOptionSelected = reader(HTMLOptionElement, 'selected');
const labelable = words('button input meter output progress select textarea');
const controlOf = reader(HTMLLabelElement, 'control');

// An attribute that says something to a reader; of more than a name may have, the beginning.
const said = (element, name) => tidyText((attributeOf(element, name) ?? '').slice(0, LIMITS.nameRead));

// {text, isContent}: the name, and whether it is only what a reader finds inside anyway.
function nameOf(look, element, role = roleOf(element)) {
  const known = look.names.get(element);
  if (known) return known;
  const name = { text: '', isContent: false };
  const given = authorName(look, element) || nativeName(look, element);
  if (given) {
    name.text = tidyText(given);
  } else if (namedByContent.has(role) || isNamedByContentTag(element)) {
    name.text = tidyText(contentText(look, element, false));
    name.isContent = name.text !== '';
  }
  if (!name.text) {
    name.text = said(element, 'title') || placeholderOf(element);
  }
  look.names.set(element, name);
  return name;
}

const isNamedByContentTag = (element) => tagOf(element) === 'summary' && isHtml(element);

// What the author says with aria-labelledby or aria-label.
function authorName(look, element) {
  if (!hasAttributes(element)) return '';
  if (!look.isFollowing && hasAttribute(element, 'aria-labelledby')) {
    look.isFollowing = true;
    const parts = labelledBy(element).map((other) => referredText(look, other, element));
    look.isFollowing = false;
    const text = tidyText(parts.join(' '));
    if (text) return text;
  }
  return said(element, 'aria-label');
}

// The elements, by id or, where a script set them as objects, by what the browser keeps of that.
const labelledByObjects = Object.getOwnPropertyDescriptor(Element.prototype, 'ariaLabelledByElements')?.get;
function labelledBy(element) {
  if (attributeOf(element, 'aria-labelledby') !== '' || !labelledByObjects) {
    return referencedBy(element, 'aria-labelledby');
  }
  return [...labelledByObjects.call(element) ?? []].slice(0, LIMITS.ids);
}

// The text of an element that was referred to: if it is hidden, so may be everything in it.
function referredText(look, element, from) {
  const isHidden = !isShown(look, element);
  const own = said(element, 'aria-label');
  if (own) return own;
  if (element !== from) {
    const value = embeddedValue(look, element);
    if (value !== null) return value;
  }
  return nativeName(look, element, from) || tidyText(contentText(look, element, isHidden))
    || said(element, 'title');
}

// What HTML itself gives as a name; '' where it gives nothing.
function nativeName(look, element, from = null) {
  if (!isHtml(element)) return namespaceOf(element) === SVG_NAMESPACE ? svgTitle(element) : '';
  const tag = tagOf(element);
  if (tag === 'img' || tag === 'area') return attributeOf(element, 'alt') ?? '';
  if (tag === 'input') return inputName(look, element, from);
  if (tag === 'optgroup') return attributeOf(element, 'label') ?? '';
  if (tag === 'option') return labelOfOption(element) || textOfOption(element);
  if (tag === 'fieldset') return childText(look, element, 'legend');
  if (tag === 'table') return childText(look, element, 'caption');
  if (tag === 'figure') return childText(look, element, 'figcaption');
  return labelText(look, element, from);
}

function inputName(look, element, from) {
  const type = typeOfInput(element);
  const label = labelText(look, element, from);
  if (label) return label;
  if (type === 'submit' || type === 'reset' || type === 'button') {
    return attributeOf(element, 'value') ?? { submit: 'Submit', reset: 'Reset', button: '' }[type];
  }
  if (type === 'image') return attributeOf(element, 'alt') || attributeOf(element, 'title') || 'Submit';
  if (type === 'file') return hasAttribute(element, 'multiple') ? 'Choose Files' : 'Choose File';
  return '';
}

// The labels of a control. Inside a label that names the control the control itself says nothing.
function labelText(look, element, from) {
  if (from || !labelable.has(tagOf(element))) return '';
  const texts = [];
  for (const label of labelsIn(look, element).slice(0, LIMITS.ids)) {
    const own = said(label, 'aria-label');
    texts.push(own || tidyText(contentText(look, label, !isShown(look, label), element)));
  }
  return texts.filter(Boolean).join(' ');
}

// The labels of each control, found once from the labels' side: element.labels searches the whole tree each time it
// is asked (measured: 780 ms for 2,000 checkboxes).
function labelsIn(look, element) {
  const root = rootOf(element);
  let labels = look.labels.get(root);
  if (!labels) {
    labels = new Map();
    for (const label of isDocument(root) || isShadowRoot(root) ? queryAll(root, 'label') : []) {
      const control = controlOf(label);
      if (!control) continue;
      if (labels.has(control)) labels.get(control).push(label);
      else labels.set(control, [label]);
    }
    look.labels.set(root, labels);
  }
  return labels.get(element) ?? [];
}

function childText(look, element, tag) {
  for (let child = firstChildOf(element); child; child = nextSiblingOf(child)) {
    if (isElement(child) && tagOf(child) === tag) return tidyText(contentText(look, child, false));
  }
  return '';
}

function svgTitle(element) {
  for (let child = firstChildOf(element); child; child = nextSiblingOf(child)) {
    if (isElement(child) && tagOf(child) === 'title') return textContentOf(child);
  }
  return '';
}

const placeholderOf = (element) => (isInput(element) || isTextArea(element)
  ? said(element, 'placeholder') || said(element, 'aria-placeholder') : '');

// --- names from content --------------------------------------------------------------------------------------

const silentTags = words('script style template noscript head meta link title param source track');

// The name of an item of a tree or a menu is not that of the items under it.
const nestingItems = words('menuitem treeitem');
const nestedGroups = words('group menu tree');

// The text in an element, as a name reads it. `isHiddenToo` follows what is not drawn; `except` is left out.
function contentText(look, element, isHiddenToo, except = null) {
  const isPlain = !isHiddenToo && except === null;
  if (isPlain && look.contents.has(element)) return look.contents.get(element);
  if (look.nesting > LIMITS.nesting) return '';
  look.nesting += 1;
  let text = isHiddenToo ? '' : generatedText(look, element, '::before');
  const nests = nestingItems.has(explicitRole(element));
  for (const child of childrenOf(look, element)) {
    if (text.length > LIMITS.nameRead || !look.spend()) break;
    if (nests && isElement(child) && nestedGroups.has(explicitRole(child))) continue;
    const type = nodeTypeOf(child);
    if (type === TEXT_NODE) text += dataOf(child).slice(0, LIMITS.nameRead);
    else if (type === ELEMENT_NODE && child !== except) text += addedText(look, child, isHiddenToo, except);
  }
  if (!isHiddenToo) text += generatedText(look, element, '::after');
  look.nesting -= 1;
  if (isPlain) look.contents.set(element, text);
  return text;
}

// What a child element adds. A block stands apart from its neighbours, inline text does not.
function addedText(look, element, isHiddenToo, except) {
  const tag = tagOf(element);
  if (tag === 'br') return ' ';
  if (silentTags.has(tag) || attributeOf(element, 'aria-hidden') === 'true') return '';
  const style = styleOf(look, element);
  if (!isHiddenToo && !(style & DRAWN)) return '';
  const text = !isHiddenToo && !(style & (SHOWN | CONTENTS))
    ? visiblePart(look, element, except) : ownAlternative(look, element, isHiddenToo, except);
  return style & INLINE || text === '' ? text : ` ${text} `;
}

// Of an invisible element, the descendants that are made visible again.
function visiblePart(look, element, except) {
  let text = '';
  for (const child of childrenOf(look, element)) {
    if (!look.spend()) break;
    if (isElement(child) && child !== except) text += addedText(look, child, false, except);
  }
  return text;
}

// In the order of accname: aria-labelledby, the value of a control inside, aria-label, HTML's own, the content, title.
function ownAlternative(look, element, isHiddenToo, except) {
  if (!look.isFollowing && hasAttribute(element, 'aria-labelledby')) {
    const given = authorName(look, element);
    if (given) return given;
  }
  const value = embeddedValue(look, element);
  if (value !== null) return value;
  return said(element, 'aria-label') || nativeName(look, element, element)
    || contentText(look, element, isHiddenToo, except) || said(element, 'title');
}

// A control inside a name reads as its value; null for what is none. A secret reads as nothing.
function embeddedValue(look, element) {
  const tag = tagOf(element);
  const role = tag === 'input' || tag === 'select' || tag === 'textarea' ? roleOf(element) : explicitRole(element);
  if (role === null) return null;
  if (role === 'textbox' || role === 'searchbox' || role === 'combobox' || role === 'listbox') {
    if (isSelect(element)) return selectedLabels(element).join(' ');
    if (isInput(element) || isTextArea(element)) return isSecret(element) ? '' : shownValue(element);
    if (role === 'textbox' || role === 'searchbox') return textContentOf(element);
    return selectedText(look, element);
  }
  return valueRoles.has(role) ? rangeText(element) : null;
}

const valueRoles = words('meter progressbar scrollbar slider spinbutton');

const selectedLabels = (element) => [...optionsOf(element)].filter((option) => isOptionSelected(option))
  .map((option) => tidyText(labelOfOption(option) || textOfOption(option)));

function selectedText(look, element) {
  const chosen = queryAll(element, '[role=option][aria-selected=true]')[0];
  return chosen ? tidyText(contentText(look, chosen, false)) : '';
}

function rangeText(element) {
  const said = attributeOf(element, 'aria-valuetext') ?? attributeOf(element, 'aria-valuenow');
  if (said !== null) return said;
  if (isInput(element)) return valueOfInput(element);
  return element instanceof HTMLProgressElement || element instanceof HTMLMeterElement
    ? attributeOf(element, 'value') ?? '' : '';
}

// --- secrets -------------------------------------------------------------------------------------------------
//
// The value of a password or one-time-code field never leaves the page. A field stays secret when a "show password"
// button turns it into a plain one: we remember every field that we have seen as a password, and the tokens of
// autocomplete say the same. One-time codes are often spread over fields of one character each beside the marked one.

const seenAsPassword = new WeakSet();
const secretTokens = words('current-password new-password one-time-code');
const maskText = '\u2022'.repeat(8);

function isSecret(element) {
  if (!isInput(element) && !isTextArea(element)) return false;
  if (seenAsPassword.has(element)) return true;
  if (!isSecretByItself(element) && !isPartOfCode(element)) return false;
  if (isInput(element) && typeOfInput(element) === 'password') seenAsPassword.add(element);
  return true;
}

function isSecretByItself(element) {
  if (isInput(element) && typeOfInput(element) === 'password') return true;
  const tokens = (attributeOf(element, 'autocomplete') ?? '').toLowerCase().split(/\s+/, 10);
  if (tokens.some((token) => secretTokens.has(token))) return true;
  return computedStyle(element).webkitTextSecurity !== 'none';
}

function isPartOfCode(element) {
  if (attributeOf(element, 'maxlength') !== '1') return false;
  let group = element;
  for (let i = 0; i < 3 && parentOf(group) instanceof Element; ++i) group = parentOf(group);
  return [...queryAll(group, 'input[autocomplete~="one-time-code" i]')].length > 0;
}

// The value as it may be shown.
function shownValue(element) {
  const isHidden = isSecret(element);  // asked for empty ones as well: it remembers
  const value = isInput(element) ? valueOfInput(element) : valueOfTextArea(element);
  return isHidden && value !== '' ? maskText : value;
}
