// Histories by chance: what the fuzzer checks, from seeds.
#include "browser/chromium/cdp_scope.h"

#include <gtest/gtest.h>

#include <random>

#include "browser/chromium/cdp_chaos.h"

namespace reprise::browser {
namespace {

TEST(CdpScope, WhateverHappensNobodyReachesBeyondHisSession) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::string choices(2000, '\0');
    for (char& choice : choices) choice = static_cast<char>(random());
    testing::Chaos(choices).run();
  }
}

}  // namespace
}  // namespace reprise::browser
