#include "stream/hub.h"

#include "store/test_support.h"
#include "stream/limits.h"
#include "stream/testing.h"

namespace reprise::stream {
namespace {

using testing::TestFormat;
using testing::World;

const StreamId kStream = store::testing::stream_id(1);
const StreamId kOther = store::testing::stream_id(2);

// Writes down what it is told.
class Listener final : public Subscriber {
 public:
  void on_batch(const LiveBatch& live) override {
    heard += fmt::format("[{}-{}{}]", live.batch().first.value, live.batch().last().value,
                         live.batch().is_end ? " end" : "");
    bytes = live.encoded(format()).bytes;
  }
  void on_ephemeral(const SharedBytes& event) override { heard += "~" + *event; }
  void on_gap() override { heard += "gap "; }
  void on_removed(std::string_view reason) override { heard += "removed:" + std::string(reason); }
  static const TestFormat& format() {
    static const TestFormat one;
    return one;
  }
  std::string heard;
  SharedBytes bytes;
};

// A reader with a format of its own, as connections have them; those with one mark write the same.
class Marked final : public Subscriber, public FrameFormat {
 public:
  explicit Marked(char mark) : mark_(mark) {}
  void on_batch(const LiveBatch& live) override { bytes = live.encoded(*this).bytes; }
  void on_ephemeral(const SharedBytes&) override {}
  void on_gap() override {}
  void on_removed(std::string_view) override {}
  void append_entry(std::string& out, Seq, std::string_view entry) const override {
    out += mark_;
    out += entry;
  }
  bool writes_like(const FrameFormat& other) const override {
    const auto* marked = dynamic_cast<const Marked*>(&other);
    return marked != nullptr && marked->mark_ == mark_;
  }
  SharedBytes bytes;

 private:
  const char mark_;
};

struct HubTest : ::testing::Test {
  // Commits and publishes on the stream's home loop, 0.
  rt::Task<bool> append(StreamId stream, std::vector<std::string> entries, bool is_end = false) {
    store::Commit commit;
    commit.appends.push_back({.stream = stream, .expected_head = {}, .entries = entries});
    auto done = co_await async.commit(std::move(commit));
    if (!done) co_return false;
    auto batch = std::make_shared<Batch>();
    batch->stream = stream;
    batch->first = (*done)->first_seqs[0];
    batch->entries = std::move(entries);
    batch->is_end = is_end;
    batch->end_reason = "COMPLETED";
    hubs.at(0).publish(done->with<std::shared_ptr<const Batch>>(std::move(batch)));
    co_return true;
  }
  bool subscribe(std::size_t loop, Subscriber& subscriber, StreamId stream = kStream) {
    return world.run(world.loop(loop), hubs.at(loop).subscribe(stream, 0, subscriber));
  }
  void unsubscribe(std::size_t loop, Subscriber& subscriber, StreamId stream = kStream) {
    on(loop, [&, loop, stream] { hubs.at(loop).unsubscribe(stream, 0, subscriber); });
    world.settle();
  }
  void on(std::size_t loop, std::function<void()> work) {
    world.loop(loop).post([work = std::move(work)] { work(); });
  }

  World world{3};
  Hubs hubs{world.loops()};
  store::AsyncStore async{world.store, world.loop(0), world.pool};
};

TEST_F(HubTest, ReachesEverySubscriberOnEveryLoopAndEncodesOncePerLoop) {
  Listener here;
  Listener there;
  Listener beside;
  Listener elsewhere;
  ASSERT_TRUE(subscribe(0, here));
  ASSERT_TRUE(subscribe(1, there));
  ASSERT_TRUE(subscribe(1, beside));
  ASSERT_TRUE(subscribe(2, elsewhere, kOther));
  ASSERT_TRUE(world.run(append(kStream, {"a", "b"})));
  EXPECT_EQ(here.heard, "[1-2]");
  EXPECT_EQ(there.heard, "[1-2]");
  EXPECT_EQ(*there.bytes, "1:a\n2:b\n");
  EXPECT_EQ(there.bytes, beside.bytes);  // the same object
  EXPECT_EQ(elsewhere.heard, "");
  EXPECT_EQ(hubs.probe().subscribers, 4U);
  EXPECT_EQ(hubs.probe().batches, 1U);
  EXPECT_EQ(hubs.probe().deliveries, 3U);
  for (auto* one : {&there, &beside}) unsubscribe(1, *one);
  unsubscribe(0, here);
  unsubscribe(2, elsewhere, kOther);
  EXPECT_EQ(hubs.probe().subscribers, 0U);
}

TEST_F(HubTest, FormatsThatWriteTheSameShareTheBytesAndOthersDoNot) {
  Listener plain;
  Marked first('+');
  Marked second('+');
  Marked other('-');
  for (Subscriber* one : std::initializer_list<Subscriber*>{&plain, &first, &second, &other})
    ASSERT_TRUE(subscribe(1, *one));
  ASSERT_TRUE(world.run(append(kStream, {"a", "b"})));
  EXPECT_EQ(*plain.bytes, "1:a\n2:b\n");
  EXPECT_EQ(*first.bytes, "+a+b");
  EXPECT_EQ(second.bytes, first.bytes);  // the same object
  EXPECT_EQ(*other.bytes, "-a-b");
  for (Subscriber* one : std::initializer_list<Subscriber*>{&plain, &first, &second, &other})
    unsubscribe(1, *one);
}

TEST_F(HubTest, NothingPublishedAfterSubscribeReturnedIsMissed) {
  Listener reader;
  // Not yet subscribed: the home loop does not know, however far the request has come.
  auto subscribed = world.start(world.loop(1), hubs.at(1).subscribe(kStream, 0, reader));
  world.loop(1).run_ready();
  EXPECT_FALSE(subscribed->has_value());
  on(0, [&] { EXPECT_TRUE(hubs.at(0).has_subscribers(kStream)); });
  world.loop(0).run_ready();  // the home loop knows now, before the reader does
  auto appended = world.start(world.loop(0), append(kStream, {"a"}));
  world.settle();
  EXPECT_TRUE(subscribed->value());
  EXPECT_EQ(reader.heard, "[1-1]");
  unsubscribe(1, reader);
}

TEST_F(HubTest, AReaderThatComesWhileAnotherLeavesKeepsTheInterest) {
  Listener first;
  Listener second;
  ASSERT_TRUE(subscribe(1, first));
  on(1, [&] { hubs.at(1).unsubscribe(kStream, 0, first); });
  auto subscribed = world.start(world.loop(1), hubs.at(1).subscribe(kStream, 0, second));
  world.settle();
  ASSERT_TRUE(subscribed->value());
  ASSERT_TRUE(world.run(append(kStream, {"a"})));
  EXPECT_EQ(first.heard, "");
  EXPECT_EQ(second.heard, "[1-1]");
  unsubscribe(1, second);
  on(0, [&] { EXPECT_FALSE(hubs.at(0).has_subscribers(kStream)); });
  world.settle();
}

TEST_F(HubTest, SubscribeIsRefusedWhenTheHomeLoopIsOverloaded) {
  std::size_t posted = 0;
  while (world.loop(0).try_post([] {})) ++posted;
  Listener reader;
  auto subscribed = world.start(world.loop(1), hubs.at(1).subscribe(kStream, 0, reader));
  world.loop(1).run_ready();
  EXPECT_FALSE(subscribed->value());
  EXPECT_EQ(hubs.probe().subscribers, 0U);
  world.settle();
  EXPECT_GT(posted, 0U);
}

// Fills loop 1's mailbox with ephemeral events, which nobody takes as long as that loop does not
// run.
void fill(Hub& home, std::size_t count) {
  const auto event = std::make_shared<const std::string>("x");
  for (std::size_t i = 0; i < count; ++i) home.publish_ephemeral(kStream, event);
}

TEST_F(HubTest, AFullMailboxSendsItsReadersToTheStore) {
  Listener near;
  Listener far;
  ASSERT_TRUE(subscribe(0, near));
  ASSERT_TRUE(subscribe(1, far));
  on(0, [&] { fill(hubs.at(0), kMaxHubMailbox - 1); });
  auto fits = world.start(world.loop(0), append(kStream, {"a"}));
  world.loop(0).run_ready();
  world.committer.drain();
  world.loop(0).run_ready();
  EXPECT_TRUE(fits->value());
  EXPECT_EQ(hubs.probe().overflows, 0U);  // the mailbox is full to the brim, and no fuller
  auto spills = world.start(world.loop(0), append(kStream, {"b"}));
  world.loop(0).run_ready();
  world.committer.drain();
  world.loop(0).run_ready();
  EXPECT_TRUE(spills->value());
  EXPECT_EQ(hubs.probe().overflows, 1U);
  near.heard.clear();
  world.settle();
  EXPECT_EQ(near.heard, "");
  // What had a place was delivered; then the word to go to the store.
  EXPECT_EQ(far.heard.substr(far.heard.size() - 9), "[1-1]gap ");
  unsubscribe(0, near);
  unsubscribe(1, far);
}

TEST_F(HubTest, AFullMailboxLosesNeitherTheEndNorTheRemovalOfAStream) {
  Listener far;
  ASSERT_TRUE(subscribe(1, far));
  on(0, [&] { fill(hubs.at(0), kMaxHubMailbox); });
  auto ended = world.start(world.loop(0), append(kStream, {"last"}, true));
  world.loop(0).run_ready();
  world.committer.drain();
  on(0, [&] {
    hubs.at(0).publish_ephemeral(kStream, std::make_shared<const std::string>("dropped"));
    hubs.at(0).publish_gap(kStream);
    hubs.at(0).publish_gap(kStream);
    hubs.at(0).publish_removed(kStream, "deleted");
  });
  world.loop(0).run_ready();
  EXPECT_EQ(hubs.probe().overflows, 5U);
  world.settle();
  EXPECT_EQ(far.heard.substr(far.heard.rfind('x') + 1), "[1-1 end]gap removed:deleted");
  unsubscribe(1, far);
}

TEST_F(HubTest, TellsOfGapsEphemeralEventsAndRemovals) {
  Listener far;
  ASSERT_TRUE(subscribe(2, far));
  on(0, [&] {
    hubs.at(0).publish_gap(kStream);
    hubs.at(0).publish_ephemeral(kStream, std::make_shared<const std::string>("e"));
    hubs.at(0).publish_removed(kStream, "deleted");
    hubs.at(0).publish_removed(kOther, "deleted");  // nobody watches
  });
  world.settle();
  EXPECT_EQ(far.heard, "gap ~eremoved:deleted");
  unsubscribe(2, far);
}

}  // namespace
}  // namespace reprise::stream
