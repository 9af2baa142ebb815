// Reads HTTP/1.1 responses as they arrive: enough of RFC 9112 for servers we start ourselves, and
// no more.
//
//     reader.feed(bytes, sink);          // consumes from the front of `bytes`
//     if (reader.is_complete()) ...      // status(); then reset() for the next response
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::load {

// Where the bytes of a body go, without framing.
struct BodySink {
  virtual ~BodySink() = default;
  virtual void take(std::string_view bytes) = 0;
};

struct StringSink final : BodySink {
  void take(std::string_view bytes) override { text.append(bytes); }
  std::string text;
};

class HttpReader {
 public:
  void feed(std::string_view& bytes, BodySink& sink);
  bool is_complete() const { return state_ == State::kComplete; }
  bool has_head() const { return state_ != State::kHead; }
  // Set when the bytes are not HTTP as we know it; the connection is then useless.
  bool is_broken() const { return state_ == State::kBroken; }
  int status() const { return status_; }
  // The head as received, for the few header fields a load needs.
  std::string_view header(std::string_view lower_case_name) const;
  // The server says that this is the last answer on the connection.
  bool is_last() const;
  void reset();

 private:
  enum class State : std::uint8_t {
    kHead,
    kLength,
    kUntilClose,
    kChunkSize,
    kChunk,
    kChunkEnd,
    kTrailer,
    kComplete,
    kBroken
  };
  void take_head();
  void take_chunk_line();

  State state_ = State::kHead;
  int status_ = 0;
  std::uint64_t left_ = 0;
  std::string head_;
  std::string line_;
};

}  // namespace reprise::load
