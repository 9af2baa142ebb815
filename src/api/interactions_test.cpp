#include "api/interactions.h"

#include <gtest/gtest.h>

#include "api/limits.h"
#include "api/testing.h"
#include "model/limits.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::member;
using testing::text_member;
using enum wire::Method;

std::string code(const http::Reply& reply) { return text_member(reply.body, "code"); }

struct Interactions : ::testing::Test {
  Interactions() {
    const auto made = api.post("/v1/sessions", R"({"app":"shop","status":"ACTIVE"})");
    session = "/v1/sessions/" + text_member(made.body, "id");
    path = session + "/interactions";
  }
  http::Reply ask(std::string body) { return api.post(path, std::move(body)); }
  std::string asked(std::string body) {
    const auto reply = ask(std::move(body));
    EXPECT_EQ(reply.status, 201) << reply.body;
    return text_member(reply.body, "id");
  }
  http::Reply answer(const std::string& id, std::string body) {
    return api.post(path + '/' + id + "/response", std::move(body));
  }
  std::string status() { return text_member(api.get(session).body, "status"); }

  Api api;
  std::string session;
  std::string path;
};

TEST_F(Interactions, AreAskedShownAnsweredOnceAndKept) {
  const auto reply = ask(R"({"kind":"waitForInput","prompt":"Name?","nodeId":"n1"})");
  ASSERT_EQ(reply.status, 201);
  const std::string id = text_member(reply.body, "id");
  EXPECT_EQ(reply.headers.get("location"), path + '/' + id);
  EXPECT_EQ(text_member(reply.body, "state"), "pending");
  EXPECT_EQ(member(reply.body, "response"), "null");
  EXPECT_EQ(status(), "PAUSED");
  const auto record = api.get(session);
  EXPECT_EQ(text_member(record.body, "pauseReason"), "input");
  const std::string pending = member(record.body, "pendingInteractions");
  EXPECT_NE(pending.find(R"("kind":"waitForInput","prompt":"Name?","nodeId":"n1")"),
            std::string::npos)
      << pending;

  const auto first = answer(id, R"({"input":"Ada"})");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(text_member(first.body, "state"), "answered");
  EXPECT_EQ(member(first.body, "response"), R"({"input":"Ada"})");
  const auto second = answer(id, R"({"input":"Bob"})");
  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(code(second), "already_answered");
  EXPECT_EQ(text_member(member(second.body, "interaction"), "state"), "answered");
  EXPECT_EQ(status(), "ACTIVE");
  EXPECT_EQ(member(api.get(session).body, "pendingInteractions"), "[]");
  EXPECT_EQ(api.get(path + '/' + id).body, first.body);
}

TEST_F(Interactions, EachKindHasItsAnswer) {
  const std::string choice = asked(
      R"({"kind":"waitForChoice","choices":[{"id":"a","label":"A"},{"id":"b"}],"layout":"grid"})");
  EXPECT_EQ(answer(choice, R"({"selected":["c"]})").status, 422);
  EXPECT_EQ(answer(choice, R"({"selected":["b"]})").status, 200);
  const std::string confirm = asked(R"({"kind":"confirm","skipLabel":"Later"})");
  EXPECT_EQ(answer(confirm, R"({"confirmed":"yes"})").status, 422);
  EXPECT_EQ(answer(confirm, R"({"confirmed":true,"skipped":true})").status, 422);
  EXPECT_EQ(answer(confirm, R"({"skipped":true})").status, 200);
  const std::string node =
      asked(R"({"kind":"inputNode","schema":{"type":"object","required":["n"]}})");
  EXPECT_EQ(answer(node, R"({"input":{}})").status, 422);
  EXPECT_EQ(answer(node, R"({"unknown":1})").status, 422);
  EXPECT_EQ(answer(node, "{}").status, 422);
  EXPECT_EQ(answer(node, R"({"input":{"n":null}})").status, 200);
  const std::string nothing = asked(R"({"kind":"waitForInput"})");
  EXPECT_EQ(answer(nothing, R"({"input":null})").status, 200);
}

TEST_F(Interactions, WhatIsWrongIsTold) {
  EXPECT_EQ(ask("{}").status, 422);
  EXPECT_EQ(ask(R"({"kind":"waitForInput","promt":"x"})").status, 422);
  EXPECT_EQ(ask(R"({"kind":"waitForInput","deadlineMs":0})").status, 422);
  EXPECT_EQ(ask(R"({"kind":"waitForInput","deadlineMs":9,"onDeadline":{"x":1}})").status, 422);
  EXPECT_EQ(ask(R"({"kind":"waitForInput","deadlineMs":9,"onDeadline":""})").status, 422);
  EXPECT_EQ(ask(R"({"kind":"waitForInput","schema":{"$ref":"http://x/"}})").status, 422);
  EXPECT_EQ(code(answer("nonsense", "{}")), "interaction_not_found");
  EXPECT_EQ(code(answer("019a8b3c-1111-7222-8333-444455556666", R"({"input":1})")),
            "interaction_not_found");
  EXPECT_EQ(code(api.get(path + "/019a8b3c-1111-7222-8333-444455556666")), "interaction_not_found");
  EXPECT_EQ(api.get(path + "?state=open").status, 400);
  EXPECT_EQ(api.get(path + "?cursor=x").status, 400);
  EXPECT_EQ(api.get(path + "?limit=" + std::to_string(kMaxInteractionPageLimit + 1)).status, 400);
  const std::string id = asked(R"({"kind":"waitForInput"})");
  EXPECT_EQ(api.get(path + '/' + id + "?waitMs=" + std::to_string(kMaxWaitMs + 1)).status, 400);
  const std::string largest(model::kMaxAnswerBytes - 2, 'x');
  EXPECT_EQ(answer(id, R"({"input":")" + largest + "y\"}").status, 422);
  EXPECT_EQ(answer(id, R"({"input":")" + largest + "\"}").status, 200);
  ASSERT_EQ(api.post(session + "/close", "").status, 200);
  EXPECT_EQ(code(ask(R"({"kind":"confirm"})")), "session_ended");
}

TEST_F(Interactions, AreListedByStateAndPage) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(asked(R"({"kind":"confirm"})"));
  ASSERT_EQ(answer(ids[1], R"({"confirmed":true})").status, 200);
  const auto count = [&](const std::string& query) {
    const auto list = wire::parse_json(member(api.get(path + query).body, "interactions"));
    return list->root().elements().size();
  };
  EXPECT_EQ(count(""), 5U);
  EXPECT_EQ(count("?state=pending"), 4U);
  EXPECT_EQ(count("?state=answered"), 1U);
  const auto page = api.get(path + "?state=pending&limit=2");
  const std::string cursor = text_member(page.body, "nextCursor");
  EXPECT_EQ(cursor, ids[2]);
  EXPECT_EQ(count("?state=pending&cursor=" + cursor), 2U);
  EXPECT_EQ(member(api.get(path + "?limit=5").body, "nextCursor"), "null");
  // A cancelled session has no open questions; a reset one has none at all.
  ASSERT_EQ(api.post(session + "/cancel", "").status, 200);
  EXPECT_EQ(count("?state=cancelled"), 4U);
  ASSERT_EQ(api.post(session + "/reset", "").status, 200);
  EXPECT_EQ(count(""), 0U);
  EXPECT_EQ(api.get(path + '/' + ids[0]).status, 404);
}

TEST_F(Interactions, MoreThanAPageHoldsAreReadPageByPage) {
  for (std::size_t i = 0; i <= kDefaultInteractionPageLimit; ++i)
    ASSERT_EQ(answer(asked(R"({"kind":"confirm"})"), R"({"confirmed":true})").status, 200);
  const auto page = api.get(path);
  const auto list = wire::parse_json(member(page.body, "interactions"));
  EXPECT_EQ(list->root().elements().size(), kDefaultInteractionPageLimit);
  EXPECT_NE(member(page.body, "nextCursor"), "null");
}

TEST_F(Interactions, ADeadlineIsKeptWithoutAnybodyAsking) {
  const std::string id =
      asked(R"({"kind":"confirm","deadlineMs":5000,"onDeadline":{"default":true}})");
  EXPECT_EQ(text_member(api.get(path + '/' + id).body, "state"), "pending");
  api.advance(Millis{6'000});
  const auto expired = api.get(path + '/' + id);
  EXPECT_EQ(text_member(expired.body, "state"), "expired");
  EXPECT_EQ(member(expired.body, "response"), R"({"confirmed":true})");
  EXPECT_EQ(status(), "ACTIVE");
  EXPECT_EQ(code(answer(id, R"({"confirmed":false})")), "already_answered");
  asked(R"({"kind":"confirm","deadlineMs":5000,"onDeadline":"failSession"})");
  api.advance(Millis{6'000});
  EXPECT_EQ(status(), "FAILED");
}

TEST_F(Interactions, TheSameQuestionIsAskedOnce) {
  const std::string body = R"({"kind":"confirm","prompt":"Sure?"})";
  const auto first = api.post(path, body, {{"Idempotency-Key", "k"}});
  const auto again = api.post(path, body, {{"Idempotency-Key", "k"}});
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(first.body, again.body);
  EXPECT_EQ(code(api.post(path, R"({"kind":"confirm"})", {{"Idempotency-Key", "k"}})),
            "idempotency_mismatch");
}

TEST_F(Interactions, WhoAskedAndWhoAnsweredIsKept) {
  const http::Principal bot{.name = "bot", .scope = http::Scope::kWrite, .apps = {}};
  const http::Principal ada{.name = "ada", .scope = http::Scope::kWrite, .apps = {}};
  const auto made = api.call(kPost, path, R"({"kind":"confirm"})", {}, bot);
  const std::string id = text_member(made.body, "id");
  const auto done =
      api.call(kPost, path + '/' + id + "/response", R"({"confirmed":true})", {}, ada);
  EXPECT_EQ(text_member(done.body, "askedBy"), "bot");
  EXPECT_EQ(text_member(done.body, "resolvedBy"), "ada");
  const http::Principal other{
      .name = "x", .scope = http::Scope::kWrite, .apps = std::vector<std::string>{"else"}};
  EXPECT_EQ(api.call(kGet, path, "", {}, other).status, 404);
}

TEST_F(Interactions, AnotherSessionsQuestionIsNotFound) {
  const std::string id = asked(R"({"kind":"confirm"})");
  const auto other = api.post("/v1/sessions", R"({"app":"shop"})");
  const std::string elsewhere =
      "/v1/sessions/" + text_member(other.body, "id") + "/interactions/" + id;
  EXPECT_EQ(code(api.get(elsewhere)), "interaction_not_found");
  EXPECT_EQ(code(api.post(elsewhere + "/response", R"({"confirmed":true})")),
            "interaction_not_found");
  EXPECT_EQ(text_member(api.get(path + '/' + id).body, "state"), "pending");
}

}  // namespace
}  // namespace reprise::api
