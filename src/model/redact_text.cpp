#include "model/redact_text.h"

#include <algorithm>
#include <array>

#include "model/redact_credentials.h"
#include "model/redact_names.h"

namespace reprise::model {
namespace {

constexpr std::size_t kMinBearerBytes = 8;
constexpr std::size_t kMaxUserInfoBytes = 1024;
constexpr std::size_t kMaxPortDigits = 5;
constexpr std::size_t kMaxPemLabelBytes = 64;
constexpr std::size_t kMinConfiguredRest = 8;
// The shortest of the keys below with its prefix: most words are shorter.
constexpr std::size_t kShortestKey = 15;
// How much of a long word a rule looks at, so that a word of many beginnings is not read as often.
constexpr std::size_t kMostExamined = 512;

// Keys whose issuers gave them a prefix, and how many characters follow it at least. Names that
// only look like one ("sk-learn-…") have no digit.
struct KeyPrefix {
  std::string_view text;
  std::size_t rest;
};
constexpr std::array<KeyPrefix, 41> kKeyPrefixes = {{
    {"sk-", 16},         {"sk_live_", 12},  {"sk_test_", 12},
    {"rk_live_", 12},    {"rk_test_", 12},  {"pk_live_", 12},
    {"whsec_", 12},      {"ghp_", 16},      {"gho_", 16},
    {"ghu_", 16},        {"ghs_", 16},      {"ghr_", 16},
    {"github_pat_", 16}, {"glpat-", 12},    {"gldt-", 12},
    {"xoxb-", 10},       {"xoxp-", 10},     {"xoxa-", 10},
    {"xoxr-", 10},       {"xoxs-", 10},     {"xoxe-", 10},
    {"xapp-", 10},       {"AKIA", 16},      {"ASIA", 16},
    {"AIza", 30},        {"ya29.", 16},     {"SG.", 20},
    {"npm_", 20},        {"pypi-", 20},     {"hf_", 16},
    {"shpat_", 16},      {"shpss_", 16},    {"dop_v1_", 20},
    {"doo_v1_", 20},     {"sq0atp-", 12},   {"sq0csp-", 12},
    {"LTAI", 12},        {"dckr_pat_", 12}, {"AGE-SECRET-KEY-1", 20},
    {"eyJhbGciOi", 16},  {"gsk_", 16},
}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_word_char(char c) { return is_name_char(c) || c == '-' || c == '.'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_space(char c) { return is_blank(c) || c == '\n' || c == '\r'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
// RFC 6750 section 2.1.
bool is_bearer_char(char c) {
  return is_word_char(c) || c == '~' || c == '+' || c == '/' || c == '=';
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

bool contains_ignoring_case(std::string_view text, std::string_view lower) {
  for (std::size_t i = 0; i + lower.size() <= text.size(); ++i)
    if (equals_ignoring_case(text.substr(i, lower.size()), lower)) return true;
  return false;
}

// Basic's credentials are base64; a plain word after "basic" is not.
bool looks_like_base64(std::string_view text) {
  const bool has_upper = std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
  const bool has_lower = std::ranges::any_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
  return text.ends_with('=') || (has_upper && has_lower && std::ranges::any_of(text, is_digit)) ||
         is_basic_credentials(text);
}

std::string_view without_final_dots(std::string_view word) {
  while (word.ends_with('.')) word.remove_suffix(1);
  return word;
}

// Two or three parts of base64url, separated by dots; the first is a JSON object.
bool is_web_token(std::string_view word) {
  if (!word.starts_with("eyJ")) return false;
  const std::size_t dot = word.substr(0, kMostExamined).find('.');
  return dot != std::string_view::npos && dot >= 10 && word.size() >= dot + 11;
}

bool passes_luhn(std::string_view digits) {
  int sum = 0;
  bool is_doubled = false;
  for (std::size_t i = digits.size(); i-- > 0;) {
    int digit = digits[i] - '0';
    if (is_doubled) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
    is_doubled = !is_doubled;
  }
  return sum % 10 == 0;
}

bool has_issuer(std::string_view digits) {
  const int four = (digits[0] - '0') * 1000 + (digits[1] - '0') * 100 + (digits[2] - '0') * 10 +
                   (digits[3] - '0');
  const int two = four / 100;
  const std::size_t size = digits.size();
  if (digits[0] == '4') return size == 13 || size == 16 || size == 19;
  if ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720)) return size == 16;
  if (two == 34 || two == 37) return size == 15;
  if (two == 36 || two == 38 || (four >= 3000 && four <= 3059)) return size == 14;
  const bool is_long = size >= 16;
  return is_long && (four == 6011 || two == 65 || (four >= 6440 && four <= 6499) || two == 62 ||
                     (four >= 3528 && four <= 3589));
}

}  // namespace

static_assert(std::ranges::all_of(kKeyPrefixes, [](const KeyPrefix& prefix) {
  return prefix.text.size() + prefix.rest >= kShortestKey;
}));

bool is_card_number(std::string_view digits) {
  return digits.size() >= 13 && digits.size() <= 19 && std::ranges::all_of(digits, is_digit) &&
         has_issuer(digits) && passes_luhn(digits);
}

bool is_literal(std::string_view value) {
  for (const std::string_view word : {"true", "false", "null", "none", "undefined", "yes", "no",
                                      "string", "str", "number", "boolean"})
    if (equals_ignoring_case(value, word)) return true;
  return value.empty() || is_version(value);
}

std::string TextRedaction::run() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (position_ == secret_content_ && take_content()) continue;
    if (c == '<' && rules_ == Rules::kAll) look_at_tag();
    // A call may go on below, after a backslash.
    if (c == '\n' && (position_ == 0 || text_[position_ - 1] != '\\')) is_curl_ = false;
    if (c == '-' && take_private_key()) continue;
    if (c == ':' && take_url_password()) continue;
    if (is_name_char(c)) {
      take_word();
    } else {
      if (c != ' ') previous_word_ = {};
      copy_to(position_ + 1);
    }
  }
  return std::move(out_);
}

void TextRedaction::copy_to(std::size_t end) {
  out_ += text_.substr(position_, end - position_);
  position_ = end;
}

void TextRedaction::replace(std::size_t begin, std::size_t end) {
  copy_to(begin);
  out_ += kRedactedMark;
  position_ = end;
  previous_word_ = {};
}

std::size_t TextRedaction::skip_blanks(std::size_t at_position) const {
  while (is_blank(at(at_position))) ++at_position;
  return at_position;
}

void TextRedaction::take_word() {
  std::size_t end = position_;
  while (end < text_.size() && is_word_char(text_[end])) ++end;
  const std::string_view word = text_.substr(position_, end - position_);
  if (take_authorization_scheme(word)) return;
  if (rules_ == Rules::kAll && (take_user_option(word) || take_assignment(word))) return;
  if (take_patterns(word)) return;
  copy_to(end);
  previous_word_ = word;
  is_curl_ = is_curl_ || word == "curl";
}

// -----BEGIN … PRIVATE KEY----- up to its end, or of the text.
bool TextRedaction::take_private_key() {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kDashes = "-----";
  const std::string_view rest = text_.substr(position_);
  if (!rest.starts_with(kBegin)) return false;
  const std::size_t label_end = rest.substr(0, kMaxPemLabelBytes).find(kDashes, kBegin.size());
  if (label_end == std::string_view::npos || !rest.substr(0, label_end).contains("PRIVATE KEY"))
    return false;
  std::size_t end = rest.find("-----END ", label_end);
  if (end != std::string_view::npos) end = rest.find(kDashes, end + kDashes.size());
  replace(position_,
          end == std::string_view::npos ? text_.size() : position_ + end + kDashes.size());
  return true;
}

// The colons of http://[::1]:80/ are no user's, and what was redacted has none.
std::size_t TextRedaction::skip_host_literal(std::size_t from) const {
  constexpr std::size_t kMaxHostBytes = 48;
  if (text_.substr(from).starts_with(kRedactedMark)) return from + kRedactedMark.size();
  if (at(from) != '[') return from;
  const std::string_view host = text_.substr(from + 1, kMaxHostBytes);
  const std::size_t end = host.find_first_not_of("0123456789abcdefABCDEF:.");
  return end != std::string_view::npos && host[end] == ']' ? from + end + 2 : from;
}

// scheme://user:password@host. A password may hold @ / ? # as they are: it goes to the last @. What
// has a port before its path has none: http://localhost:3000/@vite.
bool TextRedaction::take_url_password() {
  if (!text_.substr(position_).starts_with("://")) return false;
  const std::size_t begin = position_ + 3;
  std::optional<std::size_t> colon;
  std::optional<std::size_t> sign;
  bool is_in_path = false;
  for (std::size_t i = skip_host_literal(begin); i < text_.size() && i < begin + kMaxUserInfoBytes;
       ++i) {
    const char c = text_[i];
    if (is_space(c) || is_quote(c) || std::string_view("<>\\").contains(c)) break;
    if (c == ':' && text_.substr(i).starts_with("://")) break;  // another one
    if (c == '@' && colon) sign = i;
    if (c == ':' && !colon) colon = i;
    if (is_in_path || !std::string_view("/?#").contains(c)) continue;
    is_in_path = true;
    if (!colon) return false;
    const std::string_view port = text_.substr(*colon + 1, i - *colon - 1);
    if (!port.empty() && port.size() <= kMaxPortDigits && std::ranges::all_of(port, is_digit))
      return false;
  }
  if (!sign) return false;
  replace(begin, *sign);
  return true;
}

// curl -u user:password, --user=user:password.
bool TextRedaction::take_user_option(std::string_view word) {
  if (position_ == 0 || text_[position_ - 1] != '-') return false;
  const bool is_long = position_ > 1 && text_[position_ - 2] == '-';
  const std::size_t begin = position_ - (is_long ? 2 : 1);
  if (begin > 0 && (is_word_char(text_[begin - 1]))) return false;
  const std::size_t word_end = position_ + word.size();
  // -uuser:password
  if (is_curl_ && !is_long && word.size() > 1 && word.front() == 'u' && at(word_end) == ':') {
    replace(position_ + 1, end_of_bare(word_end));
    return true;
  }
  if (!is_user_option(text_.substr(begin, word_end - begin))) return false;
  const bool is_assigned = is_long && at(word_end) == '=';
  if (!is_assigned && !is_blank(at(word_end))) return false;
  std::size_t value = is_assigned ? word_end + 1 : skip_blanks(word_end);
  const std::size_t backslashes = at(value) == '\\' ? 1 : 0;
  const bool is_quoted = is_quote(at(value + backslashes));
  if (is_quoted) value += backslashes + 1;
  const std::size_t end = is_quoted ? end_of_quoted(value - 1, backslashes) : end_of_bare(value);
  if (!is_user_and_password(text_.substr(value, end - value), is_curl_)) return false;
  replace(value, end);
  return true;
}

bool TextRedaction::take_authorization_scheme(std::string_view word) {
  const bool is_bearer = equals_ignoring_case(word, "bearer");
  if (!is_bearer && !equals_ignoring_case(word, "basic")) return false;
  const std::size_t after = position_ + word.size();
  const std::size_t begin = skip_blanks(after);
  std::size_t end = begin;
  while (is_bearer_char(at(end))) ++end;
  const std::string_view credentials = text_.substr(begin, end - begin);
  if (begin == after || credentials.size() < kMinBearerBytes) return false;
  if (!is_bearer && !looks_like_base64(credentials)) return false;
  replace(begin, end);
  return true;
}

// name=value, "name": "value", Name: value, --name value.
bool TextRedaction::take_assignment(std::string_view word) {
  const std::size_t word_end = position_ + word.size();
  const char before = position_ > 0 ? text_[position_ - 1] : '\0';
  std::size_t sign = word_end;
  while (at(sign) == '\\') ++sign;
  if (is_quote(at(sign)))
    ++sign;
  else
    sign = word_end;
  sign = skip_blanks(sign);
  const bool is_assigned = at(sign) == '=' || at(sign) == ':';
  const bool is_flag = !is_assigned && before == '-' && is_blank(at(word_end));
  if (!is_assigned && !is_flag) return false;
  if (is_assigned) {
    ++sign;
    while (at(sign) == '=' || at(sign) == '>') ++sign;
  }
  const std::size_t value = skip_blanks(sign);
  const bool is_below = at(value) == '\n' || at(value) == '\r';
  const bool is_nothing = value >= text_.size() || (is_flag && at(value) == '-') ||
                          text_.substr(value).starts_with("//");
  if (is_nothing || (is_below && at(word_end) != ':')) return false;
  // What a test says: "PASS: it works".
  if (word == "PASS" && at(word_end) == ':') return false;
  const bool is_in_secret_tag = position_ < secret_tag_end_ && (is_value(word) || is_typed(word));
  const bool is_secret = is_in_secret_tag || redactor_.is_secret_name(word);
  // "API key: …" is one name in two words.
  if (!is_secret && (previous_word_.empty() ||
                     !redactor_.is_secret_name(std::string(previous_word_) + std::string(word))))
    return false;
  const char* first = is_secret ? word.data() : previous_word_.data();
  const auto name = static_cast<std::size_t>(first - text_.data());
  std::optional<std::size_t> column;
  if (at(word_end) == ':' && is_space(at(word_end + 1))) column = column_at_line_start(name);
  std::optional<Span> below;
  if (is_below && column && !is_one_word_secret(word))
    below = block_below(value, *column, Block::kPlain);
  if (is_below && !below) return false;
  const Assigned assigned{
      .is_header = is_assigned && (contains_ignoring_case(word, "authorization") ||
                                   contains_ignoring_case(word, "cookie")),
      .is_line = (column && !is_one_word_secret(word)) ||
                 (at(word_end) == ':' && contains_ignoring_case(word, "phrase")),
      .column = column,
      .quote = is_quote(before) ? before : '\0'};
  // What names a secret may hold one itself.
  take_patterns(word);
  if (below)
    replace(below->begin, below->end);
  else
    take_value(value, assigned);
  return true;
}

void TextRedaction::take_value(std::size_t value, const Assigned& assigned) {
  std::size_t open = value;
  while (at(open) == '\\') ++open;
  const std::size_t backslashes = open - value;
  if (text_.substr(value).starts_with("-----BEGIN ")) {
    copy_to(value);
    if (take_private_key()) return;
  }
  if (is_quote(at(open))) {
    replace(open + 1, end_of_quoted(open, backslashes));
  } else if (at(value) == '{' || at(value) == '[') {
    replace(value, end_of_brackets(value));
  } else if (assigned.is_header) {
    replace(value, end_of_line(value, assigned.quote));
  } else if (!assigned.is_line || !take_line(value, assigned)) {
    const std::size_t end = end_of_bare(value);
    if (!is_literal(text_.substr(value, end - value))) {
      replace(value, end);
      return;
    }
    copy_to(end);
    // token: str = "…"
    const std::size_t sign = skip_blanks(end);
    const std::size_t next = skip_blanks(sign + 1);
    const bool is_given = at(sign) == '=' && is_quote(at(next));
    if (is_given) replace(next + 1, end_of_quoted(next, 0));
  }
}

// Where the text that was opened at `open` ends: at the same quote with as many backslashes. One
// that does not end on its line was not closed, and then nobody knows where the secret ends.
std::size_t TextRedaction::end_of_quoted(std::size_t open, std::size_t backslashes) const {
  std::size_t seen = 0;
  for (std::size_t i = open + 1; i < text_.size() && text_[i] != '\n'; ++i) {
    if (text_[i] == text_[open] && seen == backslashes) return i - seen;
    seen = text_[i] == '\\' ? seen + 1 : 0;
  }
  return text_.size();
}

// Brackets in texts do not count; a text's quotes have as many backslashes as the first one.
std::size_t TextRedaction::end_of_brackets(std::size_t open) const {
  std::size_t depth = 0;
  std::size_t backslashes = 0;
  std::optional<std::size_t> of_quotes;
  bool is_in_text = false;
  for (std::size_t i = open; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '"' && of_quotes.value_or(backslashes) == backslashes) {
      of_quotes = backslashes;
      is_in_text = !is_in_text;
    }
    backslashes = c == '\\' ? backslashes + 1 : 0;
    if (is_in_text) continue;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return i + 1;
  }
  return text_.size();
}

// A header's value goes to the end of its line; also where the line end is written \n or \r, and
// where the header stands in quotes.
std::size_t TextRedaction::end_of_line(std::size_t from, char quote) const {
  for (std::size_t i = from; i < text_.size(); ++i) {
    const char c = text_[i];
    const bool is_escape = c == '\\' && (at(i + 1) == 'n' || at(i + 1) == 'r');
    if (c == '\n' || c == '\r' || is_escape || (quote != '\0' && c == quote)) return i;
  }
  return text_.size();
}

std::size_t TextRedaction::end_of_bare(std::size_t from) const {
  for (std::size_t i = from; i < text_.size(); ++i) {
    const char c = text_[i];
    const char next = at(i + 1);
    if (is_space(c) || is_quote(c) || std::string_view("&<>`").contains(c)) return i;
    // Punctuation may be part of a password; at the end of a word it is not.
    if (std::string_view(",;)}]").contains(c) && (i + 1 >= text_.size() || is_space(next)))
      return i;
    if (c == '\\' && (next == 'n' || next == 'r' || next == 't' || is_quote(next))) return i;
  }
  return text_.size();
}

bool TextRedaction::take_patterns(std::string_view word) {
  const std::size_t begin = position_;
  const std::size_t end = begin + without_final_dots(word).size();
  for (std::size_t i = begin; i < end; ++i) {
    const bool is_inside = i > begin && (is_letter(text_[i - 1]) || is_digit(text_[i - 1]));
    if (is_inside || !is_name_char(text_[i])) continue;
    if (const auto stop = pattern_end(i, end)) {
      replace(i, *stop);
      return true;
    }
  }
  return false;
}

std::optional<std::size_t> TextRedaction::pattern_end(std::size_t from,
                                                      std::size_t word_end) const {
  if (is_digit(text_[from])) return card_end(from);
  const std::string_view word = text_.substr(from, word_end - from);
  if (word.size() >= kMinConfiguredRest)
    for (const std::string& prefix : redactor_.prefixes_)
      if (word.starts_with(prefix) && word.size() >= prefix.size() + kMinConfiguredRest)
        return word_end;
  if (word.size() < kShortestKey) return std::nullopt;
  if (is_web_token(word)) return word_end;
  for (const KeyPrefix& prefix : kKeyPrefixes) {
    if (word.front() != prefix.text.front() || !word.starts_with(prefix.text)) continue;
    const std::string_view rest = word.substr(prefix.text.size(), kMostExamined);
    if (rest.size() >= prefix.rest && std::ranges::any_of(rest, is_digit)) return word_end;
  }
  return std::nullopt;
}

// A card's digits may stand in groups.
std::optional<std::size_t> TextRedaction::card_end(std::size_t from) const {
  constexpr std::size_t kMostDigits = 19;
  std::string digits;
  std::optional<std::size_t> end;
  for (std::size_t i = from; i < text_.size() && digits.size() < kMostDigits; ++i) {
    if (!is_digit(text_[i])) {
      if ((text_[i] == ' ' || text_[i] == '-') && is_digit(at(i + 1))) continue;
      break;
    }
    digits += text_[i];
    if (!is_name_char(at(i + 1)) && is_card_number(digits)) end = i + 1;
  }
  return end;
}

}  // namespace reprise::model
