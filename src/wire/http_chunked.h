// The chunked transfer coding (RFC 9112 section 7.1), decoded (inside src/wire). Extensions are
// bounded and ignored; trailers are checked like headers, bounded and dropped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "wire/http_lines.h"

namespace reprise::wire {

class ChunkedDecoder {
 public:
  // Returns how many bytes were used; stops behind the last chunk's trailers. Errors:
  // kMalformedHttp, kBodyTooLarge when `body` would pass `max_body_bytes`, kHeaderTooLarge for
  // endless trailers.
  Result<std::size_t> feed(std::string_view bytes, std::string& body, std::size_t max_body_bytes);
  bool is_done() const { return state_ == State::kDone; }
  void reset();

 private:
  enum class State : std::uint8_t { kSize, kData, kDataEnd, kTrailers, kDone };
  Result<> take_size(std::string_view line);

  LineReader lines_;
  std::uint64_t rest_of_chunk_ = 0;
  std::size_t extension_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
  State state_ = State::kSize;
};

}  // namespace reprise::wire
