#include "model/redact.h"

#include <gtest/gtest.h>

#include "base/json_text.h"
#include "model/limits.h"

namespace reprise::model {
namespace {

std::string text(std::string_view given, const RedactionRules& rules = {}) {
  return std::string(Redactor(rules).text(given).view());
}

std::string json(std::string given, const RedactionRules& rules = {}) {
  const auto document = wire::parse_json(std::move(given));
  EXPECT_TRUE(document);
  return std::string(Redactor(rules).json(document->root()).view());
}

TEST(Redact, ValuesOfSecretNamesInAnySpelling) {
  for (const std::string_view name : {"password",
                                      "Password",
                                      "user_password",
                                      "PASSWD",
                                      "apiKey",
                                      "api-key",
                                      "X-API-Key",
                                      "API_KEY",
                                      "secret",
                                      "clientSecret",
                                      "AWS_SECRET_ACCESS_KEY",
                                      "token",
                                      "accessToken",
                                      "refresh_token",
                                      "Authorization",
                                      "Proxy-Authorization",
                                      "cookie",
                                      "Set-Cookie",
                                      "privateKey",
                                      "credentials",
                                      "connectionString",
                                      "pin",
                                      "cvv",
                                      "auth",
                                      "csrf-token",
                                      "DB_PWD"})
    EXPECT_EQ(json("{" + json_string(name) + ":\"hunter2\"}"),
              "{" + json_string(name) + ":\"[redacted]\"}");
}

TEST(Redact, LeavesWhatOnlySoundsAlike) {
  for (const std::string_view given :
       {R"({"maxTokens":100,"tokenizer":"gpt","tokens":12,"pinned":true,"author":"me"})",
        R"({"hasPassword":true,"password":null,"path":"/a","passed":3,"compass":"N"})",
        R"({"key":"a","value":"b","keys":["x"],"sessionId":"s-1"})"})
    EXPECT_EQ(json(std::string(given)), given);
}

TEST(Redact, AValueOfAnyKindUnderASecretName) {
  EXPECT_EQ(json(R"({"a":{"secrets":{"x":[1,"y"]},"pin":1234,"cookies":[{"n":"v"}]}})"),
            R"({"a":{"secrets":"[redacted]","pin":"[redacted]","cookies":"[redacted]"}})");
}

TEST(Redact, ListsOfNamesAndValues) {
  EXPECT_EQ(
      json(R"({"headers":[{"name":"Authorization","value":"abc"},{"name":"A","value":"b"}]})"),
      R"({"headers":[{"name":"Authorization","value":"[redacted]"},{"name":"A","value":"b"}]})");
  EXPECT_EQ(json(R"([["Cookie","a=b"],["Accept","x"]])"),
            R"([["Cookie","[redacted]"],["Accept","x"]])");
  EXPECT_EQ(json(R"({"argv":["mysql","--password","hunter2","-u","me"]})"),
            R"({"argv":["mysql","--password","[redacted]","-u","me"]})");
}

TEST(Redact, AssignmentsInText) {
  EXPECT_EQ(text("password=hunter2 user=me"), "password=[redacted] user=me");
  EXPECT_EQ(text("the API key: abc123, and more"), "the API key: [redacted], and more");
  EXPECT_EQ(text("export DB_PASSWORD='a b c'; run"), "export DB_PASSWORD='[redacted]'; run");
  EXPECT_EQ(text("https://x.example/?token=abc&page=2"),
            "https://x.example/?token=[redacted]&page=2");
  EXPECT_EQ(text("mysql --password hunter2 -u me"), "mysql --password [redacted] -u me");
  EXPECT_EQ(text(R"(he said {"password": "hun\"ter2", x)"),
            R"(he said {"password": "[redacted]", x)");
  EXPECT_EQ(text(R"(log: {\"password\":\"hunter2\",\"a\":1)"),
            R"(log: {\"password\":\"[redacted]\",\"a\":1)");
  EXPECT_EQ(text("secret: {a: {b: 1}} done"), "secret: [redacted] done");
  EXPECT_EQ(text(R"(secret: {"a": "}", "b": "hunter2"} done)"), "secret: [redacted] done");
  EXPECT_EQ(text(R"(secret: {\"a\": \"}\", \"b\": 2} done)"), "secret: [redacted] done");
  EXPECT_EQ(text("password='not closed\npassword='hunter2'"), "password='[redacted]");
  EXPECT_EQ(text("password: null, hasPassword=true, password:"),
            "password: null, hasPassword=true, password:");
}

TEST(Redact, HeadersInText) {
  EXPECT_EQ(text("GET / HTTP/1.1\r\nCookie: a=\"b\"; c=d\r\nAccept: x"),
            "GET / HTTP/1.1\r\nCookie: [redacted]\r\nAccept: x");
  EXPECT_EQ(text("curl -H \"Authorization: Basic YTpi\" https://x.example"),
            "curl -H \"Authorization: [redacted]\" https://x.example");
  EXPECT_EQ(text(R"(Set-Cookie: sid=1; Path=/\nNext: 1)"), R"(Set-Cookie: [redacted]\nNext: 1)");
}

TEST(Redact, PatternsWithoutAName) {
  const std::string_view kept = "see [redacted] there";
  for (const std::string_view secret :
       {"sk-abcdEFGH1234abcdEFGH", "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "AKIAIOSFODNN7EXAMPLE", "xoxb-123456789012-abcdefghij",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlLWhlcmU",
        "4111 1111 1111 1111", "4111-1111-1111-1111", "378282246310005", "5555555555554444",
        "sk_live_abcdefghijkl0123", "glpat-abcdefghij0123456789"})
    EXPECT_EQ(text(fmt::format("see {} there", secret)), kept) << secret;
  EXPECT_EQ(text("Bearer abcdefgh.ijkl"), "Bearer [redacted]");
  EXPECT_EQ(text("postgres://me:pa55@db.example/x"), "postgres://[redacted]@db.example/x");
  EXPECT_EQ(text("a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b"),
            "a [redacted] b");
  EXPECT_EQ(text("-----BEGIN PRIVATE KEY-----\\nMIIE, cut off"), "[redacted]");
  EXPECT_EQ(json("[4111111111111111,4111111111111112]"), R"(["[redacted]",4111111111111112])");
}

TEST(Redact, LeavesPlainText) {
  for (const std::string_view plain :
       {"", "the bearer of bad news", "basic authentication", "sk-learn-tutorial-for-everybody",
        "1794766382117 is a time", "0193315e-8f6a-7c21-9d6e-0b5f8f0e4a11", "12 34 56",
        "https://user@x.example:80/a",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", "see a.b.c and d-e-f.",
        "caf\u00e9 \u2603 {not json", "[1, 2, three]"})
    EXPECT_EQ(text(plain), plain);
}

TEST(Redact, ASecretThatStandsWhereANameCould) {
  EXPECT_EQ(text("id token ghp_0123456789abcdefghijABCDEFGHIJ = x"), "id token [redacted] = x");
  EXPECT_EQ(text("secret ghp_0123456789abcdefghijABCDEFGHIJ=x"), "secret [redacted]=[redacted]");
}

TEST(Redact, TextThatHoldsJson) {
  EXPECT_EQ(text(R"( {"password": "hunter2", "a": 1} )"), R"({"password":"[redacted]","a":1})");
  EXPECT_EQ(text(R"({"a": "b"})"), R"({"a": "b"})");
  EXPECT_EQ(json(R"({"body":"{\"pass\u0077ord\":\"hunter2\"}"})"),
            R"({"body":"{\"password\":\"[redacted]\"}"})");
  // Further down than it is read as JSON, it is read as text.
  std::string nested = R"({"password":"hunter2"})";
  for (int i = 0; i < kMaxEmbeddedJson + 3; ++i) {
    nested = fmt::format("{{\"body\":{}}}", json_string(nested));
    EXPECT_FALSE(json(nested).contains("hunter2")) << i;
  }
}

TEST(Redact, NamesThatAreSecretsThemselves) {
  EXPECT_EQ(json(R"({"sk-abcdEFGH1234abcdEFGH":1,"sk-abcdEFGH1234abcdEFGI":2})"),
            R"({"[redacted]":1,"[redacted] 2":2})");
}

TEST(Redact, RulesOfAnOperator) {
  const RedactionRules rules{.keys = {"customer-Number"}, .prefixes = {"acme_"}};
  ASSERT_TRUE(check(rules));
  EXPECT_EQ(json(R"({"customerNumber":"17","customerNumbers":"18"})", rules),
            R"({"customerNumber":"[redacted]","customerNumbers":"18"})");
  EXPECT_EQ(text("see acme_abcdefgh, acme_abc", rules), "see [redacted], acme_abc");
  for (const RedactionRules& wrong :
       {RedactionRules{.keys = {"-"}, .prefixes = {}},
        RedactionRules{.keys = {}, .prefixes = {"ab"}},
        RedactionRules{.keys = {}, .prefixes = {"a b c"}},
        RedactionRules{.keys = {std::string(kMaxRedactionRuleBytes + 1, 'k')}, .prefixes = {}},
        RedactionRules{.keys = std::vector<std::string>(kMaxRedactionRules + 1, "k"),
                       .prefixes = {}}})
    EXPECT_EQ(check(wrong).error().code, Code::kBadParameter);
  EXPECT_TRUE(check({.keys = std::vector<std::string>(kMaxRedactionRules,
                                                      std::string(kMaxRedactionRuleBytes, 'k')),
                     .prefixes = {}}));
}

TEST(Redact, AgainChangesNothing) {
  for (const std::string_view given :
       {"password=a password='b' Authorization: Bearer abcdefgh12\nCookie: x",
        "token: [a, b] secret: [redacted] Bearer Bearer Bearer abcdefgh",
        "postgres://a:b@c:d@e 4111 1111 1111 1111 4111 1111 1111 1111"}) {
    const std::string once = text(given);
    EXPECT_EQ(text(once), once);
  }
}

TEST(Redact, ASummaryIsCutBetweenCharacters) {
  const Redactor redactor;
  const Redacted whole = redactor.text(std::string(kMaxSummaryBytes, 'x'));
  EXPECT_EQ(whole.cut_to(kMaxSummaryBytes), whole);
  const Redacted cut =
      redactor.text(std::string(kMaxSummaryBytes + 1, 'x')).cut_to(kMaxSummaryBytes);
  EXPECT_EQ(cut.view().size(), kMaxSummaryBytes);
  EXPECT_TRUE(cut.view().ends_with("\u2026"));
  for (std::size_t max = 3; max < 12; ++max) {
    const Redacted snow = redactor.text("\u2603\u2603\u2603\u2603").cut_to(max);
    EXPECT_TRUE(wire::is_utf8(snow.view()));
    EXPECT_LE(snow.view().size(), max);
  }
}

// A word of many beginnings must not be read as often as it is long.
TEST(Redact, TimeGrowsWithTheText) {
  for (const std::string_view part : {"sk-", "eyJ-", ".", "a.", "://a:", "\"", "\\", "token ", "4 ",
                                      "-----BEGIN ", "{", "Bearer "}) {
    std::string long_text = "a";
    while (long_text.size() < (1U << 17U)) long_text += part;
    EXPECT_FALSE(text(long_text).empty());
  }
}

}  // namespace
}  // namespace reprise::model
