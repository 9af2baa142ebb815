// Fields: writing into them as a person would, and reading them.
//
// Text goes in by the browser's own editing command: the page sees a trusted input event, maxlength holds, undo works,
// and change comes when the focus leaves, as with a keyboard. The command sends no beforeinput, which editors such as
// Lexical and Slate live by, so we send one, and obey when it is taken or refused. A text of many lines goes in by the
// native setter (measured: the command takes 0.4 s for 500 lines and grows with the square), and so do fields with a
// picker (date, time, colour, range); then input and change are sent for them. The setter is the prototype's, so a
// framework that put its own on the element sees the change.

const setInputValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
const setTextAreaValue = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set;
const setOptionSelected = Object.getOwnPropertyDescriptor(HTMLOptionElement.prototype, 'selected').set;
const isOptionDisabled = (option) => matches(option, ':disabled');
const valueOfOption = reader(HTMLOptionElement, 'value');
const isEditable = reader(HTMLElement, 'isContentEditable');
const dispatch = caller(EventTarget, 'dispatchEvent');
const createElement = caller(Document, 'createElement');
const createFragment = asker(Document, 'createDocumentFragment');
const appendTo = caller(DocumentFragment, 'append');
const replaceChildren = caller(Element, 'replaceChildren');
const focusHtml = caller(HTMLElement, 'focus');
const focusSvg = caller(SVGElement, 'focus');
const selectInput = caller(HTMLInputElement, 'select');
const selectTextArea = caller(HTMLTextAreaElement, 'select');

const commandLines = 50;
const typedInputs = words('text search url tel email password number');
const pickedInputs = words('date time datetime-local month week range color');

// {ok, value} or {ok: false, reason}. A label stands for its control. The value of a secret is not handed back.
function fill(element, text) {
  const field = isLabel(element) ? controlOf(element) ?? element : element;
  const wanted = String(text);
  if (isInput(field) || isTextArea(field)) {
    if (isDisabled(field)) return { ok: false, reason: 'it is disabled' };
    if (isReadOnly(field)) return { ok: false, reason: 'it is read-only' };
    return fillField(field, wanted);
  }
  if (field instanceof HTMLElement && (isEditable(field) || designModeOf(document) === 'on')) {
    return fillEditable(field, wanted);
  }
  return { ok: false, reason: `${tagText(field)} is not a field for text` };
}

function fillField(field, text) {
  const type = isInput(field) ? typeOfInput(field) : 'text';
  if (pickedInputs.has(type)) return pick(field, type, text);
  if (!typedInputs.has(type)) return { ok: false, reason: `an input of type ${type} takes no text` };
  if (type === 'number' && text !== '' && !Number.isFinite(Number(text))) return malformed(type, text);
  focus(field);
  selectText(field);
  const current = () => (isInput(field) ? valueOfInput(field) : valueOfTextArea(field));
  if (current() === '' && text === '') return filled(field, '');
  if (!announce(field, text)) {
    return current() === text ? filled(field, text) : { ok: false, reason: 'the page refuses the text' };
  }
  if (focusedElement() !== field || !putText(text)) setValue(field, text);
  const value = current();
  if (type === 'number' && text !== '' && value === '') return malformed(type, text);
  return filled(field, value);
}

// Whether the page lets the text in. One that handles it by itself says no.
function announce(field, text) {
  return dispatch(field, new InputEvent('beforeinput', {
    bubbles: true, cancelable: true, composed: true,
    inputType: text === '' ? 'deleteContentBackward' : 'insertText', data: text === '' ? null : text,
  }));
}

// Puts the text in place of what is selected; whether that could be done.
function putText(text) {
  if (text.split('\n', commandLines + 1).length > commandLines) return false;
  return execCommand(document, text === '' ? 'delete' : 'insertText', false, text);
}

const filled = (field, value) => ({ ok: true, value: isSecret(field) ? null : value });
const malformed = (type, text) => ({ ok: false, reason: `${quoted(text)} is no value for an input of type ${type}` });

const maxLengths = [getter(HTMLInputElement, 'maxLength'), getter(HTMLTextAreaElement, 'maxLength')];
function setValue(field, text) {
  const length = maxLengths[isInput(field) ? 0 : 1].call(field);
  const allowed = length >= 0 ? text.slice(0, length) : text;
  if (isInput(field)) setInputValue.call(field, allowed);
  else setTextAreaValue.call(field, allowed);
  sendChange(field);
}

function sendChange(element) {
  dispatch(element, new Event('input', { bubbles: true, composed: true }));
  dispatch(element, new Event('change', { bubbles: true }));
}

// The browser refuses a malformed value by another one: '' for a date, black for a colour, the middle for a range.
function pick(field, type, text) {
  const wanted = text.trim();
  if (type === 'range' && (wanted === '' || !Number.isFinite(Number(wanted)))) return malformed(type, text);
  if (type === 'color' && !/^#[0-9a-f]{6}$/i.test(wanted)) return malformed(type, text);
  const before = valueOfInput(field);
  focus(field);
  setInputValue.call(field, wanted);
  const value = valueOfInput(field);
  if (value === '' && wanted !== '') {
    setInputValue.call(field, before);
    return malformed(type, text);
  }
  sendChange(field);
  return filled(field, value);
}

function fillEditable(field, text) {
  focus(field);
  selectText(field);
  // An editor with a model of its own takes the text from the event and draws it, now or in its next task.
  if (announce(field, text) && !putText(text)) {
    setLines(field, text);
    dispatch(field, new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertText', data: text }));
  }
  return { ok: true, value: shorten(tidyText(textContentOf(field)), LIMITS.value) };
}

function setLines(field, text) {
  const lines = createFragment(document);
  for (const [index, line] of text.split('\n').entries()) {
    if (index > 0) appendTo(lines, createElement(document, 'br'));
    appendTo(lines, line);
  }
  replaceChildren(field, lines);
}

// --- choosing ------------------------------------------------------------------------------------------------

// Chooses the options with these values or labels and no others; the values that are chosen then.
function selectOptions(element, values) {
  const select = isLabel(element) ? controlOf(element) : element;
  if (!isSelect(select)) fail('invalid', `${tagText(element)} is not a <select>`);
  const wanted = (Array.isArray(values) ? values : [values]).map(String);
  if (wanted.length > 1 && !isMultiple(select)) fail('invalid', `${tagText(select)} takes one value`);
  const options = [...optionsOf(select)];
  const chosen = new Set(wanted.map((value) => optionFor(options, value)));
  focus(select);
  let isChanged = false;
  for (const option of options) {
    if (isOptionSelected(option) === chosen.has(option)) continue;
    isChanged = true;
    // Choosing one in a drop-down takes the choice from the other.
    if (chosen.has(option) || isMultiple(select)) setOptionSelected.call(option, chosen.has(option));
  }
  if (isChanged) sendChange(select);
  return chosenValues(select);
}

function optionFor(options, value) {
  const label = (option) => tidyText(labelOfOption(option) || textOfOption(option));
  const found = options.find((option) => valueOfOption(option) === value)
    ?? options.find((option) => label(option) === tidyText(value))
    ?? options.find((option) => label(option).toLowerCase() === tidyText(value).toLowerCase());
  if (!found) {
    const offered = options.slice(0, 20).map((option) => quoted(label(option))).join(', ');
    fail('not_found', `no option ${quoted(value)}; there are ${options.length}: ${offered}`);
  }
  if (isOptionDisabled(found)) fail('not_actionable', `option ${quoted(value)} is disabled`);
  return found;
}

const checkableRoles = words('checkbox menuitemcheckbox menuitemradio radio switch');
const chosenValues = (select) => [...optionsOf(select)].filter((option) => isOptionSelected(option))
  .map((option) => valueOfOption(option));

// Whether a checkbox, radio button or switch is on: true, false or 'mixed'; null for what cannot be.
function isChecked(element) {
  const control = isLabel(element) ? controlOf(element) ?? element : element;
  const role = roleOf(control);
  return checkableRoles.has(role) ? checkedState(control, role) : null;
}

// What the driver must do to have it checked or not: {isChecked, needsClick}.
function setChecked(element, wanted) {
  const now = isChecked(element);
  if (now === null) fail('invalid', `${tagText(element)} is not a checkbox, radio button or switch`);
  if (!wanted && now === true && ['radio', 'menuitemradio'].includes(roleOf(element))) {
    fail('invalid', 'a radio button is unchecked by choosing another one');
  }
  return { isChecked: now, needsClick: now !== Boolean(wanted) };
}

// --- focus, selection, values --------------------------------------------------------------------------------

// Whether it, or something in it, has the focus afterwards.
function focus(element) {
  if (element instanceof HTMLElement) focusHtml(element);
  else if (element instanceof SVGElement) focusSvg(element);
  const focused = focusedElement();
  return focused ? isWithin(focused, element) : element === bodyOf(document);
}

function selectText(element) {
  if (isInput(element)) return selectInput(element);
  if (isTextArea(element)) return selectTextArea(element);
  const range = createRange(document);
  range.selectNodeContents(element);
  const selection = selectionOf(document);
  selection.removeAllRanges();
  return selection.addRange(range);
}

// {value, isSecret}: a string, for a <select> the list of its values, for a checkbox whether it is on; null where
// there is none, and for a secret.
function fieldValue(element) {
  const control = isLabel(element) ? controlOf(element) ?? element : element;
  if (isSecret(control)) return { value: null, isSecret: true };
  return { value: isChecked(control) ?? textValue(control), isSecret: false };
}

function textValue(control) {
  if (isInput(control)) return valueOfInput(control);
  if (isTextArea(control)) return valueOfTextArea(control);
  if (isSelect(control)) return chosenValues(control);
  return control instanceof HTMLElement && isEditable(control) ? textContentOf(control) : null;
}
