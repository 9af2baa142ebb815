#include "wire/cdp.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "wire/json_index.h"
#include "wire/limits.h"

namespace reprise::wire {
namespace {

// What a byte means outside of strings.
enum class Byte : std::uint8_t { kBad, kPlain, kSpace, kQuote, kOpen, kClose };

constexpr std::array<Byte, 256> make_bytes() {
  std::array<Byte, 256> bytes{};
  // Of numbers, of true, false and null, and what stands between values. All else is no JSON.
  for (const char c : std::string_view("0123456789+-.eEtrufalsn:,"))
    bytes[static_cast<unsigned char>(c)] = Byte::kPlain;
  for (const char c : std::string_view(" \n\r\t"))
    bytes[static_cast<unsigned char>(c)] = Byte::kSpace;
  bytes['"'] = Byte::kQuote;
  bytes['{'] = bytes['['] = Byte::kOpen;
  bytes['}'] = bytes[']'] = Byte::kClose;
  return bytes;
}
constexpr auto kBytes = make_bytes();

Byte kind_of(char c) { return kBytes[static_cast<unsigned char>(c)]; }

// Goes over a text by strings and brackets. Each skip_…() starts at at_ and says whether it could.
class Walker {
 public:
  explicit Walker(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool is_at(char c) const { return at_ != end_ && *at_ == c; }
  bool is_at_end() const { return at_ == end_; }
  bool take(char c) {
    if (!is_at(c)) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ != end_ && kind_of(*at_) == Byte::kSpace) ++at_;
  }
  bool skip_string(bool& has_escapes);
  bool skip_container();
  bool skip_value(std::string_view& value, bool& has_escapes);
  // A member: its name without the quotes, and its value.
  struct Member {
    std::string_view name;
    std::string_view value;
    bool name_has_escapes = false;
    bool value_has_escapes = false;
  };
  bool skip_member(Member& member);

 private:
  const char* at_;
  const char* const end_;
};

class Scanner {
 public:
  explicit Scanner(std::string_view message) : walker_(message) {}

  CdpHead run();

 private:
  // Whether the object is whole.
  bool read_members();
  // Puts a value in its place; a second one is a fault.
  void place(const Walker::Member& member);
  void place_id(std::string_view value);
  bool place_string(std::string_view value, std::string_view& place, CdpFault fault);
  // The first fault stands, but that the text is no JSON outweighs what its members are.
  void note(CdpFault fault) {
    if (head_.fault == CdpFault::kNone) head_.fault = fault;
  }

  Walker walker_;
  CdpHead head_;
  bool has_method_ = false;
  bool has_session_ = false;
};

CdpHead Scanner::run() {
  walker_.skip_space();
  if (!walker_.take('{')) {
    head_.fault = CdpFault::kNotObject;
    return head_;
  }
  const bool is_whole = read_members();
  walker_.skip_space();
  if (!is_whole || !walker_.is_at_end()) head_.fault = CdpFault::kNotJson;
  return head_;
}

bool Scanner::read_members() {
  walker_.skip_space();
  if (walker_.take('}')) return true;
  for (;;) {
    Walker::Member member;
    if (!walker_.skip_member(member)) return false;
    if (member.name_has_escapes) {
      note(CdpFault::kEscaped);
    } else {
      place(member);
    }
    walker_.skip_space();
    if (walker_.take('}')) return true;
    if (!walker_.take(',')) return false;
  }
}

bool Walker::skip_member(Member& member) {
  skip_space();
  if (!is_at('"')) return false;
  const char* const name = at_ + 1;
  if (!skip_string(member.name_has_escapes)) return false;
  member.name = std::string_view(name, static_cast<std::size_t>(at_ - name - 1));
  skip_space();
  if (!take(':')) return false;
  skip_space();
  return skip_value(member.value, member.value_has_escapes);
}

bool Walker::skip_string(bool& has_escapes) {
  ++at_;
  for (;;) {
    at_ = find_quote_or_backslash(at_, end_);
    if (at_ == end_) return false;
    if (*at_ == '"') break;
    has_escapes = true;
    if (end_ - at_ < 2) return false;
    at_ += 2;
  }
  ++at_;
  return true;
}

bool Walker::skip_container() {
  std::size_t depth = 0;
  for (;;) {
    if (at_ == end_) return false;
    switch (kind_of(*at_)) {
      case Byte::kPlain:
      case Byte::kSpace: ++at_; break;
      case Byte::kQuote: {
        bool has_escapes = false;
        if (!skip_string(has_escapes)) return false;
        break;
      }
      case Byte::kOpen:
        ++depth;
        ++at_;
        break;
      case Byte::kClose:
        ++at_;
        if (--depth == 0) return true;
        break;
      case Byte::kBad: return false;
    }
  }
}

bool Walker::skip_value(std::string_view& value, bool& has_escapes) {
  const char* const start = at_;
  if (at_ == end_) return false;
  if (*at_ == '"') {
    if (!skip_string(has_escapes)) return false;
  } else if (kind_of(*at_) == Byte::kOpen) {
    if (!skip_container()) return false;
  } else {
    while (at_ != end_ && kind_of(*at_) == Byte::kPlain && *at_ != ',' && *at_ != ':') ++at_;
  }
  value = std::string_view(start, static_cast<std::size_t>(at_ - start));
  return at_ != start;
}

void Scanner::place(const Walker::Member& member) {
  const std::string_view name = member.name;
  if (name == "id") {
    if (!head_.id_text.empty()) return note(CdpFault::kDuplicate);
    return place_id(member.value);
  }
  if (name == "method") {
    if (std::exchange(has_method_, true)) return note(CdpFault::kDuplicate);
    const bool is_string = place_string(member.value, head_.method, CdpFault::kBadMethod);
    if (is_string && member.value_has_escapes) note(CdpFault::kEscaped);
    return;
  }
  if (name == "sessionId") {
    if (std::exchange(has_session_, true)) return note(CdpFault::kDuplicate);
    const bool is_string = place_string(member.value, head_.session_id, CdpFault::kBadSession);
    head_.has_escaped_session = is_string && member.value_has_escapes;
    return;
  }
  std::string_view* place = nullptr;
  if (name == "params") place = &head_.params;
  if (name == "result") place = &head_.result;
  if (name == "error") place = &head_.error;
  if (place == nullptr) {
    head_.has_other_member = true;
    return;
  }
  if (!place->empty()) return note(CdpFault::kDuplicate);
  *place = member.value;
}

void Scanner::place_id(std::string_view value) {
  head_.id_text = value;
  std::int32_t id = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, id);
  const std::string_view digits = value.starts_with('-') ? value.substr(1) : value;
  const bool has_leading_zero = digits.size() > 1 && digits.starts_with('0');
  if (error != std::errc() || stop != end || has_leading_zero) return note(CdpFault::kBadId);
  head_.id = id;
}

bool Scanner::place_string(std::string_view value, std::string_view& place, CdpFault fault) {
  if (!value.starts_with('"')) {
    note(fault);
    return false;
  }
  place = value.substr(1, value.size() - 2);
  return true;
}

// The end of every message of a session: `,"sessionId":"` and 32 digits and `"}`.
constexpr std::string_view kTailStart = R"(,"sessionId":")";
constexpr std::size_t kSessionIdDigits = 32;
constexpr std::size_t kTailBytes = kTailStart.size() + kSessionIdDigits + 2;

bool is_session_id(std::string_view text) {
  for (const char c : text)
    if ((c < '0' || c > '9') && (c < 'A' || c > 'F')) return false;
  return true;
}

// Reads `text` at the front of `rest`.
bool take(std::string_view& rest, std::string_view text) {
  if (!rest.starts_with(text)) return false;
  rest.remove_prefix(text.size());
  return true;
}

// The longest method of protocol 1.3 has 58 bytes.
constexpr std::size_t kMaxMethodBytes = 128;

// Reads up to the next quote, which must be near and no part of an escape.
std::optional<std::string_view> take_name(std::string_view& rest) {
  const std::size_t quote = rest.substr(0, kMaxMethodBytes).find_first_of("\"\\");
  if (quote == std::string_view::npos || rest[quote] != '"') return std::nullopt;
  const std::string_view name = rest.substr(0, quote);
  rest.remove_prefix(quote + 1);
  return name;
}

// The head of a long message by its ends, if it looks like Chromium's.
std::optional<CdpHead> scan_ends(std::string_view message) {
  std::string_view tail = message.substr(message.size() - kTailBytes);
  const std::string_view session = tail.substr(kTailStart.size(), kSessionIdDigits);
  if (!tail.starts_with(kTailStart) || !tail.ends_with("\"}") || !is_session_id(session))
    return std::nullopt;
  CdpHead head;
  head.session_id = session;
  std::string_view rest = message.substr(0, message.size() - kTailBytes);
  if (!rest.ends_with('}')) return std::nullopt;
  if (take(rest, R"({"id":)")) {
    const char* const end = rest.data() + rest.size();
    std::int32_t id = 0;
    const auto [stop, error] = std::from_chars(rest.data(), end, id);
    if (error != std::errc()) return std::nullopt;
    head.id = id;
    head.id_text = rest.substr(0, static_cast<std::size_t>(stop - rest.data()));
    rest.remove_prefix(head.id_text.size());
    if (!take(rest, R"(,"result":)") || !rest.starts_with('{')) return std::nullopt;
    head.result = rest;
    return head;
  }
  if (!take(rest, R"({"method":")")) return std::nullopt;
  const auto method = take_name(rest);
  if (!method || !take(rest, R"(,"params":)") || !rest.starts_with('{')) return std::nullopt;
  head.method = *method;
  head.params = rest;
  return head;
}

}  // namespace

CdpHead scan_cdp(std::string_view message) { return Scanner(message).run(); }

CdpHead scan_browser_cdp(std::string_view message) {
  if (message.size() >= kLongCdpBytes)
    if (const auto head = scan_ends(message)) return *head;
  return scan_cdp(message);
}

std::string_view cdp_member(std::string_view object, std::string_view name) {
  Walker walker(object);
  if (!walker.take('{')) return {};
  for (;;) {
    Walker::Member member;
    if (!walker.skip_member(member)) return {};
    if (member.name == name) return member.value;
    walker.skip_space();
    if (!walker.take(',')) return {};
  }
}

std::optional<std::string_view> cdp_plain_string(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return std::nullopt;
  value = value.substr(1, value.size() - 2);
  if (value.find_first_of("\"\\") != std::string_view::npos) return std::nullopt;
  return value;
}

std::vector<std::string_view> cdp_elements(std::string_view array) {
  std::vector<std::string_view> elements;
  Walker walker(array);
  if (!walker.take('[')) return elements;
  for (;;) {
    std::string_view value;
    bool has_escapes = false;
    walker.skip_space();
    if (!walker.skip_value(value, has_escapes)) return elements;
    elements.push_back(value);
    walker.skip_space();
    if (!walker.take(',')) return elements;
  }
}

}  // namespace reprise::wire
