#include "api/body.h"

#include <gtest/gtest.h>

#include "api/moves.h"
#include "model/decide.h"

namespace reprise::api {
namespace {

http::Exchange sending(std::string body, std::optional<std::string> type = std::nullopt) {
  http::Exchange exchange;
  exchange.request.body = std::move(body);
  if (type) exchange.request.headers.add("Content-Type", *type);
  return exchange;
}

Body body_of(std::string text) { return *Body::parse(sending(std::move(text))); }

// The pointers of what done() complains about.
std::vector<std::string> complaints(Body& body) {
  const auto outcome = body.done();
  std::vector<std::string> pointers;
  if (outcome) return pointers;
  EXPECT_EQ(outcome.error().code, Code::kInvalid);
  for (const FieldError& field : outcome.error().fields) pointers.push_back(field.pointer);
  return pointers;
}

using Pointers = std::vector<std::string>;

TEST(Body, TakesJsonObjectsOnly) {
  EXPECT_TRUE(Body::parse(sending("")));
  EXPECT_TRUE(Body::parse(sending("", "text/plain")));  // nothing has no type
  EXPECT_TRUE(Body::parse(sending("{}")));
  EXPECT_EQ(Body::parse(sending("{")).error().code, Code::kMalformedJson);
  EXPECT_EQ(Body::parse(sending(R"({"a":1,"a":2})")).error().code, Code::kDuplicateMember);
  for (const char* other : {"[]", "7", "\"text\"", "null", "true"})
    EXPECT_EQ(Body::parse(sending(other)).error().code, Code::kInvalid) << other;
}

TEST(Body, TakesTheMediaTypesOfJsonOnly) {
  for (const char* type : {"application/json", "Application/JSON; charset=utf-8",
                           "application/json ;charset=utf-8", "application/merge-patch+json"})
    EXPECT_TRUE(Body::parse(sending("{}", type))) << type;
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "application/jsonl",
                           "multipart/form-data; boundary=x", ""})
    EXPECT_EQ(Body::parse(sending("{}", type)).error().code, Code::kUnsupportedMediaType) << type;
}

TEST(Body, ReadsEachKindOfMemberWithinItsLimits) {
  Body body = body_of(
      R"({"t":"abc","n":7,"b":false,"o":{ "x" : 1 },"l":[ 1 , 2 ],"nothing":null,"v":null})");
  EXPECT_EQ(body.text("t", 3), "abc");
  EXPECT_EQ(body.number("n", 7, 7), 7U);
  EXPECT_EQ(body.boolean("b"), false);
  EXPECT_EQ(body.object("o", 7), R"({"x":1})");
  EXPECT_EQ(body.array("l", 5), "[1,2]");
  EXPECT_EQ(body.text("nothing", 3), std::nullopt);
  EXPECT_TRUE(body.value("v")->is_null());
  EXPECT_TRUE(body.is_null("v"));
  EXPECT_FALSE(body.is_null("missing"));
  EXPECT_EQ(body.text("missing", 3), std::nullopt);
  EXPECT_EQ(complaints(body), Pointers{});
}

TEST(Body, NamesEveryWrongAndUnknownMemberAtOnce) {
  Body body =
      body_of(R"({"t":"abcd","n":1.5,"m":-1,"b":0,"o":[],"l":{"a":1},"a/b~c":1,"big":[1,2]})");
  EXPECT_EQ(body.text("t", 3), std::nullopt);
  EXPECT_EQ(body.number("n", 0, 9), std::nullopt);
  EXPECT_EQ(body.number("m", 0, 9), std::nullopt);
  EXPECT_EQ(body.boolean("b"), std::nullopt);
  EXPECT_EQ(body.object("o", 9), std::nullopt);
  EXPECT_EQ(body.array("l", 9), std::nullopt);
  EXPECT_EQ(body.array("big", 4), std::nullopt);
  EXPECT_EQ(complaints(body), (Pointers{"/t", "/n", "/m", "/b", "/o", "/l", "/big", "/a~1b~0c"}));
}

TEST(Body, AnInnerObjectKnowsWhereItStands) {
  const auto document = wire::parse_json(R"({"type":7})");
  Body inner = Body::of(document->root(), "/events/3");
  EXPECT_EQ(inner.text("type", 9), std::nullopt);
  EXPECT_EQ(complaints(inner), Pointers{"/events/3/type"});
}

// What a named move makes of a body: its command, or the pointers of what is wrong.
struct Decoded {
  std::optional<session::Action> action;
  Pointers wrong;
  template <typename T>
  const T* command() const {
    const auto* command = action ? std::get_if<model::Command>(&*action) : nullptr;
    return command != nullptr ? std::get_if<T>(command) : nullptr;
  }
};
Decoded decode(std::string_view name, std::string text) {
  for (const NamedMove& move : named_moves()) {
    if (move.name != name) continue;
    Body body = body_of(std::move(text));
    auto action = move.decode(body);
    if (action) return {std::move(*action), {}};
    Decoded decoded;
    for (const FieldError& field : action.error().fields) decoded.wrong.push_back(field.pointer);
    return decoded;
  }
  ADD_FAILURE() << "no move is called " << name;
  return {};
}

TEST(Moves, StatusTakesAWordOfAnyVocabulary) {
  const auto moved =
      decode("status", R"({"status":"waiting_for_input","expectedStatus":"running"})");
  ASSERT_NE(moved.command<model::Move>(), nullptr);
  EXPECT_EQ(moved.command<model::Move>()->to, model::Status::kPaused);
  EXPECT_EQ(moved.command<model::Move>()->expected_status, model::Status::kActive);
  const auto failed =
      decode("status", R"({"status":"DISCONNECTED","error":"lost","reason":"why"})");
  EXPECT_EQ(failed.command<model::Move>()->to, model::Status::kFailed);
  EXPECT_EQ(failed.command<model::Move>()->error, "lost");
  EXPECT_EQ(failed.command<model::Move>()->reason, "why");
  const auto limited = decode("status", R"({"status":"RATE_LIMITED"})");
  EXPECT_EQ(limited.command<model::Move>()->pause_reason, model::PauseReason::kRateLimit);
}

TEST(Moves, StatusRefusesWhatItDoesNotKnow) {
  EXPECT_EQ(decode("status", "{}").wrong, Pointers{"/status"});
  EXPECT_EQ(decode("status", R"({"status":"asleep"})").wrong, Pointers{"/status"});
  EXPECT_EQ(decode("status", R"({"status":"ACTIVE","expectedStatus":"asleep","x":1})").wrong,
            (Pointers{"/expectedStatus", "/x"}));
  EXPECT_EQ(decode("status", R"({"status":"PAUSED","reason":"input"})").wrong, Pointers{"/reason"});
}

TEST(Moves, PauseTakesItsReasonByNameOrAsFreeText) {
  const auto reason = [](std::string body) {
    const auto paused = decode("pause", std::move(body));
    EXPECT_NE(paused.command<model::Pause>(), nullptr);
    return paused.command<model::Pause>()->pause_reason;
  };
  EXPECT_EQ(reason("{}"), model::PauseReason::kOperator);
  EXPECT_EQ(reason(R"({"reason":"lunch"})"), model::PauseReason::kOperator);
  EXPECT_EQ(reason(R"({"reason":"rateLimit"})"), model::PauseReason::kRateLimit);
  EXPECT_EQ(reason(R"({"pauseReason":"workerLost","reason":"rateLimit"})"),
            model::PauseReason::kWorkerLost);
  EXPECT_EQ(decode("pause", R"({"pauseReason":"input"})").wrong, Pointers{"/pauseReason"});
  EXPECT_EQ(decode("pause", R"({"pauseReason":"sleepy"})").wrong, Pointers{"/pauseReason"});
  EXPECT_EQ(decode("pause", R"({"reason":"input"})").wrong, Pointers{"/reason"});
}

TEST(Moves, TheOthersTakeAReasonAndNothingElse) {
  EXPECT_EQ(decode("resume", R"({"reason":"r"})").command<model::Resume>()->reason, "r");
  EXPECT_EQ(decode("close", R"({"reason":"r"})").command<model::Close>()->reason, "r");
  const auto cancelled = decode("cancel", R"({"reason":"r","error":"e"})");
  EXPECT_EQ(cancelled.command<model::Cancel>()->error, "e");
  const auto touched = decode("touch", "{}");
  ASSERT_TRUE(touched.action);
  EXPECT_TRUE(std::get<session::Touch>(*touched.action).is_explicit);
  for (const char* name : {"resume", "close", "cancel", "touch"})
    EXPECT_EQ(decode(name, R"({"x":1})").wrong, Pointers{"/x"}) << name;
  EXPECT_EQ(decode("touch", R"({"reason":"r"})").wrong, Pointers{"/reason"});
}

}  // namespace
}  // namespace reprise::api
