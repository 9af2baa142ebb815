#include "browser/memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace reprise::browser {
namespace {

constexpr std::string_view kRollup =
    "5581f3b2d000-7ffd0b5f2000 ---p 00000000 00:00 0                  [rollup]\n"
    "Rss:              151116 kB\n"
    "Pss:               47837 kB\n"
    "Pss_Dirty:         20000 kB\n"
    "Pss_Anon:          19000 kB\n"
    "SwapPss:               7 kB\n";

TEST(Memory, PssIsReadFromTheRollup) {
  EXPECT_EQ(parse_pss(kRollup), 47'837ULL * 1024);
  EXPECT_EQ(parse_pss("x\nPss: 0 kB\n"), 0U);
}

TEST(Memory, WhatIsNoRollupHasNoPss) {
  for (const char* text : {"", "Pss: 1 kB\n", "x\nPss:", "x\nPss: ", "x\nPss: kB\n", "x\nPss: 1",
                           "x\nPss: 1 MB\n", "x\nPss: -1 kB\n", "x\nPss: 99999999999999999999 kB\n",
                           "x\nPss: 18446744073709551615 kB\n"})
    EXPECT_EQ(parse_pss(text), std::nullopt) << text;
}

TEST(Memory, GrowsWithWhatIsUsed) {
  constexpr std::size_t kBytes = 32ULL * 1024 * 1024;
  const TreeMemory before = memory_of_tree(::getpid());
  EXPECT_EQ(before.processes, 1U);
  EXPECT_EQ(before.unreadable, 0U);
  const std::string used(kBytes, 'x');
  const TreeMemory after = memory_of_tree(::getpid());
  EXPECT_GE(after.pss_bytes, before.pss_bytes + used.size() * 9 / 10);
}

TEST(Memory, OfNobodyIsNone) {
  const std::vector<pid_t> roots{-1, ::getpid()};
  const auto all = memory_of_trees(roots);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].processes, 0U);
  EXPECT_EQ(all[0].pss_bytes, 0U);
  EXPECT_GT(all[1].pss_bytes, 0U);
}

}  // namespace
}  // namespace reprise::browser
