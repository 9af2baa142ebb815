// Whether a page does anything about a text that was put into one of its fields.
//
// Most do not, and then nothing has to be waited for: two frames would be most of what typing costs (measured: 33 of
// 37 ms). Frameworks draw in a microtask or in one of the next two tasks; a change of the document, wherever it is, is
// seen by then. What a page puts off further is seen elsewhere: timers and frames it asked for, requests, navigations
// (chromium/page_timers.cpp).

// A task of its own: what the page posted before has run. Timers would be held up in a tab that is not shown.
function nextTask() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

// The document, and the shadow trees an element is in: none of them sees what changes in another.
function rootsAround(element) {
  const roots = [];
  for (let root = rootOf(element); ; root = rootOf(hostOf(root))) {
    roots.push(root);
    if (!isShadowRoot(root)) return roots;
  }
}

// What fill() says, and isStill: whether the page has changed nothing since.
async function fillAndLook(element, text) {
  let isStill = true;
  const observer = new MutationObserver(() => { isStill = false; });
  for (const root of rootsAround(element)) {
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  }
  const done = fill(element, text);
  if (done.ok) {
    await nextTask();
    await nextTask();
  }
  isStill = isStill && observer.takeRecords().length === 0;
  observer.disconnect();
  return { ...done, isStill };
}
