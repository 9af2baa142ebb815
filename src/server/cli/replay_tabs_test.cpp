#include "server/cli/replay_tabs.h"

#include <gtest/gtest.h>

namespace reprise::server::cli {
namespace {

TEST(ReplayTabs, FindsWhatPagesOpenedByWhoOpenedThem) {
  ReplayTabs tabs({{.id = "A", .index = 0},
                   {.id = "P", .opener = "A", .index = 1},
                   {.id = "B", .index = 2},
                   {.id = "Q", .opener = "A", .index = 3},
                   {.id = "R", .opener = "Q", .index = 4}});
  EXPECT_EQ(tabs.ours("A"), std::nullopt);
  tabs.see({{.id = "a", .index = 0, .is_active = true}});
  tabs.pair("A", "a");
  EXPECT_EQ(tabs.ours("A"), "a");
  EXPECT_EQ(tabs.ours("P"), std::nullopt);
  EXPECT_TRUE(tabs.is_opened_by_page("P"));
  EXPECT_FALSE(tabs.is_opened_by_page("B"));
  tabs.see({{.id = "a", .index = 0}, {.id = "p", .opener = "a", .index = 1, .is_active = true}});
  EXPECT_EQ(tabs.ours("P"), "p");
  EXPECT_EQ(tabs.ours("Q"), std::nullopt);
  // The first popup is closed, and counts.
  tabs.see({{.id = "a", .index = 0},
            {.id = "b", .index = 5},
            {.id = "q", .opener = "a", .index = 6, .is_active = true},
            {.id = "r", .opener = "q", .index = 7}});
  EXPECT_EQ(tabs.ours("Q"), "q");
  EXPECT_EQ(tabs.ours("R"), "r");
  EXPECT_EQ(tabs.ours("B"), "b");
  EXPECT_EQ(tabs.ours("nobody"), std::nullopt);
  EXPECT_EQ(tabs.index_of("q"), 2U);
  EXPECT_EQ(tabs.index_of("p"), std::nullopt);
  EXPECT_TRUE(tabs.is_active("q"));
  EXPECT_FALSE(tabs.is_active("a"));
}

TEST(ReplayTabs, OpenersThatGoInACircleLeadNowhere) {
  const ReplayTabs tabs({{.id = "A", .opener = "B"}, {.id = "B", .opener = "A"}});
  EXPECT_EQ(tabs.ours("A"), std::nullopt);
}

TEST(ReplayTabs, AreReadInTheirOrder) {
  const auto document =
      wire::parse_json(R"({"tabs":[{"id":"b","index":4,"openerTabId":"a","isActive":true},)"
                       R"({"id":"a","index":1,"openerTabId":null,"isActive":false}]})");
  const auto tabs = read_tabs(document->root());
  ASSERT_EQ(tabs.size(), 2U);
  EXPECT_EQ(tabs[0].id, "a");
  EXPECT_EQ(tabs[1].opener, "a");
  EXPECT_TRUE(tabs[1].is_active);
}

}  // namespace
}  // namespace reprise::server::cli
