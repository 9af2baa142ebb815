#include "api/events.h"

#include <gtest/gtest.h>

#include "api/limits.h"
#include "api/testing.h"
#include "model/limits.h"
#include "wire/sse.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::member;
using testing::text_member;
using enum wire::Method;

std::string code(const http::Reply& reply) { return text_member(reply.body, "code"); }
std::string pointer(const http::Reply& reply) {
  const auto document = wire::parse_json(reply.body);
  const auto errors = document->root().find("errors");
  return errors ? *errors->elements().front().find("pointer")->as_string() : "none";
}

class EventsTest : public ::testing::Test {
 protected:
  EventsTest() {
    const auto made = api_.post("/v1/sessions", R"({"app":"a","name":"s","status":"ACTIVE"})");
    path_ = "/v1/sessions/" + text_member(made.body, "id");
  }
  http::Reply append(std::string body, const testing::HeaderList& headers = {}) {
    return api_.post(path_ + "/events", std::move(body), headers);
  }
  std::vector<wire::SseEvent> frames() { return wire::SseDecoder().feed(api_.socket().taken); }

  Api api_;
  std::string path_;
};

TEST_F(EventsTest, AreAppendedOneOrManyAndReadBackAsTheyWere) {
  const auto one = append(R"({"type":"log","data":{ "n" : 1.50 }})");
  EXPECT_EQ(one.status, 201);
  EXPECT_EQ(one.body, R"({"firstSeq":2,"lastSeq":2})");
  EXPECT_EQ(
      append(R"({"events":[{"type":"message"},{"type":"a.b_9","data":"x"}],"expectedSeq":2})").body,
      R"({"firstSeq":3,"lastSeq":4})");
  const auto page = api_.get(path_ + "/events?after=1&limit=2");
  EXPECT_NE(page.body.find(R"("data":{"n":1.50})"), std::string::npos);
  EXPECT_EQ(member(page.body, "nextAfter"), "3");
  EXPECT_EQ(member(page.body, "lastSeq"), "4");
  EXPECT_EQ(member(page.body, "hasMore"), "true");
  EXPECT_EQ(member(api_.get(path_).body, "messageCount"), "1");
}

TEST_F(EventsTest, WhatIsWrongIsToldWithItsPlaceAndNothingIsStored) {
  EXPECT_EQ(pointer(append("{}")), "/type");
  EXPECT_EQ(pointer(append(R"({"type":7})")), "/type");
  EXPECT_EQ(pointer(append(R"({"type":"Upper"})")), "/type");
  EXPECT_EQ(pointer(append(R"({"type":"log","seq":1})")), "/seq");
  EXPECT_EQ(pointer(append(R"({"events":[]})")), "/events");
  EXPECT_EQ(pointer(append(R"({"events":{}})")), "/events");
  EXPECT_EQ(pointer(append(R"({"events":[{"type":"log"},7]})")), "/events/1");
  EXPECT_EQ(pointer(append(R"({"events":[{"type":"log"},{"type":"log","x":1}]})")), "/events/1/x");
  EXPECT_EQ(pointer(append(R"({"events":[{"type":"log"}],"type":"log"})")), "/type");
  EXPECT_EQ(pointer(append(R"({"type":"status_change"})")), "/type");
  EXPECT_EQ(code(append(R"({"events":[{"type":"log"},{"type":"session_created"}]})")),
            "reserved_type");
  EXPECT_EQ(pointer(append(R"({"type":"log","ephemeral":true,"expectedSeq":1})")), "/expectedSeq");
  EXPECT_EQ(code(append("{")), "malformed_json");
  const auto wrong = append(R"({"type":"log","expectedSeq":9})");
  EXPECT_EQ(code(wrong), "wrong_sequence");
  EXPECT_EQ(member(wrong.body, "lastSeq"), "1");
  EXPECT_EQ(member(api_.get(path_).body, "lastSeq"), "1");
  // A type of the wrong kind is one mistake, not two.
  EXPECT_EQ(
      wire::parse_json(append(R"({"type":7})").body)->root().find("errors")->elements().size(), 1U);
}

TEST_F(EventsTest, OneCallTakesSoManyEventsAndNotOneMore) {
  const auto many = [](std::size_t count) {
    std::string events;
    for (std::size_t i = 0; i < count; ++i)
      events += (i > 0 ? "," : "") + std::string(R"({"type":"a"})");
    return "{\"events\":[" + events + "]}";
  };
  EXPECT_EQ(append(many(model::kMaxEventsPerAppend)).status, 201);
  EXPECT_EQ(pointer(append(many(model::kMaxEventsPerAppend + 1))), "/events");
}

TEST_F(EventsTest, OneCallTakesSoManyBytesAndNotOneMore) {
  const auto weighing = [](std::size_t bytes) {
    return R"({"type":"log","data":")" + std::string(bytes - 2, 'x') + "\"}";
  };
  EXPECT_EQ(append(weighing(kMaxAppendBytes)).status, 201);
  const auto refused = append(weighing(kMaxAppendBytes + 1));
  EXPECT_EQ(code(refused), "body_too_large");
  EXPECT_EQ(refused.status, 413);
}

TEST_F(EventsTest, APageTakesSoManyTypesAndNotOneMore) {
  const auto naming = [&](std::size_t count) {
    std::string types;
    for (std::size_t i = 0; i < count; ++i)
      types += (i > 0 ? "," : "") + std::string("t") + std::to_string(i);
    return api_.get(path_ + "/events?types=" + types);
  };
  append(R"({"events":[{"type":"t1"},{"type":"other"},{"type":"t2"}]})");
  const auto page = naming(kMaxTypesFilter);
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body.find("other"), std::string::npos);
  EXPECT_EQ(member(page.body, "nextAfter"), "4");
  EXPECT_EQ(code(naming(kMaxTypesFilter + 1)), "bad_parameter");
  EXPECT_EQ(code(naming(0)), "bad_parameter");
  EXPECT_EQ(code(api_.get(path_ + "/events?types=Bad")), "bad_parameter");
}

TEST_F(EventsTest, ARepeatedIdempotencyKeyGetsTheFirstAnswerAgain) {
  const testing::HeaderList key = {{"Idempotency-Key", "k1"}};
  const auto first = append(R"({"type":"log"})", key);
  const auto again = append(R"({"type":"log"})", key);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(code(append(R"({"type":"other"})", key)), "idempotency_mismatch");
  EXPECT_EQ(member(api_.get(path_).body, "lastSeq"), "2");
  EXPECT_EQ(code(append(R"({"type":"log"})", {{"Idempotency-Key", ""}})), "bad_parameter");
}

TEST_F(EventsTest, AnEndedSessionTakesNoMore) {
  api_.post(path_ + "/close", "");
  EXPECT_EQ(code(append(R"({"type":"log"})")), "session_ended");
}

TEST_F(EventsTest, TheNameOfATokenStandsInWhatItAppends) {
  const http::Principal ci{.name = "ci", .scope = http::Scope::kWrite, .apps = {}};
  api_.call(kPost, path_ + "/events", R"({"type":"log"})", {}, ci);
  EXPECT_NE(api_.get(path_ + "/events?after=1").body.find(R"("by":"ci")"), std::string::npos);
}

TEST_F(EventsTest, AStreamReplaysSaysSoAndGoesOnLive) {
  append(R"({"type":"log"})");
  auto stream = api_.get(path_ + "/events/stream?after=1");
  EXPECT_EQ(stream.headers.get("content-type"), "text/event-stream");
  EXPECT_EQ(stream.headers.get("cache-control"), "no-cache");
  api_.follow(std::move(stream));
  EXPECT_EQ(member(api_.get(path_).body, "subscriberCount"), "1");
  append(R"({"type":"log","ephemeral":true,"data":1})");
  append(R"({"type":"message"})");
  api_.post(path_ + "/close", "");
  const auto seen = frames();
  ASSERT_EQ(seen.size(), 6U) << api_.socket().taken;
  EXPECT_EQ(seen[0].last_event_id, "2");
  EXPECT_EQ(seen[1].type, "replayComplete");
  EXPECT_EQ(member(seen[2].data, "seq"), "");  // ephemeral
  EXPECT_EQ(seen[3].last_event_id, "3");
  EXPECT_EQ(seen[4].last_event_id, "4");
  EXPECT_EQ(seen[5].type, "end");
  EXPECT_EQ(text_member(seen[5].data, "reason"), "COMPLETED");
}

TEST_F(EventsTest, LastEventIdWinsOverAfterAndIsCheckedLikeIt) {
  append(R"({"type":"log"})");
  api_.follow(api_.get(path_ + "/events/stream?after=0", {{"Last-Event-ID", "1"}}));
  EXPECT_EQ(frames().front().last_event_id, "2");
  EXPECT_EQ(code(api_.get(path_ + "/events/stream?after=3")), "cursor_beyond_head");
  EXPECT_EQ(code(api_.get(path_ + "/events/stream", {{"Last-Event-ID", "3"}})),
            "cursor_beyond_head");
  EXPECT_EQ(code(api_.get(path_ + "/events/stream", {{"Last-Event-ID", "x"}})), "bad_parameter");
  EXPECT_EQ(code(api_.get(path_ + "/events/stream?clientId=")), "bad_parameter");
  EXPECT_EQ(code(api_.get("/v1/sessions/no:one/events/stream")), "session_not_found");
}

TEST_F(EventsTest, AReconnectAtTheEndOfAnEndedSessionIsStoppedBy204) {
  api_.post(path_ + "/close", "");
  EXPECT_EQ(api_.get(path_ + "/events/stream", {{"Last-Event-ID", "2"}}).status, 204);
  EXPECT_EQ(api_.get(path_ + "/events/stream", {{"Last-Event-ID", "1"}}).status, 200);
  EXPECT_EQ(api_.get(path_ + "/events/stream?after=2").status, 200);
}

TEST_F(EventsTest, HeadOfAStreamSubscribesNobody) {
  const auto head = api_.call(kHead, path_ + "/events/stream?clientId=me");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.get("content-type"), "text/event-stream");
  EXPECT_EQ(api_.get(path_ + "/subscribers").body, R"({"subscribers":[]})");
}

TEST_F(EventsTest, ANamedSubscriberIsRememberedAndADeletedSessionEndsItsReaders) {
  api_.follow(api_.get(path_ + "/events/stream?clientId=me"));
  EXPECT_NE(api_.get(path_ + "/subscribers").body.find(R"("clientId":"me","connections":1)"),
            std::string::npos);
  EXPECT_EQ(api_.call(kDelete, path_).status, 204);
  ASSERT_FALSE(frames().empty());
  EXPECT_EQ(frames().back().type, "end");
  EXPECT_EQ(text_member(frames().back().data, "reason"), "deleted");
}

TEST_F(EventsTest, AQuietStreamHasHeartbeats) {
  api_.follow(api_.get(path_ + "/events/stream"));
  const std::size_t before = api_.socket().taken.size();
  api_.advance(Millis{15'000});
  EXPECT_EQ(api_.socket().taken.substr(before), ": heartbeat\n\n");
}

}  // namespace
}  // namespace reprise::api
