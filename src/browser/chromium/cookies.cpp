#include "browser/chromium/cookies.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "browser/chromium/json_access.h"

namespace reprise::browser::chromium {

std::vector<Cookie> read_cookies(wire::JsonValue list) {
  std::vector<Cookie> cookies;
  for (const wire::JsonValue value : list.elements()) {
    Cookie cookie{.name = text_of(value, "name"),
                  .value = text_of(value, "value"),
                  .domain = text_of(value, "domain"),
                  .path = text_of(value, "path"),
                  .is_http_only = is_set(value, "httpOnly"),
                  .is_secure = is_set(value, "secure"),
                  .same_site = text_of(value, "sameSite"),
                  .partition_site = {}};
    const auto expires = value.find("expires");
    if (expires && !is_set(value, "session")) cookie.expires = expires->as_double().value_or(-1);
    if (const auto partition = value.find("partitionKey")) {
      cookie.partition_site = text_of(*partition, "topLevelSite");
      cookie.has_cross_site_ancestor = is_set(*partition, "hasCrossSiteAncestor");
    }
    // One of an opaque site: nobody could bring it back.
    if (is_set(value, "partitionKeyOpaque")) continue;
    cookies.push_back(std::move(cookie));
  }
  return cookies;
}

std::string cookie_params(const std::vector<Cookie>& cookies) {
  std::string json = "[";
  for (const Cookie& cookie : cookies) {
    if (json.size() > 1) json += ',';
    json +=
        fmt::format(R"({{"name":{},"value":{},"domain":{},"path":{},"httpOnly":{},"secure":{})",
                    json_string(cookie.name), json_string(cookie.value), json_string(cookie.domain),
                    json_string(cookie.path), cookie.is_http_only, cookie.is_secure);
    if (cookie.expires >= 0) json += fmt::format(R"(,"expires":{})", cookie.expires);
    if (!cookie.same_site.empty()) json += fmt::format(R"(,"sameSite":"{}")", cookie.same_site);
    if (!cookie.partition_site.empty())
      json += fmt::format(R"(,"partitionKey":{{"topLevelSite":{},"hasCrossSiteAncestor":{}}})",
                          json_string(cookie.partition_site), cookie.has_cross_site_ancestor);
    json += '}';
  }
  return json + ']';
}

}  // namespace reprise::browser::chromium
