#include "session/janitor.h"

#include "base/bytes.h"
#include "session/apps.h"
#include "session/testing.h"
#include "stream/limits.h"

namespace reprise::session {
namespace {

using model::Status;
using std::chrono::seconds;
using testing::code_of;
using testing::messages;
using testing::new_session;
using testing::Sessions;

model::Create with_clocks(std::optional<std::uint64_t> ttl, std::optional<std::uint64_t> lifetime,
                          std::string name = "") {
  auto create = new_session(std::move(name));
  create.ttl_seconds = ttl;
  create.max_lifetime_seconds = lifetime;
  return create;
}

// What the store holds, by what the session's record says: not what a read would make of it.
Status stored_status(Sessions& sessions, SessionId id) {
  const auto record = *sessions.world.store.get(session_key(id), store::ReadMode::kBlocking);
  return decode_stored(record->value, record->version)->state.status;
}

std::size_t filed(Sessions& sessions) {
  return sessions.world.store.scan({.begin = "x", .end = "y"}, store::ReadMode::kBlocking)
      ->records.size();
}

TEST(Janitor, ExpiresByIdleTimeAndByLifetime) {
  Sessions sessions;
  const SessionId idle = sessions.create(with_clocks(60, {})).state.id;
  const SessionId old = sessions.create(with_clocks({}, 90)).state.id;
  const SessionId both = sessions.create(with_clocks(60, 90)).state.id;
  const SessionId never = sessions.create().state.id;
  sessions.world.time.advance(seconds{59});
  ASSERT_TRUE(sessions.append(both));
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(stored_status(sessions, idle), Status::kActive);
  sessions.world.time.advance(seconds{1});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(stored_status(sessions, idle), Status::kCancelled);
  EXPECT_EQ(sessions.get(idle)->state.last_error, "expired");
  EXPECT_EQ(stored_status(sessions, both), Status::kActive);  // its activity slid it
  sessions.world.time.advance(seconds{30});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(stored_status(sessions, old), Status::kCancelled);
  EXPECT_EQ(stored_status(sessions, both), Status::kCancelled);
  EXPECT_EQ(stored_status(sessions, never), Status::kActive);
  EXPECT_EQ(sessions.janitor->probe().expired, 3U);
  EXPECT_EQ(filed(sessions), 0U);
}

TEST(Janitor, RefilesASessionWhoseActivityMovedItsTime) {
  Sessions sessions;
  const SessionId id = sessions.create(with_clocks(60, {})).state.id;
  for (int i = 0; i < 20; ++i) {
    sessions.world.time.advance(seconds{40});
    ASSERT_TRUE(sessions.append(id));
    ASSERT_TRUE(sessions.sweep());
    ASSERT_EQ(stored_status(sessions, id), Status::kActive);
    ASSERT_EQ(filed(sessions), 1U);
  }
  sessions.world.time.advance(seconds{60});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(stored_status(sessions, id), Status::kCancelled);
}

TEST(Janitor, FollowsAChangedTimeToLive) {
  Sessions sessions;
  const SessionId id = sessions.create(with_clocks(600, {})).state.id;
  ASSERT_TRUE(sessions.call(id, MergePatch{.ttl_seconds = std::optional<std::uint64_t>(5)}));
  sessions.world.time.advance(seconds{5});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(stored_status(sessions, id), Status::kCancelled);
  const SessionId kept = sessions.create(with_clocks(5, {})).state.id;
  ASSERT_TRUE(sessions.call(
      kept, MergePatch{.ttl_seconds = std::optional(std::optional<std::uint64_t>())}));
  sessions.world.time.advance(seconds{500});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(stored_status(sessions, kept), Status::kActive);
}

TEST(Janitor, TouchesSlideTheTimeAndARestartMakesItLateNeverEarly) {
  Sessions sessions;
  const SessionId id = sessions.create(with_clocks(100, {})).state.id;
  TimePoint last_touch;
  for (int i = 0; i < 30; ++i) {
    sessions.world.time.advance(seconds{7});
    ASSERT_TRUE(sessions.call(id, Touch{}));
    last_touch = sessions.world.time.now();
  }
  EXPECT_EQ(*sessions.get(id)->state.expires_at(), last_touch + seconds{100});
  sessions.world.time.advance(seconds{3});
  Sessions restarted({}, sessions.contents(), sessions.world.time.now());
  const TimePoint expires = *restarted.get(id)->state.expires_at();
  EXPECT_GE(expires, last_touch + seconds{100});
  EXPECT_LE(expires, last_touch + seconds{110});
  EXPECT_EQ(code_of(sessions.call(sessions.create().state.id, Touch{})), Code::kInternal);
  ASSERT_TRUE(sessions.command(id, model::Close{}));
  EXPECT_EQ(code_of(sessions.call(id, Touch{.is_explicit = true})), Code::kSessionEnded);
}

TEST(Janitor, AccessTreatsASessionPastItsTimeAsExpiredWithoutIt) {
  Sessions sessions;
  const SessionId id = sessions.create(with_clocks(60, {})).state.id;
  sessions.world.time.advance(seconds{60});
  EXPECT_EQ(code_of(sessions.append(id)), Code::kSessionEnded);
  EXPECT_EQ(sessions.get(id)->state.status, Status::kCancelled);
}

TEST(Janitor, RemovesEndedSessionsAfterTheirRetention) {
  Sessions sessions({.retention_seconds = 100});
  const SessionId ended = sessions.create(new_session("one")).state.id;
  const SessionId living = sessions.create(new_session("two")).state.id;
  ASSERT_TRUE(sessions.command(ended, model::Close{}));
  sessions.world.time.advance(seconds{99});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_TRUE(sessions.get(ended));
  sessions.world.time.advance(seconds{1});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(code_of(sessions.get(ended)), Code::kSessionNotFound);
  EXPECT_TRUE(sessions.get(living));
  EXPECT_EQ(sessions.janitor->probe().retired, 1U);
}

TEST(Janitor, ASessionThatIsResetBeforeItsTurnIsNotRemoved) {
  Sessions sessions({.retention_seconds = 100});
  const SessionId id = sessions.create(new_session("one")).state.id;
  ASSERT_TRUE(sessions.command(id, model::Close{}));
  sessions.world.time.advance(seconds{200});
  const TimePoint limit = sessions.world.time.now() - seconds{100};
  // The janitor has read the index; then the session is reset, and ends again just now.
  ASSERT_TRUE(sessions.run(sessions.service->reset(id, "")));
  EXPECT_EQ(code_of(sessions.run(sessions.service->remove(id, Remove{.only_if_ended_by = limit}))),
            Code::kConflict);
  ASSERT_TRUE(sessions.command(id, model::Close{}));
  EXPECT_EQ(code_of(sessions.run(sessions.service->remove(id, Remove{.only_if_ended_by = limit}))),
            Code::kConflict);
  ASSERT_TRUE(sessions.sweep());
  EXPECT_TRUE(sessions.get(id));
}

TEST(Janitor, LeavesNothingOfADeletedSession) {
  Sessions sessions;
  std::vector<SessionView> views;
  for (int i = 0; i < 3; ++i) {
    auto create = with_clocks(600, 900, fmt::format("s{}", i));
    create.owner_agent = "agent";
    views.push_back(sessions.create(create));
    const SessionId id = views.back().state.id;
    for (std::size_t n = 0; n < kJanitorBatch + 1; ++n) {
      Call call{.action = model::Command(
                    model::Append{.events = messages(1), .expected_seq = std::nullopt}),
                .claim = *stream::make_claim("append", fmt::format("key {}", n), "body")};
      (void)sessions.start(sessions.service->call(id, std::move(call)));
    }
    sessions.world.settle();
    ASSERT_EQ(sessions.get(id)->state.head, Seq{2 + kJanitorBatch});
    ASSERT_TRUE(sessions.command(
        id, model::Pause{.pause_reason = model::PauseReason::kInput, .reason = {}}));
  }
  // Ended and replaced under its key: the old one holds the key no longer.
  ASSERT_TRUE(sessions.command(views[0].state.id, model::Close{}));
  views.push_back(sessions.create(new_session("s0")));
  for (const SessionView& view : views)
    ASSERT_TRUE(sessions.run(sessions.service->remove(view.state.id)));
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(sessions.janitor->probe().swept, 4U);
  for (const auto& record : sessions.records())
    if (record.key != app_key("app")) ADD_FAILURE() << to_hex(record.key);
  for (const SessionView& view : views)
    EXPECT_EQ(*sessions.world.store.head(view.stream, store::ReadMode::kBlocking), Seq{0});
  for (const Status status : model::kStatuses)
    for (const char* app : {"", "app"})
      for (const char* graph : {"", "app"}) EXPECT_EQ(sessions.counted(status, app, graph), 0);
}

TEST(Janitor, GoesOnWithADeletionThatARestartInterrupted) {
  Sessions before;
  const SessionView view = before.create(new_session("one"));
  ASSERT_TRUE(before.append(view.state.id, 10));
  ASSERT_TRUE(before.run(before.service->remove(view.state.id)));
  Sessions after({}, before.contents(), before.world.time.now());
  ASSERT_TRUE(after.sweep());
  // The app stays, without sessions.
  const auto left = after.records();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].key, app_key("app"));
  EXPECT_EQ(*after.world.store.head(view.stream, store::ReadMode::kBlocking), Seq{0});
}

TEST(Janitor, DoesEverythingThatIsDueInOneRoundAlsoMoreThanABatch) {
  Sessions sessions;
  for (std::size_t i = 0; i < kJanitorBatch; ++i) (void)sessions.create(with_clocks(60, {}));
  sessions.world.time.advance(seconds{60});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(sessions.janitor->probe().expired, kJanitorBatch);
  for (std::size_t i = 0; i < 2 * kJanitorBatch + 1; ++i)
    (void)sessions.create(with_clocks(60, {}));
  sessions.world.time.advance(seconds{60});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(sessions.janitor->probe().expired, 3 * kJanitorBatch + 1);
}

TEST(Janitor, OneDamagedSessionDoesNotKeepItFromTheOthers) {
  Sessions sessions({.max_loaded_per_loop = 1, .retention_seconds = 100});
  const SessionId damaged = sessions.create(with_clocks(10, {})).state.id;
  const SessionId other = sessions.create(with_clocks(20, {})).state.id;
  const SessionId ended = sessions.create().state.id;
  ASSERT_TRUE(sessions.command(ended, model::Close{}));
  for (int i = 0; i < 20; ++i) (void)sessions.create();  // the damaged one is not in memory
  store::WriteSet writes;
  writes.puts.push_back(
      {session_key(damaged), "rubbish", sessions.world.engine->version_floor() + 1'000'000});
  ASSERT_TRUE(sessions.world.engine->write(writes));
  Sessions restarted({.retention_seconds = 100}, sessions.contents(),
                     sessions.world.time.now() + seconds{200});
  EXPECT_EQ(code_of(restarted.sweep()), Code::kCorrupt);
  EXPECT_EQ(stored_status(restarted, other), Status::kCancelled);
  EXPECT_EQ(code_of(restarted.get(ended)), Code::kSessionNotFound);
}

TEST(Janitor, ForgetsIdempotencyKeysAfterTheirWindow) {
  Sessions sessions;
  const SessionId id = sessions.create().state.id;
  const auto repeat = [&] {
    Call call{.action = model::Command(
                  model::Append{.events = messages(1), .expected_seq = std::nullopt}),
              .claim = *stream::make_claim("append", "key", "body")};
    return (*sessions.run(sessions.service->call(id, std::move(call))))->last;
  };
  const std::size_t records = sessions.records().size();
  EXPECT_EQ(repeat(), Seq{2});
  sessions.world.time.advance(stream::kIdempotencyWindow - seconds{1});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(repeat(), Seq{2});
  sessions.world.time.advance(seconds{1});
  // Expired, and claimed anew before the janitor comes: that is a new call with its own window.
  EXPECT_EQ(repeat(), Seq{3});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(repeat(), Seq{3});
  sessions.world.time.advance(stream::kIdempotencyWindow);
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(sessions.records().size(), records);
}

// Fills a feed past the service.
void fill_feed(Sessions& sessions, std::size_t feed, std::uint64_t up_to) {
  const StreamId stream = feed_stream(feed);
  store::WriteSet writes;
  std::uint64_t head = sessions.world.store.head(stream, store::ReadMode::kBlocking)->value;
  const std::string entry = encode_feed_entry({.id = {}, .before = {}, .after = {}});
  while (head < up_to) writes.entries.push_back({stream, Seq{++head}, entry});
  ASSERT_TRUE(sessions.world.engine->write(writes));
}

TEST(Janitor, TrimsAFeedThatIsAnEighthTooLong) {
  Sessions sessions;
  const std::uint64_t longest = kMaxFeedEntries + kMaxFeedEntries / 8;
  fill_feed(sessions, 3, longest);
  ASSERT_TRUE(sessions.sweep());
  const auto first = [&] {
    return *sessions.world.store.first(feed_stream(3), store::ReadMode::kBlocking);
  };
  EXPECT_EQ(first(), Seq{1});
  Sessions more({}, sessions.contents(), sessions.world.time.now());
  fill_feed(more, 3, longest + 1);
  ASSERT_TRUE(more.sweep());
  EXPECT_EQ(*more.world.store.first(feed_stream(3), store::ReadMode::kBlocking),
            Seq{longest + 1 - kMaxFeedEntries + 1});
  EXPECT_EQ(*more.world.store.head(feed_stream(3), store::ReadMode::kBlocking), Seq{longest + 1});
}

TEST(Janitor, LooksAtTheFeedsOnceInAWhile) {
  Sessions sessions;
  ASSERT_TRUE(sessions.sweep());
  fill_feed(sessions, 3, kMaxFeedEntries + kMaxFeedEntries / 8 + 1);
  const auto first = [&] {
    return sessions.world.store.first(feed_stream(3), store::ReadMode::kBlocking)->value;
  };
  sessions.world.time.advance(kFeedTrimInterval - Millis{1});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_EQ(first(), 1U);
  sessions.world.time.advance(Millis{1});
  ASSERT_TRUE(sessions.sweep());
  EXPECT_GT(first(), 1U);
}

rt::Task<bool> clean_until(Janitor& janitor, rt::CancelScope& scope) {
  co_await janitor.run(scope);
  co_return true;
}

TEST(Janitor, ComesByItselfEveryInterval) {
  Sessions sessions;
  rt::CancelScope scope;
  auto running = sessions.start(clean_until(*sessions.janitor, scope));
  sessions.world.settle();
  const SessionId id = sessions.create(with_clocks(1, {})).state.id;
  sessions.world.time.advance(seconds{1} - kJanitorInterval);
  sessions.world.settle();
  EXPECT_EQ(stored_status(sessions, id), Status::kActive);
  sessions.world.time.advance(2 * kJanitorInterval);
  sessions.world.settle();
  EXPECT_EQ(stored_status(sessions, id), Status::kCancelled);
  sessions.world.loop(0).post([&] { scope.cancel(); });
  sessions.world.settle();
  EXPECT_TRUE(running->has_value());
}

}  // namespace
}  // namespace reprise::session
