// Questions to the graph as far as they go without a browser; tests/e2e/graph-queries.test.mjs goes
// on from here.
#include <gtest/gtest.h>

#include "api/browser_testing.h"
#include "api/graph_reader.h"
#include "base/bytes.h"
#include "browser/limits.h"

namespace reprise::api {
namespace {

using testing::Api;
using testing::Browsers;
using testing::member;
using testing::text_member;

class GraphQueriesTest : public ::testing::Test {
 protected:
  void fail_session(const std::string& app) {
    const std::string body = R"({"app":")" + app + R"(","status":"ACTIVE"})";
    const std::string id = text_member(api.post("/v1/sessions", body).body, "id");
    ASSERT_EQ(api.post("/v1/sessions/" + id + "/status", R"({"status":"FAILED"})").status, 200);
  }
  http::Reply ask(const std::string& query, const std::string& app) {
    return api.call(
        wire::Method::kGet, "/v1/graph/queries/" + query, {}, {},
        {.name = "someone", .scope = http::Scope::kRead, .apps = std::vector<std::string>{app}});
  }
  static std::size_t nodes(const std::string& json) {
    const auto document = wire::parse_json(json);
    return document->root().find("nodes")->elements().size();
  }
  Api api;
  Browsers browsers{api};
};

TEST_F(GraphQueriesTest, APageThatStopsAmongForeignRowsSaysOnlyFromWhichTimeOnToGoOn) {
  fail_session("mine");
  api.advance(Millis{5});
  // As many as one page looks at, over more than one moment.
  for (std::size_t i = 0; i < browser::kMaxGraphExamined; ++i) {
    fail_session("other");
    if (i % 1'000 == 0) api.advance(Millis{1});
  }
  api.advance(Millis{5});
  fail_session("mine");
  const std::string first = ask("failedSessions", "mine").body;
  EXPECT_EQ(nodes(first), 1u);
  const std::string cursor = text_member(first, "nextCursor");
  ASSERT_FALSE(cursor.empty());
  const std::string position = *from_base64url(cursor);
  EXPECT_EQ(position.front(), '~');
  const std::string second = ask("failedSessions?cursor=" + cursor, "mine").body;
  EXPECT_EQ(nodes(second), 1u) << "neither lost nor twice";
  EXPECT_EQ(member(second, "nextCursor"), "null");
}

TEST_F(GraphQueriesTest, CountsAreWhatTheCallerMaySee) {
  fail_session("mine");
  fail_session("other");
  const std::string counted = ask("counts", "mine").body;
  EXPECT_NE(counted.find(R"("FAILED":1)"), std::string::npos) << counted;
  EXPECT_NE(counted.find(R"("isExact":true)"), std::string::npos) << counted;
}

}  // namespace
}  // namespace reprise::api
