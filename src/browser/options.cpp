#include "browser/options.h"

#include <fmt/format.h>

#include <set>

#include "base/json_text.h"
#include "browser/limits.h"
#include "browser/proxy/limits.h"

namespace reprise::browser {
namespace {

// Reads an object's members and notes what is wrong with them.
class Members {
 public:
  Members(wire::JsonValue object, std::string pointer, std::vector<FieldError>& errors)
      : object_(object), pointer_(std::move(pointer)), errors_(errors) {}

  void wrong(std::string_view name, std::string detail) {
    errors_.push_back({fmt::format("{}/{}", pointer_, name), std::move(detail)});
  }
  std::optional<wire::JsonValue> take(std::string_view name) {
    known_.insert(name);
    const auto value = object_.find(name);
    return value && !value->is_null() ? value : std::nullopt;
  }
  std::string text(std::string_view name, std::size_t most) {
    const auto value = take(name);
    if (!value) return {};
    auto text = value->as_string();
    if (!text || text->size() > most) {
      wrong(name, fmt::format("{} must be a text of at most {} bytes", name, most));
      return {};
    }
    return std::move(*text);
  }
  std::optional<bool> boolean(std::string_view name) {
    const auto value = take(name);
    if (!value) return std::nullopt;
    const auto flag = value->as_bool();
    if (!flag) wrong(name, fmt::format("{} must be true or false", name));
    return flag;
  }
  std::optional<double> number(std::string_view name, double least, double most) {
    const auto value = take(name);
    if (!value) return std::nullopt;
    const auto number = value->as_double();
    if (!number || *number < least || *number > most) {
      wrong(name, fmt::format("{} must be a number from {} to {}", name, least, most));
      return std::nullopt;
    }
    return number;
  }
  void done() {
    for (const wire::JsonMember& member : object_.members())
      if (!known_.contains(member.name))
        wrong(member.name, fmt::format("'{}' is not known here", member.name));
  }

 private:
  wire::JsonValue object_;
  std::string pointer_;
  std::vector<FieldError>& errors_;
  std::set<std::string_view> known_;
};

void read_viewport(Members& members, ContextOptions& context, std::vector<FieldError>& errors) {
  const auto value = members.take("viewport");
  if (!value) return;
  if (value->type() != wire::JsonType::kObject)
    return members.wrong("viewport", "viewport must be an object with width and height");
  Members viewport(*value, "/viewport", errors);
  const auto width = viewport.number("width", 1, kMaxViewport);
  const auto height = viewport.number("height", 1, kMaxViewport);
  const auto scale = viewport.number("deviceScaleFactor", 0.1, 10);
  viewport.done();
  if (width) context.viewport.width = static_cast<unsigned>(*width);
  if (height) context.viewport.height = static_cast<unsigned>(*height);
  if (scale) context.viewport.scale = *scale;
}

void read_geolocation(Members& members, ContextOptions& context, std::vector<FieldError>& errors) {
  const auto value = members.take("geolocation");
  if (!value) return;
  if (value->type() != wire::JsonType::kObject)
    return members.wrong("geolocation", "geolocation must be an object");
  Members place(*value, "/geolocation", errors);
  const auto latitude = place.number("latitude", -90, 90);
  const auto longitude = place.number("longitude", -180, 180);
  const auto accuracy = place.number("accuracy", 0, 1e7);
  place.done();
  if (!latitude || !longitude)
    return members.wrong("geolocation", "geolocation needs latitude and longitude");
  context.geolocation = Geolocation{*latitude, *longitude, accuracy.value_or(0)};
}

void read_headers(Members& members, ContextOptions& context) {
  const auto value = members.take("extraHTTPHeaders");
  if (!value) return;
  bool is_sound = value->type() == wire::JsonType::kObject;
  for (const wire::JsonMember& header : value->members()) {
    const auto text = header.value.as_string();
    is_sound = is_sound && text && text->find_first_of("\r\n") == std::string::npos &&
               header.name.find_first_of("\r\n: ") == std::string::npos && !header.name.empty();
  }
  std::string json = value->minified();
  if (!is_sound || json.size() > kMaxExtraHeaderBytes)
    return members.wrong("extraHTTPHeaders", "extraHTTPHeaders must be an object of header texts");
  context.extra_headers = std::move(json);
}

void read_permissions(Members& members, ContextOptions& context) {
  const auto value = members.take("permissions");
  if (!value) return;
  if (value->type() != wire::JsonType::kArray)
    return members.wrong("permissions", "permissions must be a list of names");
  for (const wire::JsonValue element : value->elements()) {
    auto name = element.as_string();
    if (!name || name->size() > 64 || context.permissions.size() >= 64)
      return members.wrong("permissions", "permissions must be a list of at most 64 names");
    context.permissions.push_back(std::move(*name));
  }
}

void read_proxy(Members& members, BrowserOptions& options, std::vector<FieldError>& errors) {
  const auto value = members.take("proxy");
  if (!value) return;
  if (value->type() != wire::JsonType::kObject)
    return members.wrong("proxy", "proxy must be an object with server");
  Members proxy(*value, "/proxy", errors);
  const UpstreamProxyText text{.server = proxy.text("server", kMaxUpstreamTextBytes),
                               .user = proxy.text("username", kMaxUpstreamNameBytes),
                               .password = proxy.text("password", kMaxUpstreamNameBytes),
                               .bypass = proxy.text("bypass", kMaxUpstreamTextBytes)};
  proxy.done();
  if (text.server.empty()) return proxy.wrong("server", "proxy needs a server");
  auto parsed = parse_upstream_proxy(text);
  if (!parsed) return members.wrong("proxy", parsed.error().detail);
  options.proxy = std::move(*parsed);
}

Result<> check_browser_type(Members& members) {
  const std::string type = members.text("browserType", 32);
  if (type.empty() || type == "chromium") return {};
  if (type == "firefox" || type == "webkit")
    return fail(Code::kUnsupportedBrowser,
                fmt::format("browserType '{}' is not supported yet; 'chromium' is", type));
  members.wrong("browserType", "browserType must be chromium");
  return {};
}

void read_capture(Members& members, BrowserOptions& options) {
  const std::string capture = members.text("capture", 16);
  if (capture.empty()) return;
  for (const Capture known : {Capture::kNone, Capture::kFailures, Capture::kActions})
    if (capture == word(known)) {
      options.capture = known;
      return;
    }
  members.wrong("capture", "capture must be none, failures or actions");
}

}  // namespace

std::string_view word(Capture capture) {
  switch (capture) {
    case Capture::kNone: return "none";
    case Capture::kFailures: return "failures";
    case Capture::kActions: return "actions";
  }
  return "none";
}

Result<BrowserOptions> parse_browser_options(wire::JsonValue object) {
  BrowserOptions options;
  std::vector<FieldError> errors;
  Members members(object, "", errors);
  REPRISE_CHECK(check_browser_type(members));
  if (auto pool = members.text("poolKey", 128); !pool.empty()) options.pool_key = std::move(pool);
  ContextOptions& context = options.context;
  read_viewport(members, context, errors);
  context.user_agent = members.text("userAgent", 1024);
  context.locale = members.text("locale", 64);
  context.timezone = members.text("timezoneId", 64);
  read_geolocation(members, context, errors);
  read_permissions(members, context);
  read_headers(members, context);
  context.is_offline = members.boolean("offline").value_or(false);
  context.accepts_downloads = members.boolean("acceptDownloads").value_or(true);
  options.wants_restore = members.boolean("restore").value_or(true);
  read_capture(members, options);
  read_proxy(members, options, errors);
  const auto state = members.take("storageState");
  members.done();
  if (errors.empty() && state) {
    REPRISE_TRY(options.storage_state, parse_storage_state(*state, "/storageState"));
  }
  if (errors.empty()) return options;
  Error error{Code::kInvalid, errors.front().detail};
  error.fields = std::move(errors);
  return fail(std::move(error));
}

bool are_same(const BrowserOptions& a, const BrowserOptions& b) {
  const std::string none;
  return browser_options_json(a) == browser_options_json(b) &&
         (a.proxy ? a.proxy->password : none) == (b.proxy ? b.proxy->password : none);
}

std::string browser_options_json(const BrowserOptions& options) {
  const ContextOptions& context = options.context;
  std::string json = fmt::format(
      R"({{"poolKey":{},"viewport":{{"width":{},"height":{},"deviceScaleFactor":{}}},)"
      R"("offline":{},"restore":{},"capture":"{}")",
      json_string(options.pool_key), context.viewport.width, context.viewport.height,
      context.viewport.scale, context.is_offline, options.wants_restore, word(options.capture));
  const auto text = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) json += fmt::format(R"(,"{}":{})", name, json_string(value));
  };
  if (!context.accepts_downloads) json += R"(,"acceptDownloads":false)";
  if (options.proxy) {
    std::string bypass;
    for (const std::string& host : options.proxy->bypass)
      bypass += (bypass.empty() ? "" : ",") + host;
    json += fmt::format(R"(,"proxy":{{"server":{},"username":{},"bypass":{}}})",
                        json_string(options.proxy->to_string()), json_string(options.proxy->user),
                        json_string(bypass));
  }
  text("userAgent", context.user_agent);
  text("locale", context.locale);
  text("timezoneId", context.timezone);
  if (context.geolocation)
    json += fmt::format(R"(,"geolocation":{{"latitude":{},"longitude":{},"accuracy":{}}})",
                        context.geolocation->latitude, context.geolocation->longitude,
                        context.geolocation->accuracy);
  if (!context.permissions.empty()) {
    std::string names;
    for (const std::string& name : context.permissions)
      names += (names.empty() ? "" : ",") + json_string(name);
    json += fmt::format(R"(,"permissions":[{}])", names);
  }
  if (context.extra_headers != "{}")
    json += fmt::format(R"(,"extraHTTPHeaders":{})", context.extra_headers);
  return json + '}';
}

}  // namespace reprise::browser
