#include "browser/proxy/trouble_log.h"

#include <utility>

#include "browser/proxy/limits.h"
#include "wire/url.h"

namespace reprise::browser {
namespace {

// "host:port" of a URL or of a tunnel.
std::string place_of(std::string_view url) {
  if (const auto parsed = wire::parse_url(url); parsed && wire::is_web_scheme(parsed->scheme))
    return parsed->at.to_string();
  const auto tunnel = wire::parse_authority(url);
  return tunnel ? tunnel->to_string() : std::string();
}

}  // namespace

void TroubleLog::add(std::string_view url, Error why) {
  std::string place = place_of(url);
  if (place.empty()) return;
  if (last_.size() >= kMaxKnownTroubles && !last_.contains(place)) last_.clear();
  last_.insert_or_assign(std::move(place), Entry{.number = ++count_, .why = std::move(why)});
}

std::optional<Error> TroubleLog::find(std::string_view url, std::uint64_t since) const {
  const auto found = last_.find(place_of(url));
  if (found == last_.end() || found->second.number <= since) return std::nullopt;
  return found->second.why;
}

}  // namespace reprise::browser
