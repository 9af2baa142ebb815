#include "server/cli/token.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "wire/json.h"

namespace reprise::server::cli {
namespace {

TEST(Token, TheHashIsSha256) {
  // FIPS 180-4's example for "abc".
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Token, TheLineHoldsTheHashAndNotTheSecret) {
  SeededRandom random(7);
  const auto made = make_token({.name = "ci \"build\"", .apps = {"slack", "web"}}, random);
  ASSERT_TRUE(made);
  ASSERT_TRUE(made->secret.starts_with("rp_"));
  EXPECT_EQ(from_base64url(made->secret.substr(3))->size(), 32U);
  EXPECT_EQ(made->line.find(made->secret), std::string::npos);

  const auto line = wire::parse_json(made->line);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->root().find("name")->as_string(), "ci \"build\"");
  EXPECT_EQ(line->root().find("sha256")->as_string(), sha256_hex(made->secret));
  EXPECT_EQ(line->root().find("scopes")->minified(), R"(["read","write"])");
  EXPECT_EQ(line->root().find("apps")->minified(), R"(["slack","web"])");
}

TEST(Token, EveryTokenIsAnother) {
  SystemRandom random;
  EXPECT_NE(make_token({.name = "a"}, random)->secret, make_token({.name = "a"}, random)->secret);
}

TEST(Token, RefusesScopesAndNamesThatNoServerKnows) {
  SeededRandom random(7);
  for (const NewToken& token :
       {NewToken{.name = ""}, NewToken{.name = "a", .scopes = {"delete"}},
        NewToken{.name = "a", .scopes = {}}, NewToken{.name = "a", .apps = {"a:b"}}}) {
    const auto made = make_token(token, random);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::kBadParameter);
  }
}

}  // namespace
}  // namespace reprise::server::cli
