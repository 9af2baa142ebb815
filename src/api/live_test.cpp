#include "api/live.h"

#include <gtest/gtest.h>

#include "api/browser_testing.h"
#include "api/testing.h"

namespace reprise::api {
namespace {

class LiveRoutesTest : public ::testing::Test {
 protected:
  std::string session() { return testing::text_member(api.post("/v1/sessions", "{}").body, "id"); }
  std::string code_of(const http::Reply& answer) {
    return testing::text_member(answer.body, "code");
  }

  testing::Api api;
  testing::Browsers browsers{api};
};

TEST_F(LiveRoutesTest, ALiveViewIsAWebSocketOfALivingSession) {
  const std::string path = "/v1/sessions/" + session();
  EXPECT_EQ(code_of(api.get(path + "/live")), "upgrade_required");
  EXPECT_EQ(code_of(api.get(path + "/live?token=x")), "unknown_parameter");
  EXPECT_EQ(code_of(api.get("/v1/sessions/nobody:here/live")), "session_not_found");
  api.post(path + "/close", "{}");
  EXPECT_EQ(code_of(api.get(path + "/live")), "session_ended");
}

TEST_F(LiveRoutesTest, OnlyABrowserThatIsThereIsTakenOver) {
  const std::string path = "/v1/sessions/" + session();
  EXPECT_EQ(code_of(api.post(path + "/browser/takeover", "")), "no_browser");
  EXPECT_EQ(code_of(api.post(path + "/browser/takeover", R"({"by":"me"})")), "invalid");
  EXPECT_EQ(code_of(api.call(wire::Method::kDelete, path + "/browser/takeover")), "conflict");
  EXPECT_EQ(testing::text_member(api.get(path).body, "status"), "INITIALIZING")
      << "nothing was paused";
  api.post(path + "/cancel", "{}");
  EXPECT_EQ(code_of(api.post(path + "/browser/takeover", "")), "session_ended");
}

}  // namespace
}  // namespace reprise::api
