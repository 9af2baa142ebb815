#include "wire/url.h"

#include <gtest/gtest.h>

namespace reprise::wire {
namespace {

// "scheme|host|port|target", or what is wrong.
std::string read(std::string_view text) {
  const auto url = parse_url(text);
  if (!url) return std::string(error_row(url.error().code).name);
  return fmt::format("{}|{}|{}|{}", url->scheme, url->at.host, url->at.port, url->target);
}

TEST(Url, IsTakenApart) {
  EXPECT_EQ(read("https://example.com/a/b?c=d#e"), "https|example.com|443|/a/b?c=d");
  EXPECT_EQ(read("http://example.com"), "http|example.com|80|/");
  EXPECT_EQ(read("ws://example.com:8080?x"), "ws|example.com|8080|/?x");
  EXPECT_EQ(read("wss://[2001:DB8:0::1]:1/"), "wss|2001:db8::1|1|/");
  EXPECT_EQ(read("HTTPS://EXAMPLE.Com./"), "https|example.com|443|/");
  EXPECT_EQ(read("http://xn--bcher-kva.example/"), "http|xn--bcher-kva.example|80|/");
  EXPECT_EQ(read("http://a:00080/"), "http|a|80|/");
  EXPECT_EQ(read("http://a:/"), "http|a|80|/");
}

TEST(Url, OfOtherSchemesOnlyTheSchemeIsRead) {
  EXPECT_EQ(read("about:blank"), "about||0|blank");
  EXPECT_EQ(read("FILE:///etc/passwd"), "file||0|///etc/passwd");
  EXPECT_EQ(read("data:text/html,<b>"), "data||0|text/html,<b>");
  EXPECT_EQ(read("view-source:http://a/"), "view-source||0|http://a/");
  EXPECT_EQ(read(" java\tscript\n:alert(1)"), "javascript||0|alert(1)");
}

// The tricks by which one reader is told one host, and another reader another.
TEST(Url, IsReadAsABrowserReadsIt) {
  EXPECT_EQ(read("  http://a/  "), "http|a|80|/");
  EXPECT_EQ(read("ht\ntp://ex\tample.com/\r"), "http|example.com|80|/");
  EXPECT_EQ(read("http:\\\\evil.example\\@good.example/"), "http|evil.example|80|/@good.example/");
  EXPECT_EQ(read("http:evil.example"), "http|evil.example|80|/");
  EXPECT_EQ(read("http:////evil.example/"), "http|evil.example|80|/");
  EXPECT_EQ(read("http://good.example@evil.example/"), "http|evil.example|80|/");
  EXPECT_EQ(read("http://good.example:80@evil.example/"), "http|evil.example|80|/");
  EXPECT_EQ(read("http://a@b@evil.example/"), "http|evil.example|80|/");
  EXPECT_EQ(read("http://evil.example?@good.example/"), "http|evil.example|80|/?@good.example/");
  EXPECT_EQ(read("http://evil.example#@good.example/"), "http|evil.example|80|/");
  EXPECT_EQ(read("http://%65xample%2Ecom/"), "http|example.com|80|/");
  EXPECT_EQ(read("http://%31%32%37.0.0.1/"), "http|127.0.0.1|80|/");
  EXPECT_TRUE(parse_url("http://a@b/")->has_user);
  EXPECT_FALSE(parse_url("http://b/@")->has_user);
}

TEST(Url, KnowsEverySpellingOfAnAddress) {
  for (const char* text :
       {"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1",
        "0X7F.0x0.0.01", "127.0.0.1.", "017700000001", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"})
    EXPECT_EQ(read("http://" + std::string(text) + "/"), "http|127.0.0.1|80|/") << text;
  EXPECT_EQ(read("http://0x/"), "http|0.0.0.0|80|/");
  EXPECT_EQ(read("http://0/"), "http|0.0.0.0|80|/");
  EXPECT_EQ(read("http://4294967295/"), "http|255.255.255.255|80|/");
  EXPECT_EQ(parse_url("http://0x7f.1/")->at.address, IpAddress::parse("127.0.0.1"));
  EXPECT_FALSE(parse_url("http://a/")->at.address);
}

TEST(Url, RefusesWhatHasNoMeaning) {
  for (const char* text : {"",
                           " ",
                           "a",
                           "//a/",
                           "/a",
                           ":",
                           "1a:b",
                           "http",
                           "http:",
                           "http://",
                           "http:///",
                           "http://?",
                           "http://@/",
                           "http://:80/",
                           "http://a:0/",
                           "http://a:65536/",
                           "http://a:b/",
                           "http://a:1:2/",
                           "http://a b/",
                           "http://a%20b/",
                           "http://a%00b/",
                           "http://a%2fb/",
                           "http://a%/",
                           "http://a<b/",
                           "http://a..b/",
                           "http://../",
                           "http://256.1.1.1/",
                           "http://1.2.3.4.5/",
                           "http://a.1/",
                           "http://a.0x7f/",
                           "http://1..2/",
                           "http://4294967296/",
                           "http://09/",
                           "http://[::1/",
                           "http://[1.2.3.4]/",
                           "http://[::1]a/",
                           "http://[fe80::1%25eth0]/",
                           "http://a../",
                           "http://127.0.0.1../",
                           "http://99999999999999999999/"})
    EXPECT_EQ(read(text), "invalid") << text;
}

TEST(Url, LeavesNamesBeyondAsciiToOthers) {
  const auto url = parse_url(
      "https://B\xc3\xbc"
      "cher.example/");
  ASSERT_TRUE(url.has_value());
  EXPECT_FALSE(url->at.is_ascii());
  EXPECT_FALSE(parse_url("https://b%C3%BCcher.example/")->at.is_ascii());
  EXPECT_TRUE(parse_url("https://xn--bcher-kva.example/")->at.is_ascii());
  EXPECT_EQ(read("https://b\xc3\xbc cher/"), "invalid");
}

TEST(Authority, IsAHostAndAPort) {
  const auto text = [](std::string_view given) {
    const auto at = parse_authority(given);
    return at ? at->to_string() : std::string(error_row(at.error().code).name);
  };
  EXPECT_EQ(text("EXAMPLE.com:443"), "example.com:443");
  EXPECT_EQ(text("[::1]:80"), "[::1]:80");
  EXPECT_EQ(text("0x7f.1:80"), "127.0.0.1:80");
  for (const char* given : {"", "a", "a:", ":1", "a:0", "a@b:1", "a:1/", "a:1?", "http://a:1",
                            "a\\b:1", " a:1", "a:1 ", "::1:80", "a:70000", "%bcb:1", "b\xc3\xbc:1"})
    EXPECT_EQ(text(given), "invalid") << given;
}

}  // namespace
}  // namespace reprise::wire
