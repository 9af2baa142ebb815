// Refs: short names of elements that hold from one snapshot to the next.
//
// A ref is `<prefix>e<n>`, n counted from 1 in each document. An element keeps its ref while its role and name stay
// the same; else it gets a new one and the old one is stale, so that an agent never acts on a button that has become
// another. Elements are held weakly: a ref keeps nothing alive. (A FinalizationRegistry instead of the sweep cost 30 ms
// for 12,000 refs.)

const refsOfElements = new WeakMap();  // element -> {ref, prefix, role, name, x, y, width, height, at}
const elementsOfRefs = new Map();      // ref -> WeakRef(element)
let lastRef = 0;
let sweepAt = 10000;

// The box is kept with it: prepare() need not wait to see whether an element moves when it stands where it stood then.
function refFor(element, prefix, role, name, { x, y, width, height }) {
  let known = refsOfElements.get(element);
  const at = performance.now();
  if (known && known.role === role && known.name === name && known.prefix === prefix) {
    known.x = x;
    known.y = y;
    known.width = width;
    known.height = height;
    known.at = at;
    return known.ref;
  }
  if (known) elementsOfRefs.delete(known.ref);
  lastRef += 1;
  known = { ref: `${prefix}e${lastRef}`, prefix, role, name, x, y, width, height, at };
  refsOfElements.set(element, known);
  elementsOfRefs.set(known.ref, new WeakRef(element));
  if (elementsOfRefs.size > sweepAt) sweepRefs();
  return known.ref;
}

// Drops the refs of elements that are gone, each time there are twice as many as were left after the last sweep.
function sweepRefs() {
  for (const [ref, weak] of elementsOfRefs) {
    const element = weak.deref();
    if (!element || !isConnected(element)) elementsOfRefs.delete(ref);
  }
  sweepAt = Math.max(10000, elementsOfRefs.size * 2);
}

function elementOfRef(ref) {
  const element = elementsOfRefs.get(ref)?.deref();
  if (!element) fail('stale_ref', `${ref} is not known in this document; take a new snapshot`);
  if (!isConnected(element)) fail('stale_ref', `${ref} (${tagText(element)}) was removed; take a new snapshot`);
  return element;
}
