#include "http/auth.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "http/limits.h"

namespace reprise::http {
namespace {

std::string entry(std::string_view secret, std::string_view apps = R"(["*"])") {
  return fmt::format(R"({{"name":"ci","sha256":"{}","scopes":["read"],"apps":{}}})",
                     to_hex(sha256(secret)), apps);
}
std::string file(const std::string& entries) { return "{\"tokens\":[" + entries + "]}"; }

TEST(Tokens, WithoutAnyEverybodyIsAnAdmin) {
  const auto principal = Tokens{}.authenticate(std::nullopt);
  ASSERT_TRUE(principal);
  EXPECT_EQ(principal->scope, Scope::kAdmin);
  EXPECT_TRUE(principal->may_use("any"));
}

TEST(Tokens, KnowsABearerByTheHashOfItsSecret) {
  const auto tokens = Tokens::parse(file(entry("s3cret", R"(["shop","web"])")));
  ASSERT_TRUE(tokens);
  for (const char* header : {"Bearer s3cret", "bearer s3cret", "BEARER   s3cret"}) {
    const auto principal = tokens->authenticate(header);
    ASSERT_TRUE(principal) << header;
    EXPECT_EQ(principal->name, "ci");
    EXPECT_TRUE(principal->may_use("web"));
    EXPECT_FALSE(principal->may_use("*"));
    EXPECT_FALSE(principal->may_use(""));
  }
}

TEST(Tokens, EverythingElseIsUnauthorized) {
  const auto tokens = Tokens::parse(file(entry("s3cret")));
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->authenticate(std::nullopt).error().code, Code::kUnauthorized);
  for (const char* header : {"", "Bearer", "Bearer ", "Bearer x", "Basic s3cret", "s3cret",
                             "Bearers3cret", "Bearer s3cret ", "Bearer s3cretx"})
    EXPECT_EQ(tokens->authenticate(header).error().code, Code::kUnauthorized) << header;
}

TEST(Tokens, AFileThatIsNotATokensFileIsRefusedWithThePlace) {
  const std::string hash = to_hex(sha256("x"));
  const auto place = [](const std::string& json) {
    const auto tokens = Tokens::parse(json);
    EXPECT_FALSE(tokens) << json;
    if (tokens) return std::string("accepted");
    if (tokens.error().code != Code::kInvalid)
      return std::string(error_row(tokens.error().code).name);
    return tokens.error().fields.empty() ? "" : tokens.error().fields.front().pointer;
  };
  EXPECT_EQ(place("{"), "malformed_json");
  EXPECT_EQ(place("[]"), "");
  EXPECT_EQ(place(R"({"tokens":{}})"), "");
  EXPECT_EQ(place(R"({"tokens":[],"more":1})"), "/more");
  EXPECT_EQ(place(R"({"tokens":[]})"), "/tokens");
  EXPECT_EQ(place(R"({"tokens":[7]})"), "/tokens/0");
  EXPECT_EQ(place(file(entry("x") + "," + entry("x"))), "/tokens/1");
  const auto with = [&](const std::string& member) {
    return place(file(R"({"name":"a","sha256":")" + hash + R"(","scopes":["read"],"apps":["*"],)" +
                      member + "}"));
  };
  EXPECT_EQ(with(R"("more":1)"), "/tokens/0/more");
  const auto only = [&](const std::string& members) { return place(file("{" + members + "}")); };
  EXPECT_EQ(only(R"("name":"a","sha256":"short","scopes":["read"],"apps":["*"])"),
            "/tokens/0/sha256");
  EXPECT_EQ(only(R"("name":"","sha256":")" + hash + R"(","scopes":["read"],"apps":["*"])"),
            "/tokens/0/name");
  EXPECT_EQ(only(R"("sha256":")" + hash + R"(","scopes":["read"],"apps":["*"])"), "/tokens/0");
  EXPECT_EQ(only(R"("name":"a","sha256":")" + hash + R"(","scopes":["rule"],"apps":["*"])"),
            "/tokens/0/scopes");
  EXPECT_EQ(only(R"("name":"a","sha256":")" + hash + R"(","scopes":[],"apps":["*"])"), "/tokens/0");
  EXPECT_EQ(only(R"("name":"a","sha256":")" + hash + R"(","scopes":["read"],"apps":[7])"),
            "/tokens/0/apps");
  EXPECT_EQ(only(R"("name":"a","sha256":")" + hash + R"(","scopes":["read"])"), "/tokens/0");
}

TEST(Tokens, TakesAsManyAsTheLimitAndNotOneMore) {
  std::string entries;
  for (std::size_t i = 0; i < kMaxTokens; ++i)
    entries += (i > 0 ? "," : "") + entry("secret" + std::to_string(i));
  const auto all = Tokens::parse(file(entries));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), kMaxTokens);
  EXPECT_TRUE(all->authenticate("Bearer secret0"));
  const auto too_many = Tokens::parse(file(entries + "," + entry("one more")));
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().code, Code::kInvalid);
}

}  // namespace
}  // namespace reprise::http
