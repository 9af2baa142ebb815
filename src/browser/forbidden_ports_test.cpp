#include "browser/forbidden_ports.h"

#include <gtest/gtest.h>

namespace reprise::browser {
namespace {

std::vector<IpAddress> one_interface() {
  return {*IpAddress::parse("127.0.0.1"), *IpAddress::parse("192.0.2.7"),
          *IpAddress::parse("2001:db8::7")};
}

bool is_refused(const ForbiddenPorts& ports, const char* address, std::uint16_t port) {
  const auto verdict = ports.judge(*IpAddress::parse(address), port);
  EXPECT_TRUE(verdict || verdict.error().rule == UrlRule::kOwnPort);
  return !verdict;
}

TEST(ForbiddenPorts, AreRefusedByEveryAddressOfThisMachine) {
  ForbiddenPorts ports(one_interface);
  const auto hold = ports.forbid(7450);
  for (const char* address :
       {"127.0.0.1", "127.0.0.53", "127.255.255.255", "::1", "::ffff:127.0.0.1", "0.0.0.0",
        "::", "192.0.2.7", "::ffff:192.0.2.7", "2001:db8::7", "64:ff9b::127.0.0.1",
        "64:ff9b::c000:207", "2002:c000:207::1"}) {
    EXPECT_TRUE(is_refused(ports, address, 7450)) << address;
    EXPECT_FALSE(is_refused(ports, address, 7451)) << address;
  }
  for (const char* address : {"192.0.2.8", "93.184.216.34", "2001:db8::8"})
    EXPECT_FALSE(is_refused(ports, address, 7450)) << address;
}

TEST(ForbiddenPorts, AreFreeAgainWithTheirLastHold) {
  ForbiddenPorts ports(one_interface);
  auto first = ports.forbid(9222);
  {
    const auto second = ports.forbid(9222);
    first.release();
    EXPECT_TRUE(ports.has(9222));
  }
  EXPECT_FALSE(ports.has(9222));
  auto moved = ports.forbid(1);
  ForbiddenPorts::Hold other = std::move(moved);
  other = ports.forbid(2);
  EXPECT_FALSE(ports.has(1));
  EXPECT_TRUE(ports.has(2));
}

TEST(ForbiddenPorts, TheSystemKnowsTheMachinesAddresses) {
  ForbiddenPorts ports;
  const auto hold = ports.forbid(7450);
  EXPECT_TRUE(is_refused(ports, "127.0.0.1", 7450));
  EXPECT_FALSE(is_refused(ports, "192.0.2.1", 7450));  // for documentation: nobody's
}

TEST(ForbiddenPorts, AreRefusedBeforeANavigation) {
  ForbiddenPorts ports(one_interface);
  const auto hold = ports.forbid(80);
  const UrlPolicy policy;
  for (const char* url : {"http://localhost/", "http://a.localhost/", "ws://127.1/",
                          "http://[::1]/", "http://192.0.2.7/", "http:\\\\0x7f000001\\"}) {
    const auto checked = check_url(policy, ports, url);
    ASSERT_FALSE(checked.has_value()) << url;
    EXPECT_EQ(checked.error().code, Code::kUrlRefused);
    EXPECT_EQ(checked.error().members, "\"rule\":\"own_port\"") << url;
  }
  EXPECT_TRUE(check_url(policy, ports, "http://example.com/").has_value());
  EXPECT_TRUE(check_url(policy, ports, "https://localhost/").has_value());
  EXPECT_TRUE(check_url(policy, ports, "about:blank").has_value());
  EXPECT_FALSE(check_url(policy, ports, "file:///").has_value());
}

}  // namespace
}  // namespace reprise::browser
