#include "http/exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "wire/websocket_handshake.h"

namespace reprise::http {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

// One element of Accept: the range, and its weight in thousandths.
struct MediaRange {
  std::string_view range;
  int weight = 1000;
};

// RFC 9110 section 12.4.2: "0", "1", or either with up to three decimals. What is no weight weighs
// as if it were not there.
int parse_weight(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return 1000;
  if (text.size() > 1 && text[1] != '.') return 1000;
  int weight = (text[0] - '0') * 1000;
  int place = 100;
  for (const char digit : text.substr(std::min<std::size_t>(text.size(), 2))) {
    if (digit < '0' || digit > '9') return 1000;
    weight += (digit - '0') * place;
    place /= 10;
  }
  return std::min(weight, 1000);
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return trim(taken);
}

std::vector<MediaRange> parse_accept(std::string_view accept) {
  std::vector<MediaRange> ranges;
  while (!accept.empty()) {
    std::string_view element = take_until(accept, ',');
    MediaRange range{take_until(element, ';')};
    while (!element.empty()) {
      std::string_view value = take_until(element, ';');
      const std::string_view name = take_until(value, '=');
      if (equals_ignoring_case(name, "q")) range.weight = parse_weight(trim(value));
    }
    if (!range.range.empty()) ranges.push_back(range);
  }
  return ranges;
}

// Accept may come in several lines, which are one list (RFC 9110 section 5.3).
std::vector<MediaRange> accepted(const wire::Headers& headers) {
  std::vector<MediaRange> ranges;
  for (const wire::Header& header : headers) {
    if (header.name != "accept") continue;
    const auto some = parse_accept(header.value);
    ranges.insert(ranges.end(), some.begin(), some.end());
  }
  return ranges;
}

}  // namespace

Reply Reply::json(int status, std::string body) {
  Reply reply;
  reply.status = status;
  reply.headers.add("Content-Type", "application/json");
  reply.body = std::move(body);
  return reply;
}

Reply Reply::empty(int status) {
  Reply reply;
  reply.status = status;
  return reply;
}

Result<std::optional<std::string>> Exchange::query(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [key, value] : target.query) {
    if (key != name) continue;
    if (found)
      return fail(Code::kBadParameter, fmt::format("the parameter '{}' stands twice", name));
    found = value;
  }
  return found;
}

Result<> Exchange::check_query(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, value] : target.query) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string names;
    for (const std::string_view name : known)
      names += (names.empty() ? "" : ", ") + std::string(name);
    return fail(Code::kUnknownParameter,
                names.empty() ? fmt::format("'{}' is not a parameter: there are none here", key)
                              : fmt::format("'{}' is not a parameter; there are {}", key, names));
  }
  return {};
}

bool Exchange::prefers(std::string_view media_type, std::string_view other) const {
  const auto ranges = accepted(request.headers);
  const bool is_named = std::any_of(ranges.begin(), ranges.end(), [&](const MediaRange& range) {
    return equals_ignoring_case(range.range, media_type);
  });
  const int weight = acceptance(media_type);
  return is_named && weight > 0 && weight >= acceptance(other);
}

rt::Task<Result<std::string>> Exchange::read_body() {
  if (body != nullptr) co_return co_await body->read();
  co_return std::exchange(request.body, {});
}

int Exchange::acceptance(std::string_view media_type) const {
  const auto ranges = accepted(request.headers);
  if (ranges.empty()) return 1000;
  const std::string group = std::string(media_type.substr(0, media_type.find('/'))) + "/*";
  // The most specific range decides (RFC 9110 section 12.5.1).
  for (const std::string_view wanted :
       {media_type, std::string_view(group), std::string_view("*/*")})
    for (const MediaRange& range : ranges)
      if (equals_ignoring_case(range.range, wanted)) return range.weight;
  return 0;
}

Reply problem(const Error& error, std::string_view instance) {
  const ErrorRow& row = error_row(error.code);
  std::string body = "{\"type\":\"urn:reprise:error:";
  body += row.name;
  body += "\",\"title\":";
  append_json_string(body, row.title);
  body += ",\"status\":";
  append_number(body, static_cast<std::int64_t>(row.http_status));
  body += ",\"code\":\"";
  body += row.name;
  body += "\",\"detail\":";
  append_json_string(body, error.detail.empty() ? row.title : std::string_view(error.detail));
  body += ",\"instance\":";
  append_json_string(body, instance);
  body += is_retryable(error.code) ? ",\"retryable\":true" : ",\"retryable\":false";
  if (!error.fields.empty()) {
    body += ",\"errors\":[";
    for (const FieldError& field : error.fields) {
      if (body.back() != '[') body += ',';
      body += "{\"pointer\":";
      append_json_string(body, field.pointer);
      body += ",\"detail\":";
      append_json_string(body, field.detail);
      body += '}';
    }
    body += ']';
  }
  if (!error.members.empty()) body += ',' + error.members;
  body += '}';
  Reply reply;
  reply.status = row.http_status;
  reply.headers.add("Content-Type", "application/problem+json");
  reply.body = std::move(body);
  if (row.http_status == 429 || row.http_status == 503)
    reply.headers.add("Retry-After", std::to_string(std::max(error.retry_after_seconds, 1)));
  if (row.http_status == 401) reply.headers.add("WWW-Authenticate", "Bearer realm=\"reprise\"");
  if (row.http_status == 426) {
    // RFC 9110 section 15.5.22 and RFC 6455 section 4.2.2.
    reply.headers.add("Upgrade", "websocket");
    reply.headers.add("Sec-WebSocket-Version", wire::kWebSocketVersion);
  }
  return reply;
}

}  // namespace reprise::http
