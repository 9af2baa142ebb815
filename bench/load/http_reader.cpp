#include "http_reader.h"

#include <strings.h>

#include <algorithm>
#include <charconv>

namespace reprise::load {
namespace {

constexpr std::size_t kMaxHeadBytes = 64 * 1024;

template <typename Number>
bool parse(std::string_view text, Number& value, int base = 10) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return result.ec == std::errc{} && result.ptr != text.data();
}

}  // namespace

void HttpReader::reset() {
  state_ = State::kHead;
  status_ = 0;
  left_ = 0;
  head_.clear();
  line_.clear();
}

std::string_view HttpReader::header(std::string_view name) const {
  std::string_view rest = head_;
  while (!rest.empty()) {
    const auto end = std::min(rest.find("\r\n"), rest.size());
    const auto line = rest.substr(0, end);
    if (line.size() > name.size() && line[name.size()] == ':' &&
        strncasecmp(line.data(), name.data(), name.size()) == 0) {
      auto value = line.substr(name.size() + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      return value;
    }
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return {};
}

bool HttpReader::is_last() const {
  const auto option = header("connection");
  return option.size() >= 5 && strncasecmp(option.data(), "close", 5) == 0;
}

void HttpReader::take_head() {
  if (!head_.starts_with("HTTP/1.1 ") || !parse(std::string_view(head_).substr(9, 3), status_)) {
    state_ = State::kBroken;
    return;
  }
  const auto length = header("content-length");
  const auto coding = header("transfer-encoding");
  if (status_ == 204 || status_ == 304) {
    state_ = State::kComplete;
  } else if (coding.size() >= 7 && strncasecmp(coding.data(), "chunked", 7) == 0) {
    state_ = State::kChunkSize;
  } else if (!length.empty()) {
    if (!parse(length, left_))
      state_ = State::kBroken;
    else
      state_ = left_ == 0 ? State::kComplete : State::kLength;
  } else {
    state_ = State::kUntilClose;
  }
}

void HttpReader::take_chunk_line() {
  if (state_ == State::kTrailer) {
    if (line_ == "\r\n") state_ = State::kComplete;
  } else if (!parse(line_, left_, 16)) {
    state_ = State::kBroken;
  } else {
    state_ = left_ == 0 ? State::kTrailer : State::kChunk;
  }
  line_.clear();
}

void HttpReader::feed(std::string_view& bytes, BodySink& sink) {
  while (!bytes.empty()) {
    switch (state_) {
      case State::kHead: {
        // The end may straddle two reads, so look a little before what is new.
        const auto from = head_.size() < 3 ? 0 : head_.size() - 3;
        const auto before = head_.size();
        head_.append(bytes);
        const auto end = head_.find("\r\n\r\n", from);
        if (end == std::string::npos) {
          bytes = {};
          if (head_.size() > kMaxHeadBytes) state_ = State::kBroken;
          return;
        }
        head_.resize(end + 4);
        bytes.remove_prefix(end + 4 - before);
        take_head();
        break;
      }
      case State::kLength:
      case State::kChunk: {
        const auto part = bytes.substr(0, std::min<std::uint64_t>(left_, bytes.size()));
        sink.take(part);
        left_ -= part.size();
        bytes.remove_prefix(part.size());
        if (left_ == 0) state_ = state_ == State::kLength ? State::kComplete : State::kChunkEnd;
        if (left_ == 0 && state_ == State::kChunkEnd) left_ = 2;
        break;
      }
      case State::kChunkEnd: {
        const auto skipped = std::min<std::uint64_t>(left_, bytes.size());
        left_ -= skipped;
        bytes.remove_prefix(skipped);
        if (left_ == 0) state_ = State::kChunkSize;
        break;
      }
      case State::kChunkSize:
      case State::kTrailer: {
        const auto end = bytes.find('\n');
        const auto taken = end == std::string_view::npos ? bytes.size() : end + 1;
        line_.append(bytes.substr(0, taken));
        bytes.remove_prefix(taken);
        if (end != std::string_view::npos) take_chunk_line();
        break;
      }
      case State::kUntilClose:
        sink.take(bytes);
        bytes = {};
        return;
      case State::kComplete:
      case State::kBroken: return;
    }
  }
}

}  // namespace reprise::load
