#include "model/artifact.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "model/decide_parts.h"
#include "model/limits.h"
#include "model/text_rules.h"
#include "wire/json.h"

namespace reprise::model {
namespace {

constexpr std::array<std::string_view, 5> kKindWords = {"code", "note", "log", "attachment",
                                                        "other"};
constexpr std::string_view kCreated = "artifact_created";
constexpr std::string_view kDeleted = "artifact_deleted";
constexpr std::string_view kTemporary = "tmp";

std::unexpected<Error> bad_path(std::string detail) {
  return fail(Code::kBadPath, std::move(detail));
}

Result<> check_part(std::string_view part) {
  if (part.empty()) return bad_path("a part of the path is empty");
  if (part == "." || part == "..")
    return bad_path(fmt::format("'{}' is no part of an artifact's path", part));
  return {};
}

// RFC 9110 section 5.6.2.
bool is_token_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

std::string_view before_parameters(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return type;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// RFC 8187: what may stand for itself in filename*.
bool is_attribute_character(char c) {
  return is_token_character(c) && c != '*' && c != '\'' && c != '%';
}

Event event_of(std::string_view type, TimePoint now, DataWriter&& data, std::string by) {
  return {.type = std::string(type), .at = now, .data = std::move(data).end(), .by = std::move(by)};
}

}  // namespace

std::string_view word(ArtifactKind kind) { return kKindWords[static_cast<std::size_t>(kind)]; }

std::optional<ArtifactKind> parse_artifact_kind(std::string_view text) {
  for (const ArtifactKind kind : kArtifactKinds)
    if (word(kind) == text) return kind;
  return std::nullopt;
}

Result<> check_artifact_path(std::string_view path) {
  if (path.empty()) return bad_path("the path is empty");
  if (path.size() > kMaxArtifactPathBytes)
    return bad_path(fmt::format("the path has {} bytes, at most {} are allowed", path.size(),
                                kMaxArtifactPathBytes));
  if (path.front() == '/') return bad_path("the path is absolute; it must be relative");
  if (!wire::is_utf8(path) || has_control_character(path))
    return bad_path("the path must be UTF-8 without control characters");
  if (path.find('\\') != std::string_view::npos)
    return bad_path("the path has a backslash; its parts are separated by '/'");
  for (std::string_view rest = path;;) {
    const std::size_t slash = rest.find('/');
    REPRISE_CHECK(check_part(rest.substr(0, slash)));
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  if (path == kTemporary || path == "workspace")
    return bad_path(fmt::format("'{}' is a folder; name a file in it", path));
  return {};
}

bool is_temporary(std::string_view path) { return path.starts_with("tmp/"); }

Result<> check_content_type(std::string_view type) {
  const std::string_view essence = before_parameters(type);
  const std::size_t slash = essence.find('/');
  const bool is_well_formed = slash != std::string_view::npos &&
                              is_token(essence.substr(0, slash)) &&
                              is_token(essence.substr(slash + 1));
  const bool is_printable =
      std::all_of(type.begin(), type.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (is_well_formed && is_printable && type.size() <= kMaxContentTypeBytes) return {};
  return fail(Code::kBadParameter,
              fmt::format("Content-Type must be a media type such as text/plain, of at most {} "
                          "bytes",
                          kMaxContentTypeBytes));
}

bool is_text_type(std::string_view type) {
  const std::string essence = lower_case(before_parameters(type));
  if (essence.starts_with("text/")) return true;
  constexpr std::array<std::string_view, 9> kTexts = {
      "application/json",       "application/xml",  "application/yaml",
      "application/x-yaml",     "application/toml", "application/javascript",
      "application/typescript", "application/sql",  "application/x-sh"};
  return std::find(kTexts.begin(), kTexts.end(), essence) != kTexts.end() ||
         essence.ends_with("+json") || essence.ends_with("+xml") || essence.ends_with("+yaml");
}

std::string content_disposition(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  // The plain name is for old clients: what is not plain in it is replaced.
  std::string plain;
  std::string encoded;
  for (const char c : name) {
    const bool is_plain = c >= ' ' && c <= '~' && c != '"' && c != '%';
    plain += is_plain ? c : '_';
    if (is_attribute_character(c))
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}", plain, encoded);
}

Event artifact_created(const ArtifactVersion& version, TimePoint now, std::string by) {
  DataWriter data;
  data.string("path", version.path);
  data.number("version", version.version);
  data.string("kind", word(version.kind));
  data.string("contentType", version.content_type);
  data.number("size", version.size);
  data.string("sha256", to_hex(version.sha256));
  return event_of(kCreated, now, std::move(data), std::move(by));
}

Event artifact_deleted(std::string_view path, std::optional<std::uint64_t> version,
                       std::uint64_t versions, TimePoint now, std::string by) {
  DataWriter data;
  data.string("path", path);
  data.number("version", version);
  data.number("versions", versions);
  return event_of(kDeleted, now, std::move(data), std::move(by));
}

Event artifact_diff(std::string_view path, std::uint64_t from, std::uint64_t to,
                    std::string_view diff, TimePoint now, std::string by) {
  DataWriter data;
  data.string("path", path);
  data.number("fromVersion", from);
  data.number("toVersion", to);
  data.string("diff", diff);
  return event_of("diff", now, std::move(data), std::move(by));
}

bool is_artifact_type(std::string_view type) { return type == kCreated || type == kDeleted; }

}  // namespace reprise::model
