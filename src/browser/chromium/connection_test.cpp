// The DevTools protocol over a pair of sockets, the browser's end played by the test.
#include "browser/chromium/connection.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "browser/chromium/pipe_testing.h"
#include "browser/limits.h"
#include "rt/test_loop.h"

namespace reprise::browser::chromium {
namespace {

struct Events final : CdpListener {
  void on_event(const std::string& session, std::string_view method,
                wire::JsonValue params) override {
    seen.push_back(fmt::format("{} {} {}", session, method, params.minified()));
  }
  void on_closed() override { ++closed; }
  std::vector<std::string> seen;
  int closed = 0;
};

using testing::Peer;

rt::Task<> note(CdpConnection& connection, std::string session,
                std::optional<Result<CdpReply>>& into, rt::CancelScope* scope = nullptr) {
  into =
      co_await connection.call(std::move(session), "Page.do", "{}", rt::Deadline::never(), scope);
}

rt::Task<> answers_come_to_who_asked(rt::RealLoop& loop) {
  auto pair = co_await rt::connected_pair(loop);
  CdpConnection connection(loop, std::move(pair.client));
  Peer peer(*pair.server);
  rt::Gate gate;
  rt::spawn(gate, connection.run());
  std::optional<Result<CdpReply>> first;
  std::optional<Result<CdpReply>> second;
  rt::spawn(gate, note(connection, "", first));
  rt::spawn(gate, note(connection, "S", second));
  EXPECT_EQ(co_await peer.next(), R"({"id":1,"method":"Page.do","params":{}})");
  EXPECT_EQ(co_await peer.next(), R"({"id":2,"method":"Page.do","params":{},"sessionId":"S"})");
  co_await peer.say(R"({"id":2,"error":{"code":-32000,"message":"No such thing"}})");
  // A lone surrogate, which no JSON text in UTF-8 can hold, does not lose the answer.
  co_await peer.say(R"({"id":1,"result":{"text":"a\ud800b"}})");
  while (!first || !second) co_await rt::yield(loop);
  EXPECT_EQ(first->value().text("text"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(second->error().code, Code::kBrowserError);
  EXPECT_EQ(second->error().detail, "Page.do: No such thing");
  connection.close();
  co_await gate.empty();
}

TEST(CdpConnection, AnswersComeToWhoAsked) { rt::run_on_a_loop(answers_come_to_who_asked); }

rt::Task<> events_go_to_their_listener(rt::RealLoop& loop) {
  auto pair = co_await rt::connected_pair(loop);
  CdpConnection connection(loop, std::move(pair.client));
  Peer peer(*pair.server);
  rt::Gate gate;
  Events root;
  Events page;
  connection.listen("", &root);
  connection.listen("S", &page);
  rt::spawn(gate, connection.run());
  co_await peer.say(R"({"method":"Target.x","params":{"a":1}})");
  co_await peer.say(R"({"method":"Page.y","params":{},"sessionId":"S"})");
  co_await peer.say(R"({"method":"Page.z","params":{},"sessionId":"nobody's"})");
  co_await peer.say("no JSON at all");
  co_await peer.say(R"({"method":"Page.w","params":{},"sessionId":"S"})");
  while (page.seen.size() < 2) co_await rt::yield(loop);
  EXPECT_EQ(root.seen, std::vector<std::string>{R"( Target.x {"a":1})"});
  EXPECT_EQ(page.seen, (std::vector<std::string>{"S Page.y {}", "S Page.w {}"}));
  pair.server->close();
  co_await gate.empty();
  EXPECT_EQ(root.closed + page.closed, 2);
  EXPECT_FALSE(connection.is_open());
}

TEST(CdpConnection, EventsGoToTheirListenerAndSoDoesTheEnd) {
  rt::run_on_a_loop(events_go_to_their_listener);
}

rt::Task<> calls_end(rt::RealLoop& loop) {
  auto pair = co_await rt::connected_pair(loop);
  CdpConnection connection(loop, std::move(pair.client));
  rt::Gate gate;
  rt::spawn(gate, connection.run());
  std::optional<Result<CdpReply>> of_closed_page;
  std::optional<Result<CdpReply>> cancelled;
  std::optional<Result<CdpReply>> of_dead_browser;
  rt::CancelScope scope;
  rt::spawn(gate, note(connection, "S", of_closed_page));
  rt::spawn(gate, note(connection, "", cancelled, &scope));
  rt::spawn(gate, note(connection, "", of_dead_browser));
  connection.forget("S");
  scope.cancel();
  auto late = co_await connection.call("", "Page.do", "{}",
                                       rt::Deadline::after(loop, std::chrono::milliseconds{1}));
  EXPECT_EQ(late.error().code, Code::kDeadline);
  pair.server->close();
  co_await gate.empty();
  EXPECT_EQ(of_closed_page->error().code, Code::kBrowserError);
  EXPECT_EQ(cancelled->error().code, Code::kCancelled);
  EXPECT_EQ(of_dead_browser->error().code, Code::kBrowserGone);
  auto after = co_await connection.call("", "Page.do", "{}", rt::Deadline::never());
  EXPECT_EQ(after.error().code, Code::kBrowserGone);
}

TEST(CdpConnection, ACallEndsWithItsPageItsScopeItsTimeOrItsBrowser) {
  rt::run_on_a_loop(calls_end);
}

rt::Task<> questions_are_bounded(rt::RealLoop& loop) {
  auto pair = co_await rt::connected_pair(loop);
  CdpConnection connection(loop, std::move(pair.client));
  Peer peer(*pair.server);
  rt::Gate gate;
  rt::spawn(gate, connection.run());
  int answers = 0;
  for (std::size_t i = 0; i < kMaxAsked + 3; ++i)
    connection.ask("", "A.b", "{}", [&answers](wire::JsonValue) { ++answers; });
  for (std::size_t i = 0; i < kMaxAsked; ++i) (void)co_await peer.next();
  connection.send("", "Last.one");
  EXPECT_NE((co_await peer.next()).find("Last.one"), std::string::npos) << "the rest was not asked";
  co_await peer.say(R"({"id":1,"result":{}})");
  co_await peer.say(R"({"id":2,"error":{"message":"no"}})");
  while (answers == 0) co_await rt::yield(loop);
  connection.close();
  co_await gate.empty();
  EXPECT_EQ(answers, 1);
}

TEST(CdpConnection, QuestionsThatNobodyWaitsForAreBounded) {
  rt::run_on_a_loop(questions_are_bounded);
}

rt::Task<> a_stuck_browser_is_given_up(rt::RealLoop& loop) {
  auto pair = co_await rt::connected_pair(loop);
  CdpConnection connection(loop, std::move(pair.client));
  rt::Gate gate;
  rt::spawn(gate, connection.run());
  const std::string large = fmt::format(R"({{"a":"{}"}})", std::string(1 << 20, 'a'));
  for (std::size_t sent = 0; sent <= 2 * kMaxPipeBacklogBytes && connection.is_open();
       sent += large.size()) {
    connection.send("", "A.b", large);
    co_await rt::yield(loop);
  }
  co_await gate.empty();
  EXPECT_FALSE(connection.is_open());
}

TEST(CdpConnection, ABrowserThatTakesNothingIsGivenUp) {
  rt::run_on_a_loop(a_stuck_browser_is_given_up);
}

rt::Task<> endless_message(Peer& peer, bool& is_over) {
  const std::string piece(1 << 20, 'x');
  while (!is_over)
    if (!co_await peer.socket.write(piece)) break;
}

rt::Task<> too_long_a_message(rt::RealLoop& loop) {
  auto pair = co_await rt::connected_pair(loop);
  CdpConnection connection(loop, std::move(pair.client));
  Peer peer(*pair.server);
  rt::Gate gate;
  bool is_over = false;
  rt::spawn(gate, connection.run());
  rt::spawn(gate, endless_message(peer, is_over));
  while (connection.is_open()) co_await rt::yield(loop);
  is_over = true;
  pair.server->close();
  co_await gate.empty();
}

TEST(CdpConnection, AMessageWithoutAnEndIsNotWaitedFor) { rt::run_on_a_loop(too_long_a_message); }

TEST(LoneSurrogates, AreReplacedAndPairsStay) {
  EXPECT_EQ(without_lone_surrogates(R"("\ud83d\ude00")"), R"("\ud83d\ude00")");
  EXPECT_EQ(without_lone_surrogates(R"("\ude00\ud83d")"), R"("\uFFFD\uFFFD")");
  EXPECT_EQ(without_lone_surrogates(R"("\\ud800")"), R"("\\ud800")") << "an escaped backslash";
  EXPECT_EQ(without_lone_surrogates(R"("\ud8)"), R"("\ud8)");
  EXPECT_EQ(without_lone_surrogates("\\"), "\\");
}

}  // namespace
}  // namespace reprise::browser::chromium
