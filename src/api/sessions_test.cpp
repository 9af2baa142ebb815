#include <gtest/gtest.h>

#include "api/testing.h"
#include "model/limits.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::member;
using testing::text_member;
using enum wire::Method;

std::string code(const http::Reply& reply) { return text_member(reply.body, "code"); }
// The pointer of the first error.
std::string pointer(const http::Reply& reply) {
  const auto document = wire::parse_json(reply.body);
  const auto errors = document->root().find("errors");
  return errors ? *errors->elements().front().find("pointer")->as_string() : "none";
}

TEST(Sessions, AreCreatedReadPatchedMovedAndDeleted) {
  Api api;
  const auto made = api.post("/v1/sessions", R"({"app":"shop","name":"a:b","metadata":{"n":1}})");
  ASSERT_EQ(made.status, 201);
  const std::string path = "/v1/sessions/" + text_member(made.body, "id");
  EXPECT_EQ(made.headers.get("location"), path);
  EXPECT_EQ(text_member(made.body, "key"), "shop:a:b");
  EXPECT_EQ(text_member(made.body, "graphId"), "shop");
  EXPECT_EQ(text_member(made.body, "status"), "INITIALIZING");
  EXPECT_EQ(made.headers.get("etag"), text_member(made.body, "etag"));

  const auto by_key = api.get("/v1/sessions/shop:a:b?vocabulary=agent");
  EXPECT_EQ(text_member(by_key.body, "status"), "planning");
  const std::string etag(*by_key.headers.get("etag"));
  const auto patched = api.call(kPatch, path, R"({"metadata":{"n":null,"m":2},"ttlSeconds":60})",
                                {{"If-Match", etag}});
  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(member(patched.body, "metadata"), R"({"m":2})");
  EXPECT_EQ(code(api.call(kPatch, path, "{}", {{"If-Match", etag}})), "precondition_failed");
  EXPECT_EQ(member(api.call(kPatch, path, R"({"ttlSeconds":null})").body, "ttlSeconds"), "null");

  EXPECT_EQ(text_member(api.post(path + "/status", R"({"status":"running"})").body, "status"),
            "ACTIVE");
  EXPECT_EQ(text_member(api.post(path + "/pause", "").body, "pauseReason"), "operator");
  EXPECT_EQ(text_member(api.post(path + "/resume", "").body, "status"), "ACTIVE");
  EXPECT_EQ(text_member(api.post(path + "/close", "").body, "status"), "COMPLETED");
  EXPECT_EQ(code(api.post(path + "/pause", "")), "bad_transition");
  EXPECT_EQ(text_member(api.post(path + "/reset", "").body, "status"), "ACTIVE");
  EXPECT_EQ(api.call(kDelete, path).status, 204);
  EXPECT_EQ(code(api.get(path)), "session_not_found");
  EXPECT_EQ(code(api.call(kDelete, path)), "session_not_found");
}

TEST(Sessions, PutGetsOrCreatesByKeyOnly) {
  Api api;
  const auto made = api.call(kPut, "/v1/sessions/shop:x", R"({"status":"ACTIVE"})");
  EXPECT_EQ(made.status, 201);
  const auto found = api.call(kPut, "/v1/sessions/shop:x");
  EXPECT_EQ(found.status, 200);
  EXPECT_EQ(text_member(found.body, "id"), text_member(made.body, "id"));
  EXPECT_EQ(code(api.call(kPut, "/v1/sessions/" + text_member(made.body, "id"))), "bad_key");
  EXPECT_EQ(code(api.call(kPut, "/v1/sessions/%3Ax")), "bad_key");
  EXPECT_EQ(pointer(api.call(kPut, "/v1/sessions/shop:x", R"({"app":"other"})")), "/app");
  EXPECT_EQ(code(api.post("/v1/sessions", R"({"app":"shop","name":"x"})")), "key_taken");
}

TEST(Sessions, WrongBodiesAndParametersAreToldWithTheirPlace) {
  Api api;
  EXPECT_EQ(pointer(api.post("/v1/sessions", R"({"nmae":"x"})")), "/nmae");
  EXPECT_EQ(pointer(api.post("/v1/sessions", R"({"status":"COMPLETED"})")), "/status");
  EXPECT_EQ(pointer(api.post("/v1/sessions", R"({"ttlSeconds":0})")), "/ttlSeconds");
  EXPECT_EQ(pointer(api.post("/v1/sessions", R"({"metadata":[]})")), "/metadata");
  EXPECT_EQ(pointer(api.post("/v1/sessions", R"({"onWorkerLost":"cry"})")), "/onWorkerLost");
  EXPECT_EQ(code(api.post("/v1/sessions", R"({"name":""})")), "bad_key");
  EXPECT_EQ(code(api.post("/v1/sessions", R"({"app":""})")), "bad_key");
  EXPECT_EQ(code(api.post("/v1/sessions?x=1", "{}")), "unknown_parameter");
  EXPECT_EQ(code(api.post("/v1/sessions", "{}", {{"Content-Type", "text/plain"}})),
            "unsupported_media_type");
  const std::string longest(model::kMaxIdentifierBytes, 'g');
  EXPECT_EQ(api.post("/v1/sessions", R"({"graphId":")" + longest + R"("})").status, 201);
  EXPECT_EQ(pointer(api.post("/v1/sessions", R"({"graphId":")" + longest + R"(g"})")), "/graphId");
}

TEST(Sessions, ATokenForSomeAppsSeesNoOthers) {
  Api api;
  const auto mine = api.post("/v1/sessions", R"({"app":"shop","name":"mine"})");
  const auto other = api.post("/v1/sessions", R"({"app":"bank","name":"other"})");
  http::Principal shop{
      .name = "ci", .scope = http::Scope::kWrite, .apps = std::vector<std::string>{"shop"}};
  const auto as_shop = [&](wire::Method method, const std::string& target, std::string body = "") {
    return api.call(method, target, std::move(body), {}, shop);
  };
  const std::string other_path = "/v1/sessions/" + text_member(other.body, "id");
  EXPECT_EQ(as_shop(kGet, "/v1/sessions/" + text_member(mine.body, "id")).status, 200);
  // That it exists is none of their business.
  for (const char* suffix : {"", "/events", "/events/stream", "/subscribers"})
    EXPECT_EQ(code(as_shop(kGet, other_path + suffix)), "session_not_found") << suffix;
  for (const char* suffix : {"/pause", "/close", "/reset", "/touch", "/events"})
    EXPECT_EQ(code(as_shop(kPost, other_path + suffix)), "session_not_found") << suffix;
  EXPECT_EQ(code(as_shop(kPatch, other_path, "{}")), "session_not_found");
  EXPECT_EQ(code(as_shop(kDelete, other_path)), "session_not_found");
  EXPECT_EQ(code(as_shop(kGet, "/v1/sessions/bank:other")), "forbidden");
  EXPECT_EQ(code(as_shop(kPut, "/v1/sessions/bank:new")), "forbidden");
  EXPECT_EQ(code(as_shop(kPost, "/v1/sessions", R"({"app":"bank"})")), "forbidden");
  const auto list = as_shop(kGet, "/v1/sessions");
  EXPECT_EQ(list.body.find("bank"), std::string::npos);
  EXPECT_EQ(member(member(list.body, "countsByStatus"), "INITIALIZING"), "1");
  EXPECT_EQ(as_shop(kGet, "/v1/sessions?app=bank").body.find("other"), std::string::npos);
}

TEST(Sessions, AStaleLeaseIsFencedOnEveryChangeThatTakesOne) {
  Api api;
  const auto made = api.post("/v1/sessions", R"({"status":"ACTIVE"})");
  const std::string path = "/v1/sessions/" + text_member(made.body, "id");
  for (const char* move : {"/pause", "/reset", "/touch", "/close"})
    EXPECT_EQ(code(api.post(path + move, "", {{"Reprise-Lease", "1"}})), "fenced") << move;
  EXPECT_EQ(code(api.call(kPatch, path, "{}", {{"Reprise-Lease", "1"}})), "fenced");
  EXPECT_EQ(code(api.post(path + "/pause", "", {{"Reprise-Lease", "x"}})), "bad_parameter");
  EXPECT_EQ(text_member(api.get(path).body, "status"), "ACTIVE");
}

TEST(SessionList, PagesFiltersAndCounts) {
  Api api;
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(
        api.post("/v1/sessions", R"({"app":"a","name":"n)" + std::to_string(i) + R"("})").status,
        201);
  const auto first = api.get("/v1/sessions?limit=2&app=a");
  const std::string cursor = text_member(first.body, "nextCursor");
  EXPECT_NE(first.body.find("\"a:n4\""), std::string::npos);
  EXPECT_EQ(member(member(first.body, "countsByStatus"), "INITIALIZING"), "5");
  const auto second =
      api.get("/v1/sessions?limit=500&app=a&cursor=" + wire::percent_encode(cursor));
  EXPECT_NE(second.body.find("\"a:n0\""), std::string::npos);
  EXPECT_EQ(member(second.body, "nextCursor"), "null");
  EXPECT_EQ(code(api.get("/v1/sessions?cursor=nonsense")), "bad_cursor");
  for (const char* bad : {"limit=0", "limit=501", "sort=sideways", "waiting=1"})
    EXPECT_EQ(code(api.get(std::string("/v1/sessions?") + bad)), "bad_parameter") << bad;
  for (const char* unknown : {"/v1/sessions?snapshot=false", "/v1/sessions?after=x"})
    EXPECT_EQ(code(api.get(unknown)), "unknown_parameter") << unknown;
}

TEST(SessionList, WithAcceptOfEventStreamIsTheMonitor) {
  Api api;
  api.post("/v1/sessions", R"({"app":"a","name":"before"})");
  const testing::HeaderList sse = {{"Accept", "text/event-stream"}};
  EXPECT_EQ(code(api.get("/v1/sessions?limit=1", sse)), "unknown_parameter");
  EXPECT_EQ(code(api.get("/v1/sessions?snapshot=false&after=nonsense", sse)), "bad_cursor");
  auto monitor = api.get("/v1/sessions?app=a", sse);
  ASSERT_EQ(monitor.status, 200);
  EXPECT_EQ(monitor.headers.get("content-type"), "text/event-stream");
  api.follow(std::move(monitor));
  const std::string& frames = api.socket().taken;
  EXPECT_LT(frames.find("a:before"), frames.find("event: snapshotComplete"));
  const std::size_t seen = frames.size();
  api.post("/v1/sessions", R"({"app":"b","name":"elsewhere"})");
  EXPECT_EQ(frames.size(), seen);
  api.post("/v1/sessions", R"({"app":"a","name":"after"})");
  EXPECT_NE(frames.find("a:after", seen), std::string::npos);
}

}  // namespace
}  // namespace reprise::api
