#include "model/session_state.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/bytes.h"
#include "model/testing.h"

namespace reprise::model {
namespace {

constexpr TimePoint kLater{kStart.ms + 5000};

EntryView entry(std::string_view type, std::string_view data, std::uint64_t message_count = 0) {
  return {.type = type, .at = kLater, .data = data, .by = {}, .counters = {message_count}};
}

// The code evolve() refuses the event with; the state must be left as it was.
Code damage(SessionState state, Seq seq, const EntryView& event) {
  const SessionState before = state;
  const Result<> folded = evolve(state, seq, event);
  EXPECT_FALSE(folded.has_value()) << event.type << ' ' << event.data;
  EXPECT_EQ(state, before) << event.type << ' ' << event.data;
  return folded ? Code::kInternal : folded.error().code;
}

TEST(SessionState, ACreatedSessionHasAllItWasGiven) {
  Create create = create_command();
  create.graph_id = "graph-1";
  create.owner_agent = "agent \"7\"";
  create.status = Status::kActive;
  create.ttl_seconds = 60;
  create.max_lifetime_seconds = 3600;
  create.metadata = R"({ "n" : 1.0 })";
  create.steps = R"([ "open" ])";
  create.on_worker_lost = OnWorkerLost::kFail;
  const SessionState state = created(create);
  EXPECT_EQ(state.id, create.id);
  EXPECT_EQ(state.key(), (SessionKey{"slack", "C01:thread-9"}));
  EXPECT_EQ(state.graph_id, "graph-1");
  EXPECT_EQ(state.owner_agent, "agent \"7\"");
  EXPECT_EQ(state.status, Status::kActive);
  EXPECT_EQ(state.ttl_seconds, 60U);
  EXPECT_EQ(state.max_lifetime_seconds, 3600U);
  EXPECT_EQ(state.metadata, R"({"n":1.0})");
  EXPECT_EQ(state.steps, R"(["open"])");
  EXPECT_EQ(state.on_worker_lost, OnWorkerLost::kFail);
  EXPECT_EQ(state.created_at, kStart);
  EXPECT_EQ(state.updated_at, kStart);
  EXPECT_EQ(state.last_activity_at, kStart);
  EXPECT_EQ(state.head, Seq{1});
  EXPECT_EQ(state.visible_after, Seq{0});
  EXPECT_EQ(state.ended_at, std::nullopt);
}

TEST(SessionState, ASessionWithoutANameHasNoKey) {
  Create create = create_command();
  create.name.clear();
  EXPECT_FALSE(created(create).has_key());
  EXPECT_TRUE(created().has_key());
}

TEST(SessionState, AClientsEventIsActivityButNoUpdate) {
  SessionState state = created();
  evolve(state, {.type = "log", .at = kLater, .data = "1", .by = {}});
  EXPECT_EQ(state.head, Seq{2});
  EXPECT_EQ(state.last_activity_at, kLater);
  EXPECT_EQ(state.updated_at, kStart);
  EXPECT_EQ(state.message_count, 0U);
}

TEST(SessionState, DataOfAClientsEventIsNotRead) {
  SessionState state = created();
  EXPECT_TRUE(evolve(state, Seq{2}, entry("log", "this is not JSON")));
}

TEST(SessionState, MessagesAreCountedSinceTheLastReset) {
  SessionState state = created();
  apply(state,
        Append{.events = {client_event("message"), client_event("log"), client_event("message")}});
  EXPECT_EQ(state.message_count, 2U);
  apply(state, Reset{});
  EXPECT_EQ(state.message_count, 0U);
  apply(state, Append{.events = {client_event("message")}});
  EXPECT_EQ(state.message_count, 1U);
}

TEST(SessionState, AServersEventWhoseDataOthersFoldIsAnUpdate) {
  SessionState state = created();
  EXPECT_TRUE(evolve(state, Seq{2}, entry("module_linked", "{}")));
  EXPECT_EQ(state.updated_at, kLater);
  EXPECT_EQ(state.last_activity_at, kLater);
}

TEST(SessionState, EndingSetsTheTimeOnceAndResetClearsIt) {
  SessionState state = created();
  apply(state, Close{}, kLater);
  EXPECT_EQ(state.ended_at, kLater);
  SessionState cleaned = state;
  apply(cleaned, Move{.to = Status::kCleanup}, kLater + Millis{1});
  EXPECT_EQ(cleaned.ended_at, kLater);
  apply(state, Reset{}, kLater + Millis{1});
  EXPECT_EQ(state.ended_at, std::nullopt);
  EXPECT_EQ(state.status, Status::kActive);
}

TEST(SessionState, ResetHidesWhatWasBeforeItsOwnEvent) {
  SessionState state = created();
  apply(state, Append{.events = {client_event("message"), client_event("log")}});
  apply(state, Pause{});
  apply(state, Move{.to = Status::kFailed, .error = "broken"});
  apply(state, Reset{.reason = "again"}, kLater);
  EXPECT_EQ(state.head, Seq{6});
  EXPECT_EQ(state.visible_after, Seq{5});
  EXPECT_EQ(state.last_error, "");
  EXPECT_TRUE(state.pause_reasons.empty());
  EXPECT_EQ(state.updated_at, kLater);
}

TEST(SessionState, ErrorsBecomeTheLastError) {
  SessionState state = created();
  apply(state, Pause{});
  EXPECT_EQ(state.last_error, "");
  apply(state, Move{.to = Status::kActive, .error = "was slow"});
  EXPECT_EQ(state.last_error, "was slow");
  SessionState failed = state;
  apply(failed, Move{.to = Status::kFailed, .reason = "no more tokens"});
  EXPECT_EQ(failed.last_error, "no more tokens");
  SessionState with_both = state;
  apply(with_both, Move{.to = Status::kFailed, .reason = "why", .error = "what"});
  EXPECT_EQ(with_both.last_error, "what");
  SessionState with_none = state;
  apply(with_none, Move{.to = Status::kFailed});
  EXPECT_EQ(with_none.last_error, "was slow");
  apply(state, Cancel{.reason = "enough"});
  EXPECT_EQ(state.last_error, "was slow");
}

TEST(SessionState, ExpiresAtTheEarlierOfTwoClocks) {
  SessionState state = created();
  EXPECT_EQ(state.expires_at(), std::nullopt);
  EXPECT_FALSE(state.is_expired({std::numeric_limits<std::int64_t>::max()}));
  state.ttl_seconds = 10;
  EXPECT_EQ(state.expires_at(), kStart + Millis{10'000});
  state.max_lifetime_seconds = 12;
  EXPECT_EQ(state.expires_at(), kStart + Millis{10'000});
  state.last_activity_at = kLater;  // the idle clock slides, the other does not
  EXPECT_EQ(state.expires_at(), kStart + Millis{12'000});
  EXPECT_FALSE(state.is_expired(kStart + Millis{11'999}));
  EXPECT_TRUE(state.is_expired(kStart + Millis{12'000}));
  state.status = Status::kCompleted;
  EXPECT_EQ(state.expires_at(), std::nullopt);
}

TEST(SessionState, ExpiryDoesNotWrapAround) {
  SessionState state = created();
  state.ttl_seconds = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(state.expires_at()->ms, std::numeric_limits<std::int64_t>::max());
  state.ttl_seconds = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 1000);
  EXPECT_EQ(state.expires_at()->ms, std::numeric_limits<std::int64_t>::max());
}

TEST(SessionState, AnEventOutOfOrderIsCorrupt) {
  const SessionState state = created();
  for (const std::uint64_t seq : {0U, 1U, 3U, 100U})
    EXPECT_EQ(damage(state, Seq{seq}, entry("log", "1")), Code::kCorrupt) << seq;
  EXPECT_EQ(damage(SessionState{}, Seq{1}, entry("log", "1")), Code::kCorrupt);
  SessionState at_the_end = state;
  at_the_end.head.value = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(damage(at_the_end, Seq{0}, entry("log", "1")), Code::kCorrupt);
}

TEST(SessionState, ACounterThatDoesNotFollowIsCorrupt) {
  const SessionState state = created();
  EXPECT_EQ(damage(state, Seq{2}, entry("message", "1", 0)), Code::kCorrupt);
  EXPECT_EQ(damage(state, Seq{2}, entry("message", "1", 2)), Code::kCorrupt);
  EXPECT_EQ(damage(state, Seq{2}, entry("log", "1", 1)), Code::kCorrupt);
  EXPECT_EQ(damage(state, Seq{2}, entry("session_reset", R"({"from":"INITIALIZING"})", 1)),
            Code::kCorrupt);
}

TEST(SessionState, ASecondCreationIsCorrupt) {
  const auto events = events_of(decide(nullptr, create_command(), kStart));
  EXPECT_EQ(damage(created(), Seq{2}, entry("session_created", events.at(0).data)), Code::kCorrupt);
}

TEST(SessionState, DamagedDataOfTheServersEventsIsCorrupt) {
  for (const std::string_view data : {
           "",
           "{",
           "null",
           "[]",
           "{}",
           R"({"to":"PAUSED","pauseReasons":["input"]})",  // no from
           R"({"from":"INITIALIZING","to":"PAUSED"})",     // no reasons
           R"({"from":"INITIALIZING","to":"PAUSED","pauseReasons":[]})",
           R"({"from":"INITIALIZING","to":"PAUSED","pauseReasons":["boredom"]})",
           R"({"from":"INITIALIZING","to":"PAUSED","pauseReasons":[1]})",
           R"({"from":"INITIALIZING","to":"PAUSED","pauseReasons":"input"})",
           R"({"from":"INITIALIZING","to":"ACTIVE","pauseReasons":["input"]})",
           R"({"from":"INITIALIZING","to":"CLEANUP","pauseReasons":[]})",  // no such move
           R"({"from":"INITIALIZING","to":"INITIALIZING","pauseReasons":[]})",
           R"({"from":"ACTIVE","to":"COMPLETED","pauseReasons":[]})",     // it was not ACTIVE
           R"({"from":"INITIALIZING","to":"active","pauseReasons":[]})",  // a foreign word
           R"({"from":"INITIALIZING","to":"ACTIVE","pauseReasons":[],"error":1})",
           R"({"from":"INITIALIZING","to":"ACTIVE","pauseReasons":[],"reason":null})",
       })
    EXPECT_EQ(damage(created(), Seq{2}, entry("status_change", data)), Code::kCorrupt) << data;
  for (const std::string_view data :
       {"", "1", R"({"metadata":1})", R"({"metadata":null})", R"({"ttlSeconds":-1})",
        R"({"ttlSeconds":"1"})", R"({"ownerAgent":1})"})
    EXPECT_EQ(damage(created(), Seq{2}, entry("session_updated", data)), Code::kCorrupt) << data;
  for (const std::string_view data :
       {"", "{}", R"({"from":"ACTIVE"})", R"({"from":1})", R"({"from":"x"})"})
    EXPECT_EQ(damage(created(), Seq{2}, entry("session_reset", data)), Code::kCorrupt) << data;
  EXPECT_EQ(
      damage(session_in(Status::kCleanup), Seq{4}, entry("session_reset", R"({"from":"CLEANUP"})")),
      Code::kCorrupt);
}

TEST(SessionState, EachMissingOrWrongMemberOfACreationIsCorrupt) {
  const std::string_view good =
      R"({"id":"019a8b3c-1111-7222-8333-444455556666","app":"a","graphId":"g",)"
      R"("status":"ACTIVE","metadata":{},"onWorkerLost":"keep"})";
  SessionState state;
  ASSERT_TRUE(evolve(state, Seq{1}, entry("session_created", good)));
  EXPECT_EQ(state.on_worker_lost, OnWorkerLost::kKeep);
  for (const std::string_view member :
       {"id", "app", "graphId", "status", "metadata", "onWorkerLost"}) {
    std::string damaged(good);
    damaged.replace(damaged.find(fmt::format("\"{}\":", member)) + 1, member.size(), "other");
    EXPECT_EQ(damage(SessionState{}, Seq{1}, entry("session_created", damaged)), Code::kCorrupt)
        << member;
  }
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {"019a8b3c-1111", "x"},
      {"\"a\"", "1"},
      {"\"ACTIVE\"", "\"PAUSED\""},
      {"\"ACTIVE\"", "\"CONNECTED\""},
      {"{}", "[]"},
      {"\"keep\"", "\"drop\""},
      {"{}", "{},\"name\":1"},
      {"{}", "{},\"ttlSeconds\":1.5"},
      {"{}", "{},\"steps\":{}"},
      {"{}", "{},\"maxLifetimeSeconds\":-1"},
      {"{}", "{},\"ownerAgent\":null"}};
  for (const auto& [text, replacement] : wrong) {
    std::string damaged(good);
    damaged.replace(damaged.find(text), text.size(), replacement);
    EXPECT_EQ(damage(SessionState{}, Seq{1}, entry("session_created", damaged)), Code::kCorrupt)
        << damaged;
  }
}

TEST(SessionState, MembersOfLaterVersionsAreIgnored) {
  SessionState state = created();
  EXPECT_TRUE(
      evolve(state, Seq{2}, entry("session_updated", R"({"colour":"blue","ttlSeconds":5})")));
  EXPECT_EQ(state.ttl_seconds, 5U);
}

TEST(SessionStateDeathTest, AnEventJustDecidedThatCannotFollowIsOurBug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  SessionState state = created();
  EXPECT_DEATH(evolve(state, {.type = "status_change", .at = kLater, .data = "{}", .by = {}}),
               "status_change");
}

TEST(SessionState, WordsOfOnWorkerLostAreUnderstood) {
  for (const OnWorkerLost policy : {OnWorkerLost::kPause, OnWorkerLost::kFail, OnWorkerLost::kKeep})
    EXPECT_EQ(parse_on_worker_lost(word(policy)), policy);
  EXPECT_EQ(word(OnWorkerLost::kPause), "pause");
  EXPECT_EQ(word(OnWorkerLost::kFail), "fail");
  EXPECT_EQ(word(OnWorkerLost::kKeep), "keep");
  EXPECT_EQ(parse_on_worker_lost("Pause"), std::nullopt);
}

SessionState full_state() {
  SessionState state = created();
  state.owner_agent = "agent";
  state.status = Status::kPaused;
  state.pause_reasons.insert(PauseReason::kRateLimit);
  state.ended_at = TimePoint{-5};
  state.ttl_seconds = 0;
  state.max_lifetime_seconds = std::numeric_limits<std::uint64_t>::max();
  state.on_worker_lost = OnWorkerLost::kKeep;
  state.message_count = 300;
  state.last_error = std::string("a\0b", 3);
  state.steps = "[1]";
  state.head = Seq{77};
  state.visible_after = Seq{70};
  return state;
}

TEST(StateCodec, AStateIsReadBack) {
  for (const SessionState& state : {SessionState{}, created(), full_state()}) {
    const auto read = decode_state(encode_state(state));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, state);
  }
}

TEST(StateCodec, AStateCutOffAnywhereOrTooLongIsCorrupt) {
  const std::string bytes = encode_state(full_state());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto read = decode_state(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, Code::kCorrupt);
  }
  EXPECT_EQ(decode_state(bytes + '\0').error().code, Code::kCorrupt);
}

TEST(StateCodec, AnyByteChangedGivesAnotherStateOrIsCorrupt) {
  const SessionState state = full_state();
  const std::string bytes = encode_state(state);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (unsigned change = 1; change < 256; ++change) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ change);
      const auto read = decode_state(damaged);
      if (read) {
        ASSERT_NE(*read, state) << "byte " << i << " xor " << change;
      } else {
        ASSERT_EQ(read.error().code, Code::kCorrupt);
      }
    }
  }
}

}  // namespace
}  // namespace reprise::model
