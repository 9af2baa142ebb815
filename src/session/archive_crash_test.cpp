// Imports that end in the middle: by a crash, by a full disk, before or after any commit.
#include "session/archives_testing.h"

namespace reprise::session {
namespace {

using testing::Archives;
using testing::code_of;

// Either all of the session is there, or nothing of it.
void expect_all_or_nothing(Archives& archives, SessionId id, const std::string& bytes) {
  EXPECT_TRUE(archives.sessions.run(archives.artifacts->sweep_all()));
  archives.sweep();
  EXPECT_EQ(archives.records("I") + archives.records("d"), 0U);
  if (!archives.sessions.get(id)) {
    archives.expect_nothing_left();
    EXPECT_TRUE(archives.import(bytes));
  }
  const auto again = archives.exported(id);
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(*again, bytes);
}

TEST(ArchiveCrash, WhatACrashInAnImportLeavesIsSwept) {
  Archives here(1);
  const SessionId id = here.lively_session().state.id;
  const std::string bytes = *here.exported(id);
  // After each commit of the import in turn.
  for (int crash_after = 1;; ++crash_after) {
    SCOPED_TRACE(crash_after);
    Archives there(2);
    int commits = 0;
    testing::LeftBehind left{.directory = there.directory};
    there.sessions.world.hooked.on_written = [&] {
      if (++commits == crash_after) left.contents = there.sessions.contents();
    };
    const auto imported = there.import(bytes);
    there.sessions.world.hooked.on_written = {};
    ASSERT_TRUE(imported) << imported.error().detail;
    if (!left.contents) {
      EXPECT_GT(crash_after, 4);
      break;
    }
    Archives next(3, {}, {}, std::move(left));
    expect_all_or_nothing(next, id, bytes);
  }
}

TEST(ArchiveCrash, AFailedImportLeavesAllOrNothing) {
  using Outcome = store::MemoryEngine::Outcome;
  Archives here(1);
  const SessionId id = here.lively_session().state.id;
  const std::string bytes = *here.exported(id);
  for (const Outcome outcome : {Outcome::kLost, Outcome::kApplied}) {
    for (std::uint64_t failing = 1;; ++failing) {
      SCOPED_TRACE(failing);
      Archives there(2);
      there.sessions.world.engine->fail_write(failing, Code::kNoSpace, outcome);
      const auto imported = there.import(bytes);
      if (imported) break;
      EXPECT_EQ(code_of(imported), Code::kNoSpace);
      there.sessions.recover();
      there.sessions.world.settle();
      expect_all_or_nothing(there, id, bytes);
    }
  }
}

TEST(ArchiveCrash, WhatCouldNotBeHandedToTheJanitorIsHandedOverLater) {
  Archives here(1);
  const std::string bytes = *here.exported(here.lively_session().state.id);
  Archives there(2);
  // Full from then on, so that handing over fails too.
  there.sessions.world.hooked.on_written = [&] {
    if (there.records("I") == 1) there.sessions.world.engine->set_full(true);
  };
  EXPECT_EQ(code_of(there.import(bytes)), Code::kNoSpace);
  there.sessions.world.hooked.on_written = {};
  EXPECT_EQ(there.records("I"), 1U);
  there.sessions.world.engine->set_full(false);
  there.sessions.recover();
  rt::CancelScope scope;
  auto running =
      there.sessions.start([](ArchiveService& service, rt::CancelScope& until) -> rt::Task<bool> {
        co_await service.run(until);
        co_return true;
      }(*there.service, scope));
  there.sessions.world.settle();
  there.sessions.world.advance(std::chrono::duration_cast<Millis>(kAbandonedImportInterval));
  scope.cancel();
  there.sessions.world.settle();
  EXPECT_TRUE(running->has_value());
  there.expect_nothing_left();
}

}  // namespace
}  // namespace reprise::session
