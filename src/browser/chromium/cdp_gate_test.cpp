#include "browser/chromium/cdp_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "browser/chromium/cdp_limits.h"
#include "browser/chromium/cdp_testing.h"

namespace reprise::browser {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ManualTimers;
using namespace std::chrono_literals;

class Owner : public CdpOwner {
 public:
  Owner(std::string context, std::vector<std::string>& sent)
      : context_(std::move(context)), sent_(sent) {}
  bool owns_context(std::string_view context_id) const override { return context_id == context_; }
  void send_held(std::string command) override { sent_.push_back(std::move(command)); }
  void resume_all() override { sent_.push_back("resumed all"); }
  CdpGate::Unit unit() { return {.owner = this, .browser_session = ""}; }

 private:
  std::string context_;
  std::vector<std::string>& sent_;
};

class CdpGateTest : public ::testing::Test {
 protected:
  ~CdpGateTest() override {
    for (Owner* owner : {&one_, &two_, &other_}) gate_.forget(*owner);
  }
  std::vector<std::string> sent() { return std::exchange(sent_, {}); }

  static constexpr auto kOpener = CdpGate::Pause::kOpener;
  static constexpr auto kNavigation = CdpGate::Pause::kNavigation;
  ManualTimers timers_;
  std::vector<std::string> sent_;
  std::vector<std::string> stranded_;
  CdpGate gate_{{.start_timer = timers_.starter(),
                 .stranded = [this](std::string id) { stranded_.push_back(std::move(id)); }}};
  Owner one_{"A", sent_};
  Owner two_{"A", sent_};
  Owner other_{"B", sent_};
};

TEST_F(CdpGateTest, WithoutAnOwnerAPageIsNobodys) {
  gate_.watch(other_.unit(), {});
  timers_.advance(kWatcherSettles);
  EXPECT_FALSE(gate_.has_settled_owner("A"));
  EXPECT_TRUE(gate_.has_settled_owner("B"));
  EXPECT_FALSE(gate_.paused("T", "A", kOpener, false));
  EXPECT_EQ(gate_.page_count(), 0U);
}

TEST_F(CdpGateTest, TheOnlyOwnerWaitsForNobody) {
  gate_.watch(one_.unit(), {});
  gate_.watch(other_.unit(), {});
  EXPECT_TRUE(gate_.paused("T", "A", kOpener, true));
  gate_.resume(one_.unit(), "T", "go");
  EXPECT_THAT(sent(), ElementsAre("go"));
}

TEST_F(CdpGateTest, APopupRunsWhenAllOwnersAreReady) {
  gate_.watch(one_.unit(), {});
  gate_.watch(two_.unit(), {});
  gate_.paused("T", "A", kOpener, true);
  gate_.resume(one_.unit(), "T", "one");
  EXPECT_THAT(sent(), IsEmpty());
  gate_.resume(two_.unit(), "T", "two");
  EXPECT_THAT(sent(), ElementsAre("one", "two"));
}

TEST_F(CdpGateTest, AnOwnerIsWaitedForOnlySoLong) {
  gate_.watch(one_.unit(), {});
  gate_.watch(two_.unit(), {});
  gate_.paused("T", "A", kOpener, true);
  gate_.resume(one_.unit(), "T", "one");
  timers_.advance(kMaxResumeWait - 1ms);
  EXPECT_THAT(sent(), IsEmpty());
  timers_.advance(1ms);
  EXPECT_THAT(sent(), ElementsAre("one"));
  gate_.resume(two_.unit(), "T", "two");
  EXPECT_THAT(sent(), ElementsAre("two"));
}

TEST_F(CdpGateTest, ANavigationIsHeldByTheBrowserAndNotByUs) {
  gate_.watch(one_.unit(), {});
  gate_.watch(two_.unit(), {});
  gate_.paused("T", "A", kNavigation, true);
  gate_.resume(one_.unit(), "T", "one");
  EXPECT_THAT(sent(), ElementsAre("one"));
  timers_.advance(kMaxResumeWait);
  EXPECT_THAT(sent(), ElementsAre("resumed all"));
  EXPECT_EQ(gate_.page_count(), 0U);
}

TEST_F(CdpGateTest, WhoLeavesIsNotWaitedFor) {
  gate_.watch(one_.unit(), {});
  gate_.watch(two_.unit(), {});
  gate_.paused("T", "A", kOpener, true);
  gate_.resume(one_.unit(), "T", "one");
  gate_.left(two_.unit(), "T");
  EXPECT_THAT(sent(), ElementsAre("one"));

  gate_.paused("U", "A", kOpener, true);
  gate_.resume(one_.unit(), "U", "one");
  gate_.forget(two_);
  EXPECT_THAT(sent(), ElementsAre("one"));
  EXPECT_THAT(stranded_, IsEmpty());
}

TEST_F(CdpGateTest, WhenTheLastOwnerGoesThePopupIsStranded) {
  gate_.watch(one_.unit(), {});
  gate_.paused("T", "A", kOpener, false);
  gate_.forget(one_);
  EXPECT_THAT(stranded_, ElementsAre("T"));
}

TEST_F(CdpGateTest, AHeldResumeGoesWithItsOwner) {
  gate_.watch(one_.unit(), {});
  gate_.watch(two_.unit(), {});
  gate_.paused("T", "A", kOpener, true);
  gate_.resume(one_.unit(), "T", "one");
  gate_.forget(one_);
  timers_.advance(kMaxResumeWait);
  EXPECT_THAT(sent(), IsEmpty());
  gate_.resume(two_.unit(), "T", "two");
  EXPECT_THAT(sent(), ElementsAre("two"));
  EXPECT_THAT(stranded_, IsEmpty());
}

TEST_F(CdpGateTest, APopupThatRanIsRememberedForThoseWhoHearOfItLate) {
  gate_.watch(one_.unit(), {});
  gate_.paused("T", "A", kOpener, true);
  gate_.resume(one_.unit(), "T", "one");
  EXPECT_TRUE(gate_.paused("T", "A", kOpener, false));
  gate_.forget(one_);
  EXPECT_THAT(stranded_, IsEmpty());
  timers_.advance(kPopupMemory);
  EXPECT_EQ(gate_.page_count(), 0U);
}

TEST_F(CdpGateTest, AnOwnerMayTakeItsTime) {
  gate_.watch(one_.unit(), {});
  gate_.paused("T", "A", kOpener, true);
  timers_.advance(kPopupMemory * 3);
  gate_.forget(one_);
  EXPECT_THAT(stranded_, ElementsAre("T"));
}

TEST_F(CdpGateTest, AnOwnerThatCameTooLateIsNotReliedOn) {
  gate_.watch(one_.unit(), {});
  timers_.advance(kWatcherSettles - 1ms);
  EXPECT_FALSE(gate_.has_settled_owner("A"));
  gate_.missed(one_.unit(), "T", "A", kOpener);
  EXPECT_FALSE(gate_.paused("T", "A", kOpener, false));
  // Or it has relied on another one, who came too late as well.
  gate_.watch(two_.unit(), {});
  gate_.paused("U", "A", kOpener, false);
  gate_.missed(one_.unit(), "U", "A", kOpener);
  EXPECT_THAT(stranded_, IsEmpty());
  gate_.missed(two_.unit(), "U", "A", kOpener);
  EXPECT_THAT(stranded_, ElementsAre("U"));
  timers_.advance(kPopupMemory);
  EXPECT_EQ(gate_.page_count(), 0U);
}

TEST_F(CdpGateTest, AnOwnerThatNeverAppearsIsNotReliedOnForLong) {
  gate_.watch(one_.unit(), {});
  EXPECT_TRUE(gate_.paused("T", "A", kOpener, false));
  timers_.advance(kMaxResumeWait);
  EXPECT_THAT(stranded_, ElementsAre("T"));
  timers_.advance(kPopupMemory);
  EXPECT_EQ(gate_.page_count(), 0U);
}

TEST_F(CdpGateTest, AWorkerWaitsForThoseWhoAreAttachedToWorkers) {
  gate_.watch(one_.unit(), {});
  gate_.watch(two_.unit(), {.pages = true, .workers = false});
  EXPECT_TRUE(gate_.paused("W", "A", CdpGate::Pause::kWorker, true));
  gate_.resume(one_.unit(), "W", "one");
  EXPECT_THAT(sent(), ElementsAre("one"));
  gate_.watch(one_.unit(), {.pages = false, .workers = false});
  EXPECT_FALSE(gate_.paused("V", "A", CdpGate::Pause::kWorker, false));
}

TEST_F(CdpGateTest, TimersOutliveTheGate) {
  ManualTimers timers;
  {
    CdpGate gate({.start_timer = timers.starter(), .stranded = [](const std::string&) {}});
    gate.watch(one_.unit(), {});
    gate.watch(two_.unit(), {});
    gate.paused("T", "A", kOpener, true);
    gate.resume(one_.unit(), "T", "one");
    gate.forget(one_);
    gate.forget(two_);
  }
  timers.advance(kPopupMemory);
}

}  // namespace
}  // namespace reprise::browser
