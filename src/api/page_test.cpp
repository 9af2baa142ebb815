#include "api/page.h"

#include <gtest/gtest.h>

#include <string>

#include "api/limits.h"
#include "api/login.h"
#include "api/testing.h"
#include "base/bytes.h"
#include "base/hash.h"

namespace reprise::api {
namespace {

using testing::Api;

TEST(Page, IsServedWithAllItLoadsAndNamesWhatItLoads) {
  Api api;
  const http::Reply page = api.get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.get("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.headers.get("cache-control"), "no-cache");
  EXPECT_FALSE(page.headers.get("content-encoding"));
  std::size_t scripts = 0;
  for (const PageFile& file : page_files()) {
    if (file.path == "/") continue;
    const http::Reply reply = api.get(file.path);
    EXPECT_EQ(reply.status, 200) << file.path;
    EXPECT_EQ(reply.body, file.plain) << file.path;
    EXPECT_EQ(reply.headers.get("content-type"), file.content_type);
    EXPECT_EQ(reply.headers.get("cache-control"), "public, max-age=31536000, immutable");
    scripts += file.path.ends_with(".js") ? 1 : 0;
  }
  EXPECT_EQ(scripts, 2);  // the page's and its worker's
  EXPECT_EQ(api.get("/assets/none.js").status, 404);
}

TEST(Page, IsCompressedForThoseWhoTakeIt) {
  Api api;
  const auto coding = [&](const char* accepted) {
    const http::Reply reply = api.get("/", {{"Accept-Encoding", accepted}});
    EXPECT_EQ(reply.headers.get("vary"), "Accept-Encoding");
    return std::string(reply.headers.get("content-encoding").value_or("none"));
  };
  for (const char* accepted : {"gzip", "br, gzip", "gzip;q=0.5", "deflate, gzip; q=1.0, *"})
    EXPECT_EQ(coding(accepted), "gzip") << accepted;
  for (const char* accepted : {"br", "gzip;q=0", "gzip;q=0.000", "xgzip", ""})
    EXPECT_EQ(coding(accepted), "none") << accepted;
  const std::string body = api.get("/", {{"Accept-Encoding", "gzip"}}).body;
  EXPECT_EQ(body.substr(0, 2), "\x1f\x8b");
}

TEST(Page, IsNotSentAgainToThoseWhoHaveIt) {
  Api api;
  const std::string etag(api.get("/").headers.get("etag").value());
  const std::string compressed(
      api.get("/", {{"Accept-Encoding", "gzip"}}).headers.get("etag").value());
  EXPECT_NE(etag, compressed);
  const http::Reply again = api.get("/", {{"If-None-Match", etag}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(again.headers.get("etag"), etag);
  EXPECT_EQ(api.get("/", {{"If-None-Match", compressed}}).status, 200);
}

TEST(Page, RunsNothingButItsOwnScripts) {
  Api api;
  const http::Reply page = api.get("/");
  const std::string policy(page.headers.get("content-security-policy").value());
  EXPECT_NE(policy.find("default-src 'none'; script-src 'self';"), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_EQ(page.body.find("<style"), std::string::npos);
  EXPECT_EQ(page.body.find("<script>"), std::string::npos);
}

TEST(Login, IsNotNeededWithoutTokens) {
  Api api;
  const http::Reply who = api.get("/v1/login");
  EXPECT_EQ(who.body, R"({"name":"anonymous","scope":"admin","apps":null,"isLoginNeeded":false})");
  EXPECT_EQ(who.headers.get("cache-control"), "no-store");
  const http::Reply login =
      api.post("/v1/login", R"({"token":"x"})", {{"Content-Type", "application/json"}});
  EXPECT_EQ(login.status, 200);
  EXPECT_FALSE(login.headers.get("set-cookie"));
  EXPECT_EQ(api.post("/v1/logout", "").status, 204);
}

class LoginRoutesTest : public ::testing::Test {
 protected:
  static http::Tokens one_token() {
    return http::Tokens::parse(
               R"({"tokens":[{"name":"ci","scopes":["read"],"apps":["shop"],"sha256":")" +
               to_hex(sha256("secret")) + "\"}]}")
        .value();
  }
  // Runs on a loop of its own, with nothing but these routes.
  http::Reply call(wire::Method method, const char* path, std::string body,
                   std::string cookie = {}) {
    http::Exchange exchange;
    exchange.request.method = method;
    exchange.request.body = std::move(body);
    exchange.request.headers.add("Content-Type", "application/json");
    if (!cookie.empty()) exchange.request.headers.add("Cookie", cookie);
    exchange.target = wire::parse_target(path).value();
    const http::Match match = router_.find(method, exchange.target.segments);
    std::optional<Result<http::Reply>> outcome;
    loop_.post([&] { rt::spawn(gate_, answer(*match.route, exchange, outcome)); });
    while (loop_.run_ready() > 0) {
    }
    if (!*outcome) return http::problem(outcome->error(), path);
    return std::move(**outcome);
  }
  static rt::Task<> answer(const http::Route& route, http::Exchange& exchange,
                           std::optional<Result<http::Reply>>& outcome) {
    outcome = co_await route.handler(exchange);
  }

  rt::ManualTime time_;
  rt::ManualLoop loop_{time_};
  rt::Gate gate_;
  SeededRandom random_{3};
  const http::Tokens tokens_ = one_token();
  http::Logins logins_{std::string(http::kLoginKeyBytes, 'k'), tokens_, time_, random_};
  const LoginRoutes routes_{.logins = &logins_, .clock = time_};
  http::Router router_;

  LoginRoutesTest() { add_login_routes(router_, routes_); }
};

TEST_F(LoginRoutesTest, ATokenIsExchangedForACookieUntilItIsGivenBack) {
  const http::Reply login = call(wire::Method::kPost, "/v1/login", R"({"token":"secret"})");
  ASSERT_EQ(login.status, 200) << login.body;
  EXPECT_EQ(testing::text_member(login.body, "name"), "ci");
  EXPECT_EQ(testing::text_member(login.body, "scope"), "read");
  EXPECT_EQ(testing::member(login.body, "apps"), R"(["shop"])");
  EXPECT_NE(testing::text_member(login.body, "expiresAt"), "");
  const std::string cookie(login.headers.get("set-cookie").value());
  EXPECT_EQ(cookie.find("secret"), std::string::npos);
  const std::string pair = cookie.substr(0, cookie.find(';'));
  const std::string value = pair.substr(pair.find('=') + 1);
  EXPECT_TRUE(logins_.authenticate(value));
  const http::Reply out = call(wire::Method::kPost, "/v1/logout", "", pair);
  EXPECT_EQ(out.status, 204);
  EXPECT_NE(out.headers.get("set-cookie")->find("Max-Age=0"), std::string::npos);
  EXPECT_FALSE(logins_.authenticate(value));
}

TEST_F(LoginRoutesTest, WhatIsNoTokenIsRefused) {
  const auto code = [&](std::string body) {
    return testing::text_member(call(wire::Method::kPost, "/v1/login", std::move(body)).body,
                                "code");
  };
  EXPECT_EQ(code(R"({"token":"other"})"), "unauthorized");
  EXPECT_EQ(code(R"({"token":1})"), "invalid");
  EXPECT_EQ(code("{}"), "invalid");
  EXPECT_EQ(code(R"({"token":"secret","more":1})"), "invalid");
  const auto of_length = [](std::size_t length) {
    return R"({"token":")" + std::string(length, 't') + "\"}";
  };
  EXPECT_EQ(code(of_length(kMaxLoginTokenBytes)), "unauthorized");
  EXPECT_EQ(code(of_length(kMaxLoginTokenBytes + 1)), "invalid");
}

}  // namespace
}  // namespace reprise::api
