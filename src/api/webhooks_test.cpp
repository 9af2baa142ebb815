#include "api/webhooks.h"

#include <gtest/gtest.h>

#include "api/limits.h"
#include "api/testing.h"
#include "session/webhooks/limits.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::member;
using testing::text_member;
using enum wire::Method;

std::string code(const http::Reply& reply) { return text_member(reply.body, "code"); }

struct Hooks {
  Hooks() { EXPECT_EQ(api.call(kPut, "/v1/apps/shop", "{}").status, 201); }
  http::Reply put(std::string name, std::string body = R"({"url":"https://a"})") {
    return api.call(kPut, "/v1/apps/shop/webhooks/" + std::move(name), std::move(body));
  }
  Api api;
};

TEST(WebhookRoutes, ShowTheSecretOnce) {
  Hooks hooks;
  const auto made = hooks.put("one", R"({"url":"https://a","events":["message","*"],)"
                                     R"("statuses":["FAILED"],"description":"d"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string secret = text_member(made.body, "secret");
  EXPECT_TRUE(secret.starts_with("whsec_")) << secret;
  EXPECT_EQ(member(made.body, "events"), R"(["message","*"])");
  EXPECT_EQ(member(made.body, "statuses"), R"(["FAILED"])");
  const auto again = hooks.put("one");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(member(again.body, "secret"), "");
  EXPECT_EQ(member(again.body, "events"), "[]") << "a PUT replaces";
  EXPECT_EQ(hooks.api.get("/v1/apps/shop/webhooks/one").body.find("whsec"), std::string::npos);
  EXPECT_EQ(hooks.api.get("/v1/apps/shop/webhooks").body.find("whsec"), std::string::npos);
  const auto renewed = hooks.api.post("/v1/apps/shop/webhooks/one/secret", "");
  EXPECT_EQ(renewed.status, 200);
  EXPECT_NE(text_member(renewed.body, "secret"), secret);
  EXPECT_EQ(hooks.api.call(kDelete, "/v1/apps/shop/webhooks/one").status, 204);
  EXPECT_EQ(code(hooks.api.get("/v1/apps/shop/webhooks/one")), "not_found");
  EXPECT_EQ(hooks.api.get("/v1/apps/shop/webhooks").body, R"({"webhooks":[]})");
}

TEST(WebhookRoutes, RefuseWhatMakesNoSense) {
  Hooks hooks;
  EXPECT_EQ(hooks.put("a%20b").status, 400);
  EXPECT_EQ(code(hooks.api.call(kPut, "/v1/apps/nobody/webhooks/x", R"({"url":"https://a"})")),
            "app_not_found");
  std::string many = R"({"url":"https://a","events":[)";
  for (std::size_t i = 0; i <= session::kMaxWebhookEvents; ++i)
    many += (i == 0 ? "\"e" : ",\"e") + std::to_string(i) + '"';
  const std::string long_url(kMaxWebhookTextBytes, 'x');
  for (const std::string& body :
       {std::string("{}"), std::string(R"({"url":7})"), std::string(R"({"url":""})"),
        R"({"url":"https://)" + long_url + R"("})", std::string(R"({"url":"https://a","x":1})"),
        std::string(R"({"url":"https://a","events":"message"})"),
        std::string(R"({"url":"https://a","events":[1]})"),
        std::string(R"({"url":"https://a","events":["Not A Type"]})"), many + "]}",
        std::string(R"({"url":"https://a","statuses":["running"]})"),
        std::string(R"({"url":"https://a","disabled":"yes"})")})
    EXPECT_EQ(hooks.put("x", body).status, 422) << body;
  EXPECT_EQ(hooks.api.get("/v1/apps/shop/webhooks?x=1").status, 400);
  const http::Principal other{
      .name = "x", .scope = http::Scope::kWrite, .apps = std::vector<std::string>{"desk"}};
  EXPECT_EQ(hooks.api.call(kGet, "/v1/apps/shop/webhooks", "", {}, other).status, 403);
  EXPECT_EQ(
      hooks.api.call(kPut, "/v1/apps/shop/webhooks/x", R"({"url":"https://a"})", {}, other).status,
      403);
}

// Nobody answers the Api's webhooks.
TEST(WebhookRoutes, ShowWhatCouldNotBeDelivered) {
  Hooks hooks;
  ASSERT_EQ(hooks.put("one", R"({"url":"https://a","events":["message"]})").status, 201);
  const auto made =
      hooks.api.post("/v1/sessions", R"({"app":"shop","name":"s","status":"ACTIVE"})");
  const std::string session = "/v1/sessions/" + text_member(made.body, "id");
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(hooks.api.post(session + "/events", R"({"type":"message","data":{"n":1}})").status,
              201);
  const auto queue = [&] {
    return member(hooks.api.get("/v1/apps/shop/webhooks/one").body, "queue");
  };
  EXPECT_EQ(queue(), R"({"behind":0,"retrying":2,"deadLetters":0,"missed":0})");
  for (int round = 0; round < 2; ++round)
    for (const Millis delay : session::kWebhookRetryDelays)
      hooks.api.pass_for_webhooks(delay + delay / 5);
  EXPECT_EQ(queue(), R"({"behind":0,"retrying":0,"deadLetters":2,"missed":0})");
  const std::string letters = "/v1/apps/shop/webhooks/one/dead-letters";
  const auto page = hooks.api.get(letters + "?limit=1");
  const std::string cursor = text_member(page.body, "nextCursor");
  const auto rest = hooks.api.get(letters + "?cursor=" + cursor);
  EXPECT_EQ(member(rest.body, "nextCursor"), "null");
  const auto document = wire::parse_json(page.body);
  const auto letter = document->root().find("deadLetters")->elements().front();
  EXPECT_EQ(letter.find("error")->as_string(), "nobody is there");
  EXPECT_TRUE(letter.find("status")->is_null());
  EXPECT_EQ(letter.find("body")->find("data")->find("key")->as_string(), "shop:s");
  const std::string id = *letter.find("id")->as_string();
  EXPECT_EQ(hooks.api.post(letters + "/" + id + "/redeliver", "").status, 202);
  EXPECT_EQ(hooks.api.post(letters + "/" + id + "/redeliver", "").status, 404);
  EXPECT_EQ(hooks.api.post(letters + "/nonsense/redeliver", "").status, 404);
  EXPECT_EQ(queue(), R"({"behind":0,"retrying":1,"deadLetters":1,"missed":0})");
  EXPECT_EQ(hooks.api.call(kDelete, letters + "/" + id).status, 404);
  const auto last = wire::parse_json(hooks.api.get(letters).body);
  const std::string other =
      *last->root().find("deadLetters")->elements().front().find("id")->as_string();
  EXPECT_EQ(hooks.api.call(kDelete, letters + "/" + other).status, 204);
  EXPECT_EQ(code(hooks.api.get(letters + "?cursor=x")), "bad_cursor");
  EXPECT_EQ(
      hooks.api.get(letters + "?limit=" + std::to_string(session::kMaxDeadLetterPageLimit + 1))
          .status,
      400);
  EXPECT_NE(hooks.api.get("/metrics").body.find("reprise_webhook_dead_total 2"), std::string::npos);
}

TEST(WebhookRoutes, GoWithTheApp) {
  Hooks hooks;
  ASSERT_EQ(hooks.put("one").status, 201);
  EXPECT_EQ(hooks.api.call(kDelete, "/v1/apps/shop").status, 204);
  EXPECT_EQ(code(hooks.api.get("/v1/apps/shop/webhooks")), "app_not_found");
  ASSERT_EQ(hooks.api.call(kPut, "/v1/apps/shop", "{}").status, 201);
  EXPECT_EQ(hooks.api.get("/v1/apps/shop/webhooks").body, R"({"webhooks":[]})");
}

}  // namespace
}  // namespace reprise::api
