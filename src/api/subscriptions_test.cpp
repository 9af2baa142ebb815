#include "api/subscriptions.h"

#include <gtest/gtest.h>

#include "api/limits.h"
#include "api/testing.h"
#include "stream/limits.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::member;
using testing::text_member;
using enum wire::Method;

constexpr std::string_view kRoot = "/v1/stream/__ds/subscriptions/";

// The code of an error, in the form that subscriptions have.
std::string code(const http::Reply& reply) {
  return text_member(member(reply.body, "error"), "code");
}

struct Subscriptions : ::testing::Test {
  http::Reply put(const std::string& id, std::string body) {
    return api.call(kPut, std::string(kRoot) + id, std::move(body), {{"Host", "here:1"}});
  }
  http::Reply post(const std::string& id_and_verb, std::string body, std::string token = "") {
    testing::HeaderList headers{{"Content-Type", "application/json"}};
    if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
    return api.post(std::string(kRoot) + id_and_verb, std::move(body), headers);
  }
  void create(const std::string& path, std::string type = "text/plain") {
    ASSERT_EQ(api.call(kPut, "/v1/stream/" + path, "", {{"Content-Type", std::move(type)}}).status,
              201);
  }
  void append(const std::string& path) {
    ASSERT_EQ(api.post("/v1/stream/" + path, "x", {{"Content-Type", "text/plain"}}).status, 204);
  }
  Api api;
};

TEST_F(Subscriptions, AreMadeReadAndDeleted) {
  create("events/a");
  const auto made = put("s", R"({"type":"webhook","pattern":"events/*",)"
                             R"("webhook":{"url":"https://example.com/"},"description":"d"})");
  ASSERT_EQ(made.status, 201);
  EXPECT_EQ(text_member(made.body, "id"), "s");
  EXPECT_EQ(text_member(made.body, "status"), "active");
  EXPECT_EQ(member(made.body, "lease_ttl_ms"), "30000");
  const std::string signing = member(member(made.body, "webhook"), "signing");
  EXPECT_EQ(text_member(signing, "jwks_url"), "http://here:1/v1/stream/__ds/jwks.json");
  EXPECT_EQ(member(made.body, "streams"),
            R"([{"path":"events/a","link_type":"glob",)"
            R"("acked_offset":"0000000000000000_0000000000000000"}])");
  EXPECT_EQ(api.get(std::string(kRoot) + "s").status, 200);
  EXPECT_EQ(put("s", R"({"type":"webhook","pattern":"events/*",)"
                     R"("webhook":{"url":"https://example.com/"},"description":"d"})")
                .status,
            200);
  EXPECT_EQ(code(put("s", R"({"type":"webhook","pattern":"*",)"
                          R"("webhook":{"url":"https://example.com/"}})")),
            "SUBSCRIPTION_ALREADY_EXISTS");
  EXPECT_EQ(post("s/streams", R"({"streams":["x/y"]})").status, 204);
  EXPECT_EQ(api.call(kDelete, std::string(kRoot) + "s/streams/x%2Fy").status, 204);
  EXPECT_EQ(api.call(kDelete, std::string(kRoot) + "s").status, 204);
  EXPECT_EQ(code(api.get(std::string(kRoot) + "s")), "SUBSCRIPTION_NOT_FOUND");
  for (const char* verb : {"s/claim", "s/ack", "s/callback", "s/release"})
    EXPECT_EQ(code(post(verb, R"({"worker":"w","wake_id":"w","generation":1})")),
              "SUBSCRIPTION_NOT_FOUND")
        << verb;
}

TEST_F(Subscriptions, WhatIsWrongIsRefused) {
  const std::string long_text(kMaxSubscriptionTextBytes + 1, 'x');
  const std::string long_path(stream::kMaxLogPathBytes + 1, 'x');
  const std::string hook = R"("webhook":{"url":"https://example.com/"}})";
  for (const std::string& body : {
           std::string("not json"),
           std::string("[]"),
           std::string("{}"),
           R"({"type":"mail","pattern":"*",)" + hook,
           R"({"type":"webhook",)" + hook,
           R"({"type":"webhook","streams":[],)" + hook,
           R"({"type":"webhook","streams":"a",)" + hook,
           R"({"type":"webhook","streams":[1],)" + hook,
           R"({"type":"webhook","streams":[""],)" + hook,
           R"({"type":"webhook","streams":["sessions/1"],)" + hook,
           R"({"type":"webhook","streams":["__ds/x"],)" + hook,
           R"({"type":"webhook","streams":[")" + long_path + R"("],)" + hook,
           R"({"type":"webhook","pattern":")" + long_text + R"(",)" + hook,
           R"({"type":"webhook","pattern":7,)" + hook,
           R"({"type":"webhook","pattern":"*","lease_ttl_ms":999,)" + hook,
           R"({"type":"webhook","pattern":"*","lease_ttl_ms":600001,)" + hook,
           R"({"type":"webhook","pattern":"*","lease_ttl_ms":"1000",)" + hook,
           std::string(R"({"type":"webhook","pattern":"*"})"),
           std::string(R"({"type":"webhook","pattern":"*","webhook":{}})"),
           std::string(R"({"type":"pull-wake","pattern":"*"})"),
           std::string(R"({"type":"pull-wake","pattern":"*","wake_stream":""})"),
           std::string(R"({"type":"pull-wake","streams":["w"],"wake_stream":"w"})"),
       }) {
    const auto reply = put("s", body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_EQ(code(reply), "INVALID_REQUEST") << body;
  }
  EXPECT_EQ(put("s", R"({"type":"webhook","pattern":")" +
                         std::string(kMaxSubscriptionTextBytes, 'x') + R"(",)" + hook)
                .status,
            201);
}

TEST_F(Subscriptions, AnIdHasALongestForm) {
  const std::string body = R"({"type":"pull-wake","streams":["a"],"wake_stream":"w"})";
  EXPECT_EQ(put(std::string(stream::kMaxSubscriptionIdBytes, 'i'), body).status, 201);
  EXPECT_EQ(code(put(std::string(stream::kMaxSubscriptionIdBytes + 1, 'i'), body)),
            "INVALID_REQUEST");
}

TEST_F(Subscriptions, WorkIsClaimedAcknowledgedAndReleased) {
  create("a");
  create("w", "application/json");
  ASSERT_EQ(put("s", R"({"type":"pull-wake","streams":["a"],"wake_stream":"w"})").status, 201);
  EXPECT_EQ(code(post("s/claim", R"({"worker":"one"})")), "NO_PENDING_WORK");
  EXPECT_EQ(code(post("s/claim", "{}")), "INVALID_REQUEST");
  append("a");
  const auto claimed = post("s/claim", R"({"worker":"one"})");
  ASSERT_EQ(claimed.status, 200);
  const auto second = post("s/claim", R"({"worker":"two"})");
  EXPECT_EQ(code(second), "ALREADY_CLAIMED");
  EXPECT_EQ(text_member(member(second.body, "error"), "current_holder"), "one");
  const std::string token = text_member(claimed.body, "token");
  const std::string wake =
      R"("generation":1,"wake_id":")" + text_member(claimed.body, "wake_id") + '"';
  const auto ack = [&](const std::string& offset, const std::string& stream = "a") {
    return post(
        "s/ack",
        "{" + wake + R"(,"acks":[{"stream":")" + stream + R"(","offset":")" + offset + R"("}]})",
        token);
  };
  EXPECT_EQ(code(ack("-1")), "INVALID_OFFSET");
  EXPECT_EQ(code(ack("0000000000000002_0000000000000000")), "INVALID_OFFSET");
  EXPECT_EQ(code(ack("0000000000000001_0000000000000000", "b")), "INVALID_OFFSET");
  EXPECT_EQ(ack("0000000000000001_0000000000000000").body, R"({"ok":true,"next_wake":false})");
  EXPECT_EQ(code(post("s/ack", "{" + wake + R"(,"acks":[{}]})", token)), "INVALID_REQUEST");
  EXPECT_EQ(code(post("s/ack", "{}", token)), "INVALID_REQUEST");
  EXPECT_EQ(code(post("s/ack", "{" + wake + "}")), "TOKEN_INVALID");
  EXPECT_EQ(code(post("s/ack", "{" + wake + "}", "forged")), "TOKEN_INVALID");
  EXPECT_EQ(code(post("s/release", R"({"generation":2,"wake_id":"w"})", token)), "FENCED");
  EXPECT_EQ(post("s/release", "{" + wake + "}", token).status, 204);
  EXPECT_EQ(code(post("s/release", "{" + wake + "}", token)), "FENCED");
}

TEST_F(Subscriptions, ATokenOfOneAppSeesNothingOfAnother) {
  const http::Principal red{
      .name = "red", .scope = http::Scope::kWrite, .apps = std::vector<std::string>{"red"}};
  const auto as_red = [&](wire::Method method, const std::string& target, std::string body = "",
                          testing::HeaderList headers = {{"Content-Type", "text/plain"}}) {
    return api.call(method, target, std::move(body), headers, red);
  };
  create("blue/a");
  EXPECT_EQ(as_red(kPut, "/v1/stream/red/a").status, 201);
  EXPECT_EQ(as_red(kPost, "/v1/stream/red/a", "x").status, 204);
  for (const char* path : {"/v1/stream/blue/a", "/v1/stream/blue", "/v1/stream/reddish/a"})
    for (const auto method : {kPut, kPost, kGet, kHead, kDelete})
      EXPECT_EQ(as_red(method, path, "x").status, 403) << path;
  EXPECT_EQ(
      as_red(kPut, "/v1/stream/red/fork", "", {{"Stream-Forked-From", "/v1/stream/blue/a"}}).status,
      403);
  const std::string root(kRoot);
  const std::string hook = R"("webhook":{"url":"https://example.com/"}})";
  for (const std::string& body : {R"({"type":"webhook","pattern":"**",)" + hook,
                                  R"({"type":"webhook","pattern":"blue/*",)" + hook,
                                  R"({"type":"webhook","streams":["blue/a"],)" + hook,
                                  std::string(R"({"type":"pull-wake","pattern":"red/*",)"
                                              R"("wake_stream":"blue/w"})")})
    EXPECT_EQ(as_red(kPut, root + "mine", body).status, 403) << body;
  EXPECT_EQ(as_red(kPut, root + "mine", R"({"type":"webhook","pattern":"red/*",)" + hook).status,
            201);
  EXPECT_EQ(as_red(kPost, root + "mine/streams", R"({"streams":["blue/a"]})").status, 403);
  ASSERT_EQ(
      put("theirs", R"({"type":"pull-wake","pattern":"blue/*","wake_stream":"blue/w"})").status,
      201);
  EXPECT_EQ(as_red(kGet, root + "theirs").status, 404);
  EXPECT_EQ(as_red(kDelete, root + "theirs").status, 404);
  EXPECT_EQ(as_red(kPost, root + "theirs/claim", R"({"worker":"w"})").status, 404);
  EXPECT_EQ(as_red(kPost, root + "theirs/streams", R"({"streams":["red/a"]})").status, 404);
  EXPECT_EQ(as_red(kDelete, root + "theirs/streams/blue%2Fa").status, 404);
}

TEST_F(Subscriptions, TheKeyIsPublished) {
  const auto reply = api.get("/v1/stream/__ds/jwks.json");
  EXPECT_EQ(reply.headers.get("content-type"), "application/jwk-set+json");
  EXPECT_NE(reply.body.find(R"("kid":"ds_)"), std::string::npos);
}

}  // namespace
}  // namespace reprise::api
