#include "browser/chromium/download_table.h"

#include <gtest/gtest.h>

#include "browser/chromium/limits.h"

namespace reprise::browser::chromium {
namespace {

void fill(DownloadTable& table, const std::string& context) {
  for (std::size_t i = table.size(); i < kMaxBrowserDownloads; ++i)
    EXPECT_TRUE(table.add(context + std::to_string(i), {.context = context, .name = "a.txt"}));
}

TEST(DownloadTable, RefusesWhatItCannotRemember) {
  DownloadTable table;
  fill(table, "one");
  EXPECT_FALSE(table.add("more", {.context = "two", .name = "b.txt"}));
  EXPECT_EQ(table.find("more"), nullptr);
  table.erase("one0");
  EXPECT_TRUE(table.add("more", {.context = "two", .name = "b.txt"}));
  ASSERT_NE(table.find("more"), nullptr);
  EXPECT_EQ(table.find("more")->name, "b.txt");
}

TEST(DownloadTable, DownloadsGoWithTheirContext) {
  DownloadTable table;
  EXPECT_TRUE(table.add("other", {.context = "two", .name = "b.txt"}));
  fill(table, "one");
  table.forget_context("one");
  EXPECT_EQ(table.size(), 1U);
  EXPECT_NE(table.find("other"), nullptr);
}

// They are those of pages that are gone, and of contexts that may be gone too: nothing else would
// ever end them.
TEST(DownloadTable, ThoseOfNobodyMakeRoom) {
  DownloadTable table;
  fill(table, "");
  EXPECT_FALSE(table.add("nobody's too", {}));
  EXPECT_TRUE(table.add("mine", {.context = "one", .name = "a.txt"}));
  EXPECT_EQ(table.size(), 1U);
}

}  // namespace
}  // namespace reprise::browser::chromium
