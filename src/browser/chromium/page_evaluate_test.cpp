// Scripts that do not end. The browser's end of the protocol is played by the test: what a real one
// does of it is seen in tests/e2e/browser-cancel.test.mjs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "browser/chromium/page.h"
#include "browser/chromium/pipe_testing.h"
#include "rt/test_loop.h"
#include "wire/json.h"

namespace reprise::browser::chromium {
namespace {

using namespace std::chrono_literals;
using testing::Peer;

struct NoOwner final : PageOwner {
  void page_changed(Page&) override {}
  void page_asks(Page&) override {}
  void page_shows(std::string_view) override {}
};

// A page, and what it asks of its browser.
struct Stage {
  Stage(rt::RealLoop& on, rt::SocketPair pair)
      : loop(on),
        connection(on, std::move(pair.client)),
        end(std::move(pair.server)),
        peer(*end),
        page(std::make_shared<ChromiumPage>(
            connection, owner, options,
            PageBirth{.target = "T", .session = "S", .opener = {}, .url = {}})) {
    rt::spawn(gate, connection.run());
  }
  void evaluate(rt::Deadline deadline) { rt::spawn(gate, run(deadline)); }
  rt::Task<> run(rt::Deadline deadline) {
    outcome = co_await page->evaluate("() => 1", std::nullopt, scope, deadline);
  }
  // The next command: "method expression", and its id for an answer.
  rt::Task<std::string> next() {
    const auto command = wire::parse_json(co_await peer.next());
    if (!command) co_return std::string("nothing");
    const auto root = command->root();
    last_id = root.find("id")->as_uint().value_or(0);
    const auto expression = root.find("params")->find("expression");
    co_return root.find("method")->as_string().value_or("") +
        (expression ? ' ' + expression->as_string().value_or("") : std::string());
  }
  rt::Task<> answer() {
    co_await peer.say(fmt::format(R"({{"id":{},"result":{{"result":{{"value":7}}}}}})", last_id));
  }
  rt::Task<> until_over() {
    while (!outcome) co_await rt::yield(loop);
  }
  rt::Task<> close() {
    page->gone();
    connection.close();
    co_await gate.empty();
  }

  rt::RealLoop& loop;
  CdpConnection connection;
  std::unique_ptr<rt::Socket> end;
  Peer peer;
  NoOwner owner;
  ContextOptions options;
  std::shared_ptr<ChromiumPage> page;
  rt::CancelScope scope;
  rt::Gate gate;
  std::uint64_t last_id = 0;
  std::optional<Result<std::string>> outcome;
};

rt::Task<> one_that_runs_is_stopped_in_time(rt::RealLoop& loop) {
  Stage stage(loop, co_await rt::connected_pair(loop));
  stage.evaluate(rt::Deadline::after(loop, 1ms));
  EXPECT_EQ(co_await stage.next(), "Runtime.evaluate (() => 1)()");
  EXPECT_EQ(co_await stage.next(), "Runtime.evaluate 0") << "does it run anything at all?";
  EXPECT_EQ(co_await stage.next(), "Runtime.terminateExecution");
  EXPECT_EQ(co_await stage.next(), "Runtime.evaluate 0") << "what is ended if nothing else is";
  EXPECT_FALSE(stage.outcome) << "the next command would find the page busy";
  co_await stage.answer();
  co_await stage.until_over();
  EXPECT_EQ(stage.outcome->error().code, Code::kToolFailed);
  EXPECT_TRUE(stage.outcome->error().detail.starts_with("timeout: "));
  co_await stage.close();
}

TEST(PageEvaluate, OneThatRunsWhenItsTimeIsUpIsStopped) {
  rt::run_on_a_loop(one_that_runs_is_stopped_in_time);
}

rt::Task<> one_that_waits_is_left_alone(rt::RealLoop& loop) {
  Stage stage(loop, co_await rt::connected_pair(loop));
  stage.evaluate(rt::Deadline::never());
  EXPECT_EQ(co_await stage.next(), "Runtime.evaluate (() => 1)()");
  stage.scope.cancel();
  EXPECT_EQ(co_await stage.next(), "Runtime.evaluate 0");
  co_await stage.answer();
  co_await stage.until_over();
  EXPECT_EQ(stage.outcome->error().code, Code::kCancelled);
  stage.connection.send("S", "Page.next");
  EXPECT_EQ(co_await stage.next(), "Page.next") << "nobody's next script was ended";
  co_await stage.close();
}

TEST(PageEvaluate, OneThatOnlyWaitsIsGivenUpAndNothingIsStopped) {
  rt::run_on_a_loop(one_that_waits_is_left_alone);
}

}  // namespace
}  // namespace reprise::browser::chromium
