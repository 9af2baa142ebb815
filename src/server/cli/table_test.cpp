#include "server/cli/table.h"

#include <gtest/gtest.h>

namespace reprise::server::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = text.find('\n', start);
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

TEST(Table, AlignsColumnsAndLeavesNoSpaceAtTheEndOfALine) {
  Table table({"KEY", "STATUS", "N"});
  table.add({"slack:general", "ACTIVE", "1"});
  table.add({"a", "INITIALIZING", ""});
  EXPECT_EQ(table.render(std::nullopt),
            "KEY            STATUS        N\n"
            "slack:general  ACTIVE        1\n"
            "a              INITIALIZING\n");
  EXPECT_EQ(table.size(), 2U);
}

TEST(Table, TheWidestColumnGivesWayToTheTerminal) {
  Table table({"KEY", "STATUS"});
  table.add({std::string(60, 'k'), "ACTIVE"});
  const auto lines = lines_of(table.render(30));
  for (const auto& line : lines) EXPECT_LE(display_width(line), 30U) << line;
  EXPECT_EQ(lines[1], std::string(21, 'k') + "…  ACTIVE");
}

TEST(Table, AVeryNarrowTerminalStillGetsReadableColumns) {
  Table table({"KEY", "STATUS"});
  table.add({std::string(60, 'k'), std::string(60, 's')});
  EXPECT_EQ(lines_of(table.render(3))[1], "kkkkk…  sssss…");
}

TEST(Table, WideCharactersTakeTwoColumnsAndCombiningMarksNone) {
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("naïve"), 5U);
  EXPECT_EQ(cut_to_width("日本語", 4), "日…");
  EXPECT_EQ(cut_to_width("日本語", 6), "日本語");
  EXPECT_EQ(cut_to_width("abc", 0), "");
  Table table({"A", "B"});
  table.add({"日本", "x"});
  table.add({"abcd", "y"});
  EXPECT_EQ(lines_of(table.render(std::nullopt))[1], "日本  x");
}

TEST(Table, WhatCouldSteerATerminalIsReplaced) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\uFFFD[31mb");
  EXPECT_EQ(printable("a\nb\tc\r"), "a b c\uFFFD");
  EXPECT_EQ(printable("\u009b31m"), "\uFFFD31m");              // the one-character form of ESC [
  EXPECT_EQ(printable("a\u202eb"), "a\uFFFDb");                // right-to-left override
  EXPECT_EQ(printable("\xff\xc3"), "\uFFFD\uFFFD");            // not UTF-8
  EXPECT_EQ(printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(printable("grüße 日本 🎈"), "grüße 日本 🎈");
}

TEST(Table, ARecordAlignsItsValuesAndLeavesOutEmptyOnes) {
  EXPECT_EQ(render_record({{"id", "1"}, {"ownerAgent", ""}, {"status", "ACTIVE"}}),
            "id:      1\nstatus:  ACTIVE\n");
}

TEST(Table, BytesAreShownInTheirUnit) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(5ULL << 30), "5.0 GiB");
}

}  // namespace
}  // namespace reprise::server::cli
