// The DOM as it is, not as the page names it.
//
// The script runs in a world of its own, so the page cannot replace a prototype or a getter here. What it can do is
// clobber: <form><input name="parentNode"></form> makes form.parentNode the input, and <img name="body"> makes
// document.body the image, in every world. So nothing below reads a property of a form or of the document by its
// name: the getters and methods of the prototypes are taken once and called on the object. (Measured: as fast.)

const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
const reader = (type, name) => {
  const get = getter(type, name);
  return (object) => get.call(object);
};
const asker = (type, name) => {  // for methods without arguments
  const method = type.prototype[name];
  return (object) => method.call(object);
};
const caller = (type, name) => {
  const method = type.prototype[name];
  return (object, ...args) => method.call(object, ...args);
};

const ELEMENT_NODE = 1;
const TEXT_NODE = 3;
const HTML_NAMESPACE = 'http://www.w3.org/1999/xhtml';
const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

const nodeTypeOf = reader(Node, 'nodeType');
const parentOf = reader(Node, 'parentNode');
const firstChildOf = reader(Node, 'firstChild');
const nextSiblingOf = reader(Node, 'nextSibling');
const rootOf = asker(Node, 'getRootNode');
const isConnected = reader(Node, 'isConnected');
const dataOf = reader(CharacterData, 'data');
const textContentOf = reader(Node, 'textContent');

const tagOf = reader(Element, 'localName');
const namespaceOf = reader(Element, 'namespaceURI');
const shadowOf = reader(Element, 'shadowRoot');
const slotOf = reader(Element, 'assignedSlot');
const idOf = reader(Element, 'id');
const hasAttributes = asker(Element, 'hasAttributes');
const attributeNamesOf = asker(Element, 'getAttributeNames');
const rectOf = asker(Element, 'getBoundingClientRect');
const rectsOf = asker(Element, 'getClientRects');
const matches = caller(Element, 'matches');
const hasBoxNow = asker(Element, 'checkVisibility');
const readAttribute = Element.prototype.getAttribute;
const testAttribute = Element.prototype.hasAttribute;
const attributeOf = (element, name) => readAttribute.call(element, name);
const hasAttribute = (element, name) => testAttribute.call(element, name);

const hostOf = reader(ShadowRoot, 'host');
const assignedOf = caller(HTMLSlotElement, 'assignedNodes');
const documentElementOf = reader(Document, 'documentElement');
const bodyOf = reader(Document, 'body');
const designModeOf = reader(Document, 'designMode');
const evaluateXPath = caller(Document, 'evaluate');
const createRange = caller(Document, 'createRange');
const execCommand = caller(Document, 'execCommand');
const selectionOf = caller(Document, 'getSelection');
const isShadowRoot = (node) => node instanceof ShadowRoot;
const isDocument = (node) => node instanceof Document;
const isElement = (node) => nodeTypeOf(node) === ELEMENT_NODE;
const isHtml = (element) => namespaceOf(element) === HTML_NAMESPACE;

// Document, ShadowRoot and Element each have their own of these.
const onRoot = (name, ofDocument, ofShadow) => {
  const [first, second] = [ofDocument(Document, name), ofShadow(ShadowRoot, name)];
  return (root, ...args) => (isShadowRoot(root) ? second : first)(root, ...args);
};
const activeOf = onRoot('activeElement', reader, reader);
const elementAtPoint = onRoot('elementFromPoint', caller, caller);
const elementById = onRoot('getElementById', caller, caller);
const styleSheetsOf = onRoot('styleSheets', reader, reader);
const adoptedSheetsOf = onRoot('adoptedStyleSheets', reader, reader);
const setAdoptedSheets = (root, sheets) => {
  const type = isShadowRoot(root) ? ShadowRoot : Document;
  Object.getOwnPropertyDescriptor(type.prototype, 'adoptedStyleSheets').set.call(root, sheets);
};
const queries = new Map([Document, DocumentFragment, Element].map((type) => [type, type.prototype.querySelectorAll]));
const queryAll = (scope, selector) => {
  const type = isDocument(scope) ? Document : scope instanceof DocumentFragment ? DocumentFragment : Element;
  return queries.get(type).call(scope, selector);
};

const isInput = (element) => element instanceof HTMLInputElement;
const isTextArea = (element) => element instanceof HTMLTextAreaElement;
const isSelect = (element) => element instanceof HTMLSelectElement;
const isOption = (element) => element instanceof HTMLOptionElement;
const isLabel = (element) => element instanceof HTMLLabelElement;
const isFrame = (element) => element instanceof HTMLIFrameElement || element instanceof HTMLFrameElement;

// The parent in the tree that is drawn: through slots and shadow roots.
function flatParentOf(element) {
  const slot = slotOf(element);
  if (slot) return slot;
  const parent = parentOf(element);
  if (parent === null) return null;
  if (isShadowRoot(parent)) return hostOf(parent);
  return isElement(parent) ? parent : null;
}

function isWithin(element, ancestor) {
  for (let at = element; at; at = flatParentOf(at)) if (at === ancestor) return true;
  return false;
}

// The element that has the focus, inside shadow roots too; null when nothing has (the body does not count).
function focusedElement() {
  let active = activeOf(document);
  while (active && shadowOf(active) && activeOf(shadowOf(active))) active = activeOf(shadowOf(active));
  return active === bodyOf(document) || active === documentElementOf(document) ? null : active;
}

// The document and every open shadow root under it, outer ones first.
function allRoots(scope = document) {
  const roots = [scope];
  if (scope instanceof Element && shadowOf(scope)) roots.push(shadowOf(scope));
  for (let i = 0; i < roots.length && roots.length < LIMITS.shadowRoots; ++i) {
    for (const element of queryAll(roots[i], '*')) {
      const shadow = shadowOf(element);
      if (shadow) roots.push(shadow);
    }
  }
  return roots;
}

// Spaces as one, without what nobody reads: control and zero-width characters, soft hyphens, and the private-use
// glyphs of icon fonts.
const unreadable = /[\u00ad\u200b\u2060\ufeff\ue000-\uf8ff]/g;
const spaces = /[\s\u0000-\u001f\u007f-\u009f]+/g;
const needsTidying = /[^\x20-\x7e]|  |^ | $/;
function tidyText(text) {
  if (!needsTidying.test(text)) return text;
  return text.replace(unreadable, '').replace(spaces, ' ').trim();
}

function shorten(text, length) {
  return text.length > length ? `${text.slice(0, length).toWellFormed()}\u2026` : text;
}

const encoder = new TextEncoder();
const isPlainAscii = /^[\x00-\x7f]*$/;
const byteLength = (text) => (isPlainAscii.test(text) ? text.length : encoder.encode(text).length);

// <div id="a" class="modal open">, for messages: what a person would recognise it by.
function tagText(element) {
  let text = `<${tagOf(element)}`;
  for (const name of ['id', 'class', 'type', 'name', 'role', 'aria-label', 'href']) {
    const value = attributeOf(element, name);
    if (value && text.length < 120) text += ` ${name}="${shorten(tidyText(value).replaceAll('"', "'"), 50)}"`;
  }
  return `${text}>`;
}

const fail = (code, message) => {
  throw new Error(`${code}: ${message}`);
};
