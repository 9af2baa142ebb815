#include "browser/url_policy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "browser/proxy/limits.h"

namespace reprise::browser {
namespace {

UrlPolicy policy(UrlPolicyOptions options) {
  auto made = UrlPolicy::make(std::move(options));
  EXPECT_TRUE(made.has_value()) << made.error().detail;
  return std::move(*made);
}

// The rule that refuses it, or "".
std::string refused(const UrlPolicy& rules, std::string_view url) {
  const auto verdict = rules.judge_url(url);
  return verdict ? std::string() : std::string(word(verdict.error().rule));
}

std::string refused_at(const UrlPolicy& rules, std::string_view address,
                       std::string_view host = "name.example", std::uint16_t port = 443,
                       std::string_view scheme = "") {
  const wire::Authority at{std::string(host), IpAddress::parse(host), port};
  const auto verdict = rules.judge_address(*IpAddress::parse(address), at, scheme);
  return verdict ? std::string() : std::string(word(verdict.error().rule));
}

TEST(UrlPolicy, TakesTheSchemesOfTheWeb) {
  const UrlPolicy rules;
  for (const char* url :
       {"http://example.com/", "https://example.com/", "ws://example.com/", "wss://example.com/",
        "about:blank", "about:blank#x", "about:blank?x", "data:text/html,<p>", "DATA:,x",
        "blob:https://example.com/7b9f", "HTTP://EXAMPLE.COM"})
    EXPECT_EQ(refused(rules, url), "") << url;
  for (const char* url : {"file:///etc/passwd",
                          "FILE:///etc/passwd",
                          "f\tile:///etc/passwd",
                          "\x01 file:/etc/passwd",
                          "chrome://settings",
                          "chrome:settings",
                          "devtools://devtools/bundled/inspector.html",
                          "view-source:https://example.com/",
                          "javascript:alert(1)",
                          "java\nscript:alert(1)",
                          "about:version",
                          "about:blankx",
                          "about:",
                          "filesystem:http://a/",
                          "ftp://a/",
                          "chrome-extension://abc/",
                          "chrome-untrusted://x",
                          "intent:x",
                          "mailto:a@b",
                          "vbscript:x"})
    EXPECT_EQ(refused(rules, url), "scheme") << url;
  for (const char* url :
       {"", "example.com", "/etc/passwd", "//example.com/", "http://", "https:///"})
    EXPECT_EQ(refused(rules, url), "malformed") << url;
}

TEST(UrlPolicy, AnAppMayAllowFurtherSchemes) {
  const UrlPolicy rules = policy({.schemes = {"file", "chrome"}});
  EXPECT_EQ(refused(rules, "file:///tmp/a.html"), "");
  EXPECT_EQ(refused(rules, "chrome://version"), "");
  EXPECT_EQ(refused(rules, "devtools://x"), "scheme");
  for (const char* scheme : {"", "File", "file:", "a b", "1a"})
    EXPECT_FALSE(UrlPolicy::make({.schemes = {scheme}}).has_value()) << scheme;
}

TEST(UrlPolicy, ARefusalNamesItsRule) {
  const auto checked = UrlPolicy().check_url("file:///etc/passwd");
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, Code::kUrlRefused);
  EXPECT_EQ(checked.error().members, "\"rule\":\"scheme\"");
}

TEST(UrlPolicy, LinkLocalAddressesAndCloudsOwnServicesAreRefused) {
  const UrlPolicy strict;
  const UrlPolicy loose = policy({.allow_link_local = true});
  for (const char* host :
       {"169.254.169.254", "169.254.0.1", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376",
        "[fe80::1]", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]",
        "[fd00:ec2::254]", "[fd20:ce::254]", "100.100.100.200", "192.0.0.192", "168.63.129.16",
        "metadata.google.internal", "Metadata.Google.Internal."}) {
    const std::string url = fmt::format("http://{}/latest/meta-data", host);
    EXPECT_EQ(refused(strict, url), "link_local") << url;
    EXPECT_EQ(refused(loose, url), "") << url;
  }
  EXPECT_EQ(refused_at(strict, "169.254.169.254"), "link_local");
  EXPECT_EQ(refused_at(strict, "fe80::1"), "link_local");
  EXPECT_EQ(refused_at(loose, "fe80::1"), "");
}

TEST(UrlPolicy, ThisMachineAndPrivateNetworksAreAllowedUnlessTheyAreNot) {
  const UrlPolicy open;
  const UrlPolicy closed = policy({.allow_loopback = false, .allow_private = false});
  for (const char* host : {"127.0.0.1", "127.9.9.9", "localhost", "a.localhost", "LOCALHOST.",
                           "[::1]", "0.0.0.0", "[::]", "0", "127.1", "[::ffff:127.0.0.1]"}) {
    const std::string url = fmt::format("http://{}:3000/", host);
    EXPECT_EQ(refused(open, url), "") << url;
    EXPECT_EQ(refused(closed, url), "loopback") << url;
  }
  for (const char* host : {"10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "[fd00::1]",
                           "[64:ff9b::10.0.0.1]", "224.0.0.1", "[ff02::1]"}) {
    const std::string url = fmt::format("http://{}/", host);
    EXPECT_EQ(refused(open, url), "") << url;
    EXPECT_EQ(refused(closed, url), "private") << url;
  }
  EXPECT_EQ(refused_at(closed, "10.1.2.3"), "private");
  EXPECT_EQ(refused_at(closed, "::1"), "loopback");
  EXPECT_EQ(refused_at(closed, "93.184.216.34"), "");
}

TEST(UrlPolicy, TheDenyListWins) {
  const UrlPolicy rules = policy({.allow = {"example.com", "*.example.com"},
                                  .deny = {"secret.example.com", "example.com:8080"}});
  EXPECT_EQ(refused(rules, "https://example.com/"), "");
  EXPECT_EQ(refused(rules, "https://www.example.com/"), "");
  EXPECT_EQ(refused(rules, "https://secret.example.com/"), "deny_list");
  EXPECT_EQ(refused(rules, "https://SECRET.example.com./"), "deny_list");
  EXPECT_EQ(refused(rules, "http://example.com:8080/"), "deny_list");
  EXPECT_EQ(refused(rules, "https://other.example/"), "allow_list");
  EXPECT_EQ(refused(rules, "https://example.com@other.example/"), "allow_list");
  EXPECT_EQ(refused(rules, "https://other.example\\@example.com/"), "allow_list");
  EXPECT_EQ(refused(rules, "https://notexample.com/"), "allow_list");
  // A list is about hosts: schemes without one stay as they are.
  EXPECT_EQ(refused(rules, "about:blank"), "");
}

TEST(UrlPolicy, ANameIsComparedOnceItCanBe) {
  const char* name =
      "https://b\xc3\xbc"
      "cher.example/";
  EXPECT_EQ(refused(UrlPolicy(), name), "");
  EXPECT_EQ(refused(policy({.deny = {"xn--bcher-kva.example"}}), name), "malformed");
  EXPECT_EQ(refused(policy({.deny = {"xn--bcher-kva.example"}}), "https://XN--bcher-kva.example/"),
            "deny_list");
}

// A list of ranges says nothing of a name before it is resolved, and everything afterwards.
TEST(UrlPolicy, RangesAreComparedWithTheAddressConnectedTo) {
  const UrlPolicy allows = policy({.allow = {"10.0.0.0/8", "example.com"}});
  EXPECT_EQ(refused(allows, "http://intranet.example/"), "");
  EXPECT_EQ(refused_at(allows, "10.1.2.3"), "");
  EXPECT_EQ(refused_at(allows, "11.1.2.3"), "allow_list");
  EXPECT_EQ(refused_at(allows, "11.1.2.3", "example.com"), "");
  EXPECT_EQ(refused(allows, "http://11.1.2.3/"), "allow_list");
  const UrlPolicy denies = policy({.deny = {"127.0.0.0/8", "::1", "10.0.0.0/8"}});
  EXPECT_EQ(refused(denies, "http://intranet.example/"), "");
  EXPECT_EQ(refused_at(denies, "10.1.2.3"), "deny_list");
  EXPECT_EQ(refused_at(denies, "64:ff9b::10.1.2.3"), "deny_list");
  for (const char* host : {"localhost", "127.0.0.2", "[::1]", "0.0.0.0", "[::]", "0x7f.1"})
    EXPECT_EQ(refused(denies, fmt::format("http://{}/", host)), "deny_list") << host;
}

TEST(UrlPolicy, NamingAnAddressOverridesNoOtherRule) {
  EXPECT_EQ(refused(policy({.allow = {"169.254.169.254"}}), "http://169.254.169.254/"),
            "link_local");
  EXPECT_EQ(refused(policy({.allow_loopback = false, .allow = {"localhost"}}), "http://localhost/"),
            "loopback");
}

TEST(UrlPolicy, OfATunnelTheSchemeIsNotKnown) {
  const auto tunnel = [](UrlPolicyOptions options, std::uint16_t port) {
    return refused_at(policy(std::move(options)), "93.184.216.34", "example.com", port);
  };
  EXPECT_EQ(tunnel({.deny = {"http://example.com"}}, 80), "deny_list");
  EXPECT_EQ(tunnel({.deny = {"https://example.com"}}, 443), "deny_list");
  EXPECT_EQ(tunnel({.deny = {"https://example.com"}}, 8443), "");
  EXPECT_EQ(tunnel({.allow = {"http://example.com"}}, 80), "allow_list");
  EXPECT_EQ(tunnel({.allow = {"https://example.com"}}, 443), "");
  EXPECT_EQ(tunnel({.allow = {"ws://example.com"}}, 80), "");
  EXPECT_EQ(refused_at(policy({.allow = {"https://example.com:80"}}), "93.184.216.34",
                       "example.com", 80, "http"),
            "allow_list");
}

TEST(UrlPolicy, TheUsersOwnProxyIsJudgedAsWhatItStandsFor) {
  const auto judged = [](const UrlPolicyOptions& options, const char* address) {
    return policy(options)
        .judge_proxy(*IpAddress::parse(address), {"proxy.example", {}, 3128})
        .has_value();
  };
  const UrlPolicyOptions open{.allow_loopback = false, .deny = {"10.6.6.6"}};
  EXPECT_TRUE(judged(open, "10.0.0.1"));
  for (const char* address : {"127.0.0.1", "169.254.169.254", "10.6.6.6"})
    EXPECT_FALSE(judged(open, address)) << address;
  // A list that a proxy could get around would be none.
  EXPECT_FALSE(judged({.allow = {"example.com"}}, "10.0.0.1"));
  EXPECT_TRUE(judged({.allow = {"example.com", "proxy.example:3128"}}, "10.0.0.1"));
}

TEST(UrlPolicy, HasLimits) {
  const std::vector<std::string> most(kMaxUrlPatterns, "a.example");
  std::vector<std::string> more = most;
  more.emplace_back("b.example");
  EXPECT_TRUE(UrlPolicy::make({.allow = most, .deny = most}).has_value());
  EXPECT_FALSE(UrlPolicy::make({.allow = more}).has_value());
  EXPECT_FALSE(UrlPolicy::make({.deny = more}).has_value());
  const std::vector<std::string> schemes(kMaxUrlSchemes, "file");
  EXPECT_TRUE(UrlPolicy::make({.schemes = schemes}).has_value());
  std::vector<std::string> more_schemes = schemes;
  more_schemes.emplace_back("x");
  EXPECT_FALSE(UrlPolicy::make({.schemes = more_schemes}).has_value());
  EXPECT_TRUE(UrlPolicy::make({.schemes = {std::string(kMaxUrlSchemeBytes, 'a')}}).has_value());
  EXPECT_FALSE(
      UrlPolicy::make({.schemes = {std::string(kMaxUrlSchemeBytes + 1, 'a')}}).has_value());
}

}  // namespace
}  // namespace reprise::browser
