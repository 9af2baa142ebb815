#include "api/checkpoints.h"

#include <gtest/gtest.h>

#include "api/testing.h"
#include "model/limits.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::HeaderList;
using testing::member;
using testing::text_member;
using enum wire::Method;

class CheckpointRoutesTest : public ::testing::Test {
 protected:
  http::Reply put(std::string_view name, std::string body, HeaderList headers = {}) {
    headers.emplace_back("Content-Type", "application/json");
    return api.call(kPut, base + '/' + std::string(name), std::move(body), headers);
  }
  Api api;
  std::string session = text_member(
      api.post("/v1/sessions", R"({"status":"ACTIVE"})", {{"Content-Type", "application/json"}})
          .body,
      "id");
  std::string base = "/v1/sessions/" + session + "/checkpoints";
};

TEST_F(CheckpointRoutesTest, WhatWasPutIsGot) {
  const auto made = put("state", R"({"data": {"step": 1.50}})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.headers.get("location"), base + "/state");
  EXPECT_EQ(made.headers.get("etag"), "\"1\"");
  EXPECT_EQ(member(made.body, "version"), "1");
  EXPECT_EQ(member(made.body, "seq"), "2");
  EXPECT_EQ(member(made.body, "size"), "13");
  EXPECT_EQ(member(made.body, "data"), "");
  EXPECT_EQ(put("state", R"({"data":null})").status, 200);
  const auto got = api.get(base + "/state");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.headers.get("etag"), "\"2\"");
  EXPECT_EQ(member(got.body, "data"), "null");
  EXPECT_EQ(text_member(got.body, "name"), "state");
  const auto older = api.get(base + "/state?version=1");
  EXPECT_EQ(member(older.body, "data"), R"({"step":1.50})");
  EXPECT_EQ(api.get(base + "/state", {{"If-None-Match", "\"2\""}}).status, 304);
  EXPECT_EQ(api.get(base + "/state?version=3").status, 404);
}

TEST_F(CheckpointRoutesTest, NamesAreDecodedAndChecked) {
  EXPECT_EQ(put("a%2Fb%20%C3%BC", R"({"data":1})").status, 201);
  EXPECT_EQ(text_member(api.get(base + "/a%2Fb%20%C3%BC").body, "name"), "a/b ü");
  EXPECT_EQ(put("a%0Ab", R"({"data":1})").status, 400);
  EXPECT_EQ(put(std::string(model::kMaxCheckpointNameBytes + 1, 'x'), R"({"data":1})").status, 400);
}

TEST_F(CheckpointRoutesTest, BadBodiesAreRefused) {
  EXPECT_EQ(put("a", "{}").status, 422);
  EXPECT_EQ(put("a", R"({"data":1,"dta":2})").status, 422);
  EXPECT_EQ(put("a", "{").status, 400);
  EXPECT_EQ(put("a", R"({"data":")" + std::string(model::kMaxCheckpointBytes, 'x') + "\"}").status,
            413);
  EXPECT_EQ(put("a?x=1", R"({"data":1})").status, 400);
  EXPECT_EQ(api.get(base + "/a?version=0").status, 400);
  EXPECT_EQ(api.get(base + "/a").status, 404);
  EXPECT_EQ(text_member(api.get(base + "/a").body, "code"), "checkpoint_not_found");
}

TEST_F(CheckpointRoutesTest, ConditionsAreHeld) {
  EXPECT_EQ(put("a", R"({"data":1})", {{"If-Match", "\"1\""}}).status, 412);
  EXPECT_EQ(put("a", R"({"data":1})", {{"If-None-Match", "*"}}).status, 201);
  EXPECT_EQ(put("a", R"({"data":1})", {{"If-None-Match", "*"}}).status, 412);
  EXPECT_EQ(put("a", R"({"data":1})", {{"If-Match", "\"1\""}}).status, 200);
  EXPECT_EQ(put("a", R"({"data":1})", {{"If-Match", "\"1\""}}).status, 412);
}

TEST_F(CheckpointRoutesTest, ListsGoOnWithTheirCursor) {
  for (const char* name : {"b", "a", "c"}) put(name, R"({"data":1})");
  const auto first = api.get(base + "?limit=2");
  EXPECT_EQ(first.status, 200);
  EXPECT_NE(first.body.find(R"("name":"b")"), std::string::npos);
  EXPECT_EQ(first.body.find(R"("name":"c")"), std::string::npos);
  const std::string cursor = text_member(first.body, "nextCursor");
  const auto rest = api.get(base + "?limit=2&cursor=" + cursor);
  EXPECT_NE(rest.body.find(R"("name":"c")"), std::string::npos);
  EXPECT_EQ(member(rest.body, "nextCursor"), "null");
  EXPECT_EQ(api.get(base + "?cursor=!").status, 400);
  EXPECT_EQ(api.get(base + fmt::format("?limit={}", session::kMaxCheckpointPageLimit + 1)).status,
            400);
}

TEST_F(CheckpointRoutesTest, APageHasSoManyIfNobodySaysOtherwise) {
  for (std::size_t i = 0; i < session::kDefaultCheckpointPageLimit; ++i)
    put(fmt::format("n{}", i), R"({"data":1})");
  EXPECT_EQ(member(api.get(base).body, "nextCursor"), "null");
  put("one-more", R"({"data":1})");
  EXPECT_NE(member(api.get(base).body, "nextCursor"), "null");
}

TEST_F(CheckpointRoutesTest, AreDeleted) {
  put("a", R"({"data":1})");
  EXPECT_EQ(api.call(kDelete, base + "/a").status, 204);
  EXPECT_EQ(api.call(kDelete, base + "/a").status, 404);
}

TEST_F(CheckpointRoutesTest, ATokenOfAnotherAppFindsNothing) {
  put("a", R"({"data":1})");
  const http::Principal stranger{
      .name = "x", .scope = http::Scope::kWrite, .apps = std::vector<std::string>{"other"}};
  EXPECT_EQ(api.call(kGet, base + "/a", {}, {}, stranger).status, 404);
  EXPECT_EQ(api.call(kDelete, base + "/a", {}, {}, stranger).status, 404);
}

}  // namespace
}  // namespace reprise::api
