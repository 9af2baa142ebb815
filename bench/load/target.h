// The three servers under load and how each is spoken to.
//
// An id is what a server calls one log: a session's UUID for Reprise, a path for Durable Streams, a
// key for Redis. An event is the same JSON everywhere: {"type":"log","data":{"t":<send time in
// ns>,"pad":"..."}}, `size` bytes long.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::load {

enum class Target : std::uint8_t { kReprise, kDurableStreams, kRedis };

Target parse_target(std::string_view name);

class Requests {
 public:
  Requests(Target target, std::uint16_t port, std::size_t event_size);

  // `batch` events for one log: one call, except for Redis, which gets `batch` pipelined XADDs (one
  // answer each).
  void put_append(std::string& out, std::string_view id, std::uint64_t batch, std::uint64_t time);
  // A new log; `name` is part of its id for Durable Streams and, when `is_named`, of the session's
  // key.
  void put_create(std::string& out, std::string_view name, bool is_named);
  // A live SSE reader. For Durable Streams `after` 0 means the beginning, anything else the tail.
  void put_stream(std::string& out, std::string_view id, std::uint64_t after);
  void put_get(std::string& out, std::string_view path);

  Target target() const { return target_; }

 private:
  std::string_view event(std::uint64_t time);
  void put_post(std::string& out, std::string_view method, std::string_view path,
                std::string_view body);

  Target target_;
  std::string host_;
  std::string event_;
  std::string words_;
  std::size_t words_at_ = 0;
  std::size_t pad_at_ = 0;
  std::size_t pad_size_ = 0;
  std::string body_;
};

}  // namespace reprise::load
