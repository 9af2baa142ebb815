#include "http/gatekeeper.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/hash.h"

namespace reprise::http {
namespace {

wire::Request request(std::vector<std::pair<std::string, std::string>> headers) {
  wire::Request made;
  for (auto& [name, value] : headers) made.headers.add(name, value);
  return made;
}

std::shared_ptr<const Tokens> no_tokens() { return std::make_shared<const Tokens>(); }

Gatekeeper gatekeeper(std::string listen_host, std::vector<std::string> allowed = {},
                      std::vector<std::string> origins = {}) {
  return Gatekeeper({.listen_host = std::move(listen_host),
                     .allowed_hosts = std::move(allowed),
                     .cors_origins = std::move(origins),
                     .tokens = no_tokens()});
}

std::optional<Code> refusal(const Gatekeeper& gate, const wire::Request& asked) {
  const auto outcome = gate.check_origin(asked);
  return outcome ? std::nullopt : std::optional(outcome.error().code);
}

TEST(Gatekeeper, KnowsItsOwnHostsAndNoOthers) {
  const Gatekeeper gate = gatekeeper("10.0.0.5", {"Reprise.Example"});
  for (const char* host :
       {"localhost", "LOCALHOST:7450", "127.0.0.1:7450", "127.9.9.9", "[::1]:7450", "10.0.0.5",
        "10.0.0.5:80", "reprise.example", "REPRISE.EXAMPLE:443"})
    EXPECT_EQ(refusal(gate, request({{"Host", host}})), std::nullopt) << host;
  for (const char* host : {"evil.example", "10.0.0.6", "localhost.evil.example", "[::1", "[]", "",
                           "reprise.example.evil", "127.0.0.1.evil.example", "1270.0.0.1"})
    EXPECT_EQ(refusal(gate, request({{"Host", host}})), Code::kBadHost) << host;
}

TEST(Gatekeeper, AnHttp10RequestMayComeWithoutAHost) {
  EXPECT_EQ(refusal(gatekeeper("127.0.0.1"), request({})), std::nullopt);
}

TEST(Gatekeeper, RefusesPagesOfOtherOrigins) {
  const Gatekeeper gate = gatekeeper("127.0.0.1");
  const auto from = [&](const char* origin) {
    return refusal(gate, request({{"Host", "127.0.0.1:7450"}, {"Origin", origin}}));
  };
  EXPECT_EQ(from("http://127.0.0.1:7450"), std::nullopt);
  for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1:7451",
                             "https://127.0.0.1:7450", "http://127.0.0.1:7450.evil.example", ""})
    EXPECT_EQ(from(origin), Code::kOriginRefused) << origin;
}

TEST(Gatekeeper, LetsPagesOfConfiguredOriginsReadReplies) {
  const Gatekeeper gate = gatekeeper("127.0.0.1", {}, {"https://app.example"});
  const auto asked = request({{"Host", "localhost"}, {"Origin", "https://app.example"}});
  EXPECT_EQ(refusal(gate, asked), std::nullopt);
  wire::Headers headers;
  gate.add_cors(asked, headers);
  EXPECT_EQ(headers.get("access-control-allow-origin"), "https://app.example");
  EXPECT_EQ(headers.get("vary"), "Origin");
  EXPECT_TRUE(headers.get("access-control-expose-headers"));

  wire::Headers others;
  gate.add_cors(request({{"Origin", "https://other.example"}}), others);
  EXPECT_FALSE(others.get("access-control-allow-origin"));
  EXPECT_EQ(others.get("vary"), "Origin");  // a cache must not give one origin's reply to another
}

TEST(Gatekeeper, AStarAllowsEveryOriginWithoutEverNamingAStar) {
  const Gatekeeper gate = gatekeeper("127.0.0.1", {}, {"*"});
  const auto asked = request({{"Host", "localhost"}, {"Origin", "https://any.example"}});
  EXPECT_EQ(refusal(gate, asked), std::nullopt);
  wire::Headers headers;
  gate.add_cors(asked, headers);
  EXPECT_EQ(headers.get("access-control-allow-origin"), "https://any.example");
}

TEST(Gatekeeper, APreflightNamesMethodsAndHeadersAndPlainOptionsOnlyAllow) {
  const Gatekeeper gate = gatekeeper("127.0.0.1", {}, {"https://app.example"});
  const Reply preflight =
      gate.preflight(request({{"Access-Control-Request-Method", "PATCH"}}), "GET, PATCH");
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.headers.get("access-control-allow-methods"), "GET, PATCH");
  for (const char* header : {"Authorization", "Idempotency-Key", "If-Match", "Last-Event-ID"})
    EXPECT_NE(preflight.headers.get("access-control-allow-headers")->find(header),
              std::string_view::npos);
  const Reply plain = gate.preflight(request({}), "GET, PATCH");
  EXPECT_EQ(plain.headers.get("allow"), "GET, PATCH");
  EXPECT_FALSE(plain.headers.get("access-control-allow-methods"));
}

TEST(Gatekeeper, ATokenNeedsTheScopeOfTheRoute) {
  const auto entry = [](std::string_view secret, std::string_view scope) {
    return fmt::format(R"({{"name":"{0}","sha256":"{1}","scopes":["{0}"],"apps":["*"]}})", scope,
                       to_hex(sha256(secret)));
  };
  auto tokens = Tokens::parse(R"({"tokens":[)" + entry("r", "read") + ',' + entry("w", "write") +
                              ',' + entry("a", "admin") + "]}");
  ASSERT_TRUE(tokens);
  const Gatekeeper gate({.tokens = std::make_shared<const Tokens>(std::move(*tokens))});
  const auto admitted = [&](const char* secret, Scope needed) -> std::optional<Code> {
    const auto outcome =
        gate.admit(request({{"Authorization", std::string("Bearer ") + secret}}), needed);
    return outcome ? std::nullopt : std::optional(outcome.error().code);
  };
  EXPECT_EQ(admitted("r", Scope::kRead), std::nullopt);
  EXPECT_EQ(admitted("r", Scope::kWrite), Code::kForbidden);
  EXPECT_EQ(admitted("w", Scope::kRead), std::nullopt);
  EXPECT_EQ(admitted("w", Scope::kWrite), std::nullopt);
  EXPECT_EQ(admitted("w", Scope::kAdmin), Code::kForbidden);
  EXPECT_EQ(admitted("a", Scope::kAdmin), std::nullopt);
  EXPECT_EQ(admitted("x", Scope::kRead), Code::kUnauthorized);
  EXPECT_EQ(admitted("x", Scope::kNone), std::nullopt);  // probes are for everybody
  EXPECT_FALSE(gate.admit(request({}), Scope::kRead));
}

}  // namespace
}  // namespace reprise::http
