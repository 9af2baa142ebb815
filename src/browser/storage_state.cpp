#include "browser/storage_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/json_text.h"
#include "browser/limits.h"
#include "wire/url.h"

namespace reprise::browser {
namespace {

// Notes what is wrong with a state, and where.
class Complaints {
 public:
  void add(std::string pointer, std::string detail) {
    if (errors_.size() < kMaxStateErrors)
      errors_.push_back({std::move(pointer), std::move(detail)});
  }
  bool empty() const { return errors_.empty(); }
  std::unexpected<Error> failure() && {
    Error error{Code::kInvalid, errors_.front().detail};
    error.fields = std::move(errors_);
    return fail(std::move(error));
  }

 private:
  std::vector<FieldError> errors_;
};

// One object of a state.
class Part {
 public:
  Part(wire::JsonValue value, std::string pointer, Complaints& complaints)
      : value_(value), pointer_(std::move(pointer)), complaints_(complaints) {
    if (value.type() != wire::JsonType::kObject) complaints_.add(pointer_, "must be an object");
  }
  void wrong(std::string_view name, std::string detail) {
    complaints_.add(fmt::format("{}/{}", pointer_, name), std::move(detail));
  }
  std::optional<wire::JsonValue> take(std::string_view name) {
    known_.insert(name);
    return value_.find(name);
  }
  std::string text(std::string_view name, bool is_needed) {
    const auto value = take(name);
    if (!value && !is_needed) return {};
    auto text = value ? value->as_string() : std::nullopt;
    if (!text) wrong(name, fmt::format("{} must be a text", name));
    return text ? std::move(*text) : std::string();
  }
  bool flag(std::string_view name) {
    const auto value = take(name);
    if (!value) return false;
    const auto flag = value->as_bool();
    if (!flag) wrong(name, fmt::format("{} must be true or false", name));
    return flag.value_or(false);
  }
  std::vector<wire::JsonValue> list(std::string_view name, std::size_t most) {
    const auto value = take(name);
    if (!value) return {};
    auto elements = value->elements();
    if (value->type() != wire::JsonType::kArray || elements.size() > most) {
      wrong(name, fmt::format("{} must be a list of at most {}", name, most));
      return {};
    }
    return elements;
  }
  void done() {
    for (const wire::JsonMember& member : value_.members())
      if (!known_.contains(member.name))
        wrong(member.name, fmt::format("'{}' is not known here", member.name));
  }
  std::string below(std::string_view name, std::size_t index) const {
    return fmt::format("{}/{}/{}", pointer_, name, index);
  }

 private:
  wire::JsonValue value_;
  std::string pointer_;
  Complaints& complaints_;
  std::set<std::string_view> known_;
};

// What no cookie holds, since it ends one.
bool is_cookie_text(std::string_view text, std::string_view forbidden) {
  return std::ranges::none_of(text, [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f || forbidden.find(c) != std::string_view::npos;
  });
}

Cookie read_cookie(wire::JsonValue value, std::string pointer, Complaints& complaints) {
  Part part(value, std::move(pointer), complaints);
  Cookie cookie{.name = part.text("name", true),
                .value = part.text("value", true),
                .domain = part.text("domain", true),
                .same_site = {},
                .partition_site = {}};
  if (auto path = part.text("path", false); !path.empty()) cookie.path = std::move(path);
  if (const auto expires = part.take("expires")) {
    const auto seconds = expires->as_double();
    if (seconds && std::isfinite(*seconds) && (*seconds == -1 || *seconds >= 0))
      cookie.expires = *seconds;
    else
      part.wrong("expires", "expires must be seconds since 1970, or -1");
  }
  cookie.is_http_only = part.flag("httpOnly");
  cookie.is_secure = part.flag("secure");
  cookie.same_site = part.text("sameSite", false);
  cookie.partition_site = part.text("partitionKey", false);
  cookie.has_cross_site_ancestor = part.flag("_crHasCrossSiteAncestor");
  part.done();
  if (cookie.name.empty() && cookie.value.empty())
    part.wrong("name", "a cookie needs a name or a value");
  if (!is_cookie_text(cookie.name, ";=")) part.wrong("name", "no cookie can have this name");
  if (!is_cookie_text(cookie.value, ";")) part.wrong("value", "no cookie can have this value");
  if (cookie.name.size() + cookie.value.size() > kMaxCookieBytes)
    part.wrong("value", fmt::format("a cookie has at most {} bytes", kMaxCookieBytes));
  if (cookie.domain.empty() || cookie.domain.size() > kMaxStateOriginBytes ||
      !is_cookie_text(cookie.domain, "; /\\"))
    part.wrong("domain", "domain must be a host's name");
  if (cookie.path.front() != '/' || cookie.path.size() > kMaxCookieBytes ||
      !is_cookie_text(cookie.path, ";"))
    part.wrong("path", "path must begin with /");
  if (!cookie.same_site.empty() && cookie.same_site != "Strict" && cookie.same_site != "Lax" &&
      cookie.same_site != "None")
    part.wrong("sameSite", "sameSite must be Strict, Lax or None");
  return cookie;
}

OriginStorage read_origin(wire::JsonValue value, const std::string& pointer,
                          Complaints& complaints) {
  Part part(value, pointer, complaints);
  OriginStorage storage{.origin = part.text("origin", true), .items = {}};
  const std::string origin = origin_of_url(storage.origin);
  if (origin.empty() || storage.origin.size() > kMaxStateOriginBytes)
    part.wrong("origin", "origin must be like https://example.com");
  storage.origin = origin;
  const auto items = part.list("localStorage", kMaxStateItems);
  if (part.take("indexedDB"))
    part.wrong("indexedDB", "indexedDB is not kept: leave it out of the state");
  part.done();
  std::set<std::string> names;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Part item(items[i], part.below("localStorage", i), complaints);
    storage.items.push_back({.name = item.text("name", true), .value = item.text("value", true)});
    item.done();
    if (!names.insert(storage.items.back().name).second) item.wrong("name", "is there twice");
  }
  return storage;
}

std::size_t bytes_of(const OriginStorage& storage) {
  std::size_t bytes = storage.origin.size();
  for (const StorageItem& item : storage.items) bytes += item.name.size() + item.value.size();
  return bytes;
}

}  // namespace

std::string origin_of_url(std::string_view text) {
  const auto url = wire::parse_url(text);
  if (!url || (url->scheme != "http" && url->scheme != "https")) return {};
  std::string host = url->at.host;
  if (host.find(':') != std::string::npos && !host.starts_with('[')) host = '[' + host + ']';
  std::string origin = url->scheme + "://" + host;
  if (url->at.port != wire::default_port(url->scheme)) origin += fmt::format(":{}", url->at.port);
  return origin;
}

Result<StorageState> parse_storage_state(wire::JsonValue value, std::string_view pointer) {
  if (value.raw().size() > kMaxStorageStateBytes)
    return fail(Code::kBodyTooLarge, fmt::format("a storage state has at most {} bytes, not {}",
                                                 kMaxStorageStateBytes, value.raw().size()));
  Complaints complaints;
  Part part(value, std::string(pointer), complaints);
  StorageState state;
  const auto cookies = part.list("cookies", kMaxStateCookies);
  for (std::size_t i = 0; i < cookies.size(); ++i)
    state.cookies.push_back(read_cookie(cookies[i], part.below("cookies", i), complaints));
  const auto origins = part.list("origins", kMaxStateOrigins);
  std::set<std::string> known;
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const std::string place = part.below("origins", i);
    state.origins.push_back(read_origin(origins[i], place, complaints));
    if (!known.insert(state.origins.back().origin).second && complaints.empty())
      complaints.add(place + "/origin", "is there twice");
  }
  part.done();
  if (!complaints.empty()) return std::move(complaints).failure();
  return state;
}

std::string cookie_json(const Cookie& cookie) {
  std::string json = fmt::format(
      R"({{"name":{},"value":{},"domain":{},"path":{},"expires":{},"httpOnly":{},"secure":{},)"
      R"("sameSite":"{}")",
      json_string(cookie.name), json_string(cookie.value), json_string(cookie.domain),
      json_string(cookie.path), cookie.expires, cookie.is_http_only, cookie.is_secure,
      cookie.same_site.empty() ? "Lax" : cookie.same_site);
  if (!cookie.partition_site.empty())
    json += fmt::format(R"(,"partitionKey":{},"_crHasCrossSiteAncestor":{})",
                        json_string(cookie.partition_site), cookie.has_cross_site_ancestor);
  return json + '}';
}

std::string storage_items_json(const std::vector<StorageItem>& items) {
  std::string json = "[";
  for (const StorageItem& item : items) {
    if (json.size() > 1) json += ',';
    json += "{\"name\":";
    append_json_string(json, item.name);
    json += ",\"value\":";
    append_json_string(json, item.value);
    json += '}';
  }
  return json + ']';
}

std::string storage_state_json(const StorageState& state) {
  std::string json = "{\"cookies\":[";
  for (const Cookie& cookie : state.cookies) {
    if (json.back() != '[') json += ',';
    json += cookie_json(cookie);
  }
  json += "],\"origins\":[";
  for (const OriginStorage& origin : state.origins) {
    if (origin.items.empty()) continue;
    if (json.back() != '[') json += ',';
    json += "{\"origin\":";
    append_json_string(json, origin.origin);
    json += ",\"localStorage\":" + storage_items_json(origin.items) + '}';
  }
  return json + "]}";
}

std::chrono::milliseconds pause_after_state(std::size_t bytes) {
  return std::chrono::milliseconds(1'000 * bytes / kStateBytesPerSecond);
}

std::size_t fit_storage_state(StorageState& state, std::size_t max_bytes) {
  std::size_t removed = 0;
  while (!state.origins.empty() && storage_state_json(state).size() > max_bytes) {
    state.origins.erase(std::ranges::max_element(state.origins, {}, bytes_of));
    ++removed;
  }
  return removed;
}

}  // namespace reprise::browser
