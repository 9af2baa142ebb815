#include "http/exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"

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

// One element of Accept: the range, and whether its q is zero.
struct MediaRange {
  std::string_view range;
  bool is_refused = false;
};

std::vector<MediaRange> parse_accept(std::string_view accept) {
  std::vector<MediaRange> ranges;
  while (!accept.empty()) {
    const std::size_t comma = accept.find(',');
    std::string_view element = accept.substr(0, comma);
    accept.remove_prefix(comma == std::string_view::npos ? accept.size() : comma + 1);
    const std::size_t semicolon = element.find(';');
    MediaRange range{trim(element.substr(0, semicolon))};
    if (semicolon != std::string_view::npos) {
      const std::string_view parameters = element.substr(semicolon);
      const std::size_t q = parameters.find("q=");
      if (q != std::string_view::npos) {
        const std::string_view value = trim(parameters.substr(q + 2));
        range.is_refused = value == "0" || value == "0.0" || value == "0.00" || value == "0.000";
      }
    }
    if (!range.range.empty()) ranges.push_back(range);
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

bool Exchange::accepts_explicitly(std::string_view media_type) const {
  const auto accept = request.headers.get("accept");
  if (!accept) return false;
  const auto ranges = parse_accept(*accept);
  return std::any_of(ranges.begin(), ranges.end(), [&](const MediaRange& range) {
    return !range.is_refused && equals_ignoring_case(range.range, media_type);
  });
}

bool Exchange::accepts(std::string_view media_type) const {
  const auto accept = request.headers.get("accept");
  if (!accept) return true;
  const auto ranges = parse_accept(*accept);
  if (ranges.empty()) return true;
  const std::string group = std::string(media_type.substr(0, media_type.find('/'))) + "/*";
  // The most specific range decides (RFC 9110 section 12.5.1).
  for (const std::string_view wanted :
       {media_type, std::string_view(group), std::string_view("*/*")})
    for (const MediaRange& range : ranges)
      if (equals_ignoring_case(range.range, wanted)) return !range.is_refused;
  return false;
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
  return reply;
}

}  // namespace reprise::http
