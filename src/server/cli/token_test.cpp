#include "server/cli/token.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "http/auth.h"

namespace reprise::server::cli {
namespace {

// What a server makes of a tokens file with this one entry.
Result<http::Principal> authenticate(const MadeToken& made, const std::string& secret) {
  const auto tokens = http::Tokens::parse("{\"tokens\": [" + made.entry + "]}");
  EXPECT_TRUE(tokens) << made.entry;
  if (!tokens) return fail(tokens.error());
  return tokens->authenticate("Bearer " + secret);
}

TEST(Token, AServerWhoseFileHasTheEntryKnowsTheSecret) {
  SeededRandom random(7);
  const auto made =
      make_token({.name = "ci \"build\"", .scopes = {"read"}, .apps = {"slack", "web"}}, random);
  ASSERT_TRUE(made);
  const auto principal = authenticate(*made, made->secret);
  ASSERT_TRUE(principal);
  EXPECT_EQ(principal->name, "ci \"build\"");
  EXPECT_EQ(principal->scope, http::Scope::kRead);
  EXPECT_TRUE(principal->may_use("web"));
  EXPECT_FALSE(principal->may_use("other"));
  EXPECT_FALSE(authenticate(*made, made->secret + "x"));
}

TEST(Token, MayReadAndWriteInEveryAppUnlessToldOtherwise) {
  SeededRandom random(7);
  const auto made = make_token({.name = "ci"}, random);
  ASSERT_TRUE(made);
  const auto principal = authenticate(*made, made->secret);
  ASSERT_TRUE(principal);
  EXPECT_EQ(principal->scope, http::Scope::kWrite);
  EXPECT_TRUE(principal->may_use("any"));
}

TEST(Token, TheSecretIsRandomAndNotInTheEntry) {
  SystemRandom random;
  const auto made = make_token({.name = "a"}, random);
  ASSERT_TRUE(made);
  ASSERT_TRUE(made->secret.starts_with("rp_"));
  EXPECT_EQ(from_base64url(made->secret.substr(3))->size(), 32U);
  EXPECT_EQ(made->entry.find(made->secret.substr(3)), std::string::npos);
  EXPECT_NE(make_token({.name = "a"}, random)->secret, made->secret);
}

TEST(Token, RefusesScopesAndNamesThatNoServerKnows) {
  SeededRandom random(7);
  for (const NewToken& token :
       {NewToken{.name = ""}, NewToken{.name = "a", .scopes = {"delete"}},
        NewToken{.name = "a", .scopes = {}}, NewToken{.name = "a", .apps = {"a:b"}},
        NewToken{.name = "a", .apps = {}}}) {
    const auto made = make_token(token, random);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::kBadParameter);
  }
}

}  // namespace
}  // namespace reprise::server::cli
