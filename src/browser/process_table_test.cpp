#include "browser/process_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace reprise::browser {
namespace {

constexpr std::string_view kRest =
    " S 41 42 43 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 1 0 987654321 1000 200 18446744073709551615\n";

TEST(ProcessStat, IsReadWhateverTheProcessCallsItself) {
  for (const std::string name : {"chromium-headle", "a b", "a) S 9 9 9", "(()", ") ", ""}) {
    const auto stat = parse_process_stat("44 (" + name + ")" + std::string(kRest));
    ASSERT_TRUE(stat.has_value()) << name;
    EXPECT_EQ(stat->pid, 44);
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->parent, 41);
    EXPECT_EQ(stat->group, 42);
    EXPECT_EQ(stat->session, 43);
    EXPECT_EQ(stat->started, 987'654'321U);
  }
}

TEST(ProcessStat, WhatIsCutShortIsNone) {
  const std::string whole = "44 (x)" + std::string(kRest);
  const std::size_t end_of_start = whole.find("987654321");
  for (std::size_t size = 0; size <= end_of_start; ++size)
    EXPECT_FALSE(parse_process_stat(whole.substr(0, size)).has_value()) << size;
}

TEST(ProcessStat, OfOurselvesIsRight) {
  const auto stat = read_process_stat(::getpid());
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->pid, ::getpid());
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_EQ(stat->group, ::getpgrp());
  const auto all = read_processes();
  const auto found = std::ranges::find(all, ::getpid(), &ProcessStat::pid);
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->started, stat->started);
  EXPECT_TRUE(read_command_line(::getpid()).find("browser_test") != std::string::npos);
  EXPECT_FALSE(read_process_stat(0).has_value());
}

TEST(ProcessTree, HasDescendantsAndOrphansOfTheSession) {
  const auto process = [](pid_t pid, pid_t parent, pid_t session) {
    return ProcessStat{.pid = pid, .parent = parent, .session = session};
  };
  const std::vector<ProcessStat> processes{
      process(1, 0, 1),   process(13, 12, 7), process(10, 1, 10), process(11, 10, 10),
      process(12, 11, 7), process(20, 1, 20), process(14, 1, 10),  // an orphan
      process(15, 15, 15)};                                        // nobody's, and its own parent
  auto tree = tree_of(processes, 10);
  std::ranges::sort(tree);
  EXPECT_EQ(tree, (std::vector<pid_t>{10, 11, 12, 13, 14}));
  EXPECT_EQ(tree_of(processes, 15), std::vector<pid_t>{15});
  EXPECT_TRUE(tree_of(processes, 99).empty());
}

}  // namespace
}  // namespace reprise::browser
