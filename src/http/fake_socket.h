// FakeSocket: a peer in memory, for tests and fuzzers on manual loops.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "rt/loop.h"
#include "rt/socket.h"

namespace reprise::http::testing {

// It takes `room` bytes, and more when told.
class FakeSocket final : public rt::Socket {
 public:
  explicit FakeSocket(rt::Loop& loop) : loop_(loop) {}
  ~FakeSocket() override { close(); }

  Result<std::size_t> try_write(std::span<const iovec> parts) override {
    if (!is_open_) return fail(Code::kClosed, "closed");
    std::size_t total = 0;
    for (const iovec& part : parts) {
      const std::size_t count = std::min(part.iov_len, room);
      taken.append(static_cast<const char*>(part.iov_base), count);
      room -= count;
      total += count;
    }
    ++writes;
    return total;
  }
  void start_read(std::span<char> buffer, OnRead done) override {
    place_ = buffer;
    on_read_ = std::move(done);
    deliver();
  }
  void start_wait_writable(OnReady done) override { on_writable_ = std::move(done); }
  void shutdown_write() override {}
  void close() override {
    if (!std::exchange(is_open_, false)) return;
    if (on_read_)
      loop_.post(
          [done = std::exchange(on_read_, {})]() mutable { done(fail(Code::kClosed, "closed")); });
    if (on_writable_)
      loop_.post([done = std::exchange(on_writable_, {})]() mutable {
        done(fail(Code::kClosed, "closed"));
      });
  }
  bool is_open() const override { return is_open_; }
  std::string peer_address() const override { return "test"; }
  std::size_t unsent_bytes() const override { return unsent; }

  // The reader has taken some: there is room for `count` bytes more.
  void make_room(std::size_t count) {
    room += count;
    if (on_writable_) loop_.post([done = std::exchange(on_writable_, {})]() mutable { done({}); });
  }
  // The peer sends these bytes, now or when they are read.
  void receive(std::string_view bytes) {
    coming_ += bytes;
    deliver();
  }
  // How many bytes the read that waits has room for; 0 if none does.
  std::size_t read_room() const { return on_read_ ? place_.size() : 0; }
  bool is_waiting_for_room() const { return static_cast<bool>(on_writable_); }

  std::size_t room = 0;
  std::size_t unsent = 0;
  std::string taken;
  int writes = 0;

 private:
  void deliver() {
    if (!on_read_ || coming_.empty()) return;
    const std::size_t count = coming_.copy(place_.data(), place_.size());
    coming_.erase(0, count);
    loop_.post([done = std::exchange(on_read_, {}), count]() mutable { done(count); });
  }
  rt::Loop& loop_;
  std::span<char> place_;
  std::string coming_;
  OnRead on_read_;
  OnReady on_writable_;
  bool is_open_ = true;
};

}  // namespace reprise::http::testing
