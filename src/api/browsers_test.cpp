// Routes of browsers as far as they go without one; tests/e2e/browser.test.mjs goes on from here.
#include <gtest/gtest.h>

#include "api/browser_testing.h"
#include "browser/limits.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::Browsers;
using testing::member;
using testing::text_member;

class BrowserRoutesTest : public ::testing::Test {
 protected:
  std::string session() {
    return text_member(api.post("/v1/sessions", R"({"app":"a","status":"ACTIVE"})").body, "id");
  }
  Api api;
  Browsers browsers{api};
};

TEST_F(BrowserRoutesTest, ABrowserThatDoesNotStartIsToldAndSoIsThePool) {
  const std::string path = "/v1/sessions/" + session();
  const auto refused = api.post(path + "/browser", "{}");
  EXPECT_EQ(refused.status, 502);
  EXPECT_EQ(text_member(refused.body, "code"), "browser_error");
  EXPECT_EQ(api.get(path + "/browser").status, 404) << "nothing was opened";
  const std::string pools = api.get("/v1/pools").body;
  EXPECT_NE(pools.find(R"("lastError":"there is no browser here")"), std::string::npos) << pools;
  EXPECT_NE(pools.find(R"("contexts":0)"), std::string::npos) << "the place is given back";
  const auto called = api.post(path + "/tools/browser_snapshot", "{}");
  EXPECT_EQ(called.status, 200) << called.body;
  EXPECT_EQ(member(called.body, "ok"), "false");
}

TEST_F(BrowserRoutesTest, WhatIsWrongIsRefusedBeforeABrowserIsNeeded) {
  const std::string path = "/v1/sessions/" + session();
  EXPECT_EQ(text_member(api.post(path + "/browser", R"({"browserType":"webkit"})").body, "code"),
            "unsupported_browser");
  EXPECT_EQ(api.post(path + "/browser", R"({"viewport":{"width":10001}})").status, 422);
  EXPECT_EQ(api.post(path + "/browser", R"({"extraHTTPHeaders":{"a":"b\r\nc"}})").status, 422);
  EXPECT_EQ(api.post(path + "/browser", "[]").status, 422);
  EXPECT_EQ(api.post(path + "/browser", "{").status, 400);
  EXPECT_EQ(text_member(api.post(path + "/browser", R"({"poolKey":"x"})").body, "code"),
            "pool_not_found");
  EXPECT_EQ(text_member(api.post(path + "/tools/browser_fly", "{}").body, "code"),
            "tool_not_found");
  EXPECT_EQ(text_member(api.post(path + "/tools/playwright_session_list", "{}").body, "code"),
            "tool_not_found");
  EXPECT_EQ(api.post(path + "/tools/browser_click", R"({"target":7})").status, 422);
  EXPECT_EQ(text_member(api.get(path + "/tabs?status=odd").body, "code"), "bad_parameter");
  EXPECT_EQ(api.get(path + "/commands?tab=x").status, 400);
  EXPECT_EQ(api.get(path + fmt::format("/commands?limit={}", browser::kMaxCommandPageLimit)).status,
            200);
  EXPECT_EQ(
      api.get(path + fmt::format("/commands?limit={}", browser::kMaxCommandPageLimit + 1)).status,
      400);
}

TEST_F(BrowserRoutesTest, ASessionWithoutABrowserHasNoTabsAndNoCommands) {
  const std::string path = "/v1/sessions/" + session();
  EXPECT_EQ(api.get(path + "/tabs").body, R"({"tabs":[]})");
  EXPECT_EQ(api.get(path + "/commands").body, R"({"commands":[],"nextAfter":0,"hasMore":false})");
}

TEST_F(BrowserRoutesTest, TheGraphKnowsSessionsAndPoolsAndNothingElse) {
  const std::string id = session();
  EXPECT_NE(api.get("/v1/graph/nodes/Pool?key=default").body.find("\"pool:default\""),
            std::string::npos);
  EXPECT_NE(api.get("/v1/graph/nodes/Session?key=" + id).body.find(id), std::string::npos);
  EXPECT_EQ(api.get("/v1/graph/nodes/Tab?key=x").body, R"({"nodes":[]})");
  EXPECT_EQ(api.get("/v1/graph/nodes/Thing?key=x").status, 404);
  EXPECT_EQ(api.get("/v1/graph/nodes/Tab").status, 400);
  EXPECT_EQ(api.get("/v1/graph/nodes/" + id + "/out/SessionHasContext").body,
            R"({"edges":[],"nextCursor":null})");
  EXPECT_EQ(api.get("/v1/graph/nodes/" + id + "/out/Odd").status, 404);
  EXPECT_EQ(api.get("/v1/graph/nodes/" + id + "/up/SessionHasContext").status, 404);
  EXPECT_EQ(text_member(api.get("/v1/graph/nodes/nobody/in/ContextHasTab").body, "code"),
            "node_not_found");
  EXPECT_EQ(api.get("/v1/graph/nodes/pool:default/out/PoolHasSession?cursor=!").status, 400);
  EXPECT_EQ(api.get("/v1/graph/nodes/pool:default/out/PoolHasSession?cursor=YWJj").status, 400);
}

}  // namespace
}  // namespace reprise::api
