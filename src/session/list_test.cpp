#include "session/list.h"

#include "session/testing.h"

namespace reprise::session {
namespace {

using model::Status;
using testing::code_of;
using testing::new_session;
using testing::Sessions;

std::vector<std::string> names(const ListPage& page) {
  std::vector<std::string> all;
  for (const StoredSession& session : page.sessions) all.push_back(session.state.name);
  return all;
}

using Names = std::vector<std::string>;

// Every page of a query, one row at a time or more; the pages must not overlap.
Names walk(Sessions& sessions, ListQuery query) {
  Names all;
  for (;;) {
    const ListPage page = sessions.list(query).page;
    EXPECT_LE(page.sessions.size(), query.limit);
    for (std::string& name : names(page)) all.push_back(std::move(name));
    if (page.next_cursor.empty()) return all;
    query.cursor = page.next_cursor;
  }
}

class ListTest : public ::testing::Test {
 protected:
  SessionId add(std::string name, std::string app = "app", std::string graph = "",
                std::string owner = "") {
    auto create = new_session(std::move(name), std::move(app));
    create.graph_id = std::move(graph);
    create.owner_agent = std::move(owner);
    sessions.world.time.advance(std::chrono::seconds{10});
    return sessions.create(create).state.id;
  }
  void wait_for_input(SessionId id) {
    ASSERT_TRUE(sessions.command(
        id, model::Pause{.pause_reason = model::PauseReason::kInput, .reason = {}}));
  }
  Names found(Filter filter) { return names(sessions.list({.filter = std::move(filter)}).page); }

  Sessions sessions;
};

TEST_F(ListTest, NewestFirstAndEveryFilterNarrowsIt) {
  add("one", "slack", "graph-a");
  const TimePoint after_one = sessions.world.time.now();
  add("two", "slack", "graph-b", "agent-1");
  const SessionId three = add("three", "web", "graph-a", "agent-2");
  const SessionId four = add("four", "web", "graph-b", "agent-1");
  ASSERT_TRUE(sessions.command(three, model::Close{}));
  wait_for_input(four);

  EXPECT_EQ(found({}), (Names{"four", "three", "two", "one"}));
  EXPECT_EQ(found({.app = "slack"}), (Names{"two", "one"}));
  EXPECT_EQ(found({.graph_id = "graph-a"}), (Names{"three", "one"}));
  EXPECT_EQ(found({.app = "web", .graph_id = "graph-a"}), (Names{"three"}));
  EXPECT_EQ(found({.statuses = {Status::kActive}}), (Names{"two", "one"}));
  EXPECT_EQ(found({.statuses = {Status::kCompleted, Status::kPaused}}), (Names{"four", "three"}));
  EXPECT_EQ(found({.owner_agent = "agent-1"}), (Names{"four", "two"}));
  EXPECT_EQ(found({.app = "slack", .owner_agent = "agent-1"}), (Names{"two"}));
  EXPECT_EQ(found({.pool_key = "pool"}), Names{});
  EXPECT_EQ(found({.created_after = after_one}), (Names{"four", "three", "two"}));
  EXPECT_EQ(found({.created_before = after_one}), Names{});
  EXPECT_EQ(found({.created_before = after_one + Millis{1}}), (Names{"one"}));
  EXPECT_EQ(found({.name_starts_with = "t"}), (Names{"three", "two"}));
  EXPECT_EQ(found({.name_starts_with = "tw"}), (Names{"two"}));
  EXPECT_EQ(found({.app = "web", .name_starts_with = "t"}), (Names{"three"}));
  EXPECT_EQ(found({.name_starts_with = ""}).size(), 4U);
  EXPECT_EQ(found({.only_waiting = true}), (Names{"four"}));
  EXPECT_EQ(found({.allowed_apps = std::vector<std::string>{"web"}}), (Names{"four", "three"}));
  EXPECT_EQ(found({.allowed_apps = std::vector<std::string>{}}), Names{});
  EXPECT_EQ(names(sessions.list({.waiting_first = true}).page),
            (Names{"four", "three", "two", "one"}));
}

TEST_F(ListTest, WaitingSessionsComeFirstWhenAskedAndNoneTwice) {
  std::vector<SessionId> ids;
  for (int i = 0; i < 9; ++i) ids.push_back(add(fmt::format("s{}", i)));
  for (const std::size_t i : {1U, 4U, 6U}) wait_for_input(ids[i]);
  for (const std::size_t limit : {1U, 2U, 3U, 100U})
    EXPECT_EQ(walk(sessions, {.waiting_first = true, .limit = limit}),
              (Names{"s6", "s4", "s1", "s8", "s7", "s5", "s3", "s2", "s0"}))
        << limit;
  EXPECT_EQ(walk(sessions, {.filter = {.only_waiting = true}, .waiting_first = true, .limit = 2}),
            (Names{"s6", "s4", "s1"}));
  // Answered: it no longer waits.
  ASSERT_TRUE(sessions.run(sessions.service->reset(ids[6], "")));
  EXPECT_EQ(found({.only_waiting = true}), (Names{"s4", "s1"}));
}

TEST_F(ListTest, PagesHoldStillWhileSessionsComeAndGo) {
  for (int i = 0; i < 20; ++i) add(fmt::format("old{}", i));
  for (const bool by_name : {false, true}) {
    ListQuery query{.limit = 3};
    if (by_name) query.filter.name_starts_with = "old";
    Names seen;
    int extra = 0;
    do {
      const ListPage page = sessions.list(query).page;
      for (std::string& name : names(page)) seen.push_back(std::move(name));
      query.cursor = page.next_cursor;
      add(fmt::format("{}{}", by_name ? "older" : "new", extra++));
      const SessionId gone = add("gone");
      ASSERT_TRUE(sessions.run(sessions.service->remove(gone)));
    } while (!query.cursor.empty());
    Names old;
    for (const std::string& name : seen)
      if (name.starts_with("old") && !name.starts_with("older")) old.push_back(name);
    Names expected;
    for (int i = 19; i >= 0; --i) expected.push_back(fmt::format("old{}", i));
    EXPECT_EQ(old, expected);
  }
}

TEST_F(ListTest, ACursorIsGoodForItsOwnQueryOnly) {
  for (int i = 0; i < 5; ++i) add(fmt::format("s{}", i), "slack");
  const std::string cursor = sessions.list({.limit = 2}).page.next_cursor;
  ASSERT_FALSE(cursor.empty());
  const auto code = [&](ListQuery query) {
    return code_of(sessions.run(sessions.service->list(std::move(query))));
  };
  EXPECT_EQ(code({.limit = 4, .cursor = cursor}),
            Code::kInternal);  // another limit is the same query
  EXPECT_EQ(code({.filter = {.app = "slack"}, .cursor = cursor}), Code::kBadCursor);
  EXPECT_EQ(code({.filter = {.graph_id = "slack"}, .cursor = cursor}), Code::kBadCursor);
  EXPECT_EQ(code({.filter = {.owner_agent = "a"}, .cursor = cursor}), Code::kBadCursor);
  EXPECT_EQ(code({.filter = {.statuses = {Status::kActive}}, .cursor = cursor}), Code::kBadCursor);
  EXPECT_EQ(code({.filter = {.created_after = TimePoint{1}}, .cursor = cursor}), Code::kBadCursor);
  EXPECT_EQ(code({.filter = {.created_before = TimePoint{1}}, .cursor = cursor}), Code::kBadCursor);
  EXPECT_EQ(code({.filter = {.name_starts_with = "s"}, .cursor = cursor}), Code::kBadCursor);
  EXPECT_EQ(code({.filter = {.only_waiting = true}, .cursor = cursor}), Code::kBadCursor);
  EXPECT_EQ(code({.waiting_first = true, .cursor = cursor}), Code::kBadCursor);
  EXPECT_EQ(code({.cursor = "nonsense"}), Code::kBadCursor);
  EXPECT_EQ(code({.cursor = cursor + "A"}), Code::kBadCursor);
  EXPECT_EQ(code({.cursor = cursor.substr(1)}), Code::kBadCursor);
}

TEST_F(ListTest, APageHasNoMoreRowsThanTheLimit) {
  for (std::size_t i = 0; i < kMaxListLimit + 1; ++i) (void)sessions.create();
  EXPECT_EQ(sessions.list({}).page.sessions.size(), kDefaultListLimit);
  EXPECT_EQ(sessions.list({.limit = kDefaultListLimit + 1}).page.sessions.size(),
            kDefaultListLimit + 1);
  EXPECT_EQ(sessions.list({.limit = kMaxListLimit}).page.sessions.size(), kMaxListLimit);
  const ListPage page = sessions.list({.limit = kMaxListLimit + 1}).page;
  EXPECT_EQ(page.sessions.size(), kMaxListLimit);
  EXPECT_EQ(
      sessions.list({.limit = kMaxListLimit, .cursor = page.next_cursor}).page.sessions.size(), 1U);
}

// Writes rows past the service, which would take its time: `count` sessions with this name.
void store_many(Sessions& sessions, std::size_t count, const std::string& name) {
  const StoredSession model = [&] {
    StoredSession one;
    one.state = sessions.create(new_session("model")).state;
    one.stream = StreamId::make(sessions.world.time.now(), sessions.random);
    return one;
  }();
  store::WriteSet writes;
  store::Version version = sessions.world.engine->version_floor() + 1'000;
  for (std::size_t i = 0; i < count; ++i) {
    StoredSession session = model;
    session.state.id = SessionId::make(sessions.world.time.now(), sessions.random);
    session.state.name = name;
    writes.puts.push_back({session_key(session.state.id), encode_stored(session), ++version});
    for (std::string& key : index_keys(session.state))
      writes.puts.push_back({std::move(key), "", ++version});
  }
  ASSERT_TRUE(sessions.world.engine->write(writes));
}

TEST_F(ListTest, APageLooksAtALimitedNumberOfRowsAndIsShortThen) {
  const SessionId oldest = add("needle");
  (void)oldest;
  store_many(sessions, kMaxExaminedRows, "hay");
  // All of it, and the model: the needle is beyond what one page may look at.
  ListQuery query{.filter = {.created_after = TimePoint{1}, .name_starts_with = {}}, .limit = 10};
  query.filter.statuses = {Status::kCompleted, Status::kFailed};
  const ListPage page = sessions.list(query).page;
  EXPECT_TRUE(page.sessions.empty());
  EXPECT_FALSE(page.next_cursor.empty());
  query.cursor = page.next_cursor;
  EXPECT_TRUE(sessions.list(query).page.next_cursor.empty());  // two more rows, and the end
}

// A caller who may see some apps learns nothing of the sessions of others: not even that they are
// there, by a page that is short or a cursor that is one of them.
TEST_F(ListTest, SessionsOfOtherAppsNeitherShortenAPageNorAppearInACursor) {
  const SessionId one = add("one", "shop");
  add("two", "web");
  wait_for_input(one);
  add("three", "shop");
  store_many(sessions, kMaxExaminedRows, "hay");  // of another app
  const std::vector<std::string> apps{"shop", "web", "shop"};
  for (const Filter& filter : {Filter{.allowed_apps = apps},
                               Filter{.created_after = TimePoint{1}, .allowed_apps = apps}}) {
    const ListPage page = sessions.list({.filter = filter, .limit = 10}).page;
    EXPECT_EQ(names(page), (Names{"three", "two", "one"}));
    EXPECT_TRUE(page.next_cursor.empty());
  }
  // Others have many sessions of that status, and the caller has none.
  const ListPage none = sessions
                            .list({.filter = {.statuses = {Status::kActive, Status::kFailed},
                                              .name_starts_with = "zz",
                                              .allowed_apps = apps}})
                            .page;
  EXPECT_TRUE(none.sessions.empty() && none.next_cursor.empty());
  EXPECT_EQ(walk(sessions, {.filter = {.allowed_apps = apps}, .limit = 1}),
            (Names{"three", "two", "one"}));
  EXPECT_EQ(walk(sessions, {.filter = {.allowed_apps = apps}, .waiting_first = true, .limit = 1}),
            (Names{"one", "three", "two"}));
  EXPECT_EQ(found({.app = "web", .allowed_apps = apps}), Names{"two"});
  EXPECT_EQ(found({.app = "app", .allowed_apps = apps}), Names{});
  EXPECT_EQ(found({.only_waiting = true, .allowed_apps = apps}), Names{"one"});
}

TEST_F(ListTest, ANamePrefixWithMoreMatchesThanAPageMayLookAtIsWalkedByTime) {
  add("haystack-first");
  store_many(sessions, kMaxExaminedRows, "haystack");
  const ListPage page =
      sessions.list({.filter = {.name_starts_with = "haystack"}, .limit = 10}).page;
  EXPECT_EQ(page.sessions.size(), 10U);
  EXPECT_FALSE(page.next_cursor.empty());
  // One fewer and the index of names is read instead; the answer has the same order.
  EXPECT_EQ(sessions.list({.filter = {.name_starts_with = "haystack-"}}).page.sessions.size(), 1U);
}

TEST_F(ListTest, ShowsActivityAsItWasAndNeverLaterThanNow) {
  auto create = new_session("one");
  create.ttl_seconds = 3'600;
  const SessionId id = sessions.create(create).state.id;
  sessions.world.time.advance(std::chrono::seconds{5});
  ASSERT_TRUE(sessions.call(id, Touch{.is_explicit = true}));
  const TimePoint touched = sessions.world.time.now();
  sessions.world.time.advance(std::chrono::seconds{5});
  EXPECT_EQ(sessions.list().page.sessions[0].state.last_activity_at, touched);
  EXPECT_EQ(sessions.get(id)->state.last_activity_at, touched);
  // After a restart the session may have been active since, but not after now.
  Sessions restarted({}, sessions.contents(), sessions.world.time.now());
  EXPECT_LE(restarted.get(id)->state.last_activity_at, sessions.world.time.now());
  EXPECT_GE(restarted.get(id)->state.last_activity_at, touched);
}

TEST_F(ListTest, CountsByStatusAreARecountAfterAnyOperations) {
  SeededRandom random(stream::testing::test_seed());
  std::vector<SessionId> ids;
  for (int step = 0; step < 400; ++step) {
    const std::uint64_t dice = random.next_u64();
    const auto any = [&] { return ids[dice / 16 % ids.size()]; };
    if (ids.size() < 5 || dice % 8 == 0)
      ids.push_back(
          add(fmt::format("s{}", step), dice % 2 == 0 ? "a" : "b", dice % 3 == 0 ? "g" : "h"));
    else if (dice % 8 == 1)
      (void)sessions.command(any(), model::Pause{});
    else if (dice % 8 == 2)
      (void)sessions.command(any(), model::Resume{});
    else if (dice % 8 == 3)
      (void)sessions.command(any(), model::Close{});
    else if (dice % 8 == 4)
      (void)sessions.run(sessions.service->reset(any(), ""));
    else if (dice % 8 == 5)
      (void)sessions.run(sessions.service->remove(any()));
    else if (dice % 8 == 6)
      (void)sessions.command(any(), model::Move{.to = Status::kCleanup});
    else
      (void)sessions.command(any(), model::Move{.to = Status::kFailed, .error = "no"});
  }
  for (const Filter& filter :
       {Filter{}, Filter{.app = "a"}, Filter{.graph_id = "g"}, Filter{.app = "b", .graph_id = "h"},
        Filter{.allowed_apps = std::vector<std::string>{"a", "b"}}}) {
    const auto all = sessions.list({.filter = filter, .limit = kMaxListLimit});
    ASSERT_TRUE(all.page.next_cursor.empty());
    std::map<Status, std::int64_t> recount;
    for (const Status status : model::kStatuses) recount[status] = 0;
    for (const StoredSession& session : all.page.sessions) ++recount[session.state.status];
    EXPECT_EQ(all.counts, recount);
  }
}

}  // namespace
}  // namespace reprise::session
