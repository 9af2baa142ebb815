#include "browser/chromium/devtools_address.h"

#include <gtest/gtest.h>

namespace reprise::browser::chromium {
namespace {

TEST(DevToolsAddress, IsReadFromItsLine) {
  EXPECT_EQ(
      parse_devtools_line("DevTools listening on ws://127.0.0.1:44243/devtools/browser/8674-3"),
      (DevToolsAddress{44243, "/devtools/browser/8674-3"}));
}

TEST(DevToolsAddress, IsNotReadFromOthers) {
  const std::string start = "DevTools listening on ws://127.0.0.1:";
  for (const std::string& line :
       {std::string(), std::string("[1116/1:ERROR] x"), start, start + "44243", start + "44243/",
        start + "/devtools/browser/a", start + "0/devtools/browser/a",
        start + "65536/devtools/browser/a", start + "1/devtools/browser/",
        start + "1/devtools/page/a", start + "1/devtools/browser/a b",
        start + "1/devtools/browser/a\r", start + "1/devtools/browser/" + std::string(300, 'a'),
        "x" + start + "1/devtools/browser/a",
        std::string("DevTools listening on ws://10.0.0.1:1/devtools/browser/a")})
    EXPECT_EQ(parse_devtools_line(line), std::nullopt) << line;
}

}  // namespace
}  // namespace reprise::browser::chromium
