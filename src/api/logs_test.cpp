#include "api/logs.h"

#include <gtest/gtest.h>

#include "api/limits.h"
#include "api/testing.h"
#include "stream/limits.h"
#include "stream/log/offset.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::HeaderList;
using testing::text_member;
using enum wire::Method;

const HeaderList kText = {{"Content-Type", "text/plain"}};

std::string header(const http::Reply& reply, std::string_view name) {
  return std::string(reply.headers.get(name).value_or("none"));
}
std::string offset(std::uint64_t number) { return stream::offset_text(Seq{number}); }

class LogsTest : public ::testing::Test {
 protected:
  http::Reply put(std::string_view path, const HeaderList& headers = kText) {
    return api_.call(kPut, "/v1/stream/" + std::string(path), {}, headers);
  }
  http::Reply append(std::string_view path, std::string body, HeaderList headers = {}) {
    headers.insert(headers.begin(), kText.front());
    return api_.post("/v1/stream/" + std::string(path), std::move(body), headers);
  }
  http::Reply get(std::string_view path) { return api_.get("/v1/stream/" + std::string(path)); }

  Api api_;
};

TEST_F(LogsTest, OneReadGivesAsMuchAsItMayAndSaysWhereToGoOn) {
  ASSERT_EQ(put("a").status, 201);
  // An entry has a byte more than its content.
  const std::string quarter(kMaxLogChunkBytes / 4 - 1, 'x');
  for (int i = 0; i < 4; ++i) ASSERT_EQ(append("a", quarter).status, 204);
  const auto whole = get("a");
  EXPECT_EQ(whole.body.size(), 4 * quarter.size());
  EXPECT_EQ(header(whole, "stream-next-offset"), offset(4));
  EXPECT_EQ(header(whole, "stream-up-to-date"), "true");

  ASSERT_EQ(append("a", "more", {{"Stream-Closed", "true"}}).status, 204);
  const auto part = get("a");
  EXPECT_EQ(part.body.size(), 4 * quarter.size());
  EXPECT_EQ(header(part, "stream-next-offset"), offset(4));
  EXPECT_EQ(header(part, "stream-up-to-date"), "none");
  EXPECT_EQ(header(part, "stream-closed"), "none");
  const auto rest = get("a?offset=" + offset(4));
  EXPECT_EQ(rest.body, "more");
  EXPECT_EQ(header(rest, "stream-up-to-date"), "true");
  EXPECT_EQ(header(rest, "stream-closed"), "true");
}

TEST_F(LogsTest, AnAppendLargerThanAReadIsReadWhole) {
  ASSERT_EQ(put("a").status, 201);
  const std::string large(kMaxLogChunkBytes + 1, 'x');
  for (int i = 0; i < 2; ++i) ASSERT_EQ(append("a", large).status, 204);
  EXPECT_EQ(get("a").body.size(), large.size());
  EXPECT_EQ(get("a?offset=" + offset(1)).body.size(), large.size());
}

TEST_F(LogsTest, PathsHaveALongestLength) {
  const std::string longest = "a/" + std::string(stream::kMaxLogPathBytes - 2, 'p');
  EXPECT_EQ(put(longest).status, 201);
  EXPECT_EQ(append(longest, "x").status, 204);
  EXPECT_EQ(get(longest).body, "x");
  for (const wire::Method method : {kPut, kPost, kGet, kHead, kDelete}) {
    const auto refused = api_.call(method, "/v1/stream/" + longest + "p", {}, kText);
    EXPECT_EQ(refused.status, 400) << wire::word(method);
  }
  // As a source too.
  EXPECT_EQ(put("fork", {{"Stream-Forked-From", "/v1/stream/" + longest}}).status, 201);
  EXPECT_EQ(put("fork2", {{"Stream-Forked-From", "/v1/stream/" + longest + "p"}}).status, 400);
}

TEST_F(LogsTest, PathsThatMeanSomethingElseElsewhereAreRefused) {
  for (const char* path : {"a//b", "a/", ".", "..", "a/../b", "a/%2e%2e/b", "a%2fb", "a%00b",
                           "a%0ab", "a%7fb", "a/./b"})
    EXPECT_EQ(put(path).status, 400) << path;
  EXPECT_EQ(put("").status, 404);
  // Bytes that are just unusual are just bytes.
  for (const char* path : {"a%20b", "%C3%A4", "a:b", "...", "a%25b"}) {
    EXPECT_EQ(put(path).status, 201) << path;
    EXPECT_EQ(append(path, path).status, 204) << path;
    EXPECT_EQ(get(path).body, path);
  }
}

TEST_F(LogsTest, ContentTypesHaveALongestLength) {
  std::string type = "text/plain; a=";
  type.resize(stream::kMaxContentTypeBytes, 'x');
  EXPECT_EQ(put("a", {{"Content-Type", type}}).status, 201);
  EXPECT_EQ(header(get("a"), "content-type"), type);
  EXPECT_EQ(put("b", {{"Content-Type", type + "x"}}).status, 400);
  EXPECT_EQ(api_.post("/v1/stream/a", "x", {{"Content-Type", type}}).status, 204);
  EXPECT_EQ(api_.post("/v1/stream/a", "x", {{"Content-Type", type + "x"}}).status, 400);
}

TEST_F(LogsTest, ProducersNamesHaveALongestLength) {
  ASSERT_EQ(put("a").status, 201);
  const auto by = [&](const std::string& id) {
    return append("a", "x", {{"Producer-Id", id}, {"Producer-Epoch", "0"}, {"Producer-Seq", "0"}});
  };
  const std::string longest(stream::kMaxProducerIdBytes, 'p');
  EXPECT_EQ(by(longest).status, 200);
  EXPECT_EQ(by(longest).status, 204);
  EXPECT_EQ(by(longest + "p").status, 400);
  EXPECT_EQ(by("").status, 400);
  EXPECT_EQ(get("a").body, "x");
}

TEST_F(LogsTest, WritersSequencesHaveALongestLength) {
  ASSERT_EQ(put("a").status, 201);
  const std::string longest(stream::kMaxWriterSeqBytes, '1');
  EXPECT_EQ(append("a", "x", {{"Stream-Seq", longest}}).status, 204);
  EXPECT_EQ(append("a", "x", {{"Stream-Seq", longest}}).status, 409);
  EXPECT_EQ(append("a", "x", {{"Stream-Seq", longest + "1"}}).status, 400);
}

TEST_F(LogsTest, TimesToLiveHaveALongestLength) {
  const auto living_for = [](std::uint64_t seconds) {
    return HeaderList{kText.front(), {"Stream-TTL", std::to_string(seconds)}};
  };
  EXPECT_EQ(put("a", living_for(stream::kMaxTtlSeconds)).status, 201);
  EXPECT_EQ(header(api_.call(kHead, "/v1/stream/a"), "stream-ttl"),
            std::to_string(stream::kMaxTtlSeconds));
  EXPECT_EQ(put("b", living_for(stream::kMaxTtlSeconds + 1)).status, 400);
  EXPECT_EQ(put("c", {{"Stream-Expires-At", "9999-12-31T23:59:59Z"}}).status, 201);
  EXPECT_EQ(append("c", "x").status, 409) << "it is no text";
  EXPECT_EQ(get("c").status, 200);
}

TEST_F(LogsTest, AForkOfTooManyForksIsRefusedAndTold) {
  ASSERT_EQ(put("0").status, 201);
  for (std::uint64_t depth = 1; depth <= stream::kMaxForkDepth + 1; ++depth) {
    const auto made = put(std::to_string(depth),
                          {{"Stream-Forked-From", fmt::format("/v1/stream/{}", depth - 1)}});
    ASSERT_EQ(made.status, depth <= stream::kMaxForkDepth ? 201 : 422) << made.body;
  }
}

TEST_F(LogsTest, ASessionsStreamIsForReading) {
  const auto made = api_.post("/v1/sessions", R"({"app":"a","name":"s"})");
  const std::string id = text_member(made.body, "id");
  for (const std::string& path : {"sessions/" + id, std::string("sessions/x"),
                                  std::string("sessions"), std::string("sessions/a/b")})
    for (const wire::Method method : {kPut, kPost, kDelete}) {
      const auto refused = api_.call(method, "/v1/stream/" + path, "x", kText);
      EXPECT_EQ(refused.status, 405) << path;
      EXPECT_EQ(header(refused, "allow"), "GET, HEAD, OPTIONS");
      EXPECT_EQ(text_member(refused.body, "code"), "method_not_allowed");
    }
  EXPECT_EQ(get("sessions/" + id).status, 200);
  EXPECT_EQ(get("sessions/x").status, 404);
  EXPECT_EQ(get("sessions").status, 404);
  // It begins like the reserved one, and is another.
  EXPECT_EQ(put("sessions-of-mine").status, 201);
}

TEST_F(LogsTest, ASessionIsNoSourceOfForks) {
  const auto made = api_.post("/v1/sessions", R"({"app":"a","name":"s"})");
  const std::string source = "/v1/stream/sessions/" + text_member(made.body, "id");
  EXPECT_EQ(put("fork", {{"Stream-Forked-From", source}}).status, 404);
}

}  // namespace
}  // namespace reprise::api
