// The head of a request or a response, from bytes (inside src/wire): lines cut by LineReader,
// parsed by llhttp, and the framing of the body decided (RFC 9112 section 6), without any leniency.
//
// A request's method is checked here, and llhttp is told GET: it knows a fixed list of methods, and
// follows other rules for some (RTSP's, ICE's SOURCE) that are no HTTP/1.1 of ours. Only CONNECT,
// whose target is another, it is told, where it is taken at all.
#pragma once

#include <llhttp.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "wire/http.h"
#include "wire/http_lines.h"

namespace reprise::wire {

struct HeadLimits {
  std::size_t max_first_line_bytes = 0;  // of a request; beyond: kTargetTooLong
  std::size_t max_bytes = 0;
  std::size_t max_headers = 0;
  bool takes_connect = false;
};

// Not movable: llhttp holds its address.
class HeadReader {
 public:
  enum class Kind : std::uint8_t { kRequest, kResponse };
  HeadReader(Kind kind, HeadLimits limits);
  HeadReader(const HeadReader&) = delete;
  HeadReader& operator=(const HeadReader&) = delete;

  // Returns how many bytes were used; stops behind the empty line that ends the head.
  Result<std::size_t> feed(std::string_view bytes);
  bool has_started() const { return has_started_; }
  bool is_complete() const { return is_complete_; }
  void reset();

  // What was read; moved out by the owner once complete.
  std::string method;
  std::string target;
  std::string reason;  // of a response
  Headers headers;
  int minor_version = 1;
  int status = 0;
  bool keep_alive = true;

 private:
  struct Callbacks;
  Result<> begin(char byte);
  Result<> check_size(std::string_view bytes) const;
  Result<> take_line(std::string_view line);
  Result<> take_request_line(std::string_view line);
  Result<> take_status_line(std::string_view line);
  Result<> execute(std::string_view bytes);

  Kind kind_;
  bool has_started_ = false;
  bool is_first_line_ = true;
  bool is_complete_ = false;
  std::uint8_t leading_bytes_ = 0;  // of empty lines before the message
  std::size_t line_bytes_ = 0;      // of whole lines
  std::size_t header_lines_ = 0;
  HeadLimits limits_;
  LineReader lines_;
  std::string field_;
  std::string value_;
  llhttp_t llhttp_;
};

struct Framing {
  enum class Kind : std::uint8_t { kNone, kLength, kChunked };
  Kind kind = Kind::kNone;
  std::uint64_t length = 0;
};
// kMalformedHttp for a head whose body two readers could understand differently.
Result<Framing> read_framing(const Headers& headers, int minor_version);

}  // namespace reprise::wire
