#include "api/archives.h"

#include <gtest/gtest.h>

#include "api/testing.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::HeaderList;
using testing::member;
using testing::text_member;
using enum wire::Method;

const HeaderList kTar = {{"Content-Type", "application/x-tar"}};

class ArchiveRoutesTest : public ::testing::Test {
 protected:
  ArchiveRoutesTest() {
    here.post(base + "/events", R"({"type":"message","data":{"text":"hello","n":1.0}})");
    here.call(kPut, base + "/artifacts/workspace/a.txt", "content",
              {{"Content-Type", "text/plain"}});
    const auto call = here.post(base + "/tool-calls", R"({"toolName":"click"})");
    here.post(base + "/tool-calls/" + text_member(call.body, "id") + "/finish",
              R"({"status":"success"})");
    here.post(base + "/interactions", R"({"kind":"confirm","prompt":"Really?"})");
  }
  http::Reply import(Api& api, std::string_view query = "") {
    return api.call(kPost, "/v1/sessions/import" + std::string(query), archive, kTar);
  }

  Api here;
  Api there;
  std::string id = text_member(
      here.post("/v1/sessions", R"({"app":"shop","name":"one","status":"ACTIVE"})").body, "id");
  std::string base = "/v1/sessions/" + id;
  std::string archive;
};

TEST_F(ArchiveRoutesTest, ASessionMovesToAnotherServer) {
  const auto exported = here.get(base + "/export");
  ASSERT_EQ(exported.status, 200) << exported.body;
  EXPECT_EQ(exported.headers.get("content-type"), "application/x-tar");
  EXPECT_EQ(exported.headers.get("content-disposition"),
            "attachment; filename=\"session-" + id + ".tar\"");
  archive = exported.body;
  const auto imported = import(there);
  ASSERT_EQ(imported.status, 201) << imported.body;
  EXPECT_EQ(imported.headers.get("location"), base);
  EXPECT_EQ(text_member(imported.body, "id"), id);
  EXPECT_EQ(imported.body, here.get(base).body);
  EXPECT_EQ(there.get(base + "/export").body, archive);
  EXPECT_EQ(there.get("/v1/sessions/shop:one/export").body, archive);
  for (const char* part :
       {"/events", "/interactions", "/tool-calls", "/audit/verify", "/artifacts"})
    EXPECT_EQ(there.get(base + part).body, here.get(base + part).body) << part;
  EXPECT_EQ(there.get(base + "/artifacts/workspace/a.txt").body, "content");
}

TEST_F(ArchiveRoutesTest, ATakenIdOrKeyIsAConflict) {
  archive = here.get(base + "/export").body;
  const auto taken = import(here);
  EXPECT_EQ(taken.status, 409);
  EXPECT_EQ(text_member(taken.body, "code"), "session_exists");
  const auto key = import(here, "?newId=true");
  EXPECT_EQ(key.status, 409);
  EXPECT_EQ(text_member(key.body, "code"), "key_taken");
  EXPECT_EQ(text_member(key.body, "sessionId"), id);
  const auto copy = import(here, "?newId=true&name=two");
  ASSERT_EQ(copy.status, 201) << copy.body;
  EXPECT_NE(text_member(copy.body, "id"), id);
  EXPECT_EQ(text_member(copy.body, "key"), "shop:two");
  const auto verdict = here.get("/v1/sessions/shop:two/audit/verify");
  EXPECT_EQ(member(verdict.body, "valid"), "true");
  EXPECT_EQ(member(verdict.body, "entries"), "2");
}

TEST_F(ArchiveRoutesTest, WhatIsWrongIsToldWithItsCode) {
  archive = here.get(base + "/export").body;
  for (const char* query : {"?newId=maybe", "?new=true", "?name=", "?name=%00"})
    EXPECT_EQ(import(there, query).status, 400) << query;
  EXPECT_EQ(here.get(base + "/export?format=zip").status, 400);
  EXPECT_EQ(text_member(here.get("/v1/sessions/nobody/export").body, "code"), "session_not_found");
  EXPECT_EQ(
      there.call(kPost, "/v1/sessions/import", archive, {{"Content-Type", "text/plain"}}).status,
      415);
  EXPECT_EQ(there
                .call(kPost, "/v1/sessions/import", archive,
                      {{"Content-Type", "application/x-tar"}, {"Content-Encoding", "gzip"}})
                .status,
            415);
  archive[archive.size() / 2] ^= 1;
  archive.resize(archive.size() - 2000);
  const auto damaged = import(there);
  EXPECT_EQ(damaged.status, 422);
  EXPECT_EQ(text_member(damaged.body, "code"), "bad_archive");
  archive = std::string(1024 * 1024 + 1, 'x');
  EXPECT_EQ(import(there).status, 413);
  there.sweep();
  EXPECT_EQ(there.file_count(), 0U);
  EXPECT_EQ(member(there.get("/v1/sessions").body, "sessions"), "[]");
}

TEST_F(ArchiveRoutesTest, ATokenIsForItsApps) {
  archive = here.get(base + "/export").body;
  http::Principal other{.name = "other", .scope = http::Scope::kWrite, .apps = {{"chat"}}};
  EXPECT_EQ(here.call(kGet, base + "/export", {}, {}, other).status, 404);
  EXPECT_EQ(there.call(kPost, "/v1/sessions/import", archive, kTar, other).status, 403);
  http::Principal own{.name = "own", .scope = http::Scope::kWrite, .apps = {{"shop"}}};
  EXPECT_EQ(there.call(kPost, "/v1/sessions/import", archive, kTar, own).status, 201);
}

TEST_F(ArchiveRoutesTest, ScopesAreReadAndWrite) {
  for (const auto& route : here.router().routes()) {
    if (route->pattern == "/v1/sessions/{s}/export") EXPECT_EQ(route->scope, http::Scope::kRead);
    if (route->pattern == "/v1/sessions/import") EXPECT_EQ(route->scope, http::Scope::kWrite);
  }
}

TEST_F(ArchiveRoutesTest, OperatorsSeeExportsAndImports) {
  archive = here.get(base + "/export").body;
  import(there);
  EXPECT_NE(here.get("/metrics").body.find("reprise_exports_total 1"), std::string::npos);
  EXPECT_NE(there.get("/metrics").body.find("reprise_imports_total 1"), std::string::npos);
}

}  // namespace
}  // namespace reprise::api
