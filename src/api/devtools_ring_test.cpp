#include "api/devtools_ring.h"

#include <gtest/gtest.h>

#include "api/limits.h"
#include "model/event.h"
#include "wire/sse.h"

namespace reprise::api {
namespace {

constexpr std::string_view kStart = "00000000000000aa";

Happening message(std::string app = "shop") {
  return {.type = DevtoolsType::kMessage,
          .at = {},
          .session = "s-of-" + app,
          .app = app,
          .key = app + ":one",
          .members = {}};
}

std::vector<wire::SseEvent> frames(const DevtoolsRing::Read& read) {
  return wire::SseDecoder().feed(read.frames);
}

DevtoolsRing ring_with(std::size_t count, std::size_t capacity = kMaxDevtoolsKept) {
  DevtoolsRing ring{std::string(kStart), capacity};
  for (std::size_t i = 0; i < count; ++i) ring.add(message());
  return ring;
}

TEST(DevtoolsRing, NumbersFromOneWithoutAGap) {
  const auto ring = ring_with(3);
  const auto shown = frames(ring.read(0, {}, 100));
  ASSERT_EQ(shown.size(), 3U);
  EXPECT_EQ(shown[0].last_event_id, "00000000000000aa-1");
  EXPECT_EQ(shown[2].last_event_id, "00000000000000aa-3");
  EXPECT_EQ(shown[0].type, "message");
  EXPECT_TRUE(shown[0].data.starts_with(R"({"n":1,"at":"1970-01-01T00:00:00.000Z","session":)"))
      << shown[0].data;
}

TEST(DevtoolsRing, KeepsTheLastOnesOnly) {
  const auto ring = ring_with(kMaxDevtoolsKept + 5);
  EXPECT_EQ(ring.size(), kMaxDevtoolsKept);
  EXPECT_TRUE(ring.read(4, {}, 1).is_too_late);
  EXPECT_EQ(frames(ring.read(5, {}, 1)).front().last_event_id, "00000000000000aa-6");
}

TEST(DevtoolsRing, ReadsSomeAndSaysThatThereIsMore) {
  const auto ring = ring_with(3);
  const auto first = ring.read(0, {}, 2);
  EXPECT_EQ(frames(first).size(), 2U);
  EXPECT_TRUE(first.has_more);
  const auto second = ring.read(first.position, {}, 2);
  EXPECT_EQ(frames(second).size(), 1U);
  EXPECT_FALSE(second.has_more);
}

TEST(DevtoolsRing, StartsNowWithoutACursorAndAtTheCursorWithOne) {
  const auto ring = ring_with(3);
  EXPECT_EQ(ring.start(std::nullopt)->after, 3U);
  const auto resumed = ring.start("00000000000000aa-2");
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->after, 2U);
  EXPECT_FALSE(resumed->is_gap);
}

TEST(DevtoolsRing, ACursorTooOldOrOfAnotherStartIsAGap) {
  const auto ring = ring_with(5, 2);
  EXPECT_FALSE(ring.start("00000000000000aa-3")->is_gap);
  for (const char* cursor : {"00000000000000aa-2", "00000000000000ab-4"}) {
    const auto start = ring.start(cursor);
    ASSERT_TRUE(start) << cursor;
    EXPECT_TRUE(start->is_gap) << cursor;
    EXPECT_EQ(start->after, 3U) << cursor;
  }
}

TEST(DevtoolsRing, WhoeverWasAwayWhileNothingWasRecordedLearnsOfTheGap) {
  auto ring = ring_with(3);
  ring.forget();
  EXPECT_EQ(ring.size(), 0U);
  EXPECT_TRUE(ring.start("00000000000000aa-3")->is_gap);
  // Who came since has the place after it.
  EXPECT_FALSE(ring.start(ring.id(ring.last()))->is_gap);
}

TEST(DevtoolsRing, RefusesWhatIsNoCursorOrOneOfTheFuture) {
  const auto ring = ring_with(3);
  for (const char* bad : {"x", "7", "00000000000000aa", "00000000000000aa-", "00000000000000aa-x",
                          "00000000000000AA-1", "00000000000000aa-1x", "00000000000000aa_1",
                          "00000000000000aa-99999999999999999999"})
    EXPECT_EQ(ring.start(bad).error().code, Code::kBadCursor) << bad;
  EXPECT_EQ(ring.start("00000000000000aa-4").error().code, Code::kCursorBeyondHead);
}

TEST(DevtoolsFilter, LetsThroughWhatWasAskedFor) {
  DevtoolsFilter filter;
  EXPECT_TRUE(filter.matches(message()));
  filter.types = *parse_devtools_types("session.created,message");
  EXPECT_TRUE(filter.matches(message()));
  filter.types = *parse_devtools_types("request");
  EXPECT_FALSE(filter.matches(message()));
  EXPECT_FALSE(DevtoolsFilter{.app = "other"}.matches(message()));
  EXPECT_TRUE(DevtoolsFilter{.session = "s-of-shop"}.matches(message()));
  EXPECT_TRUE(DevtoolsFilter{.session = "shop:one"}.matches(message()));
  EXPECT_FALSE(DevtoolsFilter{.session = "shop:two"}.matches(message()));
  EXPECT_EQ(parse_devtools_types("mesage").error().code, Code::kBadParameter);
  EXPECT_EQ(parse_devtools_types("message,").error().code, Code::kBadParameter);
}

TEST(DevtoolsFilter, ATokenSeesItsAppsOnlyAndNothingWithoutASession) {
  const DevtoolsFilter filter{.apps = std::vector<std::string>{"shop"}};
  EXPECT_TRUE(filter.matches(message("shop")));
  EXPECT_FALSE(filter.matches(message("bank")));
  EXPECT_FALSE(filter.matches(Happening{.type = DevtoolsType::kRequest}));
  EXPECT_FALSE(filter.matches(Happening{.type = DevtoolsType::kRequest, .app = "shop"}));
  EXPECT_TRUE(filter.matches(Happening{.type = DevtoolsType::kDropped}));
}

class Entries : public ::testing::Test {
 protected:
  std::vector<Happening> told(std::string type, std::string data, std::string by = "") {
    stream::Batch batch;
    batch.first = Seq{7};
    batch.entries.push_back(model::encode_entry(
        {.type = std::move(type), .at = {}, .data = std::move(data), .by = std::move(by)}, {}));
    return happenings_of(session_, batch);
  }
  model::SessionState session_ = [] {
    model::SessionState state;
    state.app = "shop";
    return state;
  }();
};

TEST_F(Entries, AMessageTellsItsTextCutAtACharacter) {
  // 199 bytes and then a character of two: it does not fit.
  const std::string text(kMaxDevtoolsTextBytes - 1, 'a');
  auto happenings = told("message", "{\"text\":\"" + text + "éé\"}", "agent-1");
  ASSERT_EQ(happenings.size(), 1U);
  EXPECT_NE(happenings[0].members.find("\"text\":\"" + text + "\""), std::string::npos);
  EXPECT_NE(happenings[0].members.find(R"("seq":7)"), std::string::npos);
  EXPECT_NE(happenings[0].members.find(R"("by":"agent-1")"), std::string::npos);
  const std::string fits = text + "b";
  EXPECT_NE(told("message", "\"" + fits + "\"")[0].members.find("\"text\":\"" + fits + "\""),
            std::string::npos);
}

TEST_F(Entries, AMessageWithoutATextOrTooLongToLookIntoTellsNone) {
  EXPECT_EQ(told("message", R"({"secret":"x"})")[0].members.find("text"), std::string::npos);
  const std::string largest =
      "{\"text\":\"" + std::string(kMaxDevtoolsParsedBytes - 11, 'a') + "\"}";
  ASSERT_EQ(largest.size(), kMaxDevtoolsParsedBytes);
  EXPECT_NE(told("message", largest)[0].members.find("text"), std::string::npos);
  EXPECT_EQ(told("message", largest.substr(0, 9) + "a" + largest.substr(9))[0].members.find("text"),
            std::string::npos);
}

TEST_F(Entries, EndsResumesAndResetsAreTold) {
  EXPECT_EQ(told("status_change", R"({"from":"ACTIVE","to":"FAILED"})")[0].type,
            DevtoolsType::kSessionClosed);
  EXPECT_NE(told("status_change", R"({"from":"ACTIVE","to":"FAILED"})")[0].members.find(
                R"("status":"FAILED")"),
            std::string::npos);
  EXPECT_EQ(told("status_change", R"({"from":"PAUSED","to":"ACTIVE"})")[0].type,
            DevtoolsType::kSessionResumed);
  EXPECT_EQ(told("session_reset", R"({"from":"ACTIVE"})")[0].type, DevtoolsType::kSessionReset);
}

TEST_F(Entries, OtherEventsAreNot) {
  EXPECT_TRUE(told("status_change", R"({"from":"INITIALIZING","to":"ACTIVE"})").empty());
  EXPECT_TRUE(told("status_change", R"({"from":"ACTIVE","to":"PAUSED"})").empty());
  EXPECT_TRUE(told("log", R"({"text":"x"})").empty());
}

}  // namespace
}  // namespace reprise::api
