// The distiller: what is said twice, or says nothing, goes.
//
// - Texts that follow each other are one text.
// - A generic with nothing in it goes, and so does one that only holds one other node, or is all that a node holds.
// - An image without a name goes, and what is empty and cannot be acted on.
// - A name that only repeats what is inside goes if a structure is inside (a link in a heading, cells in a row); if
//   inside is only text, the text goes and the name stays.
// - The text of a label, a legend or a caption goes when it is the name of what it labels, and that can be acted on.
//
// An "actable" element (it starts a pointer cursor, can be focused, has an onclick, is dragged) never goes while it
// has a box: icons that are only a styled <div> must stay reachable.

function mergedTexts(children) {
  const merged = [];
  let text = '';
  const flush = () => {
    const tidy = shorten(tidyText(text), LIMITS.text);
    if (tidy) merged.push(tidy);
    text = '';
  };
  for (const child of children) {
    if (typeof child === 'string') {
      text += child;
    } else {
      flush();
      merged.push(child);
    }
  }
  flush();
  return merged;
}

// Puts what remains of a node among its siblings.
function distill(look, node, siblings) {
  liftOnlyChild(node);
  dropLabelText(look, node);
  if (childrenPresentational.has(node.role)) keepActable(node);
  else if (node.isContent) settleName(node);
  if (isNothing(node)) {
    siblings.push(' ');
  } else if (isWrapper(node)) {
    const space = node.style & INLINE ? '' : ' ';
    siblings.push(space);
    for (const child of node.children) siblings.push(child);
    siblings.push(space);
  } else {
    siblings.push(node);
  }
}

const isQuietGeneric = (node) => node.role === 'generic' && !node.isActable && node.name === '' && node.states === ''
  && node.props.length === 0;

// <li><div>text</div></li> is an item with a text.
function liftOnlyChild(node) {
  while (node.children.length === 1 && typeof node.children[0] === 'object' && isQuietGeneric(node.children[0])) {
    node.children = node.children[0].children;
  }
}

// A generic around one node. Around a text it stays, if it is a block: it is the element to click for that text.
function isWrapper(node) {
  return isQuietGeneric(node) && (node.isRedundant || node.style & INLINE
    || (node.children.length === 1 && typeof node.children[0] === 'object'));
}

// Empty, and neither to be acted on nor telling by being there.
const tellingRoles = words(`cell columnheader gridcell row rowheader separator progressbar meter canvas video audio
  alert status dialog alertdialog tabpanel`);
function isNothing(node) {
  if (node.children.length > 0 || node.text || node.props.length > 0) return false;
  if (node.role === 'iframe') return !hasBox(node);
  if (node.role !== 'img' && (interactiveRoles.has(node.role) || tellingRoles.has(node.role))) return false;
  return !node.name && !(node.isActable && hasBox(node));
}

function hasBox(node) {
  const box = rectOf(node.element);
  return box.width > 0 && box.height > 0 && !(node.style & CONTENTS);
}

// --- names and what repeats them -----------------------------------------------------------------------------

const compact = (text) => text.replaceAll(' ', '');

// All that is said under a node, without spaces, to compare with a name.
function saidIn(children) {
  let said = '';
  for (const child of children) {
    if (typeof child === 'string') said += compact(child);
    else said += child.name ? compact(child.name) : saidIn(child.children) || compact(child.text ?? '');
    if (said.length > LIMITS.nameRead) break;
  }
  return said;
}

const plainRoles = words(`code deletion emphasis generic img insertion mark none paragraph strong subscript superscript
  time`);
const isPlainNode = (child) => typeof child === 'string' || (plainRoles.has(child.role) && !child.isActable
  && child.states === '' && child.props.length === 0 && child.children.every(isPlainNode));

function settleName(node) {
  const said = saidIn(node.children);
  const name = compact(node.name);
  if (name === '') return;
  if (node.children.every(isPlainNode) && name.includes(said)) {
    node.children = [];
    return;
  }
  const repeated = node.children.indexOf(node.name);
  if (repeated >= 0) node.children.splice(repeated, 1);
  else if (said.includes(name)) node.name = '';
}

// In a button only what can be acted on stands by itself; a text stays if the name does not have it.
function keepActable(node) {
  const kept = [];
  let text = '';
  const sort = (children) => {
    for (const child of children) {
      if (typeof child === 'string') text += ` ${child}`;
      else if (child.isActable || interactiveRoles.has(child.role)) kept.push(child);
      else if (child.isAriaHidden) continue;
      else if (child.children.length > 0) sort(child.children);
      else text += ` ${child.name || child.text || ''}`;
    }
  };
  sort(node.children);
  text = tidyText(text);
  const isRepeated = node.isContent || compact(node.name).includes(compact(text));
  node.children = text && !(isRepeated && node.name) ? [text, ...kept] : kept;
}

// --- labels --------------------------------------------------------------------------------------------------

const captionTags = { legend: 'fieldset', figcaption: 'figure', caption: 'table' };

function dropLabelText(look, node) {
  const { element } = node;
  const tag = tagOf(element);
  if (isLabel(element) && !node.control) {
    const control = controlOf(element);
    if (!control || !canBeClicked(look, control)) return;
    if (dropTextsThatAre(node, nameOf(look, control).text, control)) beRedundant(node);
  } else if (Object.hasOwn(captionTags, tag)) {
    const parent = parentOf(element);
    if (!(parent instanceof Element) || tagOf(parent) !== captionTags[tag]) return;
    if (dropTextsThatAre(node, nameOf(look, parent).text, null)) beRedundant(node);
  }
}

function beRedundant(node) {
  Object.assign(node, { isRedundant: true, isActable: false, role: 'generic', name: '', states: '' });
}

// Takes the texts out if, apart from the control, they are all there is and make up the name.
function dropTextsThatAre(node, name, control) {
  const texts = node.children.filter((child) => typeof child === 'string');
  const others = node.children.filter((child) => typeof child === 'object' && child.element !== control);
  if (others.length > 0 || name.length > LIMITS.name || compact(texts.join('')) !== compact(name)) return false;
  node.children = node.children.filter((child) => typeof child === 'object');
  return true;
}

function canBeClicked(look, element) {
  const box = rectOf(element);
  const style = styleOf(look, element);
  return (style & SHOWN) !== 0 && (style & TARGET) !== 0 && box.width > 1 && box.height > 1;
}
