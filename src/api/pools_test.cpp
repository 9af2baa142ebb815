// Pools of other processes as far as they go without a browser; tests/e2e/pools.test.mjs goes on.
#include "api/pools.h"

#include <gtest/gtest.h>

#include <chrono>

#include "api/browser_testing.h"
#include "browser/external_pools.h"
#include "browser/limits.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::Browsers;
using testing::member;
using testing::text_member;

class PoolRoutesTest : public ::testing::Test {
 protected:
  int put(const std::string& key, const std::string& body) {
    return api.call(wire::Method::kPut, "/v1/pools/" + key, body).status;
  }
  static std::string with(std::string_view name, std::uint64_t number) {
    return fmt::format(R"({{"maxContexts":1,"{}":{}}})", name, number);
  }
  Api api;
  Browsers browsers{api};
};

TEST_F(PoolRoutesTest, APoolThatDoesNotBeatIsStaleAfterThreeIntervals) {
  ASSERT_EQ(put("far", R"({"maxContexts":4,"heartbeatSeconds":10})"), 201);
  api.advance(std::chrono::seconds(29));
  EXPECT_EQ(text_member(api.get("/v1/pools/far").body, "status"), "alive");
  api.advance(std::chrono::seconds(1));
  EXPECT_EQ(text_member(api.get("/v1/pools/far").body, "status"), "stale");
  EXPECT_EQ(api.post("/v1/pools/far/heartbeat", "{}").status, 200);
  EXPECT_EQ(text_member(api.get("/v1/pools/far").body, "status"), "alive");
}

TEST_F(PoolRoutesTest, WhatAPoolSaysHasLimits) {
  using namespace browser;
  EXPECT_EQ(put(std::string(kMaxPoolKeyBytes, 'k'), R"({"maxContexts":1})"), 201);
  EXPECT_EQ(put(std::string(kMaxPoolKeyBytes + 1, 'k'), R"({"maxContexts":1})"), 400);
  EXPECT_EQ(put("a", fmt::format(R"({{"maxContexts":{}}})", kMaxPoolContexts)), 201);
  EXPECT_EQ(put("a", fmt::format(R"({{"maxContexts":{}}})", kMaxPoolContexts + 1)), 422);
  EXPECT_EQ(put("a", with("heartbeatSeconds", kMaxPoolHeartbeatSeconds)), 200);
  EXPECT_EQ(put("a", with("heartbeatSeconds", kMaxPoolHeartbeatSeconds + 1)), 422);
  const auto located = [&](std::size_t bytes) {
    return put("a", fmt::format(R"({{"maxContexts":1,"location":"{}"}})", std::string(bytes, 'x')));
  };
  EXPECT_EQ(located(kMaxPoolLocationBytes), 200);
  EXPECT_EQ(located(kMaxPoolLocationBytes + 1), 422);
}

TEST_F(PoolRoutesTest, ThereAreOnlySoManyOfThem) {
  for (std::size_t i = 0; i < browser::kMaxExternalPools; ++i)
    ASSERT_EQ(put(fmt::format("p{}", i), R"({"maxContexts":1})"), 201);
  EXPECT_EQ(put("more", R"({"maxContexts":1})"), 429);
  EXPECT_EQ(put("p0", R"({"maxContexts":2})"), 200) << "who is there may say something else";
  EXPECT_EQ(api.call(wire::Method::kDelete, "/v1/pools/p1").status, 204);
  EXPECT_EQ(put("more", R"({"maxContexts":1})"), 201);
}

TEST(ExternalPoolRecord, IsReadBackAsItWasWritten) {
  const browser::ExternalPoolFacts facts{.max_contexts = 7,
                                         .location = "rack \"4\"",
                                         .heartbeat_seconds = 15,
                                         .registered_at = TimePoint{1'700'000'000'123},
                                         .stale_since = TimePoint{1'700'000'100'000}};
  const auto read = browser::decode_external_pool(browser::encode_external_pool(facts));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->max_contexts, 7u);
  EXPECT_EQ(read->location, "rack \"4\"");
  EXPECT_EQ(read->registered_at.ms, facts.registered_at.ms);
  EXPECT_EQ(read->stale_since->ms, facts.stale_since->ms);
  EXPECT_EQ(browser::decode_external_pool("{}").error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace reprise::api
