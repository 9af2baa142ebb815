// BrowserOptions: how a session wants its browser, as a client says it and as it is kept.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "browser/driver.h"
#include "browser/proxy/upstream_proxy.h"
#include "wire/json.h"

namespace reprise::browser {

enum class Capture : std::uint8_t { kNone, kFailures, kActions };
std::string_view word(Capture capture);

struct BrowserOptions {
  std::string pool_key = "default";
  ContextOptions context;
  bool wants_restore = true;  // after a crash of the browser, its tabs come back by themselves
  Capture capture = Capture::kActions;
  // The user's own, which all traffic goes on to. browser_options_json() leaves its password out.
  std::optional<UpstreamProxy> proxy;
  // What it begins with. A secret: browser_options_json() leaves it out.
  std::optional<StorageState> storage_state;
};

// From a JSON object; kInvalid with a pointer for each thing that is wrong, kUnsupportedBrowser.
Result<BrowserOptions> parse_browser_options(wire::JsonValue object);
// Whether a browser asked for so is as wanted; `storage_state` does not count.
bool are_same(const BrowserOptions& a, const BrowserOptions& b);
// Minified, without what is as it would be anyway; parse_browser_options reads it back.
std::string browser_options_json(const BrowserOptions& options);

}  // namespace reprise::browser
