// Hiding secret values from a picture, and the storage of an origin.
//
// A password field draws dots by itself. What a picture would show is a one-time code, and a password that a
// "show password" button has turned into plain text. They are covered by a constructed style sheet that is adopted
// for as long as the picture takes: no attribute, element or animation changes, no observer of the page fires, and
// when there is nothing to hide nothing is touched. A page that looks into document.adoptedStyleSheets in that moment
// can see it; a sheet of the DevTools protocol could not be seen, but enabling that domain sends the driver every
// style sheet of the page.

let masks = [];  // {root, sheet}

const maskStyle = '-webkit-text-security:disc!important;-webkit-text-fill-color:transparent!important;'
  + 'text-shadow:none!important';

// Returns {masked}: how many fields are covered.
function maskSecrets(isOn) {
  for (const { root, sheet } of masks) {
    setAdoptedSheets(root, [...adoptedSheetsOf(root)].filter((other) => other !== sheet));
  }
  masks = [];
  let masked = 0;
  for (const root of isOn ? allRoots() : []) {
    const fields = [...queryAll(root, 'input,textarea')].filter(isSecretShown);
    if (fields.length === 0) continue;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`${fields.map((field) => selectorInTree(root, field)).join(',')}{${maskStyle}}`);
    setAdoptedSheets(root, [...adoptedSheetsOf(root), sheet]);
    masks.push({ root, sheet });
    masked += fields.length;
  }
  return { masked };
}

function isSecretShown(field) {
  if (!isSecret(field)) return false;
  return isTextArea(field) || typeOfInput(field) !== 'password';
}

// --- storage -------------------------------------------------------------------------------------------------

const storageKey = caller(Storage, 'key');
const storageLength = reader(Storage, 'length');
const storageGet = caller(Storage, 'getItem');
const storageSet = caller(Storage, 'setItem');
const storageClear = caller(Storage, 'clear');

// The storage of the frame's origin, or null: an opaque origin (data:, a sandboxed frame) has none and throws.
function storageArea(area) {
  try {
    return area === 'session' ? window.sessionStorage : window.localStorage;
  } catch {
    return null;
  }
}

// {origin, available, entries: [{name, value}], truncated}
function storage({ area = 'local', maxBytes = LIMITS.storageBytes } = {}) {
  const store = storageArea(area);
  const entries = [];
  let bytes = 0;
  let isTruncated = false;
  for (let i = 0; store && i < storageLength(store); ++i) {
    const name = storageKey(store, i);
    const stored = storageGet(store, name);
    bytes += byteLength(name) + byteLength(stored);
    if (bytes > maxBytes) {
      isTruncated = true;
      break;
    }
    entries.push({ name, value: stored });
  }
  return { origin: window.origin, available: store !== null, entries, truncated: isTruncated };
}

// Writes entries, after clearing the area if `replace` is set; {stored}, fewer than given if the quota is reached.
function setStorage(entries, { area = 'local', replace = false } = {}) {
  const store = storageArea(area);
  if (!store) fail('unavailable', `${window.origin} has no ${area} storage`);
  if (replace) storageClear(store);
  let stored = 0;
  try {
    for (const entry of entries) {
      storageSet(store, String(entry.name), String(entry.value));
      stored += 1;
    }
  } catch (error) {
    if (error.name !== 'QuotaExceededError') throw error;
  }
  return { stored };
}
