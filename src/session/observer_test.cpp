// Who observes sessions is told what is durable, and only while it watches.
#include "session/observer.h"

#include <gtest/gtest.h>

#include "session/testing.h"

namespace reprise::session {
namespace {

using testing::Sessions;

class Recording final : public Observer {
 public:
  void watch(bool is_watching) { set_watching(is_watching); }
  void on_created(const model::SessionState&) override { ++created; }
  void on_events(const model::SessionState& state, const stream::Batch& batch) override {
    events += batch.entries.size();
    last_first = batch.first;
    last_head = state.head;
  }
  void on_removed(const model::SessionState&) override { ++removed; }
  int calls() const { return created + static_cast<int>(events) + removed; }
  int created = 0;
  int removed = 0;
  std::size_t events = 0;
  Seq last_first;
  Seq last_head;
};

class Observed : public ::testing::Test {
 protected:
  Observed() { sessions.service->observe(observer); }
  Recording observer;  // outlives the service
  Sessions sessions;
};

TEST_F(Observed, NothingIsToldWhileNobodyWatches) {
  const SessionView made = sessions.create();
  ASSERT_TRUE(sessions.append(made.state.id, 3));
  ASSERT_TRUE(sessions.run(sessions.service->remove(made.state.id)));
  EXPECT_EQ(observer.calls(), 0);
}

TEST_F(Observed, EventsAreToldWithTheirNumbersThoughNobodyReadsTheStream) {
  observer.watch(true);
  const SessionView made = sessions.create();
  EXPECT_EQ(observer.created, 1);
  ASSERT_TRUE(sessions.append(made.state.id, 3));
  EXPECT_EQ(observer.events, 3U);
  EXPECT_EQ(observer.last_first, made.state.head.next());
  EXPECT_EQ(observer.last_head.value, made.state.head.value + 3);
  ASSERT_TRUE(sessions.run(sessions.service->remove(made.state.id)));
  EXPECT_EQ(observer.removed, 1);
}

TEST_F(Observed, NothingIsToldBeforeItIsDurable) {
  const SessionView made = sessions.create();
  observer.watch(true);
  sessions.world.is_holding_commits = true;
  auto appended = sessions.start(sessions.service->call(
      made.state.id, Call{.action = model::Command(
                              model::Append{.events = testing::messages(1), .expected_seq = {}})}));
  sessions.world.settle();
  EXPECT_EQ(observer.events, 0U);
  sessions.world.is_holding_commits = false;
  sessions.world.settle();
  EXPECT_EQ(observer.events, 1U);
}

}  // namespace
}  // namespace reprise::session
