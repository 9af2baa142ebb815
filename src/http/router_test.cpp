#include "http/router.h"

#include <gtest/gtest.h>

namespace reprise::http {
namespace {

using enum wire::Method;

rt::Task<Result<Reply>> nothing(Exchange&) { co_return Reply::empty(204); }

class RouterTest : public ::testing::Test {
 protected:
  RouterTest() {
    for (const auto& [method, pattern] :
         std::vector<std::pair<wire::Method, std::string>>{{kGet, "/"},
                                                           {kGet, "/v1/sessions"},
                                                           {kPost, "/v1/sessions"},
                                                           {kGet, "/v1/sessions/{s}"},
                                                           {kDelete, "/v1/sessions/{s}"},
                                                           {kPost, "/v1/sessions/import"},
                                                           {kGet, "/v1/sessions/{s}/events"},
                                                           {kGet, "/v1/sessions/{s}/events/stream"},
                                                           {kGet, "/v1/graph/{node}/{edge}"}})
      router_.add(method, pattern, Scope::kRead, nothing);
  }
  // The pattern that a request matches; empty if none does.
  std::string pattern(wire::Method method, std::string_view path) {
    const auto segments = wire::parse_target(path)->segments;
    match_ = router_.find(method, segments);
    allow_ = router_.allow(segments);
    return match_.route != nullptr ? match_.route->pattern : std::string();
  }
  Router router_;
  Match match_;
  std::string allow_;
};

TEST_F(RouterTest, FindsLiteralAndCapturedPartsAndHandsThemOverDecoded) {
  EXPECT_EQ(pattern(kGet, "/"), "/");
  EXPECT_EQ(pattern(kGet, "/v1/sessions"), "/v1/sessions");
  EXPECT_EQ(pattern(kGet, "/v1/sessions/a%2Fb/events"), "/v1/sessions/{s}/events");
  EXPECT_EQ(match_.captured, (std::vector<std::string>{"a/b"}));
  EXPECT_EQ(pattern(kGet, "/v1/graph/Pool/out"), "/v1/graph/{node}/{edge}");
  EXPECT_EQ(match_.captured, (std::vector<std::string>{"Pool", "out"}));
}

TEST_F(RouterTest, ALiteralPartBeatsACapturedOneForTheMethodsItKnows) {
  EXPECT_EQ(pattern(kPost, "/v1/sessions/import"), "/v1/sessions/import");
  EXPECT_TRUE(match_.captured.empty());
  // A session may be called import: reading it is not in the way of anything.
  EXPECT_EQ(pattern(kGet, "/v1/sessions/import"), "/v1/sessions/{s}");
  EXPECT_EQ(match_.captured, (std::vector<std::string>{"import"}));
  EXPECT_EQ(pattern(kGet, "/v1/sessions/import/events"), "/v1/sessions/{s}/events");
}

TEST_F(RouterTest, TheRestMayBeginWithAnEmptyPartOnlyWhereTheRouteSaysSo) {
  router_.add(kGet, "/strict/{path...}", Scope::kRead, nothing);
  router_.add(kGet, "/any/{path*}", Scope::kRead, nothing);
  EXPECT_EQ(pattern(kGet, "/strict/a//b"), "/strict/{path...}");
  EXPECT_EQ(pattern(kGet, "/strict//a"), "");
  EXPECT_EQ(pattern(kGet, "/any//a"), "/any/{path*}");
  EXPECT_EQ(match_.captured, (std::vector<std::string>{"", "a"}));
  EXPECT_EQ(pattern(kGet, "/any/"), "/any/{path*}");
  EXPECT_EQ(match_.captured, (std::vector<std::string>{""}));
  EXPECT_EQ(pattern(kGet, "/any"), "");
}

TEST_F(RouterTest, HeadIsAnsweredByTheGetRoute) {
  EXPECT_EQ(pattern(kHead, "/v1/sessions/x"), "/v1/sessions/{s}");
  EXPECT_EQ(pattern(kHead, "/v1/sessions/import"), "/v1/sessions/{s}");
}

TEST_F(RouterTest, AnUnknownMethodLeavesTheListOfKnownOnes) {
  EXPECT_EQ(pattern(kPatch, "/v1/sessions"), "");
  EXPECT_EQ(allow_, "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(pattern(kOther, "/v1/sessions/import"), "");
  EXPECT_EQ(allow_, "GET, HEAD, POST, DELETE, OPTIONS");
}

TEST_F(RouterTest, EmptyMissingAndFurtherSegmentsMatchNothing) {
  for (const char* path :
       {"/v1/sessions/", "//v1/sessions", "/v1//sessions", "/v1/sessions//events", "/v1",
        "/v1/sessions/x/events/stream/more", "/V1/sessions"}) {
    EXPECT_EQ(pattern(kGet, path), "") << path;
    EXPECT_EQ(allow_, "") << path;
  }
}

}  // namespace
}  // namespace reprise::http
