#include "model/unified_diff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>
#include <random>
#include <vector>

#include "model/limits.h"

namespace reprise::model {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// What `patch` would do, without any tolerance.
std::string patched(std::string_view before, std::string_view diff) {
  const auto old_lines = lines_of(before);
  auto steps = lines_of(diff);
  std::string after;
  std::size_t at = 0;
  for (std::size_t i = 2; i < steps.size(); ++i) {
    std::string& step = steps[i];
    if (step.starts_with("@@ -")) {
      std::size_t first = 0;
      const char* end = std::from_chars(step.data() + 4, step.data() + step.size(), first).ptr;
      const bool is_empty = std::string_view(end, 2) == ",0";
      const std::size_t until = is_empty ? first : first - 1;
      while (at < until) after += old_lines.at(at++);
      continue;
    }
    if (i + 1 < steps.size() && steps[i + 1].starts_with('\\')) step.pop_back();
    if (step.starts_with('\\')) continue;
    if (step[0] != '+') EXPECT_EQ(old_lines.at(at++), step.substr(1));
    if (step[0] != '-') after += step.substr(1);
  }
  while (at < old_lines.size()) after += old_lines.at(at++);
  return after;
}

TEST(UnifiedDiff, LooksLikeThatOfDiff) {
  EXPECT_EQ(unified_diff("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nd\nX\nf\ng\nh\n", "n"),
            "--- a/n\n+++ b/n\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+X\n f\n g\n h\n");
  EXPECT_EQ(unified_diff("", "a\n", "n"), "--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(unified_diff("a\n", "", "n"), "--- a/n\n+++ b/n\n@@ -1 +0,0 @@\n-a\n");
  EXPECT_EQ(unified_diff("a", "b\n", "n"),
            "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n");
  EXPECT_EQ(unified_diff("same", "same", "n"), "");
}

TEST(UnifiedDiff, PartsFarApartAreHunksOfTheirOwn) {
  std::string before;
  for (int i = 0; i < 40; ++i) before += fmt::format("line {}\n", i);
  std::string after = before;
  after.replace(after.find("line 5\n"), 7, "five\n");
  after.replace(after.find("line 30\n"), 8, "");
  const auto diff = unified_diff(before, after, "n");
  ASSERT_TRUE(diff);
  EXPECT_NE(diff->find("@@ -3,7 +3,7 @@"), std::string::npos) << *diff;
  EXPECT_NE(diff->find("@@ -28,7 +28,6 @@"), std::string::npos) << *diff;
  EXPECT_EQ(patched(before, *diff), after);
}

TEST(UnifiedDiff, LeadsFromAnyTextToAnyOther) {
  std::mt19937 random(20'261'116);
  for (int round = 0; round < 2'000; ++round) {
    const auto text = [&] {
      std::string made;
      for (auto count = random() % 12; count > 0; --count)
        made += std::string(1, static_cast<char>('a' + random() % 3)) + '\n';
      if (!made.empty() && random() % 4 == 0) made.pop_back();
      return made;
    };
    const std::string before = text();
    const std::string after = text();
    const auto diff = unified_diff(before, after, "n");
    ASSERT_TRUE(diff);
    if (before != after) ASSERT_EQ(patched(before, *diff), after) << *diff << before;
  }
}

TEST(UnifiedDiff, IsOfTextsOnly) {
  EXPECT_FALSE(unified_diff("a\xff", "b", "n"));
  EXPECT_FALSE(unified_diff("a", std::string_view("b\0", 2), "n"));
}

TEST(UnifiedDiff, HasLimits) {
  const std::string longest(kMaxDiffedBytes - 1, 'x');
  EXPECT_TRUE(unified_diff(longest + "\n", "", "n") == std::nullopt) << "the diff itself is long";
  EXPECT_FALSE(unified_diff(longest + "xx", "y", "n"));

  std::string lines;
  for (std::size_t i = 0; i < kMaxDiffedLines; ++i) lines += "\n";
  EXPECT_TRUE(unified_diff(lines, lines.substr(1), "n"));
  EXPECT_FALSE(unified_diff(lines + "\n", lines, "n"));

  std::string before;
  std::string after;
  for (std::size_t i = 0; i < kMaxDiffEdits / 2; ++i) {
    before += fmt::format("a{}\n", i);
    after += fmt::format("b{}\n", i);
  }
  EXPECT_TRUE(unified_diff(before, after, "n"));
  EXPECT_FALSE(unified_diff(before, after + "one more\n", "n"));

  const std::string wide(kMaxDiffBytes, 'x');
  EXPECT_FALSE(unified_diff("a\n", wide + "\n", "n"));
  EXPECT_TRUE(unified_diff("a\n", wide.substr(100) + "\n", "n"));
}

}  // namespace
}  // namespace reprise::model
