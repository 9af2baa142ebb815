// Session keys: what an app and a name may look like.
#include "base/json_text.h"

#include <fmt/format.h>
#include "model/limits.h"
#include "model/session_state.h"
#include "model/text_rules.h"
#include "wire/json.h"

namespace reprise::model {
namespace {

bool is_alphanumeric(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7f) return true;
    // U+0080 to U+009F, the second block of Unicode's category Cc.
    if (c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0)
      return true;
  }
  return false;
}

Result<> check_app(std::string_view app) {
  if (app.empty()) return fail(Code::kBadKey, "the app is empty");
  if (app.size() > kMaxAppBytes)
    return fail(Code::kBadKey, fmt::format("the app has {} bytes, at most {} are allowed",
                                           app.size(), kMaxAppBytes));
  bool is_well_formed = is_alphanumeric(app[0]);
  for (const char c : app.substr(1))
    is_well_formed = is_well_formed && (is_alphanumeric(c) || c == '.' || c == '_' || c == '-');
  if (!is_well_formed)
    return fail(
        Code::kBadKey,
        fmt::format("the app {} is not of the form [A-Za-z0-9][A-Za-z0-9._-]*", json_string(app)));
  return {};
}

Result<> check_name(std::string_view name) {
  if (name.empty()) return fail(Code::kBadKey, "the name is empty");
  if (name.size() > kMaxNameBytes)
    return fail(Code::kBadKey, fmt::format("the name has {} bytes, at most {} are allowed",
                                           name.size(), kMaxNameBytes));
  if (!wire::is_utf8(name)) return fail(Code::kBadKey, "the name is not valid UTF-8");
  if (has_control_character(name)) return fail(Code::kBadKey, "the name holds a control character");
  return {};
}

Result<SessionKey> parse_session_key(std::string_view text) {
  const std::size_t colon = text.find(':');
  SessionKey key;
  if (colon == std::string_view::npos) {
    // The contract's {s} is a UUID or a key: a bare UUID is never a name.
    if (parse_uuid(text))
      return fail(Code::kBadKey,
                  fmt::format("{0} is a session id; as a name it needs its app: {1}:{0}", text,
                              kDefaultApp));
    key = {std::string(kDefaultApp), std::string(text)};
  } else {
    key = {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
  }
  REPRISE_CHECK(check_app(key.app));
  REPRISE_CHECK(check_name(key.name));
  return key;
}

}  // namespace reprise::model
