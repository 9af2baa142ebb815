// HTTP/1.1 as values: bytes in, requests out; responses in, bytes out. No I/O (src/http does that).
//
// RequestParser is incremental and strict (llhttp without any leniency): a bare LF, a repeated or
// conflicting Content-Length, Transfer-Encoding next to Content-Length, obsolete line folding, a
// control character in a header, a missing or repeated Host, CONNECT where no proxy asked for it:
// all are refused, and after a refusal the connection must be closed. Trailers are dropped. Upgrade
// is a header like others: what it asks for is the caller's to decide.
//
//     RequestParser parser(limits);
//     auto used = parser.feed(bytes);        // may stop early: at the end of a request
//     if (parser.is_complete()) { Request request = parser.take(); ... }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "wire/headers.h"

namespace reprise::wire {

enum class Method : std::uint8_t { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions, kOther };
std::string_view word(Method method);

struct Request {
  Method method = Method::kGet;
  std::string method_name;  // as sent, for kOther
  std::string target;       // as sent: path and query
  int minor_version = 1;    // HTTP/1.0 or HTTP/1.1
  Headers headers;
  std::string body;        // whole, chunks joined
  bool keep_alive = true;  // what the request asks for
};

struct ParserLimits {
  std::size_t max_target_bytes = 8 * 1024;
  std::size_t max_header_bytes = 32 * 1024;  // request line and all headers together
  std::size_t max_headers = 100;
  std::size_t max_body_bytes = 8 * 1024 * 1024 + 64 * 1024;
  // feed() stops behind the head of a request whose body is chunked or longer than max_body_bytes;
  // buffer_body() or stream_body() must be called before it goes on.
  bool stops_before_long_bodies = false;
  // For proxies: CONNECT with the authority as its target, and without a body, is a request too.
  bool takes_connect = false;
};

class RequestParser {
 public:
  explicit RequestParser(ParserLimits limits = {});
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;
  RequestParser& operator=(RequestParser&&) noexcept;

  // Takes bytes; returns how many were used. It stops after a whole request (bytes of the next one
  // are left) and when the header is complete and wants_continue() (so the caller can send 100
  // Continue, then feed on). Errors: kMalformedHttp, kTargetTooLong, kHeaderTooLarge,
  // kBodyTooLarge, kUnsupportedVersion, kExpectationFailed. kBodyTooLarge is raised from
  // Content-Length alone, before the body is read.
  Result<std::size_t> feed(std::string_view bytes);
  bool is_complete() const;
  // Whether any byte of a request has arrived (an idle connection may be closed silently, another
  // may not).
  bool has_started() const;
  bool is_header_complete() const;
  // The header is complete, a body follows, and the client sent Expect: 100-continue. True once per
  // request.
  bool wants_continue();
  // The complete request; the parser is ready for the next one.
  Request take();
  // What is known of a request that is not complete, e.g. to choose a limit; valid once the header
  // is complete.
  const Request& partial() const;

  // The body is kept whole: kBodyTooLarge from its Content-Length.
  Result<> buffer_body();
  // The body is taken piece by piece, and may have this many bytes altogether: kBodyTooLarge from
  // its Content-Length, or from feed(). Until take(), which then gives a request without a body.
  Result<> stream_body(std::uint64_t max_bytes);
  // What has come of a streamed body since the last call.
  std::string take_body();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
};

std::string_view reason_phrase(int status);
// The head of a response, including the empty line. Content-Length is added from `body_bytes` if
// given (not to 1xx and 204, which have none), and Connection unless the headers have it. Header
// values are checked: one with CR, LF or NUL is our bug (REPRISE_ASSERT).
void append_response_head(std::string& out, int status, const Headers& headers,
                          std::optional<std::size_t> body_bytes, bool keep_alive);

struct ResponseOptions {
  bool is_head_request = false;
  bool is_connect_request = false;
  std::size_t max_body_bytes = 64 * 1024 * 1024;
  // For those who pass a response on: take_interim() gives what came before it, otherwise skipped.
  bool keeps_interim = false;
};

struct InterimResponse {
  int status = 100;
  std::string reason;
  Headers headers;
};

// Incremental parser of one response, for clients (the command line, webhooks) and proxies. Bodies
// by Content-Length, chunked or until the end of the connection. Interim responses (1xx) come
// before it, except 101: it is complete at its head, and the bytes behind it, which speak another
// protocol, go to body(). So do those behind a 2xx to CONNECT.
class ResponseParser {
 public:
  explicit ResponseParser(ResponseOptions options);
  ResponseParser(bool is_head_request = false, std::size_t max_body_bytes = 64 * 1024 * 1024);
  ~ResponseParser();
  ResponseParser(ResponseParser&&) noexcept;
  // Takes all bytes. Body bytes are appended to body(), from which a streaming caller may erase
  // what it has read: max_body_bytes limits what body() holds, not what passes through it. Errors:
  // kMalformedHttp (also for bytes behind a complete response, which stays complete),
  // kHeaderTooLarge, kBodyTooLarge.
  Result<> feed(std::string_view bytes);
  // The connection ended; kClosed if the response had not.
  Result<> finish();
  bool is_header_complete() const;
  bool is_complete() const;
  int status() const;
  // The words behind the status, as they came.
  const std::string& reason() const;
  const Headers& headers() const;
  std::string& body();
  // Whether the connection can carry another exchange after this response.
  bool keep_alive() const;
  // The first of the interim responses that were kept, once.
  std::optional<InterimResponse> take_interim();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reprise::wire
