#include "base/host_name.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise {
namespace {

TEST(HostName, IsMadeOfLabels) {
  for (const char* name : {"a", "example.com", "example.com.", "xn--bcher-kva.example", "_dmarc.a",
                           "a-b.c_d", "1.2.3.example", "0xg", "a1"})
    EXPECT_TRUE(is_host_name(name)) << name;
  for (const char* name :
       {"", ".", "..", "a..b", ".a", "a..", "a b", "a%2eb", "b\xc3\xbc", "a/b", "a:1", "[::1]"})
    EXPECT_FALSE(is_host_name(name)) << name;
}

TEST(HostName, DoesNotEndWithANumber) {
  for (const char* name : {"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x", "a.0x7f", "a.1",
                           "a.1.", "0177.0.0.01"})
    EXPECT_FALSE(is_host_name(name)) << name;
}

TEST(HostName, HasLimits) {
  const std::string label(63, 'a');
  EXPECT_TRUE(is_host_name(label));
  EXPECT_FALSE(is_host_name(label + "a"));
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
  EXPECT_TRUE(is_host_name(longest));
  EXPECT_TRUE(is_host_name(longest + "."));
  EXPECT_FALSE(is_host_name(longest + "a"));
}

TEST(HostName, EverythingBelowLocalhostIsThisMachine) {
  for (const char* name : {"localhost", "LOCALHOST.", "a.localhost", "a.b.LocalHost"})
    EXPECT_TRUE(is_loopback_name(name)) << name;
  for (const char* name : {"", ".", "notlocalhost", "localhost.example", "local", "ocalhost"})
    EXPECT_FALSE(is_loopback_name(name)) << name;
}

}  // namespace
}  // namespace reprise
