// The script that runs in pages: snapshots, finding elements, waiting until they can be acted on,
// filling fields.
//
// It is one JavaScript expression whose value is the api object that api.js documents. The driver
// evaluates it once per document in an isolated world (Page.createIsolatedWorld) of each frame and
// keeps the object; calls go by Runtime.callFunctionOn with that object as `this`. Errors are
// thrown with a stable code at the start of the message: `stale_ref:`, `not_found:`, `not_unique:`,
// `not_actionable:`, `invalid:`, `unavailable:`.
//
//   evaluate(world, page_script());                          // -> the api object
//   call(api, "function(o) { return this.snapshot(o); }", {{"prefix", "f2"}});
//
// The text is ASCII, part of the binary, and lives as long as it does. Any thread may ask for it.
#pragma once

#include <string_view>

namespace reprise::browser {

std::string_view page_script();

}  // namespace reprise::browser
