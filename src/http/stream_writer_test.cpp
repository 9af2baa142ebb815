#include "http/stream_writer.h"

#include <gtest/gtest.h>

#include "http/fake_socket.h"
#include "http/limits.h"
#include "rt/gate.h"
#include "rt/manual_loop.h"
#include "rt/test_loop.h"

namespace reprise::http {
namespace {

SharedBytes bytes(std::size_t count, char c = 'x') {
  return std::make_shared<const std::string>(count, c);
}
SharedBytes text(std::string value) {
  return std::make_shared<const std::string>(std::move(value));
}

rt::Task<> note(rt::Task<Result<>> waiting, std::optional<Result<>>& outcome) {
  outcome = co_await std::move(waiting);
}

class StreamWriterTest : public ::testing::Test {
 protected:
  StreamWriterTest() : loop_(time_), socket_(loop_), flusher_(loop_), writer_(socket_, flusher_) {}
  ~StreamWriterTest() override {
    scope_.cancel();
    loop_.run_ready();
  }
  std::optional<Result<>>& wait_for_room() {
    loop_.post([this] { rt::spawn(gate_, note(writer_.wait_for_room(scope_), room_)); });
    loop_.run_ready();
    return room_;
  }
  // Pushes parts of this size until one is refused; how many were taken.
  std::size_t fill(std::size_t part_bytes) {
    std::size_t count = 0;
    while (writer_.push(bytes(part_bytes))) ++count;
    return count;
  }

  rt::ManualTime time_;
  rt::ManualLoop loop_;
  rt::Gate gate_;
  rt::CancelScope scope_;
  testing::FakeSocket socket_;
  Flusher flusher_;
  StreamWriter writer_;
  std::optional<Result<>> room_;
};

TEST_F(StreamWriterTest, EverythingPushedInOneTurnLeavesInOneSend) {
  socket_.room = 1000;
  for (const char* part : {"one", "two", "three"}) EXPECT_TRUE(writer_.push(text(part)));
  EXPECT_TRUE(writer_.push(text("skipped four"), 8));
  EXPECT_TRUE(writer_.push(text("")));
  EXPECT_EQ(socket_.writes, 0);
  loop_.run_ready();
  EXPECT_EQ(socket_.taken, "onetwothreefour");
  EXPECT_EQ(socket_.writes, 1);
}

TEST_F(StreamWriterTest, GoesOnWhereAShortSendStopped) {
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    expected += std::to_string(i) + ';';
    EXPECT_TRUE(writer_.push(text(std::to_string(i) + ';')));
  }
  while (socket_.taken.size() < expected.size()) {
    socket_.make_room(7);
    loop_.run_ready();
    ASSERT_FALSE(writer_.is_broken());
  }
  EXPECT_EQ(socket_.taken, expected);
}

TEST_F(StreamWriterTest, RefusesMoreThanTheBacklogMayHold) {
  EXPECT_EQ(fill(1024), kMaxBacklogBytes / 1024);
  EXPECT_FALSE(writer_.push(bytes(1)));
  socket_.make_room(1024);
  loop_.run_ready();
  EXPECT_TRUE(writer_.push(bytes(1)));
}

TEST_F(StreamWriterTest, ThereIsRoomAgainOnceTheBacklogIsLow) {
  fill(1024);
  loop_.run_ready();
  EXPECT_FALSE(wait_for_room());
  socket_.make_room(kMaxBacklogBytes - kLowBacklogBytes - 1);
  loop_.run_ready();
  EXPECT_FALSE(room_);
  socket_.make_room(1);
  loop_.run_ready();
  ASSERT_TRUE(room_);
  EXPECT_TRUE(*room_);
}

TEST_F(StreamWriterTest, ManySmallPartsFillTheListAndThereIsRoomOnlyWhenItHasSome) {
  EXPECT_EQ(fill(2), kMaxBacklogParts);
  loop_.run_ready();
  // The bytes are few; a caller that was told of room would push in vain and lose what it pushed.
  EXPECT_FALSE(wait_for_room());
  socket_.make_room(2 * kMaxBacklogParts);
  loop_.run_ready();
  ASSERT_TRUE(room_);
  EXPECT_TRUE(writer_.push(bytes(2)));
}

TEST_F(StreamWriterTest, AReaderThatIsAlwaysALittleBehindGetsEverythingInOrder) {
  std::string expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string part = std::to_string(i) + ',';
    expected += part;
    ASSERT_TRUE(writer_.push(text(part))) << i;
    socket_.make_room(i < 10 ? 0 : part.size());  // ten parts behind, from start to end
    loop_.run_ready();
  }
  socket_.make_room(1000);
  loop_.run_ready();
  EXPECT_EQ(socket_.taken, expected);
}

TEST_F(StreamWriterTest, AReaderThatTakesNothingForTooLongIsGivenUp) {
  EXPECT_TRUE(writer_.push(bytes(100)));
  loop_.run_ready();
  wait_for_room();
  loop_.advance(kStallTimeout - std::chrono::seconds(1));
  EXPECT_FALSE(writer_.is_broken());
  loop_.advance(std::chrono::seconds(1));
  EXPECT_TRUE(writer_.is_broken());
  EXPECT_FALSE(socket_.is_open());
  EXPECT_TRUE(writer_.push(bytes(100)));  // to nobody
  EXPECT_EQ(wait_for_room()->error().code, Code::kClosed);
}

TEST_F(StreamWriterTest, AReaderThatTakesALittleNowAndThenIsNot) {
  EXPECT_TRUE(writer_.push(bytes(100)));
  loop_.run_ready();
  for (int i = 0; i < 10; ++i) {
    loop_.advance(kStallTimeout - std::chrono::seconds(1));
    socket_.make_room(1);
    loop_.run_ready();
    ASSERT_FALSE(writer_.is_broken()) << i;
  }
}

TEST_F(StreamWriterTest, NorIsOneThatTakesOnlyWhatTheKernelHolds) {
  socket_.unsent = 1000;
  EXPECT_TRUE(writer_.push(bytes(100)));
  loop_.run_ready();
  for (int i = 0; i < 5; ++i) {
    loop_.advance(kStallTimeout - std::chrono::seconds(1));
    socket_.unsent -= 10;
    loop_.advance(std::chrono::seconds(1));
    ASSERT_FALSE(writer_.is_broken()) << i;
  }
  loop_.advance(kStallTimeout);
  EXPECT_TRUE(writer_.is_broken());
}

TEST_F(StreamWriterTest, WhoeverWaitsLearnsThatTheConnectionIsGone) {
  fill(1024);
  loop_.run_ready();
  EXPECT_FALSE(wait_for_room());
  socket_.close();
  loop_.run_ready();
  ASSERT_TRUE(room_);
  EXPECT_EQ(room_->error().code, Code::kClosed);
}

TEST_F(StreamWriterTest, DrainWaitsForTheLastByte) {
  EXPECT_TRUE(writer_.push(bytes(10)));
  std::optional<Result<>> drained;
  loop_.post([&] { rt::spawn(gate_, note(writer_.drain(scope_), drained)); });
  socket_.make_room(9);
  loop_.run_ready();
  EXPECT_FALSE(drained);
  socket_.make_room(1);
  loop_.run_ready();
  ASSERT_TRUE(drained);
  EXPECT_TRUE(*drained);
}

TEST_F(StreamWriterTest, AFlusherMayGoWhileASendIsDue) {
  {
    Flusher flusher(loop_);
    StreamWriter writer(socket_, flusher);
    EXPECT_TRUE(writer.push(text("never sent")));
  }
  loop_.run_ready();
  EXPECT_EQ(socket_.writes, 0);
}

TEST_F(StreamWriterTest, WhatCannotWaitIsTakenThoughItIsFull) {
  fill(100'000);
  EXPECT_TRUE(writer_.is_full());
  const std::uint64_t taken = writer_.taken_bytes();
  writer_.push_anyway(text("urgent"));
  EXPECT_EQ(writer_.taken_bytes(), taken + 6);
  EXPECT_EQ(writer_.sent_bytes(), 0U);
  socket_.make_room(10'000'000);
  loop_.run_ready();
  EXPECT_TRUE(socket_.taken.ends_with("xurgent"));
  EXPECT_EQ(writer_.sent_bytes(), taken + 6);
}

TEST_F(StreamWriterTest, AWriterMayGoWhileItsSendIsDue) {
  {
    StreamWriter other(socket_, flusher_);
    EXPECT_TRUE(other.push(text("never sent")));
  }
  socket_.room = 100;
  loop_.run_ready();
  EXPECT_EQ(socket_.taken, "");
}

// Over a real connection: what a reader that stops and goes on gets is whole and in order.
rt::Task<> stalls_and_goes_on(rt::RealLoop& loop) {
  auto pair = co_await rt::connected_pair(loop);
  Flusher flusher(loop);
  rt::CancelScope scope;
  std::string expected;
  {
    StreamWriter writer(*pair.server, flusher);
    // Nobody reads: the kernel's buffers fill, then the backlog.
    for (std::size_t i = 0;; ++i) {
      auto part = text(std::string(1000, static_cast<char>('a' + i % 26)));
      if (!writer.push(part)) break;
      expected += *part;
      co_await rt::yield(loop);
    }
    EXPECT_GT(expected.size(), kMaxBacklogBytes);
    const auto received = co_await rt::read_exactly(*pair.client, expected.size());
    EXPECT_TRUE(received && *received == expected);
    EXPECT_TRUE(co_await writer.wait_for_room(scope));
    EXPECT_TRUE(co_await writer.drain(scope));
  }
  pair.server->close();
}

TEST(StreamWriterOverASocket, AReaderThatStallsAndGoesOnMissesNothing) {
  rt::run_on_a_loop(stalls_and_goes_on);
}

}  // namespace
}  // namespace reprise::http
