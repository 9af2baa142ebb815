// Waiting until an element can be acted on, and where.
//
// The order in which things are looked at: attached, visible, enabled, editable, stable, hit by the point. What is
// not needed for an action is not waited for. A static page costs no frame: an element that stands where the last
// snapshot saw it, and over which no animation runs, has not moved since (measured: 0.3 ms instead of one frame of up
// to 16.7 ms). Else its box is compared over one frame, or over three while an animation runs: it does not move in
// the first frame of one. Frames do not come in a tab that is not shown, so a timer stands in for them.

const animationsOf = asker(Element, 'getAnimations');
const isHiddenDocument = reader(Document, 'hidden');

const pointed = ['visible', 'stable', 'hit'];
const neededFor = {
  click: ['enabled', ...pointed], dblclick: ['enabled', ...pointed], tap: ['enabled', ...pointed],
  check: ['enabled', ...pointed], drag: pointed, drop: pointed, hover: pointed, frame: ['visible', 'hit'],
  fill: ['visible', 'enabled', 'editable'], type: ['visible', 'enabled', 'editable'], select: ['visible', 'enabled'],
  focus: ['visible'], press: ['visible'], scroll: ['visible'], screenshot: ['visible', 'stable'], upload: [],
};

// Resolves with {x, y, box, via}; via is 'label' when the point is on the label of a control that has no box.
async function prepare(element, options = {}) {
  const action = options.action ?? options.actions ?? 'click';
  if (!Object.hasOwn(neededFor, action)) fail('invalid', `${quoted(action)} is not an action`);
  const needs = new Set(options.force ? neededFor[action].filter((need) => need === 'visible') : neededFor[action]);
  const attempt = {
    element, needs, position: options.position ?? null, lastBox: null, sameFrames: 0, scrolls: 0, isBroughtIn: false,
  };
  const start = performance.now();
  const end = start + (options.timeout ?? LIMITS.actionMs);
  for (let tries = 1; ; ++tries) {
    const found = tryOnce(attempt);
    if (!found.missing) return found;
    if (performance.now() >= end) {
      const waited = Math.round(performance.now() - start);
      const what = `${found.missing}: ${found.why}`;
      fail('not_actionable', `waiting for element to be ${what} (${tagText(element)}, ${waited} ms)`);
    }
    // The first frames are looked at one by one; a longer wait costs the page less.
    if (tries > 20) await delay(50);
    await nextFrame(isHiddenDocument(document) ? 50 : 200);
  }
}

function tryOnce(attempt) {
  const { element, needs } = attempt;
  if (!isConnected(element)) fail('stale_ref', `the element ${tagText(element)} was removed from the page`);
  const target = needs.has('hit') ? clickable(element) : element;
  bringFrameIn(attempt, target);
  const missing = needs.has('visible') && whyInvisible(target);
  if (missing) return { missing: 'visible', why: missing };
  if (needs.has('enabled') && isDisabled(element)) return { missing: 'enabled', why: whyDisabled(element) };
  if (needs.has('editable') && isReadOnly(element)) return { missing: 'editable', why: 'it is read-only' };
  const box = boxOf(target);
  const via = target === element ? null : 'label';
  if (!needs.has('hit') && !isInView(box) && attempt.scrolls === 0) scrollTo(attempt, target);
  if (needs.has('stable') && !isStill(attempt, target, box)) return { missing: 'stable', why: 'it is moving' };
  const points = pointsOf(target, boxOf(target), attempt.position);
  if (!needs.has('hit')) return { ...points[0] ?? middleOf(box), box: boxOf(target), via };
  return { ...aim(attempt, element, target, points), via };
}

// What is in view of a frame need not be in view of the frames around it, and only the browser knows. It scrolls them
// all, those of other sites as well, and does nothing when the element is seen already.
function bringFrameIn(attempt, target) {
  if (attempt.isBroughtIn || window.top === window || !hasBoxNow(target)) return;
  attempt.isBroughtIn = true;
  scrollIntoView(target, { block: 'nearest', inline: 'nearest', behavior: 'instant' });
}

// The first point that hits; else what is in the way, after a scroll that may bring the element out from under it.
function aim(attempt, element, target, points) {
  let cover = 'it is outside of the viewport';
  for (const [index, { x, y }] of points.entries()) {
    const hit = deepElementAt(x, y);
    const isHit = isHitBy(target, hit) && (target === element || !isOtherControl(hit, target));
    if (isHit) return { x, y, box: boxOf(target) };
    if (index === 0) cover = coverText(target, hit);
  }
  if (scrollTo(attempt, target)) Object.assign(attempt, { lastBox: boxOf(target), sameFrames: 0 });
  return { missing: 'hit by the point', why: cover };
}

// A checkbox or radio button that is only drawn by its label is clicked there, as a person would.
function clickable(element) {
  if (!isInput(element) || !['checkbox', 'radio'].includes(typeOfInput(element))) return element;
  const box = rectOf(element);
  if (whyInvisible(element) === null && box.width > 2 && box.height > 2) return element;
  return labelsIn(new Look(), element).find((label) => whyInvisible(label) === null) ?? element;
}

// Whether a point of a label is on a link or button in it.
function isOtherControl(hit, label) {
  for (let at = hit; at && at !== label; at = flatParentOf(at)) {
    if (at !== controlOf(label) && interactiveRoles.has(roleOf(at))) return true;
  }
  return false;
}

// --- what is looked at ---------------------------------------------------------------------------------------

function whyInvisible(element) {
  if (!hasBoxNow(element)) return 'it has no box (display: none, or in something that is not shown)';
  if (computedStyle(element).visibility !== 'visible') return 'it has visibility: hidden';
  const box = rectOf(element);
  return box.width > 0 && box.height > 0 ? null : `its size is ${Math.round(box.width)}x${Math.round(box.height)}`;
}

function whyDisabled(element) {
  if (!matches(element, ':disabled')) return 'it is aria-disabled';
  return hasAttribute(element, 'disabled') ? 'it is disabled' : 'its fieldset is disabled';
}

const isReadOnlyInput = reader(HTMLInputElement, 'readOnly');
const isReadOnlyTextArea = reader(HTMLTextAreaElement, 'readOnly');
function isReadOnly(element) {
  if (isInput(element)) return isReadOnlyInput(element);
  if (isTextArea(element)) return isReadOnlyTextArea(element);
  return attributeOf(element, 'aria-readonly') === 'true';
}

// Still: as on the frames before, or as in the last snapshot.
function isStill(attempt, element, box) {
  const isMoving = isAnimated(element);
  const seen = refsOfElements.get(element);
  if (!attempt.lastBox && !isMoving && seen && performance.now() - seen.at > 16 && isSameBox(seen, box)) return true;
  attempt.sameFrames = attempt.lastBox && isSameBox(attempt.lastBox, box) ? attempt.sameFrames + 1 : 0;
  attempt.lastBox = box;
  return attempt.sameFrames >= (isMoving ? 3 : 1);
}

// Whether an animation or transition runs on it or on something around it.
function isAnimated(element) {
  for (let at = element; at; at = flatParentOf(at)) {
    if (animationsOf(at).some((animation) => animation.playState === 'running')) return true;
  }
  return false;
}

const isInView = (box) => intersection(box, viewBox()) !== null;

const middleOf = (box) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 });

// Scrolls the element to another place of the viewport each time: under a fixed header one of them is free.
const alignments = [['center', 'nearest'], ['end', 'end'], ['start', 'start'], ['center', 'center']];
function scrollTo(attempt, element) {
  if (attempt.scrolls >= alignments.length) return false;
  const [block, inline] = alignments[attempt.scrolls];
  attempt.scrolls += 1;
  scrollIntoView(element, { block, inline, behavior: 'instant' });
  return true;
}

// --- frames --------------------------------------------------------------------------------------------------

const delay = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

// Whether a frame came in time.
function nextFrame(patience) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      cancelAnimationFrame(frame);
      resolve(false);
    }, patience);
    const frame = requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

// Two frames later, or after 100 ms if they do not come: what an action changed has been drawn.
async function quiet() {
  const start = performance.now();
  const isFirst = await nextFrame(100);
  return isFirst && await nextFrame(Math.max(0, 100 - (performance.now() - start)));
}
