// Boxes, points and what is hit by them, in CSS pixels of the frame's own viewport.

const clientLeftOf = reader(Element, 'clientLeft');
const clientTopOf = reader(Element, 'clientTop');
const offsetWidthOf = reader(HTMLElement, 'offsetWidth');
const offsetHeightOf = reader(HTMLElement, 'offsetHeight');
const scrollIntoView = caller(Element, 'scrollIntoView');
const scrollBy = caller(Element, 'scrollBy');
const viewBox = () => ({ x: 0, y: 0, width: window.innerWidth, height: window.innerHeight });

function boxOf(element) {
  const { x, y, width, height } = rectOf(element);
  return { x, y, width, height };
}

const isSameBox = (a, b) => Math.abs(a.x - b.x) < 0.1 && Math.abs(a.y - b.y) < 0.1
  && Math.abs(a.width - b.width) < 0.1 && Math.abs(a.height - b.height) < 0.1;

// The innermost element at a point, through open shadow roots.
function deepElementAt(x, y) {
  let element = elementAtPoint(document, x, y);
  for (let shadow = element && shadowOf(element); shadow; shadow = shadowOf(element)) {
    const inner = elementAtPoint(shadow, x, y);
    if (!inner || rootOf(inner) !== shadow) break;
    element = inner;
  }
  return element;
}

// Whether a click at a point would reach the element: it, what is in it, or its label is there.
function isHitBy(element, hit) {
  if (!hit) return false;
  if (isWithin(hit, element)) return true;
  for (let at = hit; at; at = flatParentOf(at)) if (isLabel(at) && controlOf(at) === element) return true;
  return false;
}

// Where to click, best first: the middle of the largest part of the element in view, then its quarters. An inline
// element that is broken over lines has several boxes, and the middle of them all may be outside of each.
function pointsOf(element, box, position) {
  if (position) return [{ x: box.x + position.x, y: box.y + position.y }];
  const view = viewBox();
  let best = null;
  for (const rect of [...rectsOf(element)].slice(0, 100)) {
    const part = intersection(rect, view);
    if (part && (!best || part.width * part.height > best.width * best.height)) best = part;
  }
  if (!best) return [];
  const at = (across, down) => ({ x: best.x + best.width * across, y: best.y + best.height * down });
  return [at(0.5, 0.5), at(0.25, 0.25), at(0.75, 0.25), at(0.25, 0.75), at(0.75, 0.75)];
}

function intersection(a, b) {
  const x = Math.max(a.x, b.x);
  const y = Math.max(a.y, b.y);
  const width = Math.min(a.x + a.width, b.x + b.width) - x;
  const height = Math.min(a.y + a.height, b.y + b.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}

// A point of this viewport in that of a child frame, and back. A transform on the frame scales what is in it.
function frameScale(frame) {
  const box = rectOf(frame);
  const [width, height] = [offsetWidthOf(frame), offsetHeightOf(frame)];
  const css = computedStyle(frame);
  const scale = { x: width > 0 ? box.width / width : 1, y: height > 0 ? box.height / height : 1 };
  return {
    left: box.x + (clientLeftOf(frame) + Number.parseFloat(css.paddingLeft)) * scale.x,
    top: box.y + (clientTopOf(frame) + Number.parseFloat(css.paddingTop)) * scale.y,
    scale,
  };
}

function pointInFrame(frame, x, y) {
  const { left, top, scale } = frameScale(frame);
  return { x: (x - left) / scale.x, y: (y - top) / scale.y };
}

// For a point in a child frame: the same in this frame's viewport, once it is in view and the frame stands still, and
// what covers the frame there then (null: nothing). prepare() in the child has the browser scroll this frame as well,
// but between processes that takes a moment, leaves out the frame's border, and clicks find the frame at its new place
// only when it has been drawn there. So a frame that has moved since the last snapshot is watched for three frames.
async function fromFrame(frame, { x, y }, { timeout = 1000 } = {}) {
  const end = performance.now() + timeout;
  const attempt = { lastBox: null, sameFrames: 0 };
  for (let tries = 1; ; ++tries) {
    const { left, top, scale } = frameScale(frame);
    const point = { x: left + x * scale.x, y: top + y * scale.y };
    const hit = deepElementAt(point.x, point.y);
    const isHit = isHitBy(frame, hit);
    const isReady = isStill(attempt, frame, boxOf(frame)) && (attempt.sameFrames === 0 || attempt.sameFrames > 2);
    if (isHit && isReady) return { ...point, covered: null };
    if (performance.now() >= end) return { ...point, covered: isHit ? null : coverText(frame, hit) };
    if (!isHit && tries === 3) scrollPointIn(frame, point);
    await nextFrame(200);
  }
}

// Scrolls what is around an element, and the page, so that a point of it comes to their middles where it is outside.
function scrollPointIn(element, { x, y }) {
  const before = boxOf(element);
  for (let at = flatParentOf(element); at; at = flatParentOf(at)) {
    const now = boxOf(element);
    const isPage = at === documentElementOf(document);
    const box = isPage ? viewBox() : boxOf(at);
    const across = x + now.x - before.x - box.x;
    const down = y + now.y - before.y - box.y;
    const isInside = across > 2 && down > 2 && across < box.width - 2 && down < box.height - 2;
    if (isInside) continue;
    scrollBy(at, { left: across - box.width / 2, top: down - box.height / 2, behavior: 'instant' });
  }
}

// Says what is in the way of an element.
function coverText(element, hit) {
  if (!hit) return 'its point is outside of the viewport';
  if (isWithin(element, hit)) {
    return computedStyle(element).pointerEvents === 'none' ? 'it has pointer-events: none'
      : `${tagText(hit)} around it receives the pointer events there`;
  }
  let outermost = hit;
  for (let at = hit; at && !isWithin(element, at); at = flatParentOf(at)) outermost = at;
  const whole = outermost === hit ? '' : ` from the subtree of ${tagText(outermost)}`;
  return `${tagText(hit)}${whole} intercepts pointer events`;
}
