// What a session's browser does while it is being given up, moment by moment: the context stands
// still wherever the test wants it to.
#include "browser/session_browser.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "browser/testing.h"
#include "browser/timing.h"
#include "rt/real_loop.h"
#include "rt/resolver.h"
#include "session/testing.h"
#include "store/blob_files.h"

namespace reprise::browser {
namespace {

using session::testing::Sessions;

// Whoever comes waits until it is opened.
class Door {
 public:
  explicit Door(rt::Loop& loop) : opened_(loop) {}
  rt::Task<> pass() {
    ++waiting;
    rt::CancelScope scope;
    while (!is_open_ && co_await opened_.wait(scope)) continue;
    --waiting;
  }
  void open() {
    is_open_ = true;
    opened_.notify();
  }
  int waiting = 0;

 private:
  bool is_open_ = false;
  rt::Signal opened_;
};

struct Doors {
  explicit Doors(rt::Loop& loop) : page(loop), cookies(loop), download(loop) {}
  Door page;
  Door cookies;
  Door download;
  ContextEvents* events = nullptr;  // of the present context
};

// A context without pages.
class SlowContext final : public Context {
 public:
  explicit SlowContext(Doors& doors) : doors_(doors) {}
  const std::string& name() const override { return name_; }
  rt::Task<Result<std::shared_ptr<Page>>> open(std::string, rt::Deadline) override {
    co_await doors_.page.pass();
    co_return fail(Code::kBrowserError, "it has no pages");
  }
  rt::Task<Result<>> close(rt::Deadline) override { co_return Result<>{}; }
  rt::Task<> pages_told(rt::Deadline) override { co_return; }
  rt::Task<Result<rt::Descriptor>> take_download(std::string) override {
    co_await doors_.download.pass();
    co_return fail(Code::kIo, "there is no file");
  }
  void cancel_download(const std::string&) override {}
  std::string download_directory() const override { return {}; }
  void renew_downloads() override {}
  rt::Task<Result<LentFile>> lend_file(std::string) override {
    co_return fail(Code::kIo, "there is no file");
  }
  rt::Task<Result<std::vector<Cookie>>> cookies(rt::Deadline) override {
    co_await doors_.cookies.pass();
    Cookie cookie;
    cookie.name = "login";
    cookie.value = "secret";
    cookie.domain = "shop.test";
    cookie.path = "/";
    co_return std::vector<Cookie>{cookie};
  }
  rt::Task<Result<>> set_cookies(std::vector<Cookie>, rt::Deadline) override {
    co_return Result<>{};
  }
  rt::Task<Result<>> clear_cookies(rt::Deadline) override { co_return Result<>{}; }
  rt::Task<Result<std::vector<OriginStorage>>> local_storage(bool, rt::Deadline) override {
    co_return std::vector<OriginStorage>{};
  }
  rt::Task<Result<>> set_local_storage(std::vector<OriginStorage>, rt::Deadline) override {
    co_return Result<>{};
  }
  std::optional<ProtocolAddress> protocol_address() const override { return std::nullopt; }
  std::unique_ptr<ProtocolClient> admit(ProtocolHooks) override { return nullptr; }
  void set_taken_over(bool) override {}

 private:
  Doors& doors_;
  const std::string name_ = "context";
};

class SlowBrowser final : public Browser {
 public:
  explicit SlowBrowser(Doors& doors) : doors_(doors) {}
  rt::Task<Result<std::shared_ptr<Context>>> new_context(ContextOptions, ContextEvents& events,
                                                         rt::Deadline) override {
    doors_.events = &events;
    co_return std::shared_ptr<Context>(std::make_shared<SlowContext>(doors_));
  }
  bool is_alive() const override { return true; }
  int pid() const override { return 1; }
  const std::string& version() const override { return version_; }
  rt::Task<Result<std::vector<std::string>>> context_names(rt::Deadline) override {
    co_return std::vector<std::string>{};
  }
  rt::Task<Result<std::uint64_t>> memory() override { co_return std::uint64_t{0}; }
  rt::Task<> stop() override { co_return; }

 private:
  Doors& doors_;
  const std::string version_ = "slow";
};

class SlowDriver final : public Driver {
 public:
  explicit SlowDriver(Doors& doors) : doors_(doors) {}
  rt::Task<Result<>> sweep() override { co_return Result<>{}; }
  rt::Task<Result<std::shared_ptr<Browser>>> start(std::function<void()>) override {
    co_return std::shared_ptr<Browser>(std::make_shared<SlowBrowser>(doors_));
  }
  std::string_view kind() const override { return "slow"; }

 private:
  Doors& doors_;
};

// A session and what its browser needs.
class Stage {
 public:
  Stage()
      : view(sessions.create()),
        loop(sessions.world.loop(0)),
        doors(loop),
        files_(directory_.path()),
        artifacts_(*sessions.service, files_, sessions.world.pool, {}),
        resolver_(sessions.world.pool),
        outside_{network_, resolver_, ports_, probe_},
        vault_(loop, sessions.world.pool, sessions.random, directory_.path() / "state-key"),
        around{.loop = loop,
               .outside = outside_,
               .clock = sessions.world.time,
               .random = sessions.random,
               .sessions = *sessions.service,
               .artifacts = artifacts_,
               .vault = vault_},
        pool_(loop, sessions.world.time, std::make_unique<SlowDriver>(doors), {}) {}
  ~Stage() {
    settle();
    sessions.run(close());
  }
  std::shared_ptr<SessionBrowser> browser() {
    return std::make_shared<SessionBrowser>(around, pool_, view.state.id, view.stream,
                                            BrowserOptions{});
  }
  // On the browsers' loop.
  void act(std::function<void()> what) {
    loop.post(std::move(what));
    settle();
  }
  void settle() { sessions.world.settle(); }

 private:
  testing::TemporaryDirectory directory_;

 public:
  Sessions sessions;
  const session::SessionView view;
  rt::ManualLoop& loop;
  Doors doors;

 private:
  rt::Task<bool> close() {
    co_await pool_.close();
    co_await artifacts_.close();
    co_return true;
  }
  store::BlobFiles files_;
  session::ArtifactService artifacts_;
  rt::RealLoop network_;
  rt::SystemResolver resolver_;
  ForbiddenPorts ports_;
  ProxyProbe probe_;
  Outside outside_;
  StateVault vault_;

 public:
  Surroundings around;

 private:
  Pool pool_;
};

// A client that says goodbye may be the last to know the browser of a session that has ended.
TEST(SessionBrowser, LivesUntilWhatItBeganIsDone) {
  Stage stage;
  std::weak_ptr<SessionBrowser> seen;
  stage.act([&] {
    const auto browser = stage.browser();
    seen = browser;
    browser->flush_soon();
  });
  EXPECT_FALSE(seen.expired()) << "it has something to tell";
  stage.sessions.world.advance(kTellDelay + Millis{1'000});
  EXPECT_TRUE(seen.expired());
}

// A download that is done while the rest is being stopped is still being kept: its context must not
// be given up before that is over.
TEST(SessionBrowser, GivesUpNoContextWhileADownloadIsBeingKept) {
  Stage stage;
  const auto browser = stage.browser();
  rt::CancelScope scope;
  auto opening = stage.sessions.start(browser->open(scope));
  stage.settle();
  ASSERT_EQ(stage.doors.page.waiting, 1) << "its first page is being opened";
  stage.act([&] { browser->note_state(true); });
  stage.sessions.world.advance(kStateDelay + Millis{1'000});
  ASSERT_EQ(stage.doors.cookies.waiting, 1) << "what sites keep is being read";
  stage.act([&] { stage.doors.page.open(); });
  ASSERT_FALSE(opening->has_value()) << "it is given up, when the reading is over";
  stage.act([&] {
    stage.doors.events->on_download(
        {.id = "1", .state = DownloadState::kBegun, .suggested_name = "a.txt"});
    stage.doors.events->on_download(
        {.id = "1", .state = DownloadState::kDone, .suggested_name = {}, .received_bytes = 1});
  });
  ASSERT_EQ(stage.doors.download.waiting, 1);
  stage.act([&] { stage.doors.cookies.open(); });
  stage.sessions.world.advance(kTellDelay + Millis{1'000});
  EXPECT_FALSE(opening->has_value()) << "a file is still being taken";
  stage.act([&] { stage.doors.download.open(); });
  stage.sessions.world.advance(kTellDelay + Millis{1'000});
  ASSERT_TRUE(opening->has_value());
  EXPECT_FALSE((*opening)->has_value());
  EXPECT_EQ(browser->facts()->status, model::ContextStatus::kClosed);
}

TEST(StateKeeper, KeepsNothingBehindWhatWasForgotten) {
  Stage stage;
  StateKeeper keeper(stage.around, stage.view.stream);
  SlowContext context(stage.doors);
  const auto stored = [&] { return stage.sessions.run(keeper.stored()).value().cookies.size(); };
  auto first = stage.sessions.start(keeper.save(context));
  stage.settle();
  ASSERT_EQ(stage.doors.cookies.waiting, 1);
  auto forgotten = stage.sessions.start(keeper.forget());
  auto second = stage.sessions.start(keeper.save(context));
  stage.settle();
  stage.act([&] { stage.doors.cookies.open(); });
  ASSERT_TRUE(first->has_value() && forgotten->has_value() && second->has_value());
  EXPECT_EQ(stored(), 0U) << "the session's browser was closed for good";
  // The next context is kept again.
  ASSERT_TRUE(stage.sessions.run(keeper.restore(context)));
  ASSERT_TRUE(stage.sessions.run(keeper.save(context)));
  EXPECT_EQ(stored(), 1U);
}

}  // namespace
}  // namespace reprise::browser
