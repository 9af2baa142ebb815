// Rows of browsers, written by events and read by index.
#include "browser/reading.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "browser/limits.h"
#include "session/testing.h"

namespace reprise::browser {
namespace {

using session::testing::Sessions;

class Reading : public ::testing::Test {
 protected:
  void tell(std::vector<model::Event> events) {
    session::RecordChange change{.events = std::move(events),
                                 .add_records = {},
                                 .stream = view.stream,
                                 .visible_after = {},
                                 .outlasts_reset = true};
    const auto told = sessions.run(
        sessions.service->call(view.state.id, {.action = std::move(change), .wants_view = false}));
    ASSERT_TRUE(told) << told.error().detail;
  }
  model::Event command(bool is_ok, std::optional<model::TabId> tab = {}) {
    return {.type = "command",
            .at = {1'000},
            .data = fmt::format(R"({{"tool":"browser_click","ok":{},"tabId":{},"source":"rest"}})",
                                is_ok, tab ? fmt::format("\"{}\"", tab->to_string()) : "null"),
            .by = {}};
  }
  model::TabFacts tab(std::string key = "k") {
    return {.id = model::TabId::make({1}, random),
            .key = std::move(key),
            .context = model::ContextId::make({1}, random),
            .created_at = {1'000}};
  }
  model::Event tab_event(const model::TabFacts& facts, std::string_view type = "tab_opened") {
    return model::tab_event(type, facts, facts.id, {1'000});
  }
  store::AsyncStore& store() { return sessions.service->store_here(); }
  rt::Task<Result<CommandPage>> page(CommandQuery query) {
    co_return co_await read_commands(store(), view.stream, std::move(query));
  }
  rt::Task<Result<std::optional<session::NodePlace>>> node(Uuid id) {
    co_return co_await find_node(store(), id);
  }
  rt::Task<Result<IdPage>> ids(std::string prefix, std::string after, std::size_t limit) {
    co_return co_await read_ids(store(), prefix, prefix_end(prefix), std::move(after), limit);
  }

  Sessions sessions;
  session::SessionView view = sessions.create();
  SeededRandom random{8};
};

TEST_F(Reading, CommandsAreFoundByOutcomeToolAndTab) {
  const model::TabFacts one = tab();
  tell({tab_event(one), command(true, one.id), command(false), command(true)});
  const auto all = sessions.run(page({.limit = kDefaultCommandPageLimit}));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->commands.size(), 3U);
  const auto failed = sessions.run(page({.is_ok = false, .limit = 10}));
  ASSERT_EQ(failed->commands.size(), 1U);
  EXPECT_EQ(failed->commands.front().seq, all->commands[1].seq);
  EXPECT_EQ(sessions.run(page({.tab = one.id, .limit = 10}))->commands.size(), 1U);
  EXPECT_EQ(sessions.run(page({.tool = "browser_type", .limit = 10}))->commands.size(), 0U);
  const auto rest = sessions.run(page({.after = all->commands[0].seq, .limit = 1}));
  EXPECT_EQ(rest->commands.front().seq, all->commands[1].seq);
  EXPECT_TRUE(rest->has_more);
}

TEST_F(Reading, APageOfCommandsLooksAtSoManyRowsAndNoMore) {
  const std::vector<model::Event> many(1'000, command(true));
  for (std::size_t told = 0; told <= kMaxExaminedCommands; told += many.size()) tell(many);
  const auto none = sessions.run(page({.is_ok = true, .tool = "other", .limit = 1}));
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->commands.empty());
  EXPECT_TRUE(none->has_more) << "there are more than it looks at";
  const auto full = sessions.run(page({.limit = kMaxCommandPageLimit}));
  EXPECT_EQ(full->commands.size(), kMaxCommandPageLimit);
  EXPECT_TRUE(full->has_more);
}

TEST_F(Reading, ATabIsFoundByItsIdAndKeyAndIsGoneWithItsSession) {
  model::TabFacts one = tab("shared");
  const model::TabFacts other = tab("shared");
  // Opened and closed in one commit: what came last counts.
  tell({tab_event(one), tab_event(other)});
  one.status = model::TabStatus::kClosed;
  one.closed_at = TimePoint{2'000};
  tell({tab_event(one, "tab_updated"), tab_event(one, "tab_closed")});
  const auto place = sessions.run(node(one.id.bytes));
  ASSERT_TRUE(place && *place);
  EXPECT_EQ((*place)->session, view.state.id);
  EXPECT_EQ(sessions.run(ids(session::open_tabs_prefix(), "", kMaxGraphPage))->ids,
            std::vector<Uuid>{other.id.bytes});
  const std::string by_key = session::node_by_key_prefix(session::BrowserNode::kTab, "shared");
  const auto first = sessions.run(ids(by_key, "", 1));
  ASSERT_EQ(first->ids.size(), 1U);
  ASSERT_FALSE(first->next.empty());
  const auto second = sessions.run(ids(by_key, first->next, 1));
  EXPECT_EQ(second->ids.size(), 1U);
  EXPECT_NE(second->ids, first->ids);
  ASSERT_TRUE(sessions.run(sessions.service->remove(view.state.id)));
  ASSERT_TRUE(sessions.run(sessions.janitor->round()));
  EXPECT_FALSE(*sessions.run(node(one.id.bytes)));
  EXPECT_TRUE(sessions.run(ids(session::open_tabs_prefix(), "", 10))->ids.empty());
  EXPECT_TRUE(sessions.run(ids(session::browser_prefix(view.stream), "", 10))->ids.empty());
}

}  // namespace
}  // namespace reprise::browser
