#include "server/webhook_address.h"

#include <gtest/gtest.h>

#include "server/limits.h"

namespace reprise::server {
namespace {

WebhookRules strict() { return {}; }

WebhookRules loopback_allowed() { return {.allows_loopback = true}; }

WebhookRules listing(std::initializer_list<const char*> ranges) {
  WebhookRules rules;
  for (const char* range : ranges) rules.allowed.push_back(*parse_ip_range(range));
  return rules;
}

bool passes(const WebhookRules& rules, std::string_view text) {
  const auto url = parse_webhook_url(text);
  return url && rules.check(*url);
}

bool may_call(const WebhookRules& rules, std::string_view text, std::string_view address) {
  return rules.may_call(*parse_webhook_url(text), *IpAddress::parse(address));
}

TEST(WebhookUrl, IsTakenApart) {
  const auto whole = parse_webhook_url("https://hooks.example:8443/wake?a=1&b=/x#part");
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->is_tls);
  EXPECT_EQ(whole->host, "hooks.example");
  EXPECT_EQ(whole->port, 8443);
  EXPECT_EQ(whole->target, "/wake?a=1&b=/x");
  EXPECT_EQ(whole->authority, "hooks.example:8443");
  const auto bare = parse_webhook_url("http://localhost");
  ASSERT_TRUE(bare);
  EXPECT_FALSE(bare->is_tls);
  EXPECT_EQ(bare->port, 80);
  EXPECT_EQ(bare->target, "/");
  EXPECT_EQ(parse_webhook_url("https://a?x")->target, "/?x");
  EXPECT_EQ(parse_webhook_url("https://a#x")->target, "/");
  const auto v6 = parse_webhook_url("https://[2001:4860::1]:1/");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "2001:4860::1");
  EXPECT_EQ(v6->authority, "[2001:4860::1]:1");
  EXPECT_EQ(parse_webhook_url("https://[2001:4860::1]")->port, 443);
}

TEST(WebhookUrl, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "https", "https://", "https:///path", "https://:443/", "//a.example/",
        "ftp://a.example/", "file:///etc/passwd", "HTTPS//a", "javascript:alert(1)",
        "unix:///run/socket",
        // users
        "https://user@a.example/", "https://user:word@a.example/", "https://a.example@10.0.0.1/",
        // ports
        "https://a.example:/", "https://a.example:0/", "https://a.example:65536/",
        "https://a.example:-1/", "https://a.example:+1/", "https://a.example:80a/",
        "https://a.example:80:80/", "https://a.example: 80/",
        // hosts
        "https://a..example/", "https://.example/", "https://a.example../", "https://./",
        "https://::1/", "https://[::1/", "https://[::1]evil/", "https://[::1]]/", "https://[]/",
        "https://[1.2.3.4]/", "https://[fe80::1%25eth0]/", "https://[v1.a]/", "https://a%2eb/",
        "https://a\\b.example/", "https://a,b.example/", "https://*.example/",
        // addresses that programs read differently
        "http://2130706433/", "http://0x7f.1/", "http://0x7f000001/", "http://017700000001/",
        "http://127.1/", "http://127.0.0.1./", "http://0177.0.0.1/", "http://127.0.0.0x1/",
        "http://1.2.3.4.5/", "http://a.0x/", "http://a.1/",
        // bytes that end a line or a request
        "https://a.example/\r\nHost: b", "https://a.example\r\n/", "https://a.example/a b",
        "https://a.example/\t", " https://a.example/", "https://a.example/ ",
        "https://a.ex\u00e4mple/", "https://a.example/\u00e4", "https://a.example/\x7f"})
    EXPECT_FALSE(parse_webhook_url(text)) << text;
  EXPECT_FALSE(parse_webhook_url(std::string_view("https://a.example/\0", 19)));
  const auto refused = parse_webhook_url("ftp://a.example/");
  EXPECT_EQ(refused.error().code, Code::kInvalid);
}

TEST(WebhookUrl, HasALongestLength) {
  std::string url = "https://a.example/";
  url.resize(kMaxWebhookUrlBytes, 'x');
  EXPECT_TRUE(parse_webhook_url(url));
  EXPECT_FALSE(parse_webhook_url(url + "x"));
  const std::string label(63, 'a');
  const std::string name = label + "." + label + "." + label + "." + std::string(61, 'a');
  EXPECT_TRUE(parse_webhook_url("https://" + name + "/"));
  EXPECT_TRUE(parse_webhook_url("https://" + name + "./"));
  EXPECT_FALSE(parse_webhook_url("https://" + name + "a/"));
  EXPECT_FALSE(parse_webhook_url("https://a" + label + ".example/"));
}

TEST(WebhookRules, PublicAddressesByHttpsNeedNoPermission) {
  for (const char* url : {"https://hooks.example/", "https://8.8.8.8/", "https://[2a00::1]:8443/x"})
    EXPECT_TRUE(passes(strict(), url)) << url;
  for (const char* url : {"http://hooks.example/", "http://8.8.8.8/", "http://[2a00::1]/"}) {
    EXPECT_FALSE(passes(strict(), url)) << url;
    EXPECT_FALSE(passes(loopback_allowed(), url)) << url;
  }
}

TEST(WebhookRules, ThisMachinesOwnAddressesNeedPermission) {
  for (const char* url : {"http://127.0.0.1:1/", "http://localhost/", "http://LocalHost./",
                          "http://a.localhost/", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
                          "https://127.8.8.8/", "https://localhost/"}) {
    EXPECT_FALSE(passes(strict(), url)) << url;
    EXPECT_TRUE(passes(loopback_allowed(), url)) << url;
  }
  // Listed: by https only, whichever way it is written.
  EXPECT_TRUE(passes(listing({"127.0.0.1"}), "https://127.0.0.1/"));
  EXPECT_TRUE(passes(listing({"127.0.0.1"}), "https://[::ffff:127.0.0.1]/"));
  EXPECT_TRUE(passes(listing({"127.0.0.1"}), "https://localhost/"));
  EXPECT_FALSE(passes(listing({"127.0.0.1"}), "http://127.0.0.1/"));
  EXPECT_FALSE(passes(listing({"127.0.0.1"}), "https://127.0.0.2/"));
}

TEST(WebhookRules, PrivateAddressesNeedToBeListed) {
  for (const char* url :
       {"https://10.1.2.3/", "https://169.254.169.254/latest/meta-data", "https://192.168.0.1/",
        "https://[fd00::1]/", "https://0.0.0.0/", "https://[::]/", "https://[64:ff9b::a00:1]/",
        "https://[2002:a00:1::]/"}) {
    EXPECT_FALSE(passes(strict(), url)) << url;
    EXPECT_FALSE(passes(loopback_allowed(), url)) << url;
  }
  const auto rules = listing({"10.0.0.0/8", "fd00::/8"});
  EXPECT_TRUE(passes(rules, "https://10.1.2.3/"));
  EXPECT_TRUE(passes(rules, "https://[fd00::1]/"));
  EXPECT_FALSE(passes(rules, "http://10.1.2.3/"));
  EXPECT_FALSE(passes(rules, "https://192.168.0.1/"));
  EXPECT_FALSE(passes(rules, "https://[64:ff9b::a00:1]/"));
}

// What a name leads to is known only when it is called.
TEST(WebhookRules, EveryAddressOfANameIsJudged) {
  const char* name = "https://hooks.example/";
  EXPECT_TRUE(may_call(strict(), name, "8.8.8.8"));
  for (const char* address : {"127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "fe80::1"})
    EXPECT_FALSE(may_call(strict(), name, address)) << address;
  EXPECT_TRUE(may_call(loopback_allowed(), name, "127.0.0.1"));
  EXPECT_FALSE(may_call(loopback_allowed(), name, "10.0.0.1"));
  EXPECT_TRUE(may_call(listing({"10.0.0.0/8"}), name, "10.0.0.1"));
  // http was allowed because it is this machine: it must be.
  EXPECT_TRUE(may_call(loopback_allowed(), "http://localhost/", "::1"));
  EXPECT_FALSE(may_call(loopback_allowed(), "http://localhost/", "8.8.8.8"));
}

TEST(WebhookRules, OfManyAddressesTheFirstOnesThatMayBeCalledAreTried) {
  const auto url = parse_webhook_url("https://hooks.example/");
  std::vector<IpAddress> addresses = {*IpAddress::parse("10.0.0.1")};
  for (std::size_t i = 1; i <= kMaxWebhookAddresses; ++i)
    addresses.push_back(*IpAddress::parse(fmt::format("8.8.8.{}", i)));
  const auto all = strict().callable(*url, addresses);
  ASSERT_EQ(all.size(), kMaxWebhookAddresses);
  EXPECT_EQ(all.front().to_string(), "8.8.8.1");
  addresses.push_back(*IpAddress::parse("8.8.9.1"));
  EXPECT_EQ(strict().callable(*url, addresses), all);
  EXPECT_TRUE(strict().callable(*url, {*IpAddress::parse("::1")}).empty());
}

}  // namespace
}  // namespace reprise::server
