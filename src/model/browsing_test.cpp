#include "model/browsing.h"

#include <gtest/gtest.h>

#include "model/limits.h"

#include "model/testing.h"

namespace reprise::model {
namespace {

TabFacts some_tab(Random& random) {
  return {.id = TabId::make({1}, random),
          .key = "k",
          .context = ContextId::make({2}, random),
          .index = 3,
          .status = TabStatus::kCrashed,
          .url = "http://x/\"",
          .title = "t",
          .opener = TabId::make({3}, random),
          .is_popup = true,
          .created_at = {1'000},
          .closed_at = TimePoint{2'000}};
}

TEST(Browsing, ContextsAndTabsAreReadBackFromTheirEvents) {
  SeededRandom random(5);
  const TabFacts tab = some_tab(random);
  EXPECT_EQ(decode_tab(tab_event(event_type::kTabUpdated, tab, tab.id, {9}).data), tab);
  const ContextFacts context{.id = ContextId::make({1}, random),
                             .key = "k",
                             .pool_key = "p",
                             .status = ContextStatus::kOrphaned,
                             .opened_at = {5},
                             .closed_at = TimePoint{6},
                             .reason = "r"};
  EXPECT_EQ(decode_context(context_event(event_type::kContextClosed, context, {9}).data), context);
}

TEST(Browsing, WhatDoesNotDecodeIsDamage) {
  for (const char* bad : {"", "[]", "{}", R"({"tabId":"x"})", R"({"contextId":7})"}) {
    EXPECT_EQ(decode_tab(bad).error().code, Code::kCorrupt) << bad;
    EXPECT_EQ(decode_context(bad).error().code, Code::kCorrupt) << bad;
    EXPECT_EQ(decode_command(bad).error().code, Code::kCorrupt) << bad;
  }
}

TEST(Browsing, TheActiveTabIsTheOneTheNewestEventNames) {
  SeededRandom random(6);
  const TabFacts tab = some_tab(random);
  SessionState state;
  const auto tell = [&](const Event& event) {
    return apply_browser_event(state, {.type = event.type,
                                       .at = event.at,
                                       .data = event.data,
                                       .by = {},
                                       .counters = {},
                                       .extra = {}});
  };
  EXPECT_TRUE(tell(tab_event(event_type::kTabOpened, tab, tab.id, {9})));
  EXPECT_EQ(state.active_tab, tab.id);
  ContextFacts context{.id = tab.context, .key = "k", .status = ContextStatus::kHibernated};
  EXPECT_TRUE(tell(context_event(event_type::kContextClosed, context, {9})));
  EXPECT_EQ(state.active_tab, tab.id) << "it comes back";
  EXPECT_EQ(decode_state(encode_state(state))->active_tab, tab.id);
  context.status = ContextStatus::kClosed;
  EXPECT_TRUE(tell(context_event(event_type::kContextClosed, context, {9})));
  EXPECT_EQ(state.active_tab, std::nullopt);
  EXPECT_TRUE(tell(tab_event(event_type::kTabClosed, tab, std::nullopt, {9})));
  EXPECT_FALSE(tell({.type = "tab_opened", .at = {}, .data = "{}", .by = {}}));
  EXPECT_EQ(state.last_error, "");
  context.status = ContextStatus::kOrphaned;
  context.reason = "the browser's process has ended";
  EXPECT_TRUE(tell(context_event(event_type::kContextClosed, context, {9})));
  EXPECT_EQ(state.last_error, context.reason) << "nobody asked for this end";
}

TEST(Browsing, ASessionKnowsThePoolsItsBrowsersWereOf) {
  SeededRandom random(7);
  SessionState state;
  const auto open_in = [&](std::string pool) {
    const Event event = context_event(
        event_type::kContextOpened,
        {.id = ContextId::make({5}, random), .key = "k", .pool_key = std::move(pool)}, {9});
    ASSERT_TRUE(apply_browser_event(state, {.type = event.type,
                                            .at = event.at,
                                            .data = event.data,
                                            .by = {},
                                            .counters = {},
                                            .extra = {}}));
  };
  EXPECT_EQ(decode_state(encode_state(state))->pools, std::vector<std::string>{});
  open_in("a");
  open_in("b");
  open_in("a");
  EXPECT_EQ(state.pools, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(decode_state(encode_state(state))->pools, state.pools);
  for (std::size_t i = 0; i < kMaxSessionPools; ++i) open_in(std::to_string(i));
  EXPECT_EQ(state.pools.size(), kMaxSessionPools);
  EXPECT_EQ(state.pools.front(), "0");
  EXPECT_EQ(decode_state(encode_state(state))->pools, state.pools);
}

}  // namespace
}  // namespace reprise::model
