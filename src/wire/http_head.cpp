#include "wire/http_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/assert.h"
#include "wire/limits.h"

namespace reprise::wire {
struct HeadReader::Callbacks {
  static HeadReader& self(llhttp_t* parser) { return *static_cast<HeadReader*>(parser->data); }
  static int on_url(llhttp_t* parser, const char* at, std::size_t length) {
    self(parser).target.append(at, length);
    return 0;
  }
  static int on_status(llhttp_t* parser, const char* at, std::size_t length) {
    self(parser).reason.append(at, length);
    return 0;
  }
  static int on_field(llhttp_t* parser, const char* at, std::size_t length) {
    self(parser).field_.append(at, length);
    return 0;
  }
  static int on_value(llhttp_t* parser, const char* at, std::size_t length) {
    self(parser).value_.append(at, length);
    return 0;
  }
  static int on_value_complete(llhttp_t* parser) {
    HeadReader& head = self(parser);
    head.headers.add(head.field_, head.value_);
    head.field_.clear();
    head.value_.clear();
    return 0;
  }
  static int on_headers_complete(llhttp_t* parser) {
    HeadReader& head = self(parser);
    head.minor_version = parser->http_minor;
    head.status = parser->status_code;
    head.keep_alive =
        llhttp_should_keep_alive(parser) != 0 && (parser->flags & F_CONNECTION_CLOSE) == 0;
    head.is_complete_ = true;
    return HPE_PAUSED;  // llhttp never sees a body
  }
  static const llhttp_settings_t& settings() {
    static const llhttp_settings_t instance = [] {
      llhttp_settings_t made;
      llhttp_settings_init(&made);
      made.on_url = on_url;
      made.on_status = on_status;
      made.on_header_field = on_field;
      made.on_header_value = on_value;
      made.on_header_value_complete = on_value_complete;
      made.on_headers_complete = on_headers_complete;
      return made;
    }();
    return instance;
  }
};

HeadReader::HeadReader(Kind kind, HeadLimits limits) : kind_(kind), limits_(limits) { reset(); }

void HeadReader::reset() {
  has_started_ = false;
  is_first_line_ = true;
  is_complete_ = false;
  leading_bytes_ = 0;
  line_bytes_ = 0;
  header_lines_ = 0;
  lines_.reset();
  empty_buffer(method);
  empty_buffer(target);
  empty_buffer(reason);
  empty_buffer(field_);
  empty_buffer(value_);
  headers.clear();
  llhttp_init(&llhttp_, kind_ == Kind::kRequest ? HTTP_REQUEST : HTTP_RESPONSE,
              &Callbacks::settings());
  llhttp_.data = this;
}

Result<std::size_t> HeadReader::feed(std::string_view bytes) {
  std::string_view rest = bytes;
  while (!rest.empty() && !is_complete_) {
    if (!has_started_) {
      REPRISE_CHECK(begin(rest.front()));
      if (!has_started_) {
        rest.remove_prefix(1);
        continue;
      }
    }
    REPRISE_CHECK(check_size(rest));
    std::string_view line;
    REPRISE_TRY(const bool is_line, lines_.take(rest, line));
    if (!is_line) break;
    line_bytes_ += line.size();
    REPRISE_CHECK(take_line(line));
  }
  return bytes.size() - rest.size();
}

// The bytes before a message: at most an empty line, then one that can begin a method or a version.
// Anything else is refused at once, so that a client that speaks TLS here does not wait for a line.
Result<> HeadReader::begin(char byte) {
  if (leading_bytes_ % 2 == 1) {
    if (byte != '\n') return fail(Code::kMalformedHttp, "a CR stands without its LF");
    ++leading_bytes_;
  } else if (byte == '\r' && kind_ == Kind::kRequest &&
             leading_bytes_ < 2 * kMaxLeadingEmptyLines) {
    ++leading_bytes_;
  } else if (is_token({&byte, 1})) {
    has_started_ = true;
  } else {
    return fail(Code::kMalformedHttp, "the first byte cannot begin an HTTP message");
  }
  return {};
}

// Asked before the line is looked at, so that the answer does not depend on how the bytes were cut.
Result<> HeadReader::check_size(std::string_view bytes) const {
  const std::size_t total = line_bytes_ + lines_.pending_bytes() + line_piece(bytes);
  const bool is_target_limit = kind_ == Kind::kRequest && is_first_line_ &&
                               limits_.max_first_line_bytes <= limits_.max_bytes;
  if (is_target_limit && total > limits_.max_first_line_bytes)
    return fail(Code::kTargetTooLong, fmt::format("the request line is longer than {} bytes",
                                                  limits_.max_first_line_bytes));
  if (total > limits_.max_bytes)
    return fail(Code::kHeaderTooLarge,
                fmt::format("the head is longer than {} bytes", limits_.max_bytes));
  return {};
}

Result<> HeadReader::take_line(std::string_view line) {
  if (std::exchange(is_first_line_, false))
    return kind_ == Kind::kRequest ? take_request_line(line) : take_status_line(line);
  if (line.size() > 2) {
    if (++header_lines_ > limits_.max_headers)
      return fail(Code::kHeaderTooLarge, fmt::format("more than {} headers", limits_.max_headers));
    REPRISE_CHECK(check_field_line(line));
  }
  return execute(line);
}

// method SP target SP HTTP/1.x, with one space each.
Result<> HeadReader::take_request_line(std::string_view line) {
  const std::string_view text = line.substr(0, line.size() - 2);
  const std::size_t first = text.find(' ');
  const std::size_t last = text.rfind(' ');
  if (first == std::string_view::npos || last == first)
    return fail(Code::kMalformedHttp, "the request line is not a method, a target and a version");
  const std::string_view target_text = text.substr(first + 1, last - first - 1);
  const std::string_view version = text.substr(last + 1);
  if (!is_token(text.substr(0, first)) || first > kMaxMethodBytes)
    return fail(Code::kMalformedHttp, "the method is not a token");
  // RFC 3986 knows neither spaces nor bytes beyond ASCII.
  const bool is_plain = std::all_of(target_text.begin(), target_text.end(),
                                    [](char c) { return c > 0x20 && c < 0x7f; });
  if (target_text.empty() || !is_plain)
    return fail(Code::kMalformedHttp, "the request target holds a space or a byte beyond ASCII");
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) ||
      version[6] != '.' || !is_digit(version[7]))
    return fail(Code::kMalformedHttp, "the request line does not end with a version");
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return fail(Code::kUnsupportedVersion, fmt::format("{} is not spoken here", version));
  method = text.substr(0, first);
  const bool is_connect = method == "CONNECT";
  if (is_connect && !limits_.takes_connect)
    return fail(Code::kMalformedHttp, "CONNECT is for proxies");
  REPRISE_CHECK(execute(is_connect ? "CONNECT" : "GET"));
  return execute(line.substr(first));
}

Result<> HeadReader::take_status_line(std::string_view line) {
  if (!line.starts_with("HTTP/1.1 ") && !line.starts_with("HTTP/1.0 "))
    return fail(Code::kMalformedHttp, "the status line does not begin with HTTP/1.1 or HTTP/1.0");
  // llhttp's loose mode would take longer and shorter codes.
  const std::string_view code = line.substr(9, 3);
  const char behind = line.size() > 12 ? line[12] : '\0';
  const bool is_code =
      code.size() == 3 && code[0] >= '1' && code[0] <= '9' &&
      std::all_of(code.begin(), code.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_code || (behind != ' ' && behind != '\r'))
    return fail(Code::kMalformedHttp, "the status line holds no status of three digits");
  return execute(line);
}

Result<> HeadReader::execute(std::string_view bytes) {
  const llhttp_errno_t error = llhttp_execute(&llhttp_, bytes.data(), bytes.size());
  if (error == HPE_OK || (error == HPE_PAUSED && is_complete_)) return {};
  const char* why = llhttp_get_error_reason(&llhttp_);
  return fail(Code::kMalformedHttp,
              fmt::format("{} ({})", why == nullptr ? "" : why, llhttp_errno_name(error)));
}

Result<Framing> read_framing(const Headers& headers, int minor_version) {
  const std::size_t lengths = headers.count("content-length");
  const std::size_t encodings = headers.count("transfer-encoding");
  if (lengths > 1) return fail(Code::kMalformedHttp, "Content-Length is given more than once");
  if (encodings > 1) return fail(Code::kMalformedHttp, "Transfer-Encoding is given more than once");
  if (lengths == 1 && encodings == 1)
    return fail(Code::kMalformedHttp, "Content-Length and Transfer-Encoding exclude each other");
  if (encodings == 1) {
    // RFC 9112 section 6.1: HTTP/1.0 does not know it, so its presence means the framing is faulty.
    if (minor_version == 0) return fail(Code::kMalformedHttp, "HTTP/1.0 has no Transfer-Encoding");
    if (!equals_ignoring_case(*headers.get("transfer-encoding"), "chunked"))
      return fail(Code::kMalformedHttp, "the only Transfer-Encoding taken is chunked");
    return Framing{Framing::Kind::kChunked, 0};
  }
  if (lengths == 0) return Framing{};
  const std::string_view text = *headers.get("content-length");
  Framing framing{Framing::Kind::kLength, 0};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), framing.length);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(Code::kMalformedHttp, "Content-Length is not a number of bytes");
  return framing;
}

}  // namespace reprise::wire
