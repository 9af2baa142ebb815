// One WebSocket on a manual loop: what time and a slow peer do to it.
#include "http/websocket.h"

#include <gtest/gtest.h>

#include "http/fake_socket.h"
#include "http/limits.h"
#include "http/websocket_testing.h"
#include "rt/gate.h"
#include "rt/manual_loop.h"

namespace reprise::http {
namespace {

using testing::FakeSocket;
using testing::masked;
using enum wire::WebSocketOpcode;
using Read = Result<std::optional<WebSocket::Message>>;

std::string unmasked(wire::WebSocketOpcode opcode, std::string_view payload) {
  std::string frame;
  wire::append_frame(frame, opcode, payload);
  return frame;
}

template <typename T>
rt::Task<> note(rt::Task<T> task, std::optional<T>& outcome) {
  outcome = co_await std::move(task);
}
rt::Task<> note_end(rt::Task<> task, bool& has_ended) {
  co_await std::move(task);
  has_ended = true;
}

class WebSocketTest : public ::testing::Test {
 protected:
  WebSocketTest() : loop_(time_), socket_(loop_), flusher_(loop_) {
    socket_.room = 1'000'000'000;
    websocket_ = std::make_unique<WebSocket>(socket_, flusher_, WebSocketOptions{});
    loop_.post([this] { websocket_->start({}, &scope_); });
    loop_.run_ready();
  }
  ~WebSocketTest() override {
    scope_.cancel();
    reader_scope_.cancel();
    socket_.close();
    loop_.run_ready();
    websocket_.reset();
    loop_.run_ready();
  }
  void receive(std::string_view bytes) {
    socket_.receive(bytes);
    loop_.run_ready();
  }
  // What a read comes to now; nothing if it still waits.
  std::optional<Read> read() {
    read_.reset();
    loop_.post([this] { rt::spawn(gate_, note(websocket_->read(reader_scope_), read_)); });
    loop_.run_ready();
    return std::exchange(read_, {});
  }
  bool push(std::string data) {
    const bool is_taken = websocket_->push({.is_text = true, .data = std::move(data)});
    loop_.run_ready();
    return is_taken;
  }
  void close(std::uint16_t code) {
    loop_.post([this, code] { rt::spawn(gate_, note_end(websocket_->close(code, "r"), closed_)); });
    loop_.run_ready();
  }
  std::string take_sent() { return std::exchange(socket_.taken, {}); }

  rt::ManualTime time_;
  rt::ManualLoop loop_;
  rt::Gate gate_;
  rt::CancelScope scope_;
  rt::CancelScope reader_scope_;
  FakeSocket socket_;
  Flusher flusher_;
  std::unique_ptr<WebSocket> websocket_;
  std::optional<Read> read_;
  bool closed_ = false;
};

TEST_F(WebSocketTest, APeerThatAnswersNoPingsIsGivenUp) {
  for (int i = 0; i < kMaxMissedPings; ++i) {
    loop_.advance(kPingInterval);
    EXPECT_EQ(take_sent(), unmasked(kPing, ""));
  }
  EXPECT_TRUE(socket_.is_open());
  loop_.advance(kPingInterval);
  EXPECT_FALSE(socket_.is_open());
  EXPECT_EQ(scope_.reason().code, Code::kClosed);
  EXPECT_EQ(read()->error().code, Code::kClosed);
}

TEST_F(WebSocketTest, AnyByteProvesThatThePeerIsThere) {
  const std::string message = masked(kText, "slow");
  for (std::size_t i = 0; i < message.size(); ++i) {
    loop_.advance(kPingInterval * kMaxMissedPings);
    receive(std::string_view(message).substr(i, 1));
  }
  EXPECT_EQ(read().value().value()->data, "slow");
  receive(masked(kPong, ""));
  EXPECT_FALSE(scope_.is_cancelled());
}

TEST_F(WebSocketTest, SilenceMeansNothingWhileAMessageWaitsToBeTaken) {
  receive(masked(kText, "one"));
  loop_.advance(kPingInterval * (kMaxMissedPings + 3));
  EXPECT_FALSE(scope_.is_cancelled());
  EXPECT_EQ(read().value().value()->data, "one");
}

TEST_F(WebSocketTest, APeerThatIsStillTakingALongMessageIsNotAskedForMore) {
  ASSERT_TRUE(push(std::string(1'000'000, 'x')));
  socket_.unsent = 1'000'000;
  const std::size_t ping_bytes = unmasked(kPing, "").size();
  for (int i = 0; i < 3 * kMaxMissedPings; ++i) {
    loop_.advance(kPingInterval);
    socket_.unsent += ping_bytes;
    socket_.unsent -= 100'000;
  }
  EXPECT_FALSE(scope_.is_cancelled());
  // It stops: seen once as progress since the last time, and then missed.
  for (int i = 0; i < 1 + kMaxMissedPings; ++i) {
    loop_.advance(kPingInterval);
    socket_.unsent += ping_bytes;
  }
  EXPECT_FALSE(scope_.is_cancelled());
  loop_.advance(kPingInterval);
  EXPECT_TRUE(scope_.is_cancelled());
}

TEST_F(WebSocketTest, OneMessageIsReadAheadAndNoMore) {
  receive(masked(kText, "one") + masked(kPing, "p"));
  EXPECT_EQ(socket_.read_room(), 0U);
  EXPECT_EQ(take_sent(), "");
  EXPECT_EQ(read().value().value()->data, "one");
  loop_.run_ready();
  EXPECT_EQ(take_sent(), unmasked(kPong, "p"));
  EXPECT_GT(socket_.read_room(), 0U);
  EXPECT_FALSE(read());
  receive(masked(kBinary, "two"));
  ASSERT_TRUE(read_);
  EXPECT_EQ(read_->value()->data, "two");
  EXPECT_FALSE(read_->value()->is_text);
}

TEST_F(WebSocketTest, AnIdleOneHoldsLittleMemoryAndABusyOneReadsMuchAtOnce) {
  EXPECT_EQ(socket_.read_room(), kIdleReadBytes);
  std::string many;
  while (many.size() < kIdleReadBytes) many += masked(kPong, "0123456789");
  receive(std::string_view(many).substr(0, kIdleReadBytes));
  EXPECT_EQ(socket_.read_room(), kLargeReadBytes);
  receive(many.substr(kIdleReadBytes) + masked(kPong, ""));
  EXPECT_EQ(socket_.read_room(), kIdleReadBytes);
  // The rest of a long message has its own place.
  const std::string message = masked(kText, std::string(kLargeReadBytes, 'x'));
  receive(std::string_view(message).substr(0, 100));
  EXPECT_EQ(socket_.read_room(), message.size() - 100);
  receive(std::string_view(message).substr(100));
  EXPECT_EQ(read().value().value()->data.size(), kLargeReadBytes);
  EXPECT_EQ(socket_.read_room(), kIdleReadBytes);
}

TEST_F(WebSocketTest, EverythingPushedInOneTurnLeavesInOneSend) {
  const int writes = socket_.writes;
  const std::string long_text(kMaxJoinedFrameBytes + 1, 'x');
  ASSERT_TRUE(websocket_->push({.is_text = true, .data = "one"}));
  ASSERT_TRUE(websocket_->push({.is_text = true, .data = long_text}));
  ASSERT_TRUE(websocket_->push({.is_text = false, .data = ""}));
  loop_.run_ready();
  EXPECT_EQ(take_sent(),
            unmasked(kText, "one") + unmasked(kText, long_text) + unmasked(kBinary, ""));
  EXPECT_EQ(socket_.writes, writes + 1);
}

TEST_F(WebSocketTest, SharedBytesAreNotCopiedUnlessTheyAreFew) {
  socket_.room = 0;
  const auto few = std::make_shared<const std::string>(kMaxJoinedFrameBytes, 'x');
  const auto many = std::make_shared<const std::string>(kMaxJoinedFrameBytes + 1, 'y');
  ASSERT_TRUE(websocket_->push(true, few));
  ASSERT_TRUE(websocket_->push(false, many));
  EXPECT_EQ(few.use_count(), 1);
  EXPECT_EQ(many.use_count(), 2);
  loop_.run_ready();
  socket_.make_room(10'000);
  loop_.run_ready();
  EXPECT_EQ(take_sent(), unmasked(kText, *few) + unmasked(kBinary, *many));
}

TEST_F(WebSocketTest, ARefusedMessageIsNotTaken) {
  socket_.room = 0;
  ASSERT_TRUE(push(std::string(kMaxBacklogBytes, 'x')));
  WebSocket::Message message{.is_text = true, .data = std::string(5'000, 'y')};
  EXPECT_FALSE(websocket_->push(std::move(message)));
  EXPECT_EQ(message.data.size(), 5'000U);  // NOLINT(bugprone-use-after-move)
  // A pong does not wait for room, and what is sent when there is some does.
  receive(masked(kPing, "p"));
  std::optional<Result<>> sent;
  loop_.post([&] { rt::spawn(gate_, note(websocket_->send({.data = "z"}, scope_), sent)); });
  loop_.run_ready();
  EXPECT_FALSE(sent);
  socket_.make_room(10'000'000);
  loop_.run_ready();
  EXPECT_TRUE(sent && *sent);
  EXPECT_TRUE(take_sent().ends_with(unmasked(kPong, "p") + unmasked(kText, "z")));
}

TEST_F(WebSocketTest, APeerThatAsksWithoutTakingTheAnswersDoesNotGetThemAll) {
  socket_.room = 0;
  std::string pings;
  for (std::size_t i = 0; i < 3 * kMaxBacklogParts; ++i) pings += masked(kPing, "");
  receive(pings);
  socket_.make_room(10'000'000);
  loop_.run_ready();
  EXPECT_EQ(take_sent().size(), 2 * kMaxBacklogParts * unmasked(kPong, "").size());
}

TEST_F(WebSocketTest, AReaderThatIsCancelledSaysWhy) {
  EXPECT_FALSE(read());
  reader_scope_.cancel({Code::kShuttingDown, "stop"});
  loop_.run_ready();
  ASSERT_TRUE(read_);
  EXPECT_EQ(read_->error().code, Code::kShuttingDown);
  // What has come already is still there.
  receive(masked(kText, "one"));
  EXPECT_EQ(read().value().value()->data, "one");
}

TEST_F(WebSocketTest, ThePeersCloseIsTheEndOfReadingAndNotOfSending) {
  receive(masked(kText, "one") + masked(kClose, wire::close_payload(4000, "why")));
  EXPECT_EQ(read().value().value()->data, "one");
  EXPECT_EQ(scope_.reason().code, Code::kClosed);
  ASSERT_TRUE(read().value().has_value());
  EXPECT_EQ(websocket_->peer_close()->code, 4000);
  EXPECT_EQ(websocket_->peer_close()->reason, "why");
  EXPECT_TRUE(push("answer"));
  close(1000);
  EXPECT_EQ(take_sent(),
            unmasked(kText, "answer") + unmasked(kClose, wire::close_payload(4000, "")));
}

TEST_F(WebSocketTest, ACloseWaitsForItsAnswerAndForTheEnd) {
  close(4000);
  EXPECT_EQ(take_sent(), unmasked(kClose, wire::close_payload(4000, "r")));
  EXPECT_FALSE(push("too late"));
  receive(masked(kText, "dropped") + masked(kClose, wire::close_payload(4000, "")));
  EXPECT_FALSE(closed_);
  loop_.advance(kLingerTimeout);
  EXPECT_TRUE(closed_);
  EXPECT_FALSE(socket_.is_open());
  EXPECT_FALSE(read().value().value().has_value());
}

TEST_F(WebSocketTest, ACloseThatIsNotAnsweredEndsAllTheSame) {
  close(4000);
  loop_.advance(kCloseTimeout - Millis{1});
  EXPECT_FALSE(closed_);
  loop_.advance(Millis{1});
  EXPECT_TRUE(closed_);
  EXPECT_FALSE(socket_.is_open());
}

TEST_F(WebSocketTest, ACloseComesAfterWhatWasPushedBefore) {
  socket_.room = 0;
  ASSERT_TRUE(push(std::string(kMaxBacklogBytes, 'x')));
  close(1000);
  socket_.unsent = 1;
  loop_.advance(kCloseTimeout * 2);
  EXPECT_FALSE(closed_);
  socket_.make_room(10'000'000);
  loop_.run_ready();
  EXPECT_TRUE(take_sent().ends_with(unmasked(kClose, wire::close_payload(1000, "r"))));
  loop_.advance(kCloseTimeout);
  EXPECT_TRUE(closed_);
}

TEST_F(WebSocketTest, ACloseOfAPeerThatTakesNothingEndsAllTheSame) {
  socket_.room = 0;
  ASSERT_TRUE(push("x"));
  close(1000);
  loop_.advance(kStallTimeout);
  EXPECT_TRUE(closed_);
}

TEST_F(WebSocketTest, AClosedOneIsClosedTwiceWithoutHarm) {
  close(1000);
  loop_.advance(kCloseTimeout);
  ASSERT_TRUE(std::exchange(closed_, false));
  close(1001);
  EXPECT_TRUE(closed_);
}

TEST(WebSocketOfAClient, MasksEveryFrameByAnotherKey) {
  rt::ManualTime time;
  rt::ManualLoop loop(time);
  SeededRandom random(5);
  auto owned = std::make_unique<FakeSocket>(loop);
  FakeSocket& socket = *owned;
  socket.room = 1'000'000;
  auto websocket = std::make_unique<WebSocket>(std::move(owned), loop, random, WebSocketOptions{});
  const std::string long_text(kMaxJoinedFrameBytes + 1, 'x');
  loop.post([&] {
    websocket->start({}, nullptr);
    EXPECT_TRUE(websocket->push({.is_text = true, .data = "same"}));
    EXPECT_TRUE(websocket->push({.is_text = true, .data = "same"}));
    EXPECT_TRUE(websocket->push({.is_text = true, .data = long_text}));
    EXPECT_TRUE(websocket->push(false, std::make_shared<const std::string>(long_text)));
  });
  loop.run_ready();
  const std::string& sent = socket.taken;
  EXPECT_NE(sent.substr(2, 4), sent.substr(12, 4));
  wire::WebSocketDecoder decoder({.role = wire::WebSocketRole::kServer});
  std::string_view rest = sent;
  for (const std::string& expected :
       {std::string("same"), std::string("same"), long_text, long_text}) {
    const auto used = decoder.feed(rest);
    ASSERT_TRUE(used);
    rest.remove_prefix(*used);
    EXPECT_EQ(decoder.take().value().payload, expected);
  }
  websocket.reset();
  loop.run_ready();
}

}  // namespace
}  // namespace reprise::http
