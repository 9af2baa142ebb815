#include "api/agents.h"

#include <gtest/gtest.h>

#include "api/testing.h"
#include "model/limits.h"
#include "session/limits.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::member;
using testing::text_member;
using enum wire::Method;

std::string code(const http::Reply& reply) { return text_member(reply.body, "code"); }

http::Reply put(Api& api, std::string_view id, std::string body = "") {
  return api.call(kPut, "/v1/agents/" + std::string(id), std::move(body));
}

testing::HeaderList lease(std::string generation) {
  return {{"Reprise-Lease", std::move(generation)}};
}

TEST(AgentRoutes, RegisterReadListAndDelete) {
  Api api;
  const http::Reply made = put(api, "shop:w%201", R"({"heartbeatSeconds":20})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(text_member(made.body, "id"), "shop:w 1");
  EXPECT_EQ(text_member(made.body, "status"), "alive");
  EXPECT_EQ(member(made.body, "generation"), "1");
  EXPECT_EQ(member(made.body, "heartbeatSeconds"), "20");
  EXPECT_EQ(member(made.body, "lostAt"), "null");
  const http::Reply again = put(api, "shop:w%201");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(member(again.body, "generation"), "2");
  EXPECT_EQ(member(again.body, "heartbeatSeconds"), "15");
  EXPECT_EQ(api.get("/v1/agents/shop:w%201").body, again.body);
  put(api, "b");
  const http::Reply list = api.get("/v1/agents?limit=1");
  EXPECT_EQ(member(list.body, "countsByStatus"), R"({"alive":2,"lost":0})");
  const std::string cursor = text_member(list.body, "nextCursor");
  const http::Reply rest = api.get("/v1/agents?limit=1&cursor=" + cursor);
  EXPECT_EQ(member(rest.body, "nextCursor"), "null");
  EXPECT_EQ(member(rest.body, "agents"), "[" + again.body + "]");
  EXPECT_EQ(api.call(kDelete, "/v1/agents/b").status, 204);
  EXPECT_EQ(code(api.call(kDelete, "/v1/agents/b")), "agent_not_found");
  EXPECT_EQ(code(api.get("/v1/agents/b")), "agent_not_found");
  EXPECT_EQ(code(api.post("/v1/agents/b/heartbeat", "")), "agent_not_found");
}

TEST(AgentRoutes, RefuseWhatIsWrong) {
  Api api;
  for (const char* body : {R"({"heartbeatSeconds":0})", R"({"heartbeatSeconds":3601})",
                           R"({"heartbeatSeconds":"1"})", R"({"beat":1})"})
    EXPECT_EQ(put(api, "w", body).status, 422) << body;
  for (const auto seconds : {std::uint64_t{1}, model::kMaxHeartbeatSeconds})
    EXPECT_LT(put(api, "w", fmt::format("{{\"heartbeatSeconds\":{}}}", seconds)).status, 300);
  EXPECT_EQ(put(api, std::string(model::kMaxIdentifierBytes + 1, 'a')).status, 400);
  EXPECT_EQ(put(api, "a%0Ab").status, 400);
  for (const char* query : {"status=dead", "limit=0", "limit=501", "cursor=x", "app=a"})
    EXPECT_EQ(api.get("/v1/agents?" + std::string(query)).status, 400) << query;
  EXPECT_EQ(api.get(fmt::format("/v1/agents?limit={}", session::kMaxListLimit)).status, 200);
  EXPECT_EQ(code(api.post("/v1/agents/w/heartbeat", "", lease("x"))), "bad_parameter");
  EXPECT_EQ(api.post("/v1/agents/w/heartbeat", R"({"generation":-1})").status, 422);
  EXPECT_EQ(api.post("/v1/agents/w/heartbeat", R"({"generation":1})", lease("2")).status, 422);
}

TEST(AgentRoutes, AHeartbeatShowsItsGenerationInEitherPlace) {
  Api api;
  put(api, "w");
  const std::string path = "/v1/agents/w/heartbeat";
  EXPECT_EQ(api.post(path, "").status, 200);
  EXPECT_EQ(api.post(path, R"({"generation":1})").status, 200);
  EXPECT_EQ(api.post(path, "", lease("1")).status, 200);
  put(api, "w");
  EXPECT_EQ(code(api.post(path, R"({"generation":1})")), "fenced");
  EXPECT_EQ(code(api.post(path, "", lease("1"))), "fenced");
  EXPECT_EQ(api.post(path, R"({"generation":2})", lease("2")).status, 200);
}

TEST(AgentRoutes, ALostAgentIsFencedUntilItRegistersAgain) {
  Api api;
  put(api, "w", R"({"heartbeatSeconds":1})");
  const http::Reply made = api.post("/v1/sessions", R"({"ownerAgent":"w","status":"ACTIVE"})");
  const std::string path = "/v1/sessions/" + text_member(made.body, "id");
  const std::string event = R"({"type":"log"})";
  EXPECT_EQ(api.post(path + "/events", event, lease("1")).status, 201);
  api.pass(3);
  const http::Reply lost = api.get("/v1/agents?status=lost");
  EXPECT_EQ(member(lost.body, "countsByStatus"), R"({"alive":0,"lost":1})");
  EXPECT_EQ(code(api.post("/v1/agents/w/heartbeat", "")), "fenced");
  EXPECT_EQ(code(api.post(path + "/events", event, lease("1"))), "fenced");
  EXPECT_EQ(code(api.post(path + "/events", R"({"type":"log","ephemeral":true})", lease("1"))),
            "fenced");
  EXPECT_EQ(code(api.call(kDelete, path, "", lease("1"))), "fenced");
  EXPECT_EQ(code(api.post("/v1/sessions", R"({"ownerAgent":"w"})", lease("1"))), "fenced");
  EXPECT_EQ(code(api.call(kPut, "/v1/sessions/a:b", R"({"ownerAgent":"w"})", lease("1"))),
            "fenced");
  const http::Reply session = api.get(path);
  EXPECT_EQ(text_member(session.body, "status"), "PAUSED");
  EXPECT_EQ(text_member(session.body, "pauseReason"), "workerLost");
  EXPECT_EQ(member(put(api, "w").body, "generation"), "2");
  EXPECT_EQ(api.post(path + "/events", event, lease("2")).status, 201);
  EXPECT_EQ(api.post(path + "/resume", "", lease("2")).status, 200);
  const std::string metrics = api.get("/metrics").body;
  for (const char* line : {"reprise_agents_alive 1\n", "reprise_agents_lost 0\n",
                           "reprise_agent_losses_total 1\n", "reprise_agent_heartbeats_total 0\n",
                           "reprise_fenced_total 6\n", "reprise_agent_sessions_seen_to_total 1\n"})
    EXPECT_NE(metrics.find(line), std::string::npos) << line;
  EXPECT_EQ(member(api.get("/v1/health").body, "agents"), R"({"alive":1,"lost":0})");
}

TEST(AgentRoutes, ATokenForSomeAppsUsesAndSeesTheAgentsOfThose) {
  Api api;
  const http::Principal shop{
      .name = "s", .scope = http::Scope::kWrite, .apps = std::vector<std::string>{"shop"}};
  put(api, "other:w");
  put(api, "w");
  const auto as_shop = [&](wire::Method method, std::string_view target) {
    return api.call(method, target, {}, {}, shop);
  };
  EXPECT_EQ(as_shop(kPut, "/v1/agents/shop:w").status, 201);
  EXPECT_EQ(as_shop(kPost, "/v1/agents/shop:w/heartbeat").status, 200);
  for (const char* id : {"other:w", "w", "unknown"}) {
    const std::string path = "/v1/agents/" + std::string(id);
    EXPECT_EQ(code(as_shop(kGet, path)), "forbidden");
    EXPECT_EQ(code(as_shop(kPut, path)), "forbidden");
    EXPECT_EQ(code(as_shop(kDelete, path)), "forbidden");
    EXPECT_EQ(code(as_shop(kPost, path + "/heartbeat")), "forbidden");
  }
  const http::Reply list = as_shop(kGet, "/v1/agents");
  EXPECT_EQ(list.body.find("other:w"), std::string::npos);
  EXPECT_NE(list.body.find("shop:w"), std::string::npos);
  EXPECT_EQ(member(list.body, "countsByStatus"), "");
}

}  // namespace
}  // namespace reprise::api
