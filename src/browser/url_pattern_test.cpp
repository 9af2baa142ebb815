#include "browser/url_pattern.h"

#include <gtest/gtest.h>

#include "browser/proxy/limits.h"

namespace reprise::browser {
namespace {

bool names(std::string_view pattern, std::string_view scheme, std::string_view host,
           std::uint16_t port) {
  const auto parsed = UrlPattern::parse(pattern);
  EXPECT_TRUE(parsed.has_value()) << pattern;
  const UrlPlace place{std::string(scheme), std::string(host), port, IpAddress::parse(host)};
  return parsed && parsed->allows(place) && parsed->denies(place);
}

TEST(UrlPattern, NamesAHostOrWhatIsBelowIt) {
  EXPECT_TRUE(names("example.com", "https", "example.com", 443));
  EXPECT_TRUE(names("EXAMPLE.com.", "http", "example.com", 8080));
  EXPECT_FALSE(names("example.com", "https", "www.example.com", 443));
  EXPECT_FALSE(names("example.com", "https", "anexample.com", 443));
  EXPECT_TRUE(names("*.example.com", "https", "www.example.com", 443));
  EXPECT_TRUE(names("*.example.com", "https", "a.b.example.com", 443));
  EXPECT_FALSE(names("*.example.com", "https", "example.com", 443));
  EXPECT_FALSE(names("*.example.com", "https", "notexample.com", 443));
  EXPECT_TRUE(names("*", "https", "anything.example", 1));
}

TEST(UrlPattern, MayNameASchemeAndAPort) {
  EXPECT_TRUE(names("example.com:8080", "http", "example.com", 8080));
  EXPECT_FALSE(names("example.com:8080", "http", "example.com", 80));
  EXPECT_TRUE(names("https://example.com", "https", "example.com", 443));
  EXPECT_TRUE(names("https://example.com/", "https", "example.com", 443));
  EXPECT_FALSE(names("https://example.com", "https", "example.com", 8443));
  EXPECT_FALSE(names("https://example.com", "wss", "example.com", 443));
  EXPECT_TRUE(names("HTTP://*.example.com:81", "http", "a.example.com", 81));
  EXPECT_TRUE(names("*:3000", "http", "localhost", 3000));
}

TEST(UrlPattern, MayBeAnAddressOrARangeOfThem) {
  EXPECT_TRUE(names("10.0.0.0/8", "http", "10.1.2.3", 80));
  EXPECT_FALSE(names("10.0.0.0/8", "http", "11.1.2.3", 80));
  EXPECT_TRUE(names("127.0.0.1:3000", "http", "127.0.0.1", 3000));
  EXPECT_FALSE(names("127.0.0.1:3000", "http", "127.0.0.1", 3001));
  EXPECT_TRUE(names("[::1]:3000", "http", "::1", 3000));
  EXPECT_TRUE(names("::1", "http", "::1", 3000));
  EXPECT_TRUE(names("fd00::/8", "http", "fd12::1", 80));
  EXPECT_TRUE(names("http://[::1]:3000", "http", "::1", 3000));
  EXPECT_TRUE(UrlPattern::parse("10.0.0.0/8")->is_range());
  EXPECT_FALSE(UrlPattern::parse("*.example.com")->is_range());
}

TEST(UrlPattern, RefusesWhatNamesNothing) {
  for (const char* text : {"",
                           "*.",
                           "*.*",
                           "a*.example",
                           "www.*.com",
                           "**",
                           "a b",
                           "file://a",
                           "://a",
                           "https://",
                           "https:example.com",
                           "example.com/path",
                           "https://example.com/path",
                           "example.com:0",
                           "example.com:99999",
                           "example.com:",
                           "user@example.com",
                           "10.0.0.0/33",
                           "10.0.0.1/8",
                           "0x7f.1",
                           "127.1",
                           "b\xc3\xbc"
                           "cher.example",
                           "[::1",
                           "::1]",
                           "[]",
                           ":80",
                           "a..b"})
    EXPECT_FALSE(UrlPattern::parse(text).has_value()) << text;
}

TEST(UrlPattern, HasALimit) {
  const std::string wide = "https://" + std::string(kMaxUrlPatternBytes, 'a');
  EXPECT_FALSE(UrlPattern::parse(wide).has_value());
  const std::string label(63, 'a');
  const std::string longest =
      fmt::format("https://*.{}.{}.{}.{}:65535/", label, label, label, std::string(61, 'a'));
  ASSERT_LE(longest.size(), kMaxUrlPatternBytes);
  EXPECT_TRUE(UrlPattern::parse(longest).has_value());
}

}  // namespace
}  // namespace reprise::browser
