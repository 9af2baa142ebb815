// Roles: what WAI-ARIA 1.2 and HTML-AAM say an element is.
//
// Where they say "no corresponding role" and an agent needs a word, ours is the one that tells it what it can do:
// an editable element is a textbox, the <summary> of <details> a button, a file input a button, canvas, video and
// audio go by their names. iframe is always iframe, whatever its role attribute says: its content follows.

const words = (text) => new Set(text.trim().split(/\s+/));

const knownRoles = words(`alert alertdialog application article banner blockquote button caption cell checkbox code
  columnheader combobox complementary contentinfo definition deletion dialog document emphasis feed figure form generic
  grid gridcell group heading img insertion link list listbox listitem log main mark marquee math menu menubar menuitem
  menuitemcheckbox menuitemradio meter navigation none note option paragraph progressbar radio radiogroup region row
  rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript suggestion
  superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem`);
const roleAliases = { presentation: 'none', image: 'img', directory: 'list' };

// Roles named by what is in them, unless the author names them.
const namedByContent = words(`button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox
  menuitemradio option radio row rowheader switch tab tooltip treeitem`);
// "Children Presentational: True". We still show what can be acted on in them.
const childrenPresentational = words(`button checkbox img math menuitemcheckbox menuitemradio meter option progressbar
  radio scrollbar separator slider switch tab`);
const interactiveRoles = words(`button checkbox combobox iframe link listbox menuitem menuitemcheckbox menuitemradio
  option radio scrollbar searchbox slider spinbutton switch tab textbox treeitem`);
const roleSupports = {
  checked: words('checkbox menuitemcheckbox menuitemradio option radio switch treeitem'),
  disabled: words(`application button checkbox columnheader combobox grid gridcell group link listbox menu menubar
    menuitem menuitemcheckbox menuitemradio option radio radiogroup row rowheader scrollbar searchbox separator slider
    spinbutton switch tab tablist textbox toolbar tree treegrid treeitem`),
  expanded: words(`application button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio
    row rowheader tab treeitem columnheader switch generic group`),
  level: words('heading listitem row treeitem'),
  pressed: words('button'),
  selected: words('columnheader gridcell option row rowheader tab treeitem'),
};

const plainTagRoles = {
  address: 'group', article: 'article', audio: 'audio', blockquote: 'blockquote', button: 'button', canvas: 'canvas',
  caption: 'caption', code: 'code', datalist: 'listbox', dd: 'definition', del: 'deletion', details: 'group',
  dfn: 'term', dialog: 'dialog', dt: 'term', em: 'emphasis', fieldset: 'group', figure: 'figure', frame: 'iframe',
  h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', hgroup: 'group',
  hr: 'separator', iframe: 'iframe', ins: 'insertion', main: 'main', mark: 'mark', math: 'math', menu: 'list',
  meter: 'meter', nav: 'navigation', ol: 'list', optgroup: 'group', option: 'option', output: 'status', p: 'paragraph',
  progress: 'progressbar', s: 'deletion', search: 'search', strong: 'strong', sub: 'subscript', sup: 'superscript',
  table: 'table', tbody: 'rowgroup', textarea: 'textbox', tfoot: 'rowgroup', thead: 'rowgroup', time: 'time',
  ul: 'list', video: 'video',
};
const inputRoles = {
  button: 'button', checkbox: 'checkbox', file: 'button', image: 'button', number: 'spinbutton', radio: 'radio',
  range: 'slider', reset: 'button', search: 'searchbox', submit: 'button', hidden: 'none',
};
const listableInputs = words('text search url tel email');

const typeOfInput = reader(HTMLInputElement, 'type');
const optionsOf = reader(HTMLSelectElement, 'options');
const isMultiple = reader(HTMLSelectElement, 'multiple');
const sizeOfSelect = reader(HTMLSelectElement, 'size');

// Roles that depend on where the element is, or on its attributes.
const contextTagRoles = {
  a: (element) => (hasAttribute(element, 'href') ? 'link' : 'generic'),
  area: (element) => (hasAttribute(element, 'href') ? 'link' : 'generic'),
  aside: (element) => (!isInSection(element, true) || hasAuthorName(element) ? 'complementary' : 'generic'),
  footer: (element) => (isInSection(element, false) ? 'generic' : 'contentinfo'),
  form: (element) => (hasAuthorName(element) ? 'form' : 'generic'),
  header: (element) => (isInSection(element, false) ? 'generic' : 'banner'),
  img: (element) => (attributeOf(element, 'alt') === '' && !hasAriaName(element) ? 'none' : 'img'),
  input: inputRole,
  li: (element) => (listRoleOf(element) === 'none' ? 'none' : 'listitem'),
  section: (element) => (hasAuthorName(element) ? 'region' : 'generic'),
  select: (element) => (isMultiple(element) || sizeOfSelect(element) > 1 ? 'listbox' : 'combobox'),
  summary: (element) => (isSummaryOfDetails(element) ? 'button' : 'generic'),
  tbody: (element) => tablePart(element, 'rowgroup'),
  td: (element) => tablePart(element, 'cell'),
  tfoot: (element) => tablePart(element, 'rowgroup'),
  th: (element) => tablePart(element, headerRole(element)),
  thead: (element) => tablePart(element, 'rowgroup'),
  tr: (element) => tablePart(element, 'row'),
};

function inputRole(element) {
  const type = typeOfInput(element);
  if (listableInputs.has(type) && hasAttribute(element, 'list')) return 'combobox';
  if (type === 'checkbox' && hasAttribute(element, 'switch')) return 'switch';
  return inputRoles[type] ?? 'textbox';
}

const hasAriaName = (element) =>
  hasAttribute(element, 'aria-labelledby') || Boolean(attributeOf(element, 'aria-label')?.trim());
const hasAuthorName = (element) => hasAriaName(element) || Boolean(attributeOf(element, 'title')?.trim());

const sectionTags = words('article aside main nav section');
const sectionRoles = words('article complementary main navigation region');
function isInSection(element, isMainAllowed) {
  for (let at = flatParentOf(element); at; at = flatParentOf(at)) {
    const role = explicitRole(at);
    const tag = tagOf(at);
    if (isMainAllowed && (role ? role === 'main' : tag === 'main')) return false;
    if (role ? sectionRoles.has(role) : sectionTags.has(tag)) return true;
  }
  return false;
}

function isSummaryOfDetails(element) {
  const parent = parentOf(element);
  if (!(parent instanceof HTMLDetailsElement)) return false;
  for (let child = firstChildOf(parent); child; child = nextSiblingOf(child)) {
    if (isElement(child) && tagOf(child) === 'summary') return child === element;
  }
  return false;
}

// An item of a list, and a part of a table, is nothing by itself when the list or table is presentational.
function listRoleOf(item) {
  const parent = flatParentOf(item);
  return parent && ['ul', 'ol', 'menu'].includes(tagOf(parent)) ? roleOf(parent) : null;
}

function tablePart(element, role) {
  let table = flatParentOf(element);
  while (table && ['tr', 'tbody', 'thead', 'tfoot'].includes(tagOf(table))) table = flatParentOf(table);
  if (!table || tagOf(table) !== 'table') return role;
  const tableRole = explicitRole(table);
  if (tableRole === 'none' && roleOf(table) === 'none') return 'none';
  return role === 'cell' && (tableRole === 'grid' || tableRole === 'treegrid') ? 'gridcell' : role;
}

// A <th> without a scope heads its row when the row has data cells as well, else its column.
function headerRole(element) {
  const scope = attributeOf(element, 'scope')?.toLowerCase();
  if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
  if (scope === 'col' || scope === 'colgroup') return 'columnheader';
  const row = parentOf(element);
  if (!row || tagOf(row) !== 'tr') return 'columnheader';
  for (let cell = firstChildOf(row); cell; cell = nextSiblingOf(cell)) {
    if (isElement(cell) && tagOf(cell) === 'td') return 'rowheader';
  }
  return 'columnheader';
}

// The first word of the role attribute that is a role.
function explicitRole(element) {
  const text = attributeOf(element, 'role');
  if (!text) return null;
  for (const word of text.toLowerCase().split(/\s+/, 10)) {
    const role = Object.hasOwn(roleAliases, word) ? roleAliases[word] : word;
    if (knownRoles.has(role)) return role;
  }
  return null;
}

const focusableTags = 'a[href],area[href],button,input:not([type=hidden]),select,textarea,summary,iframe,'
  + '[contenteditable]:not([contenteditable=false]),audio[controls],video[controls]';
const isFocusable = (element) => hasAttribute(element, 'tabindex') || matches(element, focusableTags);

const globalAria = words(`aria-atomic aria-busy aria-controls aria-current aria-describedby aria-description
  aria-details aria-flowto aria-keyshortcuts aria-label aria-labelledby aria-live aria-owns aria-relevant
  aria-roledescription`);
const hasGlobalAria = (element) => attributeNamesOf(element).some((name) => globalAria.has(name));

const isEditingHost = (element) => {
  const value = attributeOf(element, 'contenteditable');
  return value !== null && ['', 'true', 'plaintext-only'].includes(value.toLowerCase());
};

function implicitRole(element) {
  const tag = tagOf(element);
  if (!isHtml(element)) {
    if (namespaceOf(element) !== SVG_NAMESPACE) return tag === 'math' ? 'math' : 'generic';
    if (tag === 'svg') return 'img';
    return tag === 'a' && (hasAttribute(element, 'href') || hasAttribute(element, 'xlink:href')) ? 'link' : 'generic';
  }
  if (Object.hasOwn(contextTagRoles, tag)) return contextTagRoles[tag](element);
  return Object.hasOwn(plainTagRoles, tag) ? plainTagRoles[tag] : 'generic';
}

// The role an element has. A presentational role is refused to what can be focused or says something global of itself.
function roleOf(element) {
  if (isFrame(element)) return 'iframe';
  const implicit = implicitRole(element);
  if (!hasAttributes(element)) return implicit;
  const given = explicitRole(element);
  let role = given ?? implicit;
  if (given === 'none' && (isFocusable(element) || hasGlobalAria(element))) role = implicit;
  if (role === 'generic' && !given && isEditingHost(element)) return 'textbox';
  return role;
}
