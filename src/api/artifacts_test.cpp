#include "api/artifacts.h"

#include <gtest/gtest.h>

#include "api/testing.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "session/limits.h"
#include "wire/target.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::HeaderList;
using testing::member;
using testing::text_member;
using enum wire::Method;

class ArtifactRoutesTest : public ::testing::Test {
 protected:
  http::Reply put(std::string_view path, std::string body,
                  const HeaderList& headers = {{"Content-Type", "text/plain"}}) {
    return api.call(kPut, base + std::string(path), std::move(body), headers);
  }
  http::Reply get(std::string_view path, const HeaderList& headers = {}) {
    return api.call(kGet, base + std::string(path), {}, headers);
  }
  static std::string etag(std::string_view content) { return '"' + to_hex(sha256(content)) + '"'; }

  Api api;
  std::string session = text_member(api.post("/v1/sessions", R"({"status":"ACTIVE"})").body, "id");
  std::string base = "/v1/sessions/" + session + "/artifacts";
};

TEST_F(ArtifactRoutesTest, WhatWasPutIsGot) {
  const auto made = put("/workspace/a.txt?kind=note", "hello");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.headers.get("location"), base + "/workspace/a.txt");
  EXPECT_EQ(made.headers.get("etag"), etag("hello"));
  EXPECT_EQ(text_member(made.body, "path"), "workspace/a.txt");
  EXPECT_EQ(text_member(made.body, "kind"), "note");
  EXPECT_EQ(text_member(made.body, "sha256"), to_hex(sha256("hello")));
  EXPECT_EQ(member(made.body, "version"), "1");
  EXPECT_EQ(member(made.body, "seq"), "2");
  const auto got = get("/workspace/a.txt");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "hello");
  EXPECT_EQ(got.headers.get("content-type"), "text/plain");
  EXPECT_EQ(got.headers.get("etag"), etag("hello"));
  EXPECT_EQ(got.headers.get("artifact-version"), "1");
  EXPECT_TRUE(got.headers.get("content-disposition")->starts_with("attachment;"));
  EXPECT_EQ(got.headers.get("accept-ranges"), "bytes");
}

TEST_F(ArtifactRoutesTest, VersionsAreReadByTheirNumber) {
  put("/a", "one");
  EXPECT_EQ(put("/a", "two").status, 200);
  const auto again = put("/a", "two");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(member(again.body, "version"), "2");
  EXPECT_EQ(get("/a?version=1").body, "one");
  EXPECT_EQ(get("/a?version=2").body, "two");
  EXPECT_EQ(text_member(get("/a?version=3").body, "code"), "artifact_not_found");
  for (const char* bad : {"/a?version=0", "/a?version=x", "/a?version=-1", "/a?versions=1"})
    EXPECT_EQ(get(bad).status, 400) << bad;
}

TEST_F(ArtifactRoutesTest, EmptyContentIsContent) {
  EXPECT_EQ(put("/empty", "").status, 201);
  const auto got = get("/empty");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "");
  EXPECT_EQ(get("/empty", {{"Range", "bytes=0-"}}).status, 416);
}

TEST_F(ArtifactRoutesTest, RangesAreParts) {
  put("/a", "0123456789");
  const auto part = get("/a", {{"Range", "bytes=2-4"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(part.headers.get("content-range"), "bytes 2-4/10");
  EXPECT_EQ(get("/a", {{"Range", "bytes=-2"}}).body, "89");
  const auto beyond = get("/a", {{"Range", "bytes=10-"}});
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.headers.get("content-range"), "bytes */10");
  EXPECT_EQ(text_member(beyond.body, "code"), "range_not_satisfiable");
  for (const char* ignored : {"bytes=0-1,3-4", "bytes=x", "lines=1-2"})
    EXPECT_EQ(get("/a", {{"Range", ignored}}).status, 200) << ignored;
  EXPECT_EQ(get("/a", {{"Range", "bytes=0-0"}, {"If-Range", etag("0123456789")}}).status, 206);
  EXPECT_EQ(get("/a", {{"Range", "bytes=0-0"}, {"If-Range", "\"old\""}}).status, 200);
}

TEST_F(ArtifactRoutesTest, ConditionsHold) {
  put("/a", "x");
  const auto unchanged = get("/a", {{"If-None-Match", "\"y\", W/" + etag("x")}});
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.headers.get("etag"), etag("x"));
  EXPECT_EQ(get("/a", {{"If-None-Match", "\"y\""}}).status, 200);
  EXPECT_EQ(get("/a", {{"If-Match", "\"y\""}}).status, 412);
  EXPECT_EQ(put("/a", "y", {{"If-None-Match", "*"}}).status, 412);
  EXPECT_EQ(put("/a", "y", {{"If-Match", "\"z\""}}).status, 412);
  EXPECT_EQ(put("/a", "y", {{"If-Match", etag("x")}}).status, 200);
}

TEST_F(ArtifactRoutesTest, HostilePathsAreRefusedAndReachNoFile) {
  for (const char* path : {"/", "//etc/passwd", "/%2Fetc/passwd", "/..", "/a/../b",
                           "/%2e%2e/%2e%2e/etc", "/..%2f..%2fx", "/a%00b", "/a%0ab", "/a//b", "/a/",
                           "/.", "/tmp", "/workspace", "/a%5Cb", "/%C0%AE%C0%AE/x", "/a%7F"}) {
    EXPECT_EQ(put(path, "x").status, 400) << path;
    EXPECT_EQ(get(path).status, 400) << path;
    EXPECT_EQ(api.call(kDelete, base + path).status, 400) << path;
  }
  const std::string path = "/" + std::string(1025, 'a');
  EXPECT_EQ(text_member(put(path, "x").body, "code"), "bad_path");
  EXPECT_EQ(api.file_count(), 0U);
}

TEST_F(ArtifactRoutesTest, WhatIsAskedIsChecked) {
  EXPECT_EQ(put("/a?kind=picture", "x").status, 400);
  EXPECT_EQ(put("/a?sort=no", "x").status, 400);
  EXPECT_EQ(put("/a", "x", {{"Content-Type", "text"}}).status, 400);
  EXPECT_EQ(put("/a", "x", {{"Content-Encoding", "gzip"}}).status, 415);
  EXPECT_EQ(put("/a", "x", {{"Content-Length", "y"}}).status, 400);
  EXPECT_EQ(put("/a", "x", {{"Reprise-Lease", "1"}}).status, 409);
  EXPECT_EQ(api.call(kPut, "/v1/sessions/none/artifacts/a", "x").status, 404);
  EXPECT_EQ(get("/a").status, 404);
  EXPECT_EQ(api.call(kDelete, base + "/a").status, 404);
  EXPECT_EQ(put("/a", "x", {}).status, 201) << "without a type it is bytes";
  EXPECT_EQ(get("/a").headers.get("content-type"), "application/octet-stream");
  EXPECT_EQ(api.call(kDelete, base + "/a", "", {{"Reprise-Lease", "1"}}).status, 409);
  // Nothing would change, and a stale worker is told so all the same.
  EXPECT_EQ(put("/empty", "").status, 201);
  EXPECT_EQ(put("/empty", "").status, 200);
  EXPECT_EQ(put("/empty", "", {{"Reprise-Lease", "1"}}).status, 409);
  EXPECT_EQ(get("/a").status, 200);
}

TEST_F(ArtifactRoutesTest, LimitsAndQuota) {
  EXPECT_EQ(put("/a", std::string(64 * 1024 + 1, 'x')).status, 413);
  EXPECT_EQ(put("/a", "x", {{"Content-Length", "65537"}}).status, 413);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(put("/" + std::to_string(i), std::string(64 * 1024, 'x')).status, 201);
  const auto full = put("/5", "x");
  EXPECT_EQ(full.status, 413);
  EXPECT_EQ(text_member(full.body, "code"), "quota_exceeded");
  EXPECT_EQ(member(full.body, "usedBytes"), "262144");
  EXPECT_EQ(api.call(kDelete, base + "/3").status, 204);
  EXPECT_EQ(put("/5", "x").status, 201);
}

TEST_F(ArtifactRoutesTest, ListsHavePagesAndFilters) {
  put("/workspace/a?kind=code", "1");
  put("/workspace/b?kind=note", "2");
  put("/tmp/c", "3");
  put("/workspace/a", "4");
  const auto all = api.get(base);
  EXPECT_EQ(member(all.body, "usedBytes"), "4");
  EXPECT_EQ(member(all.body, "nextCursor"), "null");
  EXPECT_NE(all.body.find(R"("temporary":true)"), std::string::npos);
  const auto first = api.get(base + "?limit=1&prefix=workspace/");
  EXPECT_NE(first.body.find(R"("path":"workspace/a","version":2,"versions":2,"kind":"code")"),
            std::string::npos);
  const auto second =
      api.get(base + "?limit=1&prefix=workspace/&cursor=" + text_member(first.body, "nextCursor"));
  EXPECT_NE(second.body.find("workspace/b"), std::string::npos);
  EXPECT_EQ(second.body.find("workspace/a"), std::string::npos);
  EXPECT_NE(api.get(base + "?kind=note").body.find("workspace/b"), std::string::npos);
  EXPECT_NE(api.get(base + "?versions=true").body.find(R"("path":"workspace/a","version":1)"),
            std::string::npos);
  EXPECT_EQ(api.get(base + fmt::format("?limit={}", session::kMaxArtifactPageLimit)).status, 200);
  for (const std::string& bad :
       {std::string("?limit=0"), fmt::format("?limit={}", session::kMaxArtifactPageLimit + 1),
        std::string("?cursor=!"), std::string("?cursor="), std::string("?kind=x"),
        std::string("?q=1"), std::string("?versions=2")})
    EXPECT_EQ(api.get(base + bad).status, 400) << bad;
}

TEST_F(ArtifactRoutesTest, DeletionLeavesNoFile) {
  put("/a", "1");
  put("/a", "2");
  put("/b", "2");
  EXPECT_EQ(api.file_count(), 2U);
  EXPECT_EQ(api.call(kDelete, base + "/a?version=1").status, 204);
  api.sweep();
  EXPECT_EQ(api.file_count(), 1U);
  EXPECT_EQ(api.call(kDelete, base + "/a").status, 204);
  EXPECT_EQ(get("/a").status, 404);
  api.sweep();
  EXPECT_EQ(get("/b").body, "2");
  EXPECT_EQ(api.call(kDelete, "/v1/sessions/" + session).status, 204);
  EXPECT_EQ(get("/b").status, 404);
  api.sweep();
  EXPECT_EQ(api.file_count(), 0U);
}

TEST_F(ArtifactRoutesTest, AnEndedSessionKeepsItsWorkspaceAndTakesNoMore) {
  put("/workspace/a", "kept");
  put("/tmp/b", "gone");
  api.post("/v1/sessions/" + session + "/close", "");
  EXPECT_EQ(get("/workspace/a").body, "kept");
  EXPECT_EQ(get("/tmp/b").status, 404);
  EXPECT_EQ(text_member(put("/workspace/a", "x").body, "code"), "session_ended");
  EXPECT_EQ(api.call(kDelete, base + "/workspace/a").status, 409);
  api.sweep();
  EXPECT_EQ(api.file_count(), 1U);
}

TEST_F(ArtifactRoutesTest, ATokenOfAnotherAppSeesNothing) {
  put("/a", "secret");
  const http::Principal stranger{
      .name = "x", .scope = http::Scope::kWrite, .apps = std::vector<std::string>{"other"}};
  EXPECT_EQ(api.call(kGet, base + "/a", {}, {}, stranger).status, 404);
  EXPECT_EQ(api.call(kPut, base + "/a", "mine", {}, stranger).status, 404);
  EXPECT_EQ(api.call(kDelete, base + "/a", {}, {}, stranger).status, 404);
  EXPECT_EQ(api.call(kGet, base, {}, {}, stranger).status, 404);
}

TEST_F(ArtifactRoutesTest, AreCountedInTheMetrics) {
  put("/a", "12345");
  put("/a", "12345");
  get("/a");
  const std::string page = api.get("/metrics").body;
  for (const char* line :
       {"reprise_artifact_uploads_total 1\n", "reprise_artifact_unchanged_total 1\n",
        "reprise_artifact_upload_bytes_total 10\n", "reprise_artifact_downloads_total 1\n",
        "reprise_artifact_download_bytes_total 5\n", "reprise_artifact_transfers 0\n"})
    EXPECT_NE(page.find(line), std::string::npos) << line;
}

}  // namespace
}  // namespace reprise::api
