// What a person at a live view points at and types into.

let lastFocused = null;  // WeakRef of what focusInfo() told of last

// By reference: the innermost element at a point of the frame's viewport.
function elementAt({ x, y }) {
  return deepElementAt(x, y) ?? fail('not_found', `nothing is at ${x}, ${y}`);
}

// By reference: the element that has the focus.
function focused() {
  return focusedElement() ?? fail('not_found', 'nothing has the focus');
}

// Asked before every keystroke, so what is known already is not told again, unless it is asked for. null: nothing has the focus.
function focusInfo(isAnew) {
  const element = focusedElement();
  if (!element) {
    lastFocused = null;
    return null;
  }
  const isSame = !isAnew && lastFocused?.deref() === element;
  lastFocused = new WeakRef(element);
  return {
    isSame,
    isFrame: isFrame(element),
    isSecret: isSecret(element),
    target: isSame ? null : describe(element),
  };
}

// What a drop-down offers: the browser would show it in a window of its own, which no picture of the page has. null
// for an element that opens none.
function selectInfo(element) {
  if (!isSelect(element) || isMultiple(element) || sizeOfSelect(element) > 1) return null;
  if (matches(element, ':disabled')) return null;
  const options = [...optionsOf(element)];
  return {
    options: options.slice(0, LIMITS.options).map((option) => ({
      value: valueOfOption(option),
      label: shorten(tidyText(labelOfOption(option) || textOfOption(option)), LIMITS.name),
      isSelected: isOptionSelected(option),
      isDisabled: isOptionDisabled(option),
    })),
    isTruncated: options.length > LIMITS.options,
    box: boxOf(element),
  };
}
