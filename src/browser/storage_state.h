// StorageState: what sites keep in a context, as Playwright writes it to a file and reads it back.
//
//     {"cookies": [{"name": …, "value": …, "domain": …, "path": …, "expires": -1, "httpOnly": …,
//                   "secure": …, "sameSite": "Lax"}],
//      "origins": [{"origin": "https://example.com", "localStorage": [{"name": …, "value": …}]}]}
//
// Pure. All of it is a secret: it never goes into an event or a log.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wire/json.h"

namespace reprise::browser {

struct Cookie {
  std::string name;
  std::string value;
  std::string domain;  // with a leading dot: of its subdomains too
  std::string path = "/";
  double expires = -1;  // seconds since 1970; -1: with the session
  bool is_http_only = false;
  bool is_secure = false;
  std::string same_site;       // Strict, Lax, None; empty: nobody said
  std::string partition_site;  // of one that only exists below this site
  bool has_cross_site_ancestor = false;
  friend bool operator==(const Cookie&, const Cookie&) = default;
};

struct StorageItem {
  std::string name;
  std::string value;
  friend bool operator==(const StorageItem&, const StorageItem&) = default;
};

// Local storage of one origin.
struct OriginStorage {
  std::string origin;  // scheme://host, and the port where it is not the scheme's own
  std::vector<StorageItem> items;
  friend bool operator==(const OriginStorage&, const OriginStorage&) = default;
};

struct StorageState {
  std::vector<Cookie> cookies;
  std::vector<OriginStorage> origins;
  friend bool operator==(const StorageState&, const StorageState&) = default;
};

// kInvalid with a pointer, below `pointer`, for each thing that is wrong (at most
// kMaxStateErrors); kBodyTooLarge beyond kMaxStorageStateBytes.
Result<StorageState> parse_storage_state(wire::JsonValue value, std::string_view pointer = {});
// Minified. Origins without items are left out.
std::string storage_state_json(const StorageState& state);
std::string cookie_json(const Cookie& cookie);
std::string storage_items_json(const std::vector<StorageItem>& items);

// The origin of a web address, as it stands in a state; empty if it has none that keeps anything.
std::string origin_of_url(std::string_view url);

// How long a state of so many bytes is left alone after it was written, so that large ones are
// written rarely.
std::chrono::milliseconds pause_after_state(std::size_t bytes);

// Takes whole origins away, the largest first, until the state fits; how many went.
std::size_t fit_storage_state(StorageState& state, std::size_t max_bytes);

}  // namespace reprise::browser
