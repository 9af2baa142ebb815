#include "rt/tls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "rt/limits.h"
#include "rt/tcp_socket.h"
#include "rt/test_certificate.h"
#include "rt/test_loop.h"

namespace reprise::rt {
namespace {

using std::chrono_literals::operator""ms;

constexpr std::size_t kMiB = 1024 * 1024;

std::shared_ptr<TlsContext> server_context() {
  return TlsContext::server(certificate().certificate_file(), certificate().key_file()).value();
}
std::shared_ptr<TlsContext> client_context() {
  return TlsContext::client(certificate().certificate_file()).value();
}

Task<> accept_into(std::unique_ptr<Socket> plain, Result<std::unique_ptr<Socket>>& accepted) {
  accepted = co_await accept_tls(server_context(), std::move(plain));
}

struct Handshake {
  Result<std::unique_ptr<Socket>> client;
  Result<std::unique_ptr<Socket>> server;
};

Task<Handshake> shake_hands(RealLoop& loop, std::shared_ptr<TlsContext> context, std::string name) {
  SocketPair plain = co_await connected_pair(loop);
  Handshake both;
  Gate gate;
  spawn(gate, accept_into(std::move(plain.server), both.server));
  both.client = co_await connect_tls(std::move(context), std::move(plain.client), std::move(name));
  // A refused server waits for an alert or the end of the stream; both come with the socket's end.
  co_await gate.empty();
  co_return both;
}

Task<SocketPair> tls_pair(RealLoop& loop) {
  Handshake both = co_await shake_hands(loop, client_context(), "127.0.0.1");
  REPRISE_ASSERT(both.client.has_value() && both.server.has_value());
  co_return SocketPair{std::move(*both.client), std::move(*both.server)};
}

Task<> write_all(Socket& socket, const std::string& bytes) {
  EXPECT_TRUE((co_await socket.write(bytes)).has_value());
  EXPECT_EQ(socket.held_bytes(), 0U);
  socket.shutdown_write();
}

Task<> store_read(Socket& socket, std::optional<Result<std::size_t>>& outcome) {
  char byte = 0;
  outcome = co_await socket.read_some({&byte, 1});
}

Task<> speak_both_ways(RealLoop& loop) {
  SocketPair pair = co_await tls_pair(loop);
  EXPECT_TRUE((co_await pair.client->write("question")).has_value());
  EXPECT_EQ(co_await read_exactly(*pair.server, 8), "question");
  EXPECT_TRUE((co_await pair.server->write("answer")).has_value());
  EXPECT_EQ(co_await read_exactly(*pair.client, 6), "answer");
  EXPECT_EQ(pair.server->peer_address(), "127.0.0.1");
}

TEST(Tls, SpeaksBothWays) { run_on_a_loop(speak_both_ways); }

Task<> half_close(RealLoop& loop) {
  SocketPair pair = co_await tls_pair(loop);
  EXPECT_TRUE((co_await pair.client->write("all I have")).has_value());
  pair.client->shutdown_write();
  EXPECT_EQ(co_await read_to_end(*pair.server, 64), "all I have");
  EXPECT_TRUE((co_await pair.server->write("thank you")).has_value());
  pair.server->close();
  EXPECT_EQ(co_await read_to_end(*pair.client, 64), "thank you");
}

TEST(Tls, TheOtherDirectionGoesOnAfterShutdownWrite) { run_on_a_loop(half_close); }

// A record is decrypted whole; the rest of it is read without another event of the descriptor.
Task<> read_in_small_steps(RealLoop& loop) {
  SocketPair pair = co_await tls_pair(loop);
  const std::string bytes = numbered_bytes(16'000);
  EXPECT_TRUE((co_await pair.server->write(bytes)).has_value());
  std::string all;
  while (all.size() < bytes.size()) {
    const auto piece = co_await read_exactly(*pair.client, 100);
    EXPECT_TRUE(piece.has_value());
    if (!piece || piece->empty()) co_return;
    all += *piece;
  }
  EXPECT_EQ(all, bytes);
}

TEST(Tls, ReadsWhatOpenSslHasBuffered) { run_on_a_loop(read_in_small_steps); }

Task<> large_write(RealLoop& loop) {
  SocketPair pair = co_await tls_pair(loop);
  const std::string bytes = numbered_bytes(16 * kMiB);
  Gate gate;
  spawn(gate, write_all(*pair.server, bytes));
  EXPECT_EQ(gate.inside(), 1U) << "more than the kernel takes at once";
  const auto all = co_await read_to_end(*pair.client, 7'001);
  EXPECT_TRUE(all == bytes);
  co_await gate.empty();
}

TEST(Tls, ALargeWriteWaitsForASlowReaderAndLosesNothing) { run_on_a_loop(large_write); }

// Offers pieces until one is refused; gives what was taken.
std::string fill(Socket& socket) {
  std::string taken;
  const std::string piece = numbered_bytes(50'000);
  for (;;) {
    const auto count = try_write(socket, piece);
    EXPECT_TRUE(count.has_value());
    if (count.value_or(0) == 0) return taken;
    taken.append(piece, 0, *count);
  }
}

Task<> forget_what_was_refused(RealLoop& loop) {
  SocketPair pair = co_await tls_pair(loop);
  std::string expected = fill(*pair.server);
  // Fewer and other bytes than those refused before. (The kernel may have found room for them.)
  const std::string_view other = "short";
  expected += other.substr(0, try_write(*pair.server, other).value_or(0));
  const auto read = co_await read_exactly(*pair.client, expected.size());
  EXPECT_TRUE(read == expected);
  EXPECT_TRUE((co_await pair.server->write("other")).has_value());
  EXPECT_EQ(co_await read_exactly(*pair.client, 5), "other");
}

TEST(Tls, WhatTryWriteRefusedNeedNotBeOfferedAgain) { run_on_a_loop(forget_what_was_refused); }

Task<> hold_a_record(RealLoop& loop) {
  SocketPair pair = co_await tls_pair(loop);
  const std::string taken = fill(*pair.server);
  EXPECT_GT(pair.server->held_bytes(), 0U);
  EXPECT_LE(pair.server->held_bytes(), kMaxTlsHeldBytes);
  EXPECT_GE(pair.server->unsent_bytes(), pair.server->held_bytes());
  // Nobody writes any more: what is held is sent by itself.
  const auto read = co_await read_exactly(*pair.client, taken.size());
  EXPECT_TRUE(read == taken);
  EXPECT_EQ(pair.server->held_bytes(), 0U);
}

TEST(Tls, HoldsARecordThatDoesNotFitAndSendsItByItself) { run_on_a_loop(hold_a_record); }

Task<> offer_beyond_the_limit(RealLoop& loop) {
  SocketPair pair = co_await tls_pair(loop);
  fill(*pair.server);
  const std::string more(2 * kMaxTlsHeldBytes, 'x');
  // The kernel may find room in between; then the record goes, and perhaps another is held.
  int refused = 0;
  for (int round = 0; round < 1'000 && refused < 10; ++round) {
    const auto count = try_write(*pair.server, more);
    EXPECT_TRUE(count.has_value());
    if (count.value_or(0) == 0) ++refused;
    EXPECT_LE(pair.server->held_bytes(), kMaxTlsHeldBytes);
  }
  EXPECT_EQ(refused, 10);
}

TEST(Tls, HoldsOneRecordHoweverMuchIsOffered) { run_on_a_loop(offer_beyond_the_limit); }

Task<> shut_down_while_holding(RealLoop& loop) {
  SocketPair pair = co_await tls_pair(loop);
  const std::string taken = fill(*pair.server);
  EXPECT_GT(pair.server->held_bytes(), 0U);
  pair.server->shutdown_write();
  const auto all = co_await read_to_end(*pair.client, 9'999);
  EXPECT_TRUE(all == taken);
}

TEST(Tls, ShutdownWriteComesAfterWhatIsHeld) { run_on_a_loop(shut_down_while_holding); }

Task<> many_parts(RealLoop& loop) {
  SocketPair pair = co_await tls_pair(loop);
  std::string bytes = numbered_bytes(40'000);
  std::vector<iovec> parts;
  for (std::size_t at = 0; at < 20'000; at += 10) {
    parts.push_back({bytes.data() + at, 10});
    parts.push_back({nullptr, 0});
  }
  parts.push_back({bytes.data() + 20'000, 20'000});
  EXPECT_EQ(pair.server->try_write(parts), bytes.size());
  EXPECT_EQ(co_await read_exactly(*pair.client, bytes.size()), bytes);
  EXPECT_EQ(pair.server->try_write({}), 0U);
}

TEST(Tls, PutsManySmallPartsTogether) { run_on_a_loop(many_parts); }

Task<> close_while_reading(RealLoop& loop) {
  SocketPair pair = co_await tls_pair(loop);
  Gate gate;
  std::optional<Result<std::size_t>> outcome;
  spawn(gate, store_read(*pair.server, outcome));
  pair.server->close();
  co_await gate.empty();
  EXPECT_TRUE(outcome && !*outcome && outcome->error().code == Code::kClosed);
  EXPECT_EQ(co_await read_to_end(*pair.client, 64), "");
}

TEST(Tls, ClosingEndsAReadWithClosedAndThePeersWithTheEnd) { run_on_a_loop(close_while_reading); }

// Readable and writable in one event: when the writer is told, the reader's turn is queued.
Task<> destroy_while_readable(RealLoop& loop) {
  SocketPair pair = co_await tls_pair(loop);
  Gate gate;
  std::optional<Result<std::size_t>> outcome;
  spawn(gate, store_read(*pair.server, outcome));
  EXPECT_EQ(try_write(*pair.client, "x"), 1U);
  EXPECT_TRUE((co_await pair.server->wait_writable()).has_value());
  pair.server.reset();
  co_await gate.empty();
  EXPECT_TRUE(outcome && !*outcome && outcome->error().code == Code::kClosed);
}

TEST(Tls, MayBeDestroyedWhileAReadIsQueued) { run_on_a_loop(destroy_while_readable); }

Task<> destroy_while_holding(RealLoop& loop) {
  for (int turns = 0; turns < 4; ++turns) {
    SocketPair pair = co_await tls_pair(loop);
    const std::string taken = fill(*pair.server);
    EXPECT_TRUE((co_await read_exactly(*pair.client, taken.size() / 2)).has_value());
    for (int turn = 0; turn < turns; ++turn) co_await yield(loop);
    pair.server.reset();
    for (int turn = 0; turn < 8; ++turn) co_await yield(loop);
  }
}

TEST(Tls, MayBeDestroyedWhileItHoldsARecord) { run_on_a_loop(destroy_while_holding); }

// After close() the descriptor's number may be another connection's.
Task<> use_after_close(RealLoop& loop) {
  SocketPair plain = co_await connected_pair(loop);
  const int number = dynamic_cast<TcpSocket&>(*plain.server).descriptor();
  Handshake both;
  Gate gate;
  spawn(gate, accept_into(std::move(plain.server), both.server));
  both.client = co_await connect_tls(client_context(), std::move(plain.client), "localhost");
  co_await gate.empty();
  EXPECT_TRUE(both.client.has_value() && both.server.has_value());
  if (!both.server) co_return;
  Socket& server = **both.server;
  server.close();
  int others[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, others), 0);
  if (others[0] != number && others[1] != number) EXPECT_EQ(::dup2(others[0], number), number);
  const int far_end = others[1] == number ? others[0] : others[1];
  EXPECT_EQ(::send(far_end, "not yours", 9, MSG_NOSIGNAL), 9);

  char byte = 0;
  EXPECT_EQ((co_await server.read_some({&byte, 1})).error().code, Code::kClosed);
  EXPECT_EQ((co_await server.write("secret")).error().code, Code::kClosed);
  EXPECT_EQ((co_await server.wait_writable()).error().code, Code::kClosed);
  server.shutdown_write();
  server.close();
  both.server->reset();
  char buffer[64];
  EXPECT_LT(::recv(far_end, buffer, sizeof buffer, MSG_DONTWAIT), 0) << "nothing was sent to it";
  ::close(others[0]);
  ::close(others[1]);
  if (others[0] != number && others[1] != number) ::close(number);
}

TEST(Tls, NeverTouchesADescriptorItHasClosed) { run_on_a_loop(use_after_close); }

Task<> reset_by_peer(RealLoop& loop) {
  SocketPair plain = co_await connected_pair(loop);
  const int number = dynamic_cast<TcpSocket&>(*plain.client).descriptor();
  Handshake both;
  Gate gate;
  spawn(gate, accept_into(std::move(plain.server), both.server));
  both.client = co_await connect_tls(client_context(), std::move(plain.client), "localhost");
  co_await gate.empty();
  EXPECT_TRUE(both.client.has_value() && both.server.has_value());
  if (!both.client || !both.server) co_return;
  const linger at_once{1, 0};
  EXPECT_EQ(::setsockopt(number, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  std::optional<Result<std::size_t>> outcome;
  spawn(gate, store_read(**both.server, outcome));
  both.client->reset();
  co_await gate.empty();
  EXPECT_TRUE(outcome && !*outcome && outcome->error().code == Code::kIo);
  // OpenSSL's own socket BIO would raise SIGPIPE here.
  for (int round = 0; round < 3; ++round) {
    const auto count = try_write(**both.server, "more");
    EXPECT_FALSE(count.has_value());
    if (!count) EXPECT_EQ(count.error().code, Code::kIo);
  }
  (*both.server)->shutdown_write();
}

TEST(Tls, AResetByThePeerIsAnErrorAndNoSignal) { run_on_a_loop(reset_by_peer); }

Task<> wrong_name(RealLoop& loop) {
  const Handshake both = co_await shake_hands(loop, client_context(), "example.org");
  EXPECT_FALSE(both.client.has_value());
  if (!both.client) EXPECT_EQ(both.client.error().code, Code::kIo);
  EXPECT_FALSE(both.server.has_value() && (*both.server)->held_bytes() > 0);
}

TEST(Tls, AClientRefusesACertificateForAnotherName) { run_on_a_loop(wrong_name); }

Task<> unknown_authority(RealLoop& loop) {
  const Certificate other;
  auto context = TlsContext::client(other.certificate_file());
  EXPECT_TRUE(context.has_value());
  const Handshake both = co_await shake_hands(loop, *context, "127.0.0.1");
  EXPECT_FALSE(both.client.has_value());
  if (!both.client) EXPECT_EQ(both.client.error().code, Code::kIo);
}

TEST(Tls, AClientRefusesAnUnknownAuthority) { run_on_a_loop(unknown_authority); }

Task<> plain_text(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  EXPECT_TRUE((co_await pair.client->write("GET / HTTP/1.1\r\n\r\n")).has_value());
  const auto accepted = co_await accept_tls(server_context(), std::move(pair.server));
  EXPECT_FALSE(accepted.has_value());
  if (!accepted) EXPECT_EQ(accepted.error().code, Code::kIo);
}

TEST(Tls, AServerRefusesPlainText) { run_on_a_loop(plain_text); }

Task<> peer_leaves(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  pair.client->close();
  const auto accepted = co_await accept_tls(server_context(), std::move(pair.server));
  EXPECT_FALSE(accepted.has_value());
  if (!accepted) EXPECT_EQ(accepted.error().code, Code::kIo);
}

TEST(Tls, AHandshakeEndsWhenThePeerLeaves) { run_on_a_loop(peer_leaves); }

Task<> silent_peer(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  CancelScope scope;
  const auto accepted = co_await accept_tls(server_context(), std::move(pair.server), scope,
                                            Deadline::after(loop, 10ms));
  EXPECT_FALSE(accepted.has_value());
  if (!accepted) EXPECT_EQ(accepted.error().code, Code::kDeadline);
  EXPECT_EQ(loop.timers().size(), 0U);
}

TEST(Tls, AHandshakeWithASilentPeerEndsAtItsDeadline) { run_on_a_loop(silent_peer); }

Task<> accept_under(std::unique_ptr<Socket> plain, CancelScope& scope,
                    Result<std::unique_ptr<Socket>>& accepted) {
  accepted = co_await accept_tls(server_context(), std::move(plain), scope, Deadline::never());
}

Task<> cancelled_handshake(RealLoop& loop) {
  SocketPair pair = co_await connected_pair(loop);
  CancelScope scope;
  Gate gate;
  Result<std::unique_ptr<Socket>> accepted;
  spawn(gate, accept_under(std::move(pair.server), scope, accepted));
  scope.cancel({Code::kShuttingDown, ""});
  co_await gate.empty();
  EXPECT_FALSE(accepted.has_value());
  if (!accepted) EXPECT_EQ(accepted.error().code, Code::kShuttingDown);
  // And one under a scope that is cancelled already.
  const auto refused = co_await connect_tls(client_context(), std::move(pair.client), "localhost",
                                            scope, Deadline::never());
  EXPECT_FALSE(refused.has_value());
  if (!refused) EXPECT_EQ(refused.error().code, Code::kShuttingDown);
}

TEST(Tls, CancellingEndsAHandshake) { run_on_a_loop(cancelled_handshake); }

TEST(Tls, FilesThatCannotBeUsedAreRefused) {
  const Certificate& good = certificate();
  const Certificate other;
  const auto code_of = [](const auto& made) {
    return made.has_value() ? Code::kInternal : made.error().code;
  };
  EXPECT_EQ(code_of(TlsContext::server(good.missing_file(), good.key_file())), Code::kBadParameter);
  EXPECT_EQ(code_of(TlsContext::server(good.certificate_file(), good.missing_file())),
            Code::kBadParameter);
  EXPECT_EQ(code_of(TlsContext::server(good.certificate_file(), other.key_file())),
            Code::kBadParameter);
  EXPECT_EQ(code_of(TlsContext::client(good.missing_file())), Code::kBadParameter);
  EXPECT_TRUE(TlsContext::client("").has_value());
}

}  // namespace
}  // namespace reprise::rt
