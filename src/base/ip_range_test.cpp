#include "base/ip_range.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(IpAddress, WhatIsSpecialIsNotPublic) {
  for (const char* text :
       {"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1",
        "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1",
        "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
        "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
        // IPv6: unspecified, loopback, compatible, link-local, site-local, unique local, multicast,
        // discard, local NAT64, protocols, Teredo, documentation
        "::", "::1", "::7f00:1", "::8.8.8.8", "fe80::1", "fec0::1", "fc00::1", "fd12::1", "ff02::1",
        "100::1", "64:ff9b:1::808:808", "2001:2::1", "2001::1", "2001:1ff::1", "2001:db8::1",
        "3fff::1", "5f00::1",
        // IPv4 inside IPv6: mapped, translated, tunnelled
        "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::127.0.0.1", "64:ff9b::a00:1",
        "2002:7f00:1::1", "2002:c0a8:101::1"}) {
    const auto address = IpAddress::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_FALSE(address->is_public()) << text;
  }
}

TEST(IpAddress, WhatLiesBesideTheSpecialRangesIsPublic) {
  for (const char* text :
       {"1.0.0.0",         "8.8.8.8",        "9.255.255.255",        "11.0.0.0",
        "100.63.255.255",  "100.128.0.0",    "126.255.255.255",      "128.0.0.0",
        "169.253.255.255", "172.15.255.255", "172.32.0.0",           "192.0.1.0",
        "192.167.255.255", "198.17.255.255", "198.20.0.0",           "223.255.255.255",
        "2000::1",         "2001:200::1",    "2001:4860:4860::8888", "2a00::1",
        "3ffe::1",         "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",     "2002:808:808::1"}) {
    const auto address = IpAddress::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_TRUE(address->is_public()) << text;
  }
}

TEST(IpAddress, OtherSpellingsAreNoAddress) {
  for (const char* text : {"", "2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1",
                           "127.0.0.01", "127.0.0.1.", " 127.0.0.1", "127.0.0.1 ", "[::1]",
                           "fe80::1%eth0", "1.2.3.4.5", "256.1.1.1", "::ffff:127.1", "::1::"})
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  EXPECT_FALSE(IpAddress::parse(std::string_view("8.8.8.8\0.evil", 13)));
  EXPECT_EQ(*IpAddress::parse("::ffff:10.0.0.1"), *IpAddress::parse("10.0.0.1"));
  EXPECT_EQ(IpAddress::parse("::ffff:10.0.0.1")->to_string(), "10.0.0.1");
  EXPECT_EQ(IpAddress::parse("2001:DB8:0:0::1")->to_string(), "2001:db8::1");
}

TEST(IpRange, ContainsItsFirstAndLastAddressAndNotTheNext) {
  const auto contains = [](const char* range, const char* address) {
    return parse_ip_range(range)->contains(*IpAddress::parse(address));
  };
  EXPECT_TRUE(contains("10.0.0.0/8", "10.0.0.0"));
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.255.255"));
  EXPECT_TRUE(contains("10.0.0.0/8", "::ffff:10.1.1.1"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_FALSE(contains("10.0.0.0/8", "a00::"));
  EXPECT_TRUE(contains("192.168.1.128/25", "192.168.1.128"));
  EXPECT_FALSE(contains("192.168.1.128/25", "192.168.1.127"));
  EXPECT_TRUE(contains("10.1.2.3", "10.1.2.3"));
  EXPECT_FALSE(contains("10.1.2.3", "10.1.2.2"));
  EXPECT_TRUE(contains("0.0.0.0/0", "255.255.255.255"));
  EXPECT_FALSE(contains("0.0.0.0/0", "::1"));
  EXPECT_TRUE(contains("fd00::/8", "fdff:ffff::1"));
  EXPECT_FALSE(contains("fd00::/8", "fe00::"));
  EXPECT_TRUE(contains("::/0", "2001:db8::1"));
}

TEST(IpAddress, KnowsWhatLeadsToThisMachineAndToTheLink) {
  const auto at = [](const char* text) { return *IpAddress::parse(text); };
  for (const char* text : {"0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"})
    EXPECT_TRUE(at(text).is_unspecified()) << text;
  for (const char* text : {"1.0.0.0", "127.0.0.1", "::1", "::2"})
    EXPECT_FALSE(at(text).is_unspecified()) << text;
  for (const char* text : {"169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::1",
                           "febf:ffff::1", "::ffff:169.254.169.254"})
    EXPECT_TRUE(at(text).is_link_local()) << text;
  for (const char* text : {"169.253.255.255", "169.255.0.0", "fec0::1", "fe7f::1", "10.0.0.1"})
    EXPECT_FALSE(at(text).is_link_local()) << text;
}

TEST(IpAddress, ATranslatedAddressLeadsToTheOneInsideIt) {
  const auto end = [](const char* text) {
    return IpAddress::parse(text)->destination().to_string();
  };
  EXPECT_EQ(end("64:ff9b::169.254.169.254"), "169.254.169.254");
  EXPECT_EQ(end("2002:a9fe:a9fe::1"), "169.254.169.254");
  EXPECT_EQ(end("2001:db8::1"), "2001:db8::1");
  EXPECT_EQ(end("10.0.0.1"), "10.0.0.1");
}

}  // namespace
}  // namespace reprise
