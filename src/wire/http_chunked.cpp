#include "wire/http_chunked.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "wire/limits.h"

namespace reprise::wire {

void ChunkedDecoder::reset() {
  lines_.reset();
  rest_of_chunk_ = 0;
  extension_bytes_ = 0;
  trailer_bytes_ = 0;
  state_ = State::kSize;
}

Result<std::size_t> ChunkedDecoder::feed(std::string_view bytes, std::string& body,
                                         std::size_t max_body_bytes) {
  std::string_view rest = bytes;
  while (!rest.empty() && state_ != State::kDone) {
    if (state_ == State::kData) {
      const auto piece =
          static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), rest_of_chunk_));
      if (piece > max_body_bytes || body.size() > max_body_bytes - piece)
        return fail(Code::kBodyTooLarge, fmt::format("the body is over {} bytes", max_body_bytes));
      body.append(rest.substr(0, piece));
      rest.remove_prefix(piece);
      rest_of_chunk_ -= piece;
      if (rest_of_chunk_ == 0) state_ = State::kDataEnd;
      continue;
    }
    const std::size_t line_bytes = lines_.pending_bytes() + line_piece(rest);
    if (state_ == State::kSize && line_bytes > kMaxChunkLineBytes)
      return fail(Code::kMalformedHttp,
                  fmt::format("a chunk's size line is over {} bytes", kMaxChunkLineBytes));
    if (state_ == State::kDataEnd && line_bytes > 2)
      return fail(Code::kMalformedHttp, "a chunk is longer than its size");
    if (state_ == State::kTrailers && trailer_bytes_ + line_bytes > kMaxTrailerBytes)
      return fail(Code::kHeaderTooLarge,
                  fmt::format("the trailers are over {} bytes", kMaxTrailerBytes));
    std::string_view line;
    REPRISE_TRY(const bool is_line, lines_.take(rest, line));
    if (!is_line) break;
    if (state_ == State::kSize) {
      REPRISE_CHECK(take_size(line.substr(0, line.size() - 2)));
    } else if (state_ == State::kDataEnd) {
      state_ = State::kSize;
    } else if (line.size() == 2) {
      state_ = State::kDone;
    } else {
      REPRISE_CHECK(check_field_line(line));
      trailer_bytes_ += line.size();
    }
  }
  return bytes.size() - rest.size();
}

Result<> ChunkedDecoder::take_size(std::string_view line) {
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
  const std::string_view extensions(end, static_cast<std::size_t>(line.data() + line.size() - end));
  if (error != std::errc() || (!extensions.empty() && extensions.front() != ';'))
    return fail(Code::kMalformedHttp, "a chunk's size is not a hexadecimal number");
  extension_bytes_ += extensions.size();
  if (extension_bytes_ > kMaxChunkExtensionBytes)
    return fail(Code::kMalformedHttp,
                fmt::format("the chunk extensions are over {} bytes", kMaxChunkExtensionBytes));
  rest_of_chunk_ = size;
  state_ = size == 0 ? State::kTrailers : State::kData;
  return {};
}

}  // namespace reprise::wire
