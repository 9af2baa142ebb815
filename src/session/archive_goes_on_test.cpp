// What an imported session is, and how it goes on.
#include "session/archives_testing.h"

namespace reprise::session {
namespace {

using testing::Archives;
using testing::new_session;

TEST(Archives, EverythingIsThereAfterAnImport) {
  Archives here(1);
  Archives there(2);
  const SessionView lived = here.lively_session();
  const SessionId id = lived.state.id;
  const auto imported = there.import(*here.exported(id));
  ASSERT_TRUE(imported) << imported.error().detail;
  EXPECT_EQ(there.sessions.folded(*imported), here.sessions.folded(lived));
  // By its key, in the list, in the counters and among those that wait.
  EXPECT_EQ(there.sessions.get(model::SessionKey{"app", "lively"})->state.id, id);
  EXPECT_EQ(there.sessions.list().page.sessions.size(), 1U);
  EXPECT_EQ(there.sessions.counted(model::Status::kPaused), 1);
  EXPECT_EQ(there.records("w"), 1U);
  EXPECT_EQ(there.records("x"), 1U);
  // Records that are not exported but found in the events.
  for (const std::string_view table :
       {"q", "c", "fa", "fv", "fr", "fu", "ft", "pn", "pd", "ui", "uq", "uv"})
    EXPECT_EQ(there.records(table), here.records(table)) << table;
  EXPECT_EQ(there.records("I"), 0U);
  const auto questions =
      there.sessions.run(there.sessions.service->interactions(id, std::nullopt, std::nullopt, 10));
  ASSERT_TRUE(questions);
  ASSERT_EQ(questions->interactions.size(), 2U);
  EXPECT_EQ(questions->interactions[0].response, R"({"input":"blue"})");
  EXPECT_EQ(questions->interactions[1].record.state, model::InteractionState::kPending);
  EXPECT_EQ(there.sessions.run(there.calls->list(id, {}))->calls.size(), 3U);
  const auto verdict = there.sessions.run(there.calls->verify(id));
  EXPECT_TRUE(verdict->report.is_valid) << verdict->report.reason;
  EXPECT_EQ(verdict->recorded, lived.state.audit);
}

TEST(Archives, AnImportedSessionGoesOn) {
  Archives here(1);
  Archives there(2);
  const SessionView lived = here.lively_session();
  const SessionId id = lived.state.id;
  ASSERT_TRUE(there.import(*here.exported(id)));
  // The open question and the open tool call are the same ones.
  there.answer(id, lived.state.interactions.front().id);
  // So are the input that is worked on and the one that waits, and what was saved before the one
  // that was rolled back counts.
  EXPECT_EQ(there.sessions.run(there.inputs->active(id)).value()->data, "\"instead\"");
  EXPECT_EQ(there.sessions.run(there.checkpoints->get(id, "plan", std::nullopt))->data,
            R"({"step":2})");
  there.save(id, "plan", "4");
  EXPECT_EQ(there.sessions.run(there.checkpoints->get(id, "plan", 4))->data, "4");
  EXPECT_EQ(there.sessions.get(id)->state.status, model::Status::kActive);
  EXPECT_TRUE(there.sessions.append(id, 1));
  // The version after the deleted third one is the fourth.
  there.put(id, "workspace/a.txt", "four");
  const auto newest =
      there.sessions.run(there.artifacts->look(id, "workspace/a.txt", std::nullopt));
  EXPECT_EQ(newest->version.artifact.version, 4U);
  EXPECT_EQ(newest->versions, 3U);
  EXPECT_TRUE(there.sessions.command(id, model::Close{}));
  there.sweep();
  EXPECT_EQ(there.records("ft"), 0U);
  ASSERT_TRUE(there.sessions.run(there.sessions.service->remove(id)));
  there.expect_nothing_left();
}

TEST(Archives, ClocksGoOnFromTheRecord) {
  Archives here(1);
  Archives there(2);
  model::Create create = new_session("short");
  create.ttl_seconds = 60;
  const SessionId id = here.sessions.create(create).state.id;
  here.ask(id, 30'000);
  const std::string bytes = *here.exported(id);
  there.sessions.world.time.advance(Millis{31'000});
  ASSERT_TRUE(there.import(bytes));
  const auto late = there.sessions.get(id);
  EXPECT_TRUE(late->state.interactions.empty()) << "its deadline passed on the way";
  EXPECT_EQ(late->state.status, model::Status::kActive);
  there.sessions.world.time.advance(Millis{120'000});
  EXPECT_EQ(there.sessions.get(id)->state.last_error, "expired");
}

}  // namespace
}  // namespace reprise::session
