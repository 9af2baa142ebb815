#include "model/redact_names.h"

#include <algorithm>
#include <array>

namespace reprise::model {
namespace {

// A name that holds one of these is a secret's.
constexpr std::array<std::string_view, 34> kParts = {
    "password",    "passwd",        "passphrase",  "passcode",         "secret",
    "apikey",      "accesskey",     "privatekey",  "signingkey",       "encryptionkey",
    "masterkey",   "accountkey",    "sharedkey",   "authkey",          "sshkey",
    "storagekey",  "authorization", "credential",  "cookie",           "authtoken",
    "accesstoken", "refreshtoken",  "idtoken",     "sessiontoken",     "securitytoken",
    "bearertoken", "csrf",          "xsrf",        "connectionstring", "cardnumber",
    "creditcard",  "securitycode",  "onetimecode", "phpsessid"};
// The whole name.
constexpr std::array<std::string_view, 19> kWhole = {
    "auth", "pass",       "pw",         "pin",     "otp",          "totp", "cvv",
    "cvc",  "cvv2",       "cvc2",       "sid",     "ssn",          "jwt",  "bearer",
    "pan",  "connectsid", "jsessionid", "xapikey", "recoverycodes"};
// Its last part. A `led_pin` and an `account_sid` are none.
constexpr std::array<std::string_view, 9> kLast = {"pass", "auth", "pw",  "otp", "totp",
                                                   "cvv",  "cvc",  "jwt", "ssn"};
// Its end: `token` itself and every kind of it, but not `maxTokens`.
constexpr std::array<std::string_view, 2> kEnds = {"token", "pwd"};
// Secrets that people choose may be several words; these are not.
constexpr std::array<std::string_view, 10> kOneWord = {"auth", "pin", "otp", "totp", "cvv",
                                                       "cvc",  "sid", "ssn", "jwt",  "pan"};
// A word of a description that says what is typed there.
constexpr std::array<std::string_view, 8> kDescribed = {"pin", "otp", "totp",  "cvv",
                                                        "cvc", "pwd", "token", "ssn"};
constexpr std::array<std::string_view, 24> kHeaders = {
    "host",          "accept",     "accept-encoding", "accept-language",
    "user-agent",    "connection", "content-type",    "content-length",
    "authorization", "cookie",     "set-cookie",      "date",
    "cache-control", "origin",     "referer",         "server",
    "vary",          "etag",       "location",        "pragma",
    "if-none-match", "te",         "upgrade",         "proxy-authorization"};

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_part_char(char c) {
  return is_lower(c) || is_upper(c) || is_digit(c) || static_cast<unsigned char>(c) >= 128;
}
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::string normalised_name(std::string_view name) {
  std::string plain;
  plain.reserve(name.size());
  for (const char c : name)
    if (is_part_char(c)) plain += lower(c);
  return plain;
}

std::string_view last_part(std::string_view name) {
  while (!name.empty() && !is_part_char(name.back())) name.remove_suffix(1);
  std::size_t begin = name.size();
  while (begin > 0 && is_part_char(name[begin - 1])) {
    --begin;
    if (begin == 0 || !is_upper(name[begin])) continue;
    if (is_lower(name[begin - 1]) || is_digit(name[begin - 1])) break;
    // SMTPPass: an acronym before a word; the O of OAuth is none.
    const bool begins_word = begin + 1 < name.size() && is_lower(name[begin + 1]);
    if (begins_word && begin >= 2 && is_upper(name[begin - 1]) && is_upper(name[begin - 2])) break;
  }
  return name.substr(begin);
}

bool is_known_secret_name(std::string_view name) {
  const std::string plain = normalised_name(name);
  return std::ranges::any_of(kParts, [&](auto part) { return plain.contains(part); }) ||
         std::ranges::any_of(kEnds, [&](auto end) { return plain.ends_with(end); }) ||
         is_one_of(kWhole, plain) || is_one_of(kLast, normalised_name(last_part(name)));
}

bool is_one_word_secret(std::string_view name) {
  return is_one_of(kOneWord, normalised_name(last_part(name)));
}

bool is_naming(std::string_view member) {
  const std::string plain = normalised_name(member);
  return plain == "name" || plain == "key" || plain == "header" || plain == "field";
}

bool is_describing(std::string_view member) {
  const std::string plain = normalised_name(member);
  return plain == "element" || plain == "label" || plain == "selector" || plain == "locator" ||
         plain == "placeholder";
}

bool describes_secret(std::string_view description) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= description.size(); ++i) {
    if (i < description.size() && is_part_char(description[i])) continue;
    if (is_one_of(kDescribed, normalised_name(description.substr(begin, i - begin)))) return true;
    begin = i + 1;
  }
  return is_known_secret_name(description);
}

bool is_value(std::string_view member) { return normalised_name(member).starts_with("value"); }

bool is_typed(std::string_view member) {
  const std::string plain = normalised_name(member);
  return plain == "text" || plain == "content" || plain == "default" || plain == "val" ||
         plain == "defaultvalue";
}

bool is_header_name(std::string_view name) {
  std::string small(name.substr(0, 32));
  std::ranges::transform(small, small.begin(), lower);
  return small.starts_with("x-") || is_one_of(kHeaders, small);
}

}  // namespace reprise::model
