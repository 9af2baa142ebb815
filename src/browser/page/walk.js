// The walk: from the page to a tree of what a reader of it needs.
//
// A node is {element, role, name, isContent, states, children, props, ...}; a child is a node or a string. What is
// not drawn is left out; what is drawn but aria-hidden stays (a person can click it) and says so. Elements that mean
// nothing by themselves (inline text, display: contents, role=none) leave their children in their place. distill.js
// takes each node when its children are complete.

const silentSvgTags = words(`clipPath defs desc filter linearGradient marker mask metadata pattern radialGradient
  symbol`);

class Walk {
  constructor(look) {
    this.look = look;
    this.focused = focusedElement();
    this.modal = topModal();
  }

  // What the page, or the part of it under `root`, says: a list of nodes and strings.
  read(root) {
    const isInert = this.modal !== null && !isWithin(root, this.modal);
    const children = [];
    this.#addElement(root, children, { isHidden: false, isPointer: false, isInert });
    return mergedTexts(children);
  }

  #addElement(element, siblings, from) {
    const { look } = this;
    if (!look.spend() || look.nesting > LIMITS.nesting) return;
    const tag = tagOf(element);
    if (tag === 'br') siblings.push(' ');
    if (tag === 'br' || silentTags.has(tag) || silentSvgTags.has(tag)) return;
    const style = styleOf(look, element);
    if (!(style & DRAWN)) return;
    const isAriaHidden = hasAttributes(element) && attributeOf(element, 'aria-hidden') === 'true';
    const state = {
      isHidden: from.isHidden || isAriaHidden,
      isPointer: (style & POINTER) !== 0,
      isInert: this.#isInert(element, from),
    };
    look.nesting += 1;
    if (!(style & (SHOWN | CONTENTS))) this.#addChildElements(element, siblings, state);
    else if (state.isHidden && isTiny(element, style)) this.#addChildElements(element, siblings, state);
    else this.#addShown(element, siblings, { style, state, isAriaHidden: isAriaHidden && !from.isHidden, from });
    look.nesting -= 1;
  }

  #isInert(element, from) {
    if (element === this.modal) return false;
    return from.isInert || (hasAttributes(element) && hasAttribute(element, 'inert'));
  }

  #addShown(element, siblings, { style, state, isAriaHidden, from }) {
    const role = roleOf(element);
    const isRoot = element === bodyOf(document) || element === documentElementOf(document);
    const isEdge = state.isPointer && !from.isPointer && !isRoot;
    const isActable = isEdge || this.#isActable(element);
    const isPlain = !isActable && !isAriaHidden && (role === 'none' || (role === 'generic'
      && (style & INLINE || isRoot) && !hasAriaName(element) && !isLabel(element)));
    if (isPlain) {
      const space = style & INLINE ? '' : ' ';
      siblings.push(space);
      this.#addChildren(element, siblings, state);
      siblings.push(space);
      return;
    }
    const control = hiddenControlOf(this.look, element);
    const ownRole = role === 'none' ? 'generic' : role;
    const node = {
      element, role: control ? roleOf(control) : ownRole, control, style, state, isActable, isAriaHidden,
      name: '', isContent: false, states: '', props: [], children: [], isRedundant: false,
    };
    this.#name(node);
    node.states = statesOf(node, this.focused);
    this.#fill(node);
    distill(this.look, node, siblings);
  }

  // Whether it is made for acting on, whatever its role.
  #isActable(element) {
    if (element === this.focused) return true;
    if (!hasAttributes(element)) return false;
    return isTabStop(element) || hasAttribute(element, 'onclick') || attributeOf(element, 'draggable') === 'true';
  }

  #name(node) {
    const { element, role, control } = node;
    if (role === 'generic' && !node.isActable && !hasAriaName(element)) return;
    const name = nameOf(this.look, control ?? element, role);
    node.fullName = name.text;
    node.name = name.text.length > LIMITS.name ? '' : name.text;
    node.isContent = name.isContent || Boolean(control);
  }

  // The children, or the value, of a node.
  #fill(node) {
    const { element, children } = node;
    if (isInput(element) || isTextArea(element)) {
      node.text = fieldText(element);
      const placeholder = placeholderOf(element);
      if (placeholder && placeholder !== node.name) node.props.push(['placeholder', placeholder]);
    } else if (isSelect(element)) {
      this.#addOptions(element, children, node.state);
    } else if (element instanceof HTMLProgressElement || element instanceof HTMLMeterElement) {
      node.text = rangeText(element);
    } else if (!isLeaf(element)) {
      if (node.role === 'link') addAddress(node);
      if (rangeRoles.has(node.role)) node.text = rangeText(element);
      this.#addChildren(element, children, node.state);
    }
    node.children = mergedTexts(children);
    if (node.text) node.text = shorten(tidyText(node.text), LIMITS.value);
  }

  #addChildren(element, siblings, state) {
    siblings.push(generatedText(this.look, element, '::before'));
    for (const child of childrenOf(this.look, element)) {
      const type = nodeTypeOf(child);
      if (type === TEXT_NODE) this.#addText(element, dataOf(child), siblings);
      else if (type === ELEMENT_NODE) this.#addElement(child, siblings, state);
      if (this.look.isSpent) return;
    }
    siblings.push(generatedText(this.look, element, '::after'));
  }

  #addText(element, text, siblings) {
    const isBlank = /^\s*$/.test(text);
    if (isBlank || !(styleOf(this.look, element) & SKIPPED)) siblings.push(isBlank && text ? ' ' : text);
  }

  #addChildElements(element, siblings, state) {
    for (const child of childrenOf(this.look, element)) if (isElement(child)) this.#addElement(child, siblings, state);
  }

  // The options of a drop-down have no boxes while it is closed, and are what it is about.
  #addOptions(select, siblings, state) {
    for (const option of optionsOf(select)) {
      if (!this.look.spend()) return;
      if (computedStyle(option).display === 'none') continue;
      const style = styleOf(this.look, option);
      const node = {
        element: option, role: 'option', style, state, isActable: true, isAriaHidden: false, props: [], children: [],
        name: shorten(tidyText(labelOfOption(option) || textOfOption(option)), LIMITS.name), isContent: false,
      };
      node.states = statesOf(node, this.focused);
      siblings.push(node);
    }
  }
}

// A negative tabindex is given to whole parts of a page that only scripts focus.
const isTabStop = (element) => /^\s*\d/.test(attributeOf(element, 'tabindex') ?? '');
const rangeRoles = words('meter progressbar scrollbar slider');
const leafTags = words('audio canvas embed frame iframe img input object textarea video');
const isLeaf = (element) => leafTags.has(tagOf(element)) && isHtml(element);

// The dialog (or full-screen element) outside of which nothing can be acted on; null if there is none.
function topModal() {
  const modals = [...queryAll(document, ':modal')];
  const focused = focusedElement();
  return modals.findLast((modal) => focused && isWithin(focused, modal)) ?? modals.at(-1) ?? null;
}

// A label stands for a checkbox or radio button that is not drawn: what is seen and clicked is the label.
function hiddenControlOf(look, element) {
  const control = isLabel(element) ? controlOf(element) : null;
  if (!isInput(control) || !['checkbox', 'radio'].includes(typeOfInput(control))) return null;
  return isDrawn(look, control) ? null : control;
}

function isTiny(element, style) {
  const box = rectOf(element);
  return box.width <= 1 && box.height <= 1 && !(style & CONTENTS);
}

function fieldText(element) {
  if (isTextArea(element)) return shownValue(element);
  const type = typeOfInput(element);
  if (type === 'file') return [...filesOf(element)].map((file) => file.name).join(', ');
  return ['checkbox', 'radio', 'submit', 'reset', 'button', 'image'].includes(type) ? '' : shownValue(element);
}

function addAddress(node) {
  const address = attributeOf(node.element, 'href') ?? attributeOf(node.element, 'xlink:href');
  if (address) node.props.push(['url', shortAddress(tidyText(address))]);
}

// Of a data: address, what it is and not what it holds.
function shortAddress(address) {
  const comma = /^data:/i.test(address) ? address.indexOf(',') + 1 : 0;
  return shorten(address, comma > 0 ? Math.min(comma, LIMITS.url) : LIMITS.url);
}

// --- states --------------------------------------------------------------------------------------------------

const isCheckedInput = reader(HTMLInputElement, 'checked');
const isMixedInput = reader(HTMLInputElement, 'indeterminate');

// " [checked] [disabled] ..." in the order the format has them.
function statesOf({ element: shown, control = null, role, isAriaHidden = false }, focused) {
  const element = control ?? shown;
  let states = stateText('checked', checkedState(element, role));
  if (roleSupports.disabled.has(role) && isDisabled(element)) states += ' [disabled]';
  if (isExpanded(element, role)) states += ' [expanded]';
  if (element === focused) states += ' [active]';
  if (isInvalid(element)) states += ' [invalid]';
  const level = roleSupports.level.has(role) ? levelOf(element, role) : 0;
  if (level > 0) states += ` [level=${level}]`;
  if (roleSupports.pressed.has(role)) states += stateText('pressed', triState(attributeOf(element, 'aria-pressed')));
  if (isSelected(element, role)) states += ' [selected]';
  return isAriaHidden ? `${states} [aria-hidden]` : states;
}

const stateText = (name, state) => (state === 'mixed' ? ` [${name}=mixed]` : state ? ` [${name}]` : '');
const triState = (value) => (value === 'mixed' ? 'mixed' : value === 'true');

function checkedState(element, role) {
  if (!roleSupports.checked.has(role)) return false;
  if (isInput(element)) return isMixedInput(element) ? 'mixed' : isCheckedInput(element);
  return triState(attributeOf(element, 'aria-checked'));
}

function isDisabled(element) {
  if (matches(element, ':disabled')) return true;
  for (let at = element; at; at = flatParentOf(at)) {
    const own = hasAttributes(at) ? attributeOf(at, 'aria-disabled') : null;
    if (own !== null) return own === 'true';
  }
  return false;
}

function isExpanded(element, role) {
  if (tagOf(element) === 'summary' && isSummaryOfDetails(element)) return isDetailsOpen(parentOf(element));
  return roleSupports.expanded.has(role) && attributeOf(element, 'aria-expanded') === 'true';
}

function isInvalid(element) {
  if (!hasAttributes(element)) return false;
  const said = attributeOf(element, 'aria-invalid');
  if (said !== null) return said !== '' && said !== 'false';
  return (isInput(element) || isTextArea(element) || isSelect(element)) && matches(element, ':user-invalid');
}

function levelOf(element, role) {
  const said = Number(attributeOf(element, 'aria-level'));
  if (Number.isInteger(said) && said > 0) return said;
  if (role !== 'heading') return 0;
  return /^h[1-6]$/.test(tagOf(element)) ? Number(tagOf(element)[1]) : 2;
}

function isSelected(element, role) {
  if (isOption(element)) return isOptionSelected(element);
  return roleSupports.selected.has(role) && attributeOf(element, 'aria-selected') === 'true';
}
