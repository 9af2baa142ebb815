// What the driver calls. An element argument and the result of resolve() go by reference, all else by value.
//
// snapshot({prefix, depth, boxes, maxBytes, root, timeBudget})
//                                              -> {text, frames: [{ref, line, indent}], truncated, nodes}
// find({text | regex, maxMatches, prefix})     -> {matches: [{line, ref, context}], total}
// resolve(ref | selector | {ref} | {selector} | {text, nth} | {role, name, nth}) -> the element
//     throws stale_ref:, not_found:, not_unique: or invalid:
// describe(element)                            -> {role, name, nth, selector, tag, inputType, isSecret, box}
// prepare(element, {action, timeout, force, position}) -> promise of {x, y, box, via}
//     rejects with not_actionable: or stale_ref:
// fill(element, text)                          -> {ok, value} or {ok: false, reason}
// fillAndLook(element, text)                   -> promise of the same and isStill (page/stirring.js)
// selectOptions(element, values)               -> the values chosen
// setChecked(element, wanted)                  -> {isChecked, needsClick}: the driver does the click
// isChecked(element)                           -> true, false, 'mixed' or null
// focus(element) -> whether it has the focus      selectText(element)      value(element) -> {value, isSecret}
// hitInfo(x, y)                                -> describe() and {ref, description, box, frame} or null
// fromFrame(iframe, {x, y}, {timeout})         -> promise of {x, y, covered}: a point of the child in this viewport
// quiet()                                      -> promise of whether two frames came (100 ms at most)
// markTarget(element | null)                   -> whether it is marked (page/mark.js)
// maskSecrets(on)                              -> {masked}
// elementAt({x, y}), focused()                 -> the element (page/live.js)
// focusInfo(isAnew)                            -> {isSame, isFrame, isSecret, target} or null
// selectInfo(element)                          -> {options: [{value, label, isSelected, isDisabled}], isTruncated, box}
// storage({area, maxBytes}), setStorage(entries, {area, replace})

const api = {
  snapshot, find, resolve, describe, prepare, fill, fillAndLook, selectOptions, setChecked, isChecked, focus, selectText,
  value: fieldValue, hitInfo, fromFrame, quiet, maskSecrets, storage, setStorage,
  markTarget, elementAt, focused, focusInfo, selectInfo,
};
