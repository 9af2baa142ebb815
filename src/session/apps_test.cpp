#include "session/apps.h"

#include "session/keys.h"
#include "session/testing.h"

namespace reprise::session {
namespace {

using testing::new_session;
using testing::Sessions;

rt::Task<Result<>> damage(SessionService& service, std::string key) {
  store::Commit commit;
  commit.puts.push_back({.key = std::move(key), .value = "damaged", .only_if = {}});
  auto written = co_await service.store_here().commit(std::move(commit));
  if (!written) co_return fail(std::move(written).error());
  co_return Result<>{};
}

TEST(Apps, AreStoredAndReadBack) {
  const App app{.id = "shop",
                .settings = {.description = "sells",
                             .default_ttl_seconds = 60,
                             .default_max_lifetime_seconds = std::nullopt,
                             .retention_seconds = 3'600,
                             .max_sessions = 5},
                .created_at = TimePoint{1'000},
                .updated_at = TimePoint{2'000}};
  const std::string bytes = encode_app(app);
  EXPECT_EQ(*decode_app(app_key("shop"), bytes), app);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(decode_app(app_key("shop"), bytes.substr(0, length)).error().code, Code::kCorrupt);
  EXPECT_FALSE(decode_app(app_key("shop"), bytes + "x"));
}

TEST(Apps, OneThatCannotBeClosedDoesNotStopTheRest) {
  Sessions before;
  std::vector<SessionId> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(before.create(new_session()).state.id);
  ASSERT_TRUE(before.run(damage(*before.service, session_key(ids[1]))));
  Sessions after({}, before.contents(), before.world.time.now());
  const auto report = after.run(after.service->close_app("app", "over"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->closed, 4U);
  EXPECT_EQ(report->failed, 1U);
  ASSERT_EQ(report->failures.size(), 1U);
  EXPECT_EQ(report->failures[0].id, ids[1]);
  EXPECT_EQ(report->failures[0].error.code, Code::kCorrupt);
  EXPECT_EQ(after.get(ids[4])->state.status, model::Status::kCompleted);
}

TEST(Apps, TellOfTheFirstFailuresOnly) {
  Sessions before;
  for (std::size_t i = 0; i <= kMaxCloseFailures; ++i) {
    const SessionId id = before.create(new_session()).state.id;
    ASSERT_TRUE(before.run(damage(*before.service, session_key(id))));
  }
  Sessions after({}, before.contents(), before.world.time.now());
  const auto report = after.run(after.service->close_app("app", "over"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->failed, kMaxCloseFailures + 1);
  EXPECT_EQ(report->failures.size(), kMaxCloseFailures);
}

TEST(Apps, HaveARetentionOfTheirOwn) {
  Sessions sessions;
  ASSERT_TRUE(sessions.run(
      sessions.service->put_app("brief", {.description = {}, .retention_seconds = 60})));
  const SessionId brief = sessions.create(new_session("", "brief")).state.id;
  const SessionId other = sessions.create(new_session("", "other")).state.id;
  const SessionId living = sessions.create(new_session("", "brief")).state.id;
  for (const SessionId id : {brief, other}) ASSERT_TRUE(sessions.command(id, model::Close{}));
  sessions.world.time.advance(std::chrono::seconds(59));
  ASSERT_TRUE(sessions.sweep());
  EXPECT_TRUE(sessions.get(brief));
  sessions.world.time.advance(std::chrono::seconds(2) + kFeedTrimInterval);
  ASSERT_TRUE(sessions.sweep());
  EXPECT_FALSE(sessions.get(brief));
  EXPECT_TRUE(sessions.get(other));
  EXPECT_TRUE(sessions.get(living));
}

TEST(Apps, OneThatIsDamagedDoesNotStopTheRetentionOfOthers) {
  Sessions sessions;
  const AppSettings brief{.description = {}, .retention_seconds = 60};
  for (const char* app : {"a", "b", "c"})
    ASSERT_TRUE(sessions.run(sessions.service->put_app(app, brief)));
  const SessionId damaged = sessions.create(new_session("", "a")).state.id;
  const SessionId other = sessions.create(new_session("", "c")).state.id;
  for (const SessionId id : {damaged, other}) ASSERT_TRUE(sessions.command(id, model::Close{}));
  ASSERT_TRUE(sessions.run(damage(*sessions.service, session_key(damaged))));
  ASSERT_TRUE(sessions.run(damage(*sessions.service, app_key("b"))));
  Sessions after({}, sessions.contents(), sessions.world.time.now());
  after.world.time.advance(std::chrono::seconds(61) + kFeedTrimInterval);
  EXPECT_FALSE(after.sweep());
  EXPECT_FALSE(after.get(other));
  EXPECT_EQ(after.run(after.service->apps("", 10))->apps.size(), 2U);
}

// The first creations of an app race to make it; nobody loses but time.
TEST(Apps, AreMadeOnceByManyCallersAtOnce) {
  Sessions sessions;
  std::vector<testing::World::Place<Result<store::Durable<Created>>>> made;
  for (int i = 0; i < 50; ++i)
    made.push_back(sessions.start(sessions.service->create(new_session())));
  sessions.world.settle();
  for (const auto& one : made) EXPECT_TRUE((**one).has_value());
}

TEST(Apps, AreNotRemovedWithASessionThatCameMeanwhile) {
  Sessions sessions;
  ASSERT_TRUE(sessions.run(sessions.service->put_app("app", {})));
  auto removed = sessions.start(sessions.service->remove_app("app"));
  auto made = sessions.start(sessions.service->create(new_session()));
  sessions.world.settle();
  ASSERT_TRUE((**made).has_value());
  // Whichever came first: a session that lives has an app.
  EXPECT_TRUE(sessions.run(sessions.service->app("app")));
  EXPECT_TRUE((**removed).has_value() || (**removed).error().code == Code::kConflict);
}

TEST(Apps, AreNotMadeByUseIfTheServerIsStrict) {
  Sessions sessions({.is_strict_about_apps = true});
  const auto refused = sessions.run(sessions.service->create(new_session("a")));
  EXPECT_EQ(refused.error().code, Code::kAppNotFound);
  const auto also = sessions.run(sessions.service->get_or_create(new_session("a")));
  EXPECT_EQ(also.error().code, Code::kAppNotFound);
  ASSERT_TRUE(sessions.run(sessions.service->put_app("app", {})));
  EXPECT_TRUE(sessions.run(sessions.service->get_or_create(new_session("a"))));
}

}  // namespace
}  // namespace reprise::session
