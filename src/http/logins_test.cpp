#include "http/logins.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "http/gatekeeper.h"

namespace reprise::http {
namespace {

struct FixedClock final : Clock {
  TimePoint now() const override { return at; }
  TimePoint at{1'000'000};
};

Tokens tokens_of(const std::vector<std::string>& secrets) {
  std::string entries;
  for (const std::string& secret : secrets)
    entries += fmt::format(R"({}{{"name":"{}","sha256":"{}","scopes":["write"],"apps":["shop"]}})",
                           entries.empty() ? "" : ",", secret, to_hex(sha256(secret)));
  return Tokens::parse("{\"tokens\":[" + entries + "]}").value();
}

class LoginsTest : public ::testing::Test {
 protected:
  Logins logins(const Tokens& tokens, char key = 'k') {
    return Logins(std::string(kLoginKeyBytes, key), tokens, clock_, random_);
  }
  FixedClock clock_;
  SeededRandom random_{1};
  const Tokens tokens_ = tokens_of({"one", "two"});
};

TEST_F(LoginsTest, ALoginIsItsTokensPrincipal) {
  Logins all = logins(tokens_);
  const auto login = all.begin("one");
  ASSERT_TRUE(login);
  EXPECT_EQ(login->expires_at, clock_.now() + Millis{kLoginLifetime});
  const auto principal = all.authenticate(login->cookie);
  ASSERT_TRUE(principal);
  EXPECT_EQ(principal->name, "one");
  EXPECT_EQ(principal->scope, Scope::kWrite);
  EXPECT_FALSE(principal->may_use("other"));
  EXPECT_EQ(all.begin("three").error().code, Code::kUnauthorized);
}

TEST_F(LoginsTest, TellsNeitherTheTokenNorItsHashAndIsNeverTheSame) {
  Logins all = logins(tokens_);
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string cookie = all.begin("one")->cookie;
    EXPECT_TRUE(seen.insert(cookie).second);
    EXPECT_EQ(from_base64url(cookie)->find(sha256("one").substr(0, 8)), std::string::npos);
  }
}

TEST_F(LoginsTest, EveryChangedByteIsAForgery) {
  Logins all = logins(tokens_);
  const std::string bytes = from_base64url(all.begin("one")->cookie).value();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string forged = bytes;
    forged[i] = static_cast<char>(forged[i] ^ 1);
    EXPECT_EQ(all.authenticate(to_base64url(forged)).error().code, Code::kUnauthorized) << i;
  }
  for (const std::string& odd : {std::string(), std::string("x"), to_base64url(bytes + 'x'),
                                 to_base64url(bytes.substr(1)), std::string(500, 'A')})
    EXPECT_FALSE(all.authenticate(odd));
}

TEST_F(LoginsTest, LastsForItsTimeAndNotAMillisecondLonger) {
  Logins all = logins(tokens_);
  const std::string cookie = all.begin("one")->cookie;
  clock_.at = clock_.at + Millis{kLoginLifetime} - Millis{1};
  EXPECT_TRUE(all.authenticate(cookie));
  clock_.at = clock_.at + Millis{1};
  EXPECT_FALSE(all.authenticate(cookie));
}

TEST_F(LoginsTest, OutlivesARestartButNotItsTokenAndNotItsKey) {
  const std::string cookie = logins(tokens_).begin("one")->cookie;
  EXPECT_TRUE(logins(tokens_).authenticate(cookie));
  const Tokens fewer = tokens_of({"two"});
  EXPECT_FALSE(logins(fewer).authenticate(cookie));
  EXPECT_FALSE(logins(tokens_, 'x').authenticate(cookie));
}

TEST_F(LoginsTest, AnEndedLoginIsOfNoUseAndOthersGoOn) {
  Logins all = logins(tokens_);
  const std::string first = all.begin("one")->cookie;
  const std::string second = all.begin("one")->cookie;
  all.end(first);
  all.end(first);
  all.end("nonsense");
  EXPECT_FALSE(all.authenticate(first));
  EXPECT_TRUE(all.authenticate(second));
}

TEST_F(LoginsTest, RemembersAsManyEndedLoginsAsItSays) {
  Logins all = logins(tokens_);
  const std::string first = all.begin("one")->cookie;
  all.end(first);
  for (std::size_t i = 1; i < kMaxEndedLogins; ++i) all.end(all.begin("two")->cookie);
  EXPECT_FALSE(all.authenticate(first));
  all.end(all.begin("two")->cookie);  // one more, and the oldest is forgotten
  EXPECT_TRUE(all.authenticate(first));
}

wire::Request asked(wire::Method method, std::vector<std::pair<std::string, std::string>> headers) {
  wire::Request made;
  made.method = method;
  made.headers.add("Host", "127.0.0.1:7450");
  for (const auto& [name, value] : headers) made.headers.add(name, value);
  return made;
}

TEST_F(LoginsTest, TheCookieIsFoundAmongOthers) {
  const auto found = [](const char* header) -> std::optional<std::string> {
    const auto request = asked(wire::Method::kGet, {{"Cookie", header}});
    const auto value = login_cookie(request);
    // Copied before the request goes.
    return value ? std::optional(std::string(*value)) : std::nullopt;
  };
  EXPECT_EQ(found("reprise_login=abc"), "abc");
  EXPECT_EQ(found("a=b; reprise_login=abc; c=d"), "abc");
  EXPECT_EQ(found("xreprise_login=abc"), std::nullopt);
  EXPECT_EQ(found("reprise_login_x=abc"), std::nullopt);
  EXPECT_EQ(found("reprise_login"), std::nullopt);
  EXPECT_EQ(found(";;;"), std::nullopt);
  const auto without = asked(wire::Method::kGet, {});
  EXPECT_EQ(login_cookie(without), std::nullopt);
}

TEST_F(LoginsTest, TheGatekeeperTakesALoginFromTheOwnPageOnly) {
  const auto tokens = std::make_shared<const Tokens>(tokens_of({"one"}));
  const auto all =
      std::make_shared<Logins>(std::string(kLoginKeyBytes, 'k'), *tokens, clock_, random_);
  const Gatekeeper gate({.listen_host = "127.0.0.1", .tokens = tokens, .logins = all});
  const std::string cookie = "reprise_login=" + all->begin("one")->cookie;
  using Extra = std::vector<std::pair<std::string, std::string>>;
  const auto refusal = [&](wire::Method method, Extra headers,
                           Scope needed) -> std::optional<Code> {
    headers.emplace_back("Cookie", cookie);
    const auto outcome = gate.admit(asked(method, headers), needed);
    return outcome ? std::nullopt : std::optional(outcome.error().code);
  };
  using enum wire::Method;
  const std::string own = "http://127.0.0.1:7450";
  EXPECT_EQ(refusal(kGet, {}, Scope::kRead), std::nullopt);
  EXPECT_EQ(refusal(kGet, {{"Sec-Fetch-Site", "same-origin"}}, Scope::kRead), std::nullopt);
  EXPECT_EQ(refusal(kGet, {{"Sec-Fetch-Site", "none"}}, Scope::kRead), std::nullopt);
  EXPECT_EQ(refusal(kPost, {{"Origin", own}}, Scope::kWrite), std::nullopt);
  EXPECT_EQ(refusal(kPost, {{"Origin", "https://127.0.0.1:7450"}}, Scope::kWrite), std::nullopt);
  EXPECT_EQ(refusal(kGet, {{"Upgrade", "websocket"}, {"Origin", own}}, Scope::kRead), std::nullopt);
  EXPECT_EQ(refusal(kPost, {{"Origin", own}}, Scope::kAdmin), Code::kForbidden);

  for (const char* site : {"cross-site", "same-site"})
    EXPECT_EQ(refusal(kGet, {{"Sec-Fetch-Site", site}}, Scope::kRead), Code::kOriginRefused);
  for (const wire::Method method : {kPost, kPut, kPatch, kDelete})
    EXPECT_EQ(refusal(method, {}, Scope::kWrite), Code::kOriginRefused);
  EXPECT_EQ(refusal(kPost, {{"Origin", "http://127.0.0.1:9999"}}, Scope::kWrite),
            Code::kOriginRefused);
  EXPECT_EQ(refusal(kGet, {{"Origin", "https://app.example"}}, Scope::kRead), Code::kOriginRefused);
  EXPECT_EQ(refusal(kGet, {{"Upgrade", "websocket"}}, Scope::kRead), Code::kOriginRefused);
  // A token beside it decides alone.
  EXPECT_EQ(refusal(kPost, {{"Authorization", "Bearer one"}}, Scope::kWrite), std::nullopt);
  EXPECT_EQ(refusal(kPost, {{"Authorization", "Bearer x"}}, Scope::kWrite), Code::kUnauthorized);
}

TEST_F(LoginsTest, TheCookieIsKeptFromScriptsAndOtherSites) {
  const Login login = logins(tokens_).begin("one").value();
  const std::string plain = set_login_cookie(login, clock_.now(), false);
  EXPECT_EQ(plain,
            "reprise_login=" + login.cookie + "; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict");
  EXPECT_TRUE(set_login_cookie(login, clock_.now(), true).ends_with("; Secure"));
  EXPECT_EQ(clear_login_cookie(false),
            "reprise_login=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
}

}  // namespace
}  // namespace reprise::http
