#include "api/inputs.h"

#include <gtest/gtest.h>

#include "api/limits.h"
#include "api/testing.h"
#include "model/limits.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::HeaderList;
using testing::member;
using testing::text_member;
using enum wire::Method;

class InputRoutesTest : public ::testing::Test {
 protected:
  http::Reply post(std::string_view path, std::string body, HeaderList headers = {}) {
    headers.emplace_back("Content-Type", "application/json");
    return api.post(base + std::string(path), std::move(body), headers);
  }
  std::string submit(std::string data, std::string when_busy = "enqueue") {
    const auto reply = post("", fmt::format(R"({{"data":{},"whenBusy":"{}"}})", data, when_busy));
    EXPECT_EQ(reply.status, 201) << reply.body;
    return text_member(reply.body, "id");
  }
  std::string state(const std::string& id) {
    return text_member(api.get(base + '/' + id).body, "state");
  }
  Api api;
  std::string session = text_member(
      api.post("/v1/sessions", R"({"status":"ACTIVE"})", {{"Content-Type", "application/json"}})
          .body,
      "id");
  std::string base = "/v1/sessions/" + session + "/inputs";
};

TEST_F(InputRoutesTest, AreSubmittedTakenAndFinished) {
  EXPECT_EQ(api.get(base + "/next").status, 204);
  const auto made = post("", R"({"data": {"text": "hi"}})");
  EXPECT_EQ(made.status, 201);
  const std::string id = text_member(made.body, "id");
  EXPECT_EQ(made.headers.get("location"), base + '/' + id);
  EXPECT_EQ(text_member(made.body, "state"), "active");
  EXPECT_EQ(text_member(made.body, "whenBusy"), "enqueue");
  EXPECT_EQ(member(made.body, "data"), R"({"text":"hi"})");
  EXPECT_EQ(member(made.body, "seq"), "2");
  EXPECT_EQ(member(made.body, "fromSeq"), "3");
  const std::string second = submit("2");
  EXPECT_EQ(state(second), "queued");
  EXPECT_EQ(text_member(api.get(base + "/next?waitMs=1000").body, "id"), id);
  const auto done = post('/' + id + "/finish", R"({"status":"failure","error":"no luck"})");
  EXPECT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(text_member(done.body, "state"), "finished");
  EXPECT_EQ(text_member(done.body, "outcome"), "failure");
  EXPECT_EQ(text_member(done.body, "error"), "no luck");
  EXPECT_EQ(member(done.body, "toSeq"), "4");
  EXPECT_EQ(text_member(api.get(base + "/next").body, "id"), second);
  const auto again = post('/' + id + "/finish", R"({"status":"success"})");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(text_member(again.body, "code"), "input_not_active");
  EXPECT_EQ(text_member(member(again.body, "input"), "state"), "finished");
}

TEST_F(InputRoutesTest, ABusySessionSaysSo) {
  const std::string first = submit("1");
  const auto refused = post("", R"({"data":2,"whenBusy":"reject"})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(text_member(refused.body, "code"), "session_busy");
  EXPECT_EQ(member(refused.body, "retryable"), "true");
  EXPECT_EQ(text_member(refused.body, "activeInput"), first);
  const std::string second = submit("2", "interrupt");
  EXPECT_EQ(state(first), "interrupted");
  submit("3", "rollback");
  EXPECT_EQ(state(second), "rolledBack");
}

TEST_F(InputRoutesTest, BadCallsAreRefused) {
  EXPECT_EQ(post("", "{}").status, 422);
  EXPECT_EQ(post("", R"({"data":1,"whenBusy":"later"})").status, 422);
  EXPECT_EQ(post("", R"({"data":1,"x":1})").status, 422);
  EXPECT_EQ(post("", R"({"data":")" + std::string(model::kMaxInputBytes, 'x') + "\"}").status, 413);
  const std::string id = submit("1");
  EXPECT_EQ(post('/' + id + "/finish", "{}").status, 422);
  EXPECT_EQ(post('/' + id + "/finish", R"({"status":"done"})").status, 422);
  EXPECT_EQ(post('/' + id + "/finish", R"({"status":"success","error":"x"})").status, 422);
  const std::string nobody = "019a8b3c-1111-7222-8333-444455556666";
  EXPECT_EQ(post('/' + nobody + "/finish", R"({"status":"success"})").status, 404);
  EXPECT_EQ(post("/x/finish", R"({"status":"success"})").status, 404);
  EXPECT_EQ(api.get(base + '/' + nobody).status, 404);
  EXPECT_EQ(api.call(kDelete, base + '/' + nobody).status, 404);
  EXPECT_EQ(text_member(api.get(base + '/' + nobody).body, "code"), "input_not_found");
  EXPECT_EQ(api.get(base + "?state=x").status, 400);
  EXPECT_EQ(api.get(base + "?cursor=x").status, 400);
  EXPECT_EQ(api.get(base + fmt::format("?limit={}", session::kMaxInputPageLimit + 1)).status, 400);
  EXPECT_EQ(api.get(base + fmt::format("/next?waitMs={}", kMaxWaitMs + 1)).status, 400);
}

TEST_F(InputRoutesTest, OneThatWaitsIsCancelled) {
  const std::string active = submit("1");
  const std::string queued = submit("2");
  EXPECT_EQ(api.call(kDelete, base + '/' + queued).status, 204);
  EXPECT_EQ(state(queued), "cancelled");
  const auto refused = api.call(kDelete, base + '/' + active);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(text_member(member(refused.body, "input"), "id"), active);
}

TEST_F(InputRoutesTest, ListsGoOnWithTheirCursor) {
  for (const char* data : {"1", "2", "3"}) submit(data);
  const auto first = api.get(base + "?limit=2");
  const std::string cursor = text_member(first.body, "nextCursor");
  const auto rest = api.get(base + "?limit=2&cursor=" + cursor);
  EXPECT_NE(rest.body.find(R"("data":3)"), std::string::npos);
  EXPECT_EQ(member(rest.body, "nextCursor"), "null");
  const auto queued = api.get(base + "?state=queued");
  EXPECT_EQ(queued.body.find(R"("data":1)"), std::string::npos);
  EXPECT_NE(queued.body.find(R"("data":2)"), std::string::npos);
}

TEST_F(InputRoutesTest, APageHasSoManyIfNobodySaysOtherwise) {
  for (std::size_t i = 0; i < session::kDefaultInputPageLimit; ++i) submit("1");
  EXPECT_EQ(member(api.get(base).body, "nextCursor"), "null");
  submit("1");
  EXPECT_NE(member(api.get(base).body, "nextCursor"), "null");
}

TEST_F(InputRoutesTest, RepetitionsGetTheFirstAnswer) {
  const HeaderList key = {{"Idempotency-Key", "a"}};
  const auto first = post("", R"({"data":1,"whenBusy":"reject"})", key);
  const auto again = post("", R"({"data":1,"whenBusy":"reject"})", key);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  const std::string id = text_member(first.body, "id");
  const std::string done = R"({"status":"success"})";
  EXPECT_EQ(post('/' + id + "/finish", done, key).status, 200);
  EXPECT_EQ(post('/' + id + "/finish", done, key).status, 200);
  EXPECT_EQ(post('/' + id + "/finish", done).status, 409);
}

TEST_F(InputRoutesTest, AnEndedSessionTakesAndGivesNone) {
  const std::string id = submit("1");
  api.post("/v1/sessions/" + session + "/close", "");
  EXPECT_EQ(api.get(base + "/next?waitMs=1000").status, 409);
  EXPECT_EQ(post("", R"({"data":1})").status, 409);
  EXPECT_EQ(state(id), "cancelled");
}

}  // namespace
}  // namespace reprise::api
