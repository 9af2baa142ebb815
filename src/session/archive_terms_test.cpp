// Imports under other names and beside others, and what bounds them.
#include "session/archives.h"

#include "session/archives_testing.h"
#include "session/tool_call_rows.h"

namespace reprise::session {
namespace {

using testing::Archives;
using testing::code_of;
using testing::Members;
using testing::members_of;
using testing::new_session;

TEST(Archives, UnderANewIdTheAuditStillVerifies) {
  Archives here;
  const SessionView lived = here.lively_session();
  const std::string bytes = *here.exported(lived.state.id);
  EXPECT_EQ(code_of(here.import(bytes)), Code::kSessionExists);
  EXPECT_EQ(code_of(here.import(bytes, {.wants_new_id = true, .name = {}, .check_app = {}})),
            Code::kKeyTaken);
  const auto copy = here.import(bytes, {.wants_new_id = true, .name = "copy", .check_app = {}});
  ASSERT_TRUE(copy) << copy.error().detail;
  EXPECT_NE(copy->state.id, lived.state.id);
  EXPECT_EQ(copy->state.name, "copy");
  EXPECT_EQ(copy->state.created_at, lived.state.created_at);
  EXPECT_EQ(here.sessions.get(model::SessionKey{"app", "copy"})->state.id, copy->state.id);
  EXPECT_EQ(here.sessions.get(model::SessionKey{"app", "lively"})->state.id, lived.state.id);
  const auto verdict = here.sessions.run(here.calls->verify(copy->state.id));
  EXPECT_TRUE(verdict->report.is_valid) << verdict->report.reason;
  EXPECT_EQ(verdict->recorded, lived.state.audit);
  // Both refer to the same contents; one is deleted, the other keeps them.
  ASSERT_TRUE(here.sessions.run(here.sessions.service->remove(lived.state.id)));
  here.sweep();
  EXPECT_EQ(here.file_count(), 5U);
  EXPECT_TRUE(here.exported(copy->state.id));
}

TEST(Archives, ASessionWithoutAKeyMayGetOne) {
  Archives here(1);
  Archives there(2);
  const SessionId id = here.sessions.create(new_session()).state.id;
  const auto named =
      there.import(*here.exported(id), {.wants_new_id = false, .name = "named", .check_app = {}});
  ASSERT_TRUE(named) << named.error().detail;
  EXPECT_EQ(named->state.id, id);
  EXPECT_EQ(there.sessions.get(model::SessionKey{"app", "named"})->state.id, id);
}

TEST(Archives, AnEndedSessionDoesNotTakeItsKeyFromAnother) {
  Archives here(1);
  Archives there(2);
  const SessionId id = here.sessions.create(new_session("shared")).state.id;
  ASSERT_TRUE(here.sessions.command(id, model::Close{}));
  const std::string bytes = *here.exported(id);
  const SessionId holder = there.sessions.create(new_session("shared")).state.id;
  ASSERT_TRUE(there.import(bytes));
  EXPECT_EQ(there.sessions.get(model::SessionKey{"app", "shared"})->state.id, holder);
  EXPECT_EQ(there.sessions.get(id)->state.status, model::Status::kCompleted);
  // And a living one takes it from one that has ended.
  ASSERT_TRUE(there.sessions.command(holder, model::Close{}));
  const SessionId living = here.sessions.create(new_session("shared")).state.id;
  ASSERT_TRUE(there.import(*here.exported(living)));
  EXPECT_EQ(there.sessions.get(model::SessionKey{"app", "shared"})->state.id, living);
}

TEST(Archives, ASessionThatWasLookedForInVainIsThereAfterItsImport) {
  Archives here(1);
  Archives there(2);
  const SessionId id = here.sessions.create(new_session("wanted")).state.id;
  EXPECT_EQ(code_of(there.sessions.get(id)), Code::kSessionNotFound);
  ASSERT_TRUE(there.import(*here.exported(id)));
  EXPECT_TRUE(there.sessions.get(id));
  ASSERT_TRUE(there.sessions.run(there.sessions.service->remove(id)));
  EXPECT_EQ(code_of(there.sessions.get(id)), Code::kSessionNotFound);
  EXPECT_TRUE(there.import(*here.exported(id))) << "a deleted session may come back";
}

TEST(Archives, OfTwoImportsAtOnceOneMakesTheSession) {
  Archives here(1);
  Archives there(2);
  const SessionId id = here.lively_session().state.id;
  const std::string bytes = *here.exported(id);
  auto first = there.sessions.start(there.import_task(bytes, {}), 0);
  auto second = there.sessions.start(there.import_task(bytes, {}), 1);
  there.sessions.world.settle();
  ASSERT_TRUE(first->has_value() && second->has_value());
  EXPECT_NE((*first)->has_value(), (*second)->has_value());
  const auto& refused = (*first)->has_value() ? **second : **first;
  EXPECT_EQ(code_of(refused), Code::kSessionExists);
  there.sweep();
  EXPECT_EQ(*there.exported(id), bytes);
  EXPECT_EQ(there.records("fv"), here.records("fv"));
  EXPECT_EQ(there.records("q"), here.records("q"));
  EXPECT_EQ(there.records("I") + there.records("d"), 0U);
}

TEST(Archives, MonitorsAreToldOfAnImport) {
  Archives here(1);
  Archives there(2);
  const auto before = there.sessions.run(there.sessions.service->monitor_heads());
  const SessionId id = here.sessions.create(new_session("seen")).state.id;
  ASSERT_TRUE(there.import(*here.exported(id)));
  const auto after = there.sessions.run(there.sessions.service->monitor_heads());
  EXPECT_NE(encode_monitor_id(*before), encode_monitor_id(*after));
}

TEST(Archives, ManyEventsAndManyVersionsTakeManyMembers) {
  Archives here(1);
  Archives there(2);
  const SessionId id = here.sessions.create(new_session("long")).state.id;
  const std::string payload = R"({"text":")" + std::string(3'000, 'x') + "\"}";
  const auto append = model::Append{.events = testing::messages(500, "log", payload)};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(here.sessions.command(id, append));
  for (std::size_t i = 0; i <= kImportedVersionsPerCommit; ++i)
    here.put(id, fmt::format("workspace/{:04}", i), "same");
  const auto bytes = here.exported(id);
  ASSERT_TRUE(bytes) << bytes.error().detail;
  const Members members = members_of(*bytes);
  std::size_t event_members = 0;
  for (const auto& [name, content] : members) {
    if (!name.starts_with("events-")) continue;
    ++event_members;
    EXPECT_LE(content.size(), kArchiveChunkBytes + payload.size() + 200);
  }
  EXPECT_GE(event_members, 3U);
  ASSERT_TRUE(there.import(*bytes));
  EXPECT_EQ(*there.exported(id), *bytes);
  EXPECT_EQ(there.records("fv"), kImportedVersionsPerCommit + 1);
}

TEST(Archives, LargeContentGoesPieceByPiece) {
  Archives here(1);
  Archives there(2);
  const SessionId id = here.sessions.create(new_session("large")).state.id;
  std::string content(3 * kArchiveStepBytes + 5, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 >> 3);
  here.put(id, "workspace/large", content);
  const std::string bytes = *here.exported(id);
  ASSERT_TRUE(there.import(bytes));
  EXPECT_EQ(*there.exported(id), bytes);
}

TEST(Archives, AnExportDuringWritesHasAllUpToItsMoment) {
  Archives here(1);
  Archives there(2);
  const SessionId id = here.lively_session().state.id;
  // While the archive is made, artifacts change and go, and the session is written to.
  bool is_busy = false;
  here.sessions.world.hooked.on_get = [&](std::string_view key) {
    if (is_busy || key != session_key(id)) return;
    is_busy = true;
    here.sessions.world.loop(1).post([&] {
      rt::spawn(here.sessions.world.gate, [](Archives& archives, SessionId session) -> rt::Task<> {
        (void)co_await archives.artifacts->remove(session, "workspace/a.txt", std::nullopt, "");
        (void)co_await archives.artifacts->sweep();
      }(here, id));
    });
  };
  const auto bytes = here.exported(id);
  here.sessions.world.hooked.on_get = {};
  ASSERT_TRUE(bytes) << bytes.error().detail;
  EXPECT_TRUE(is_busy);
  const auto imported = there.import(*bytes);
  EXPECT_TRUE(imported) << imported.error().detail;
}

TEST(Archives, OnlySoManyAreMadeAtOnce) {
  Archives here(1, {}, {.max_import_bytes = kDefaultMaxImportBytes, .max_at_once = 1});
  EXPECT_GE(kMaxArchivesAtOnce, 2U);
  const SessionId id = here.sessions.create(new_session("one")).state.id;
  auto first = here.sessions.run(here.service->export_session(id));
  ASSERT_TRUE(first);
  EXPECT_EQ(code_of(here.exported(id)), Code::kOverloaded);
  EXPECT_EQ(here.service->probe().refused_at_once, 1U);
  first->reset();
  EXPECT_TRUE(here.exported(id));
}

TEST(Archives, AnArchiveMayBeTooLarge) {
  Archives here(1, {}, {.max_import_bytes = 20'000});
  EXPECT_EQ(code_of(here.import(std::string(20'001, 'x'))), Code::kBodyTooLarge);
  EXPECT_EQ(code_of(here.import(std::string(20'000, 'x'))), Code::kBadArchive);
  here.expect_nothing_left();
}

TEST(Archives, AStoppingServerGivesUp) {
  Archives here(1);
  const SessionId id = here.sessions.create(new_session("one")).state.id;
  auto& loop = here.sessions.world.loop(0);
  loop.post([&] { here.service->stop_after(Millis{100}); });
  here.sessions.world.settle();
  EXPECT_TRUE(here.exported(id));
  here.sessions.world.time.advance(Millis{100});
  EXPECT_EQ(code_of(here.exported(id)), Code::kShuttingDown);
}

}  // namespace
}  // namespace reprise::session
