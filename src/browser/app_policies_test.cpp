#include "browser/app_policies.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace reprise::browser {
namespace {

Result<UrlPolicyOptions> parsed(std::string json) {
  REPRISE_TRY(const auto document, wire::parse_json(std::move(json)));
  return parse_url_policy(document.root());
}

std::string pointer_of(std::string json) {
  const auto options = parsed(std::move(json));
  return options ? "nothing is wrong" : options.error().fields.front().pointer;
}

TEST(AppPolicies, AreReadBackAsTheyWereWritten) {
  const std::string json =
      R"({"allow":["*.example.com"],"deny":["ads.example.com"],"schemes":["file"],)"
      R"("allowLoopback":false,"allowPrivate":false,"allowLinkLocal":true})";
  const auto options = parsed(json);
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(url_policy_json(*options), json);
}

TEST(AppPolicies, AreWhatEveryAppHasWhereNothingIsSaid) {
  const auto options = parsed(R"({"allow":null})");
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(url_policy_json(*options), url_policy_json(UrlPolicyOptions{}));
  EXPECT_TRUE(options->allow_loopback);
  EXPECT_FALSE(options->allow_link_local);
}

TEST(AppPolicies, SayWhichMemberIsWrong) {
  EXPECT_EQ(pointer_of(R"({"allow":["ok.example"],"deny":["http://"]})"), "/deny");
  EXPECT_EQ(pointer_of(R"({"allow":[7]})"), "/allow");
  EXPECT_EQ(pointer_of(R"({"schemes":["File"]})"), "/schemes");
  EXPECT_EQ(pointer_of(R"({"allowPrivate":"yes"})"), "/allowPrivate");
  EXPECT_EQ(pointer_of(R"({"allowFile":true})"), "/allowFile");
  EXPECT_EQ(pointer_of("[]"), "");
}

}  // namespace
}  // namespace reprise::browser
