// What the audit keeps of an element: words by which a person knows it and a replay finds it when refs have moved.

function describe(element) {
  const look = new Look(LIMITS.matchMs);
  const named = hiddenControlOf(look, element) ?? element;
  const role = roleOf(named);
  const name = shorten(nameOf(look, named, role).text, LIMITS.name);
  return {
    role,
    name,
    nth: ordinal(look, named, role, name),
    selector: selectorOf(element),
    tag: tagOf(element),
    inputType: isInput(element) ? typeOfInput(element) : null,
    isSecret: isSecret(element),
    box: boxOf(element),
  };
}

// How many visible elements of the same role and name come before it; null if that takes too long to find out.
function ordinal(look, element, role, name) {
  let before = 0;
  let compared = 0;
  for (const root of allRoots()) {
    for (const other of queryAll(root, candidatesSelector(role))) {
      if (other === element) return before;
      if (roleOf(other) !== role || !isReachable(look, other)) continue;
      compared += 1;
      if (compared > LIMITS.matches || !look.spend()) return null;
      if (shorten(nameOf(look, other, role).text, LIMITS.name) === name) before += 1;
    }
  }
  return before;
}

// A short selector that resolve() takes back to the same element: inside each tree the shortest we find, and ">>"
// where a shadow root begins.
function selectorOf(element) {
  const parts = [];
  for (let at = element; at; ) {
    const root = rootOf(at);
    parts.unshift(selectorInTree(root, at));
    at = isShadowRoot(root) ? hostOf(root) : null;
  }
  return parts.join(' >> ');
}

// Ids that a framework makes up anew for each page would not outlive it.
const isLastingId = (id) => id.length < 60 && !/\d{4,}|[:\u00ab\u00bb]|^[0-9a-f-]{16,}$/i.test(id);
const tellingAttributes = ['data-testid', 'data-test', 'data-qa', 'name', 'aria-label', 'href', 'placeholder'];

function selectorInTree(root, element) {
  const isOnly = (selector) => queryAll(root, selector).length === 1;
  if (!isDocument(root) && !isShadowRoot(root)) return tagOf(element);
  let path = '';
  for (let at = element, steps = 0; at instanceof Element && steps < LIMITS.selectorSteps; at = parentOf(at), ++steps) {
    for (const own of namesInSelector(at)) if (isOnly(own + path)) return own + path;
    const step = CSS.escape(tagOf(at)) + position(at);
    if (isOnly(step + path)) return step + path;
    path = ` > ${step}${path}`;
  }
  return path.slice(3);
}

function* namesInSelector(element) {
  const id = idOf(element);
  if (id && isLastingId(id)) yield `#${CSS.escape(id)}`;
  for (const name of tellingAttributes) {
    const value = attributeOf(element, name);
    if (value && value.length < 80) yield `${CSS.escape(tagOf(element))}[${name}="${CSS.escape(value)}"]`;
  }
}

function position(element) {
  const tag = tagOf(element);
  const parent = parentOf(element);
  if (!parent) return '';
  let index = 0;
  let count = 0;
  for (let child = firstChildOf(parent); child; child = nextSiblingOf(child)) {
    if (!isElement(child) || tagOf(child) !== tag) continue;
    count += 1;
    if (child === element) index = count;
  }
  return count > 1 ? `:nth-of-type(${index})` : '';
}

// What is at a point of the frame's viewport; null if nothing is. For a frame it also says where in it the point is.
function hitInfo(x, y) {
  const element = deepElementAt(x, y);
  if (!element) return null;
  const target = nearestNamed(element);
  const box = boxOf(target);
  return {
    ...describe(target),
    ref: refsOfElements.get(target)?.ref ?? null,
    description: tagText(element),
    box,
    frame: isFrame(element) ? pointInFrame(element, x, y) : null,
  };
}

// The element itself, or the one around it that a person would say they clicked.
function nearestNamed(element) {
  for (let at = element; at; at = flatParentOf(at)) if (interactiveRoles.has(roleOf(at))) return at;
  return element;
}
