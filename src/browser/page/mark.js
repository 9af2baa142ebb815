// Showing in a picture which element was acted on.
//
// Drawn by a constructed style sheet that is adopted for as long as the picture takes, as in secrets.js: no element or
// attribute of the page changes. The box is one of the root element, which few pages use; theirs is away meanwhile.

let markSheet = null;

// Marks an element, or with null none; whether there is a mark.
function markTarget(element) {
  if (markSheet) {
    setAdoptedSheets(document, [...adoptedSheetsOf(document)].filter((other) => other !== markSheet));
    markSheet = null;
  }
  if (!element || !isConnected(element)) return false;
  const { x, y, width, height } = boxOf(element);
  if (width === 0 || height === 0) return false;
  const style = ['all:initial', 'content:""', 'position:fixed', `left:${x - 3}px`, `top:${y - 3}px`, `width:${width + 6}px`,
    `height:${height + 6}px`, 'box-sizing:border-box', 'border:3px solid #e8112d', 'border-radius:3px',
    'pointer-events:none', 'z-index:2147483647'].map((rule) => `${rule}!important`).join(';');
  markSheet = new CSSStyleSheet();
  markSheet.replaceSync(`:root::after{${style}}`);
  setAdoptedSheets(document, [...adoptedSheetsOf(document), markSheet]);
  return true;
}
