#include "rt/mailbox.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "rt/manual_loop.h"
#include "rt/test_loop.h"

namespace reprise::rt {
namespace {

using Batches = std::vector<std::vector<int>>;

class MailboxTest : public testing::Test {
 protected:
  ManualTime time;
  ManualLoop loop{time};
  Batches batches;
  std::function<void(std::vector<int>)> keep() {
    return [this](std::vector<int> batch) { batches.push_back(std::move(batch)); };
  }
};

TEST_F(MailboxTest, DeliversWhatArrivedBetweenTwoTurnsAsOneBatchInOrder) {
  Mailbox<int> mailbox(loop, 10, keep());
  for (const int message : {1, 2, 3}) EXPECT_TRUE(mailbox.try_send(int{message}));
  EXPECT_EQ(loop.run_ready(), 1U) << "the loop is woken once";
  EXPECT_TRUE(mailbox.try_send(4));
  loop.run_ready();
  EXPECT_EQ(batches, (Batches{{1, 2, 3}, {4}}));
}

TEST_F(MailboxTest, RefusesWhenFullAndLeavesTheMessageAlone) {
  Mailbox<std::unique_ptr<int>> mailbox(loop, 2, [](auto) {});
  EXPECT_TRUE(mailbox.try_send(std::make_unique<int>(1)));
  EXPECT_TRUE(mailbox.try_send(std::make_unique<int>(2)));
  auto third = std::make_unique<int>(3);
  EXPECT_FALSE(mailbox.try_send(std::move(third)));
  ASSERT_TRUE(third);
  loop.run_ready();
  EXPECT_TRUE(mailbox.try_send(std::move(third)));
}

TEST_F(MailboxTest, AClosedMailboxRefusesAndDeliversNothing) {
  Mailbox<std::shared_ptr<int>> mailbox(loop, 2, [](auto) { FAIL() << "it was closed"; });
  auto message = std::make_shared<int>(1);
  EXPECT_TRUE(mailbox.try_send(std::shared_ptr<int>(message)));
  mailbox.close();
  EXPECT_EQ(message.use_count(), 1) << "what waited is dropped at once";
  EXPECT_FALSE(mailbox.try_send(std::shared_ptr<int>(message)));
  loop.run_ready();
}

TEST_F(MailboxTest, DestroyedWithADeliveryQueuedItDeliversNothing) {
  {
    Mailbox<int> mailbox(loop, 2, keep());
    EXPECT_TRUE(mailbox.try_send(1));
  }
  loop.run_ready();
  EXPECT_TRUE(batches.empty());
}

TEST_F(MailboxTest, ABatchMayDestroyItsMailbox) {
  std::unique_ptr<Mailbox<int>> mailbox;
  int seen = 0;
  mailbox = std::make_unique<Mailbox<int>>(loop, 2, [&](std::vector<int> batch) {
    mailbox.reset();
    seen = batch.front();
  });
  EXPECT_TRUE(mailbox->try_send(7));
  loop.run_ready();
  EXPECT_EQ(seen, 7);
}

TEST_F(MailboxTest, ABatchMaySendToItsOwnMailbox) {
  std::unique_ptr<Mailbox<int>> mailbox;
  mailbox = std::make_unique<Mailbox<int>>(loop, 2, [&](std::vector<int> batch) {
    batches.push_back(batch);
    if (batch.front() < 3) EXPECT_TRUE(mailbox->try_send(batch.front() + 1));
  });
  EXPECT_TRUE(mailbox->try_send(1));
  loop.run_ready();
  EXPECT_EQ(batches, (Batches{{1}, {2}, {3}}));
}

TEST(MailboxAcrossThreads, KeepsEachSendersOrderAndLosesNothing) {
  LoopThread thread;
  constexpr int kEach = 5'000;
  struct Message {
    std::size_t sender;
    int number;
  };
  std::array<int, 3> last{};
  bool is_in_order = true;
  std::promise<void> finished;
  std::size_t received = 0;
  auto mailbox =
      std::make_unique<Mailbox<Message>>(thread.loop(), 64, [&](std::vector<Message> batch) {
        EXPECT_LE(batch.size(), 64U);
        for (const auto& message : batch) {
          is_in_order = is_in_order && message.number == last[message.sender] + 1;
          last[message.sender] = message.number;
          if (++received == last.size() * kEach) finished.set_value();
        }
      });
  {
    std::vector<std::jthread> senders;
    for (std::size_t sender = 0; sender < last.size(); ++sender)
      senders.emplace_back([&mailbox, sender] {
        for (int i = 1; i <= kEach; ++i)
          while (!mailbox->try_send({sender, i})) std::this_thread::yield();
      });
    await(finished.get_future());
  }
  call_on(thread.loop(), [&] { mailbox.reset(); });
  EXPECT_TRUE(is_in_order);
}

TEST(MailboxAcrossThreads, ClosesWhileOthersAreSending) {
  for (int round = 0; round < 20; ++round) {
    LoopThread thread;
    bool is_closed = false;  // touched on the loop only
    Mailbox<int> mailbox(thread.loop(), 4,
                         [&](const std::vector<int>&) { EXPECT_FALSE(is_closed); });
    std::atomic<bool> is_over = false;
    std::jthread sender([&] {
      while (!is_over) (void)mailbox.try_send(1);
    });
    call_on(thread.loop(), [&] {
      mailbox.close();
      is_closed = true;
    });
    EXPECT_FALSE(mailbox.try_send(1));
    is_over = true;
    sender.join();
    thread.stop();
  }
}

}  // namespace
}  // namespace reprise::rt
