#include "api/apps.h"

#include <gtest/gtest.h>

#include "api/limits.h"
#include "api/testing.h"
#include "session/limits.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::member;
using testing::text_member;
using enum wire::Method;

std::string code(const http::Reply& reply) { return text_member(reply.body, "code"); }

TEST(Apps, ComeWithTheirFirstSessionOrWithSettings) {
  Api api;
  EXPECT_EQ(code(api.get("/v1/apps/shop")), "app_not_found");
  ASSERT_EQ(api.post("/v1/sessions", R"({"app":"shop"})").status, 201);
  const auto shop = api.get("/v1/apps/shop");
  EXPECT_EQ(shop.status, 200);
  EXPECT_EQ(member(shop.body, "defaultTtlSeconds"), "null");
  EXPECT_EQ(member(member(shop.body, "countsByStatus"), "INITIALIZING"), "1");
  EXPECT_EQ(api.call(kPut, "/v1/apps/desk", R"({"description":"d"})").status, 201);
  EXPECT_EQ(api.call(kPut, "/v1/apps/desk", R"({"maxSessions":3})").status, 200);
  EXPECT_EQ(member(api.get("/v1/apps/desk").body, "maxSessions"), "3");
  EXPECT_EQ(api.call(kPut, "/v1/apps/a:b", "{}").status, 400);
  EXPECT_EQ(api.call(kPut, "/v1/apps/x", R"({"maxSessions":0})").status, 422);
  EXPECT_EQ(api.call(kPut, "/v1/apps/x", R"({"unknown":1})").status, 422);
}

TEST(Apps, SettingsHoldForNewSessionsThatDoNotSayOtherwise) {
  Api api;
  ASSERT_EQ(
      api.call(kPut, "/v1/apps/shop", R"({"defaultTtlSeconds":60,"defaultMaxLifetimeSeconds":600})")
          .status,
      201);
  const auto made = api.post("/v1/sessions", R"({"app":"shop"})");
  EXPECT_EQ(member(made.body, "ttlSeconds"), "60");
  EXPECT_EQ(member(made.body, "maxLifetimeSeconds"), "600");
  const auto own = api.call(kPut, "/v1/sessions/shop:x", R"({"ttlSeconds":5})");
  EXPECT_EQ(member(own.body, "ttlSeconds"), "5");
}

TEST(Apps, HaveOnlySoManyLivingSessions) {
  Api api;
  ASSERT_EQ(api.call(kPut, "/v1/apps/shop", R"({"maxSessions":2})").status, 201);
  ASSERT_EQ(api.call(kPut, "/v1/sessions/shop:one", "").status, 201);
  const auto two = api.post("/v1/sessions", R"({"app":"shop"})");
  ASSERT_EQ(two.status, 201);
  EXPECT_EQ(code(api.post("/v1/sessions", R"({"app":"shop"})")), "too_many_requests");
  // What is there is found all the same, and an ended one makes room.
  EXPECT_EQ(api.call(kPut, "/v1/sessions/shop:one", "").status, 200);
  ASSERT_EQ(api.post("/v1/sessions/" + text_member(two.body, "id") + "/close", "").status, 200);
  EXPECT_EQ(api.post("/v1/sessions", R"({"app":"shop"})").status, 201);
  // One that lives again counts too.
  const std::string reset = "/v1/sessions/" + text_member(two.body, "id") + "/reset";
  EXPECT_EQ(code(api.post(reset, "")), "too_many_requests");
}

TEST(Apps, DoNotComeWithASessionThatIsRefused) {
  Api api;
  EXPECT_EQ(api.post("/v1/sessions", R"({"app":"shop","ownerAgent":"a\u0000"})").status, 422);
  EXPECT_EQ(api.post("/v1/sessions", R"({"app":"shop"})", {{"Reprise-Lease", "1"}}).status, 409);
  EXPECT_EQ(code(api.get("/v1/apps/shop")), "app_not_found");
}

TEST(Apps, AreListedPageByPageToThoseWhoMaySeeThem) {
  Api api;
  for (const char* id : {"c", "a", "b"})
    ASSERT_EQ(api.call(kPut, std::string("/v1/apps/") + id, "").status, 201);
  const auto first = api.get("/v1/apps?limit=2");
  EXPECT_EQ(text_member(first.body, "nextCursor"), "b");
  const auto rest = api.get("/v1/apps?cursor=b");
  EXPECT_NE(rest.body.find(R"("id":"c")"), std::string::npos);
  EXPECT_EQ(member(rest.body, "nextCursor"), "null");
  EXPECT_EQ(api.get("/v1/apps?limit=" + std::to_string(kMaxAppPageLimit + 1)).status, 400);
  const http::Principal one{
      .name = "x", .scope = http::Scope::kWrite, .apps = std::vector<std::string>{"b"}};
  const auto seen = api.call(kGet, "/v1/apps", "", {}, one);
  EXPECT_EQ(seen.body.find(R"("id":"a")"), std::string::npos);
  EXPECT_NE(seen.body.find(R"("id":"b")"), std::string::npos);
  EXPECT_EQ(api.call(kDelete, "/v1/apps/a", "", {}, one).status, 403);
  // Nor does a cursor tell of others.
  const http::Principal two{.name = "x",
                            .scope = http::Scope::kWrite,
                            .apps = std::vector<std::string>{"c", "none", "b"}};
  const auto page = api.call(kGet, "/v1/apps?limit=1", "", {}, two);
  EXPECT_EQ(text_member(page.body, "nextCursor"), "b");
  const auto last = api.call(kGet, "/v1/apps?limit=1&cursor=b", "", {}, two);
  EXPECT_NE(last.body.find(R"("id":"c")"), std::string::npos);
  EXPECT_EQ(member(last.body, "nextCursor"), "null");
  for (std::size_t i = 0; i < kDefaultAppPageLimit; ++i)
    ASSERT_EQ(api.call(kPut, "/v1/apps/more" + std::to_string(i), "").status, 201);
  EXPECT_NE(member(api.get("/v1/apps").body, "nextCursor"), "null");
}

TEST(Apps, AreClosedWholeAndThenMayGo) {
  Api api;
  const std::size_t many = session::kSessionsClosedAtOnce * 2 + 1;
  for (std::size_t i = 0; i < many; ++i)
    ASSERT_EQ(api.post("/v1/sessions", R"({"app":"shop"})").status, 201);
  ASSERT_EQ(api.post("/v1/sessions", R"({"app":"other"})").status, 201);
  EXPECT_EQ(code(api.call(kDelete, "/v1/apps/shop")), "conflict");
  const auto closed = api.post("/v1/apps/shop/close", R"({"reason":"the day is over"})");
  EXPECT_EQ(closed.body, R"({"closed":)" + std::to_string(many) + R"(,"failed":0,"failures":[]})");
  EXPECT_EQ(member(member(api.get("/v1/apps/other").body, "countsByStatus"), "INITIALIZING"), "1");
  EXPECT_EQ(api.post("/v1/apps/shop/close", "").body, R"({"closed":0,"failed":0,"failures":[]})");
  EXPECT_EQ(code(api.post("/v1/apps/nobody/close", "")), "app_not_found");
  EXPECT_EQ(api.call(kDelete, "/v1/apps/shop").status, 204);
  EXPECT_EQ(code(api.call(kDelete, "/v1/apps/shop")), "app_not_found");
}

}  // namespace
}  // namespace reprise::api
