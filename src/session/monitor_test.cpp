#include "session/monitor.h"

#include "model/browsing.h"
#include "session/testing.h"

namespace reprise::session {
namespace {

using stream::testing::count_lines;
using testing::code_of;
using testing::new_session;
using testing::Sessions;
using testing::TestOutlet;

rt::Task<Result<>> watch(SessionService& service, TestOutlet& outlet, MonitorRequest request,
                         rt::CancelScope& scope) {
  static const testing::TestMonitorFrames frames;
  Monitor monitor(service, outlet, frames, std::move(request));
  REPRISE_CO_CHECK(co_await monitor.subscribe());
  co_return co_await monitor.follow(scope);
}

struct Watcher {
  explicit Watcher(Sessions& in, MonitorRequest request = {}, std::size_t on_loop = 1)
      : sessions(in),
        loop(in.world.loop(on_loop)),
        outlet(loop),
        outcome(in.start(watch(*in.service, outlet, std::move(request), scope), on_loop)) {
    sessions.world.settle();
  }
  ~Watcher() {
    loop.post([this] { scope.cancel(); });
    outlet.room = std::size_t{1} << 40;
    outlet.take_all();
    sessions.world.settle();
  }
  // Frames since the last call, without their ids.
  std::vector<std::string> news() {
    std::vector<std::string> frames;
    std::string_view rest(outlet.text);
    for (rest.remove_prefix(read); !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      const auto last_space = line.rfind(' ');
      if (last_space + 1 < line.size()) last_id = line.substr(last_space + 1);
      frames.emplace_back(line.substr(0, last_space));
    }
    read = outlet.text.size();
    return frames;
  }
  MonitorId position() { return *decode_monitor_id(last_id); }

  Sessions& sessions;
  rt::ManualLoop& loop;
  TestOutlet outlet;
  rt::CancelScope scope;
  stream::testing::World::Place<Result<>> outcome;
  std::size_t read = 0;
  std::string last_id;
};

using Frames = std::vector<std::string>;

TEST(Monitor, ShowsASnapshotThenEveryChange) {
  Sessions sessions;
  const SessionId one = sessions.create(new_session("one")).state.id;
  Watcher watcher(sessions);
  EXPECT_EQ(watcher.news(), (Frames{"S one ACTIVE", "C"}));
  const SessionId two = sessions.create(new_session("two")).state.id;
  EXPECT_EQ(watcher.news(), (Frames{"S two ACTIVE"}));
  ASSERT_TRUE(sessions.command(one, model::Pause{}));
  EXPECT_EQ(watcher.news(), (Frames{"S one PAUSED"}));
  ASSERT_TRUE(sessions.append(one, 5));  // counters make no frame
  ASSERT_TRUE(sessions.call(one, Touch{.is_explicit = true}));
  EXPECT_EQ(watcher.news(), Frames{});
  ASSERT_TRUE(sessions.call(one, MergePatch{.metadata = "{\"a\":1}"}));
  EXPECT_EQ(watcher.news(), (Frames{"S one PAUSED"}));
  ASSERT_TRUE(sessions.run(sessions.service->remove(two)));
  EXPECT_EQ(watcher.news(), (Frames{"D " + two.to_string()}));
}

TEST(Monitor, TellsOfSessionsThatEnterAndLeaveItsFilter) {
  Sessions sessions;
  const SessionId one = sessions.create(new_session("one")).state.id;
  Watcher watcher(sessions, {.filter = {.statuses = {model::Status::kPaused}}}, 2);
  EXPECT_EQ(watcher.news(), (Frames{"C"}));
  ASSERT_TRUE(sessions.command(one, model::Pause{}));
  EXPECT_EQ(watcher.news(), (Frames{"S one PAUSED"}));
  ASSERT_TRUE(sessions.command(one, model::Resume{}));
  EXPECT_EQ(watcher.news(), (Frames{"R " + one.to_string()}));
  ASSERT_TRUE(sessions.command(one, model::Close{}));  // outside before and after
  ASSERT_TRUE(sessions.run(sessions.service->remove(one)));
  EXPECT_EQ(watcher.news(), Frames{});
}

// A browser of that pool, as the browser layer records it.
void open_browser(Sessions& sessions, SessionId id, const std::string& pool) {
  SeededRandom random(1);
  const auto view = sessions.run(sessions.service->get(id));
  ASSERT_TRUE(view);
  const auto opened = model::context_event(
      model::event_type::kContextOpened,
      {.id = model::ContextId::make({1}, random), .key = "k", .pool_key = pool}, {1});
  ASSERT_TRUE(sessions.call(id, RecordChange{.events = {opened},
                                             .add_records = {},
                                             .stream = view->stream,
                                             .visible_after = {},
                                             .outlasts_reset = true}));
}

TEST(Monitor, FollowsTheSessionsOfAPool) {
  Sessions sessions;
  const SessionId one = sessions.create(new_session("one")).state.id;
  const SessionId two = sessions.create(new_session("two")).state.id;
  open_browser(sessions, one, "safe");
  Watcher watcher(sessions, {.filter = {.pool_key = "safe"}});
  EXPECT_EQ(watcher.news(), (Frames{"S one ACTIVE", "C"}));
  open_browser(sessions, two, "default");
  ASSERT_TRUE(sessions.command(two, model::Pause{}));
  EXPECT_EQ(watcher.news(), Frames{});
  open_browser(sessions, two, "safe");
  EXPECT_EQ(watcher.news(), (Frames{"S two PAUSED"}));
  ASSERT_TRUE(sessions.command(one, model::Pause{}));
  EXPECT_EQ(watcher.news(), (Frames{"S one PAUSED"}));
  // Also what is told after a restart, and of a session that is gone, is by the pool.
  const SessionId three = sessions.create(new_session("three")).state.id;
  ASSERT_TRUE(sessions.run(sessions.service->remove(three)));
  ASSERT_TRUE(sessions.run(sessions.service->remove(two)));
  EXPECT_EQ(watcher.news(), (Frames{"D " + two.to_string()}));
}

TEST(Monitor, GoesOnFromAListWithNothingMissed) {
  Sessions sessions;
  const SessionId one = sessions.create(new_session("one")).state.id;
  const MonitorId position = sessions.list().monitor_id;
  ASSERT_TRUE(sessions.command(one, model::Pause{}));
  (void)sessions.create(new_session("two"));
  Watcher watcher(sessions, {.after = position});
  const Frames news = watcher.news();
  EXPECT_EQ(std::multiset<std::string>(news.begin(), news.end()),
            (std::multiset<std::string>{"S one PAUSED", "S two ACTIVE"}));
}

TEST(Monitor, ResumesAfterARestartFromAnyFrameWithNothingMissed) {
  Sessions before;
  std::vector<SessionId> ids;
  for (int i = 0; i < 20; ++i)
    ids.push_back(before.create(new_session(fmt::format("s{}", i))).state.id);
  MonitorId position;
  {
    Watcher watcher(before);
    for (int i = 0; i < 10; ++i)
      ASSERT_TRUE(before.command(ids[static_cast<std::size_t>(i)], model::Pause{}));
    (void)watcher.news();
    position = watcher.position();
  }
  for (std::size_t i = 5; i < 15; ++i) ASSERT_TRUE(before.command(ids[i], model::Close{}));
  Sessions after({}, before.contents(), before.world.time.now());
  ASSERT_TRUE(after.run(after.service->remove(ids[19])));
  Watcher watcher(after, {.after = position});
  const Frames news = watcher.news();
  EXPECT_EQ(news.size(), 11U);
  for (std::size_t i = 5; i < 15; ++i)
    EXPECT_EQ(std::count(news.begin(), news.end(), fmt::format("S s{} COMPLETED", i)), 1) << i;
  EXPECT_EQ(std::count(news.begin(), news.end(), "D " + ids[19].to_string()), 1);
  EXPECT_EQ(count_lines(watcher.outlet.text, "C"), 0U);
}

TEST(Monitor, APositionBeyondTheFeedsIsNotOneOfThisServer) {
  Sessions sessions;
  MonitorId beyond;
  beyond.heads[4] = Seq{1};
  Watcher watcher(sessions, {.after = beyond});
  ASSERT_TRUE(watcher.outcome->has_value());
  EXPECT_EQ(code_of(**watcher.outcome), Code::kBadCursor);
}

void cut_feed(Sessions& sessions, std::size_t feed, Seq up_to) {
  store::Commit commit;
  commit.cuts.push_back({.stream = feed_stream(feed), .up_to = up_to});
  sessions.world.store.submit(std::move(commit), [](store::CommitResult) {});
  sessions.world.settle();
}

TEST(Monitor, APositionOlderThanTheFeedsRetentionGetsAFreshSnapshot) {
  Sessions sessions;
  const SessionId id = sessions.create(new_session("one")).state.id;
  const MonitorId position = sessions.list().monitor_id;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(sessions.command(id, model::Pause{}));
    ASSERT_TRUE(sessions.command(id, model::Resume{}));
  }
  const std::size_t feed = feed_of(id);
  // The feeds reach back exactly to it: no snapshot.
  cut_feed(sessions, feed, position.heads[feed]);
  {
    Watcher watcher(sessions, {.after = position});
    EXPECT_EQ(watcher.news().size(), 8U);
  }
  cut_feed(sessions, feed, position.heads[feed].next());
  Watcher watcher(sessions, {.after = position});
  EXPECT_EQ(watcher.news(), (Frames{"S one ACTIVE", "C"}));
  EXPECT_EQ(watcher.position(), sessions.list().monitor_id);
}

TEST(Monitor, AReaderTooSlowForTheRetentionGetsAFreshSnapshotToo) {
  Sessions sessions;
  const SessionId id = sessions.create(new_session("one")).state.id;
  Watcher watcher(sessions);
  (void)watcher.news();
  watcher.outlet.room = 0;
  ASSERT_TRUE(sessions.command(id, model::Pause{}));  // read, and waits for room
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(sessions.command(id, model::Resume{}));
    ASSERT_TRUE(sessions.command(id, model::Pause{}));
  }
  const std::size_t feed = feed_of(id);
  cut_feed(sessions, feed, Seq{5});
  watcher.outlet.room = 1'000'000;
  watcher.loop.post([&] { watcher.outlet.take_all(); });
  sessions.world.settle();
  EXPECT_EQ(watcher.news(), (Frames{"S one PAUSED", "S one PAUSED", "C"}));
}

TEST(Monitor, ReadsOnAfterAChunkThatWasCutShort) {
  Sessions sessions;
  const SessionId id = sessions.create(new_session("one")).state.id;
  const MonitorId position = sessions.list().monitor_id;
  // Large records: a chunk ends by its bytes, long before it has its entries.
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(sessions.call(
        id,
        MergePatch{.metadata = fmt::format("{{\"text\":\"{}{}\"}}", std::string(60'000, 'x'), i)}));
  Watcher watcher(sessions, {.after = position});
  EXPECT_EQ(watcher.news().size(), 40U);
}

TEST(Monitor, HeartbeatsAdvanceTheIdAlsoWhileOthersChange) {
  Sessions sessions;
  const SessionId one = sessions.create(new_session("one")).state.id;
  Watcher watcher(sessions, {.filter = {.app = "another"}});
  EXPECT_EQ(watcher.news(), (Frames{"C"}));
  const MonitorId before = watcher.position();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(sessions.command(
        one, i % 2 == 0 ? model::Command(model::Pause{}) : model::Command(model::Resume{})));
    sessions.world.advance(std::chrono::seconds{1});
  }
  EXPECT_EQ(watcher.news(), (Frames{"H"}));
  EXPECT_NE(watcher.position(), before);
  sessions.world.advance(std::chrono::seconds{30});
  EXPECT_EQ(watcher.news(), (Frames{"H", "H"}));
  EXPECT_EQ(watcher.position(), sessions.list().monitor_id);
}

TEST(Monitor, ASnapshotOfManySessionsComesInPages) {
  Sessions sessions;
  for (std::size_t i = 0; i < kMaxListLimit + 3; ++i)
    (void)sessions.create(new_session(fmt::format("s{}", i)));
  Watcher watcher(sessions);
  EXPECT_EQ(count_lines(watcher.outlet.text, "S "), kMaxListLimit + 3);
  EXPECT_EQ(count_lines(watcher.outlet.text, "C "), 1U);
}

TEST(MonitorProperty, WhatAMonitorShowsIsWhatTheListShows) {
  const std::uint64_t seed = stream::testing::test_seed();
  for (std::uint64_t round = 0; round < 10; ++round) {
    Sessions sessions({}, nullptr, rt::ManualTime().now(), seed + round);
    const Filter filter{.statuses = {model::Status::kActive, model::Status::kPaused}};
    std::vector<SessionId> ids;
    std::map<std::string, std::string> shown;  // name to status
    std::map<std::string, std::string> names;  // id to name
    std::optional<MonitorId> position;
    for (int visit = 0; visit < 6; ++visit) {
      Watcher watcher(sessions, {.filter = filter, .after = position});
      for (int step = 0; step < 30; ++step) {
        const std::uint64_t dice = sessions.random.next_u64();
        if (ids.size() < 4 || dice % 6 == 0) {
          const std::string name = fmt::format("s{}", ids.size());
          ids.push_back(sessions.create(new_session(name)).state.id);
          names[ids.back().to_string()] = name;
          continue;
        }
        const SessionId id = ids[dice / 8 % ids.size()];
        if (dice % 6 == 1)
          (void)sessions.start(
              sessions.service->call(id, {.action = model::Command(model::Pause{})}));
        else if (dice % 6 == 2)
          (void)sessions.start(
              sessions.service->call(id, {.action = model::Command(model::Resume{})}), 1);
        else if (dice % 6 == 3)
          (void)sessions.start(
              sessions.service->call(id, {.action = model::Command(model::Close{})}));
        else if (dice % 6 == 4)
          (void)sessions.start(sessions.service->reset(id, ""), 2);
        else
          (void)sessions.start(sessions.service->remove(id));
        if (dice % 3 == 0) sessions.world.settle_shuffled(sessions.random);
      }
      sessions.world.settle_shuffled(sessions.random);
      for (const std::string& frame : watcher.news()) {
        const auto space = frame.rfind(' ');
        if (frame[0] == 'S') shown[frame.substr(2, space - 2)] = frame.substr(space + 1);
        if (frame[0] == 'R' || frame[0] == 'D') shown.erase(names[frame.substr(2)]);
      }
      position = watcher.position();
      std::map<std::string, std::string> listed;
      for (const auto& row :
           sessions.list({.filter = filter, .limit = kMaxListLimit}).page.sessions)
        listed[row.state.name] = model::word(row.state.status);
      ASSERT_EQ(shown, listed) << "seed " << seed + round << ", visit " << visit;
    }
  }
}

}  // namespace
}  // namespace reprise::session
