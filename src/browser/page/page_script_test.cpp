#include "browser/page/page_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace reprise::browser {
namespace {

TEST(PageScript, IsOneExpressionWithEveryPart) {
  const std::string_view script = page_script();
  EXPECT_TRUE(script.starts_with("(() => {\n'use strict';\n"));
  EXPECT_TRUE(script.ends_with("\nreturn api;\n})()\n"));
  for (const std::string_view name :
       {"const LIMITS = {", "function flatParentOf(", "function roleOf(", "class Look {",
        "function nameOf(", "function refFor(", "class Walk {", "function distill(",
        "class Rendering {", "function isHitBy(", "function resolve(", "function describe(",
        "async function prepare(", "function fill(", "function maskSecrets(", "const api = {"}) {
    EXPECT_NE(script.find(name), std::string_view::npos) << name;
  }
}

TEST(PageScript, IsAsciiSoThatAnyEncoderOfJsonTakesIt) {
  EXPECT_TRUE(
      std::ranges::all_of(page_script(), [](char c) { return c == '\n' || (c >= 32 && c < 127); }));
}

}  // namespace
}  // namespace reprise::browser
