#include "server/cli/url.h"

#include <gtest/gtest.h>

namespace reprise::server::cli {
namespace {

TEST(Url, ReadsHostsPortsAndPrefixes) {
  const auto plain = parse_url("http://127.0.0.1:7450");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->is_tls);
  EXPECT_EQ(plain->host, "127.0.0.1");
  EXPECT_EQ(plain->port, 7450);
  EXPECT_EQ(plain->path, "");
  EXPECT_EQ(plain->authority(), "127.0.0.1:7450");

  const auto tls = parse_url("https://reprise.example/prefix/");
  ASSERT_TRUE(tls);
  EXPECT_TRUE(tls->is_tls);
  EXPECT_EQ(tls->port, 443);
  EXPECT_EQ(tls->path, "/prefix");
  EXPECT_EQ(tls->authority(), "reprise.example");
  EXPECT_EQ(tls->to_string(), "https://reprise.example/prefix");

  EXPECT_EQ(parse_url("http://localhost/")->port, 80);
  EXPECT_EQ(parse_url("http://localhost/")->path, "");
  EXPECT_EQ(parse_url("https://a:80")->authority(), "a:80");
}

TEST(Url, ReadsIpv6LiteralsAndPutsTheirBracketsBack) {
  const auto url = parse_url("http://[::1]:7450/x");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 7450);
  EXPECT_EQ(url->authority(), "[::1]:7450");
  EXPECT_EQ(url->to_string(), "http://[::1]:7450/x");
  EXPECT_EQ(parse_url("https://[fe80::1]")->authority(), "[fe80::1]");
}

TEST(Url, RefusesWhatItCannotReach) {
  for (const char* text :
       {"", "127.0.0.1:7450", "ftp://a", "http://", "http://:80", "http://a:", "http://a:0",
        "http://a:65536", "http://a:8x", "http://[::1", "http://[::1]x", "http://[]", "http://[a]",
        "http://::1", "http://a?q=1", "http://a/#f", "http://a b", "http://a/\r\nX: y"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, Code::kBadParameter) << text;
  }
}

TEST(Url, AUserNameIsRefusedWithoutBeingRepeated) {
  const auto url = parse_url("http://user:hunter2@host/");
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().detail.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace reprise::server::cli
