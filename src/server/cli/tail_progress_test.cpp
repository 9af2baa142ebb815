#include "server/cli/tail_progress.h"

#include <gtest/gtest.h>

namespace reprise::server::cli {
namespace {

using Step = TailProgress::Step;

wire::SseEvent stored(std::uint64_t seq, std::string_view type = "log") {
  return {.type = "message",
          .data = fmt::format(R"({{"seq":{},"type":"{}","data":null}})", seq, type),
          .last_event_id = std::to_string(seq)};
}

wire::SseEvent named(std::string type) { return {.type = std::move(type), .data = "{}"}; }

TEST(TailProgress, AsksForTheBeginningUntilSomethingWasRead) {
  TailProgress progress({.after = 4});
  EXPECT_EQ(progress.after(), 4U);
  EXPECT_EQ(progress.last_event_id(), std::nullopt);
  EXPECT_EQ(progress.on_frame(stored(5)), Step::kPrint);
  EXPECT_EQ(progress.last_event_id(), "5");
}

TEST(TailProgress, AReconnectThatOverlapsShowsNothingTwice) {
  TailProgress progress({});
  for (std::uint64_t seq = 1; seq <= 3; ++seq)
    EXPECT_EQ(progress.on_frame(stored(seq)), Step::kPrint);
  EXPECT_EQ(progress.last_event_id(), "3");
  EXPECT_EQ(progress.on_frame(stored(2)), Step::kSkip);
  EXPECT_EQ(progress.on_frame(stored(3)), Step::kSkip);
  EXPECT_EQ(progress.on_frame(stored(4)), Step::kPrint);
  EXPECT_EQ(progress.last_event_id(), "4");
}

TEST(TailProgress, AFilteredEventMovesTheCursorWithoutBeingShown) {
  TailProgress progress({.types = {"message", "plan_update"}});
  EXPECT_EQ(progress.on_frame(stored(1, "log")), Step::kSkip);
  EXPECT_EQ(progress.last_event_id(), "1");
  EXPECT_EQ(progress.on_frame(stored(2, "message")), Step::kPrint);
}

TEST(TailProgress, AnEphemeralEventIsShownAndDoesNotMoveTheCursor) {
  TailProgress progress({});
  EXPECT_EQ(progress.on_frame(stored(7)), Step::kPrint);
  const wire::SseEvent ephemeral{.data = R"({"type":"log","data":1})", .last_event_id = "7"};
  EXPECT_EQ(progress.on_frame(ephemeral), Step::kPrint);
  EXPECT_EQ(progress.on_frame(ephemeral), Step::kPrint);
  EXPECT_EQ(progress.last_event_id(), "7");
}

TEST(TailProgress, EndsAtTheEndAndWithoutFollowingAtTheEndOfTheReplay) {
  TailProgress following({});
  EXPECT_EQ(following.on_frame(named("replayComplete")), Step::kSkip);
  EXPECT_EQ(following.on_frame(named("end")), Step::kFinished);
  TailProgress replay_only({.is_following = false});
  EXPECT_EQ(replay_only.on_frame(named("replayComplete")), Step::kFinished);
}

TEST(TailProgress, FramesOfALaterServerAreIgnored) {
  TailProgress progress({});
  EXPECT_EQ(progress.on_frame(named("somethingNew")), Step::kSkip);
}

TEST(TailProgress, DelaysDoubleWithJitterUpToALimit) {
  constexpr std::uint64_t kSeed = 42;
  SeededRandom random(kSeed);
  TailProgress progress({});
  Millis step = kFirstDelay;
  for (int attempt = 0; attempt < 12; ++attempt) {
    const auto delay = progress.delay_after_loss(random);
    ASSERT_TRUE(delay) << "seed " << kSeed;
    EXPECT_GE(*delay, step / 2) << "seed " << kSeed;
    EXPECT_LE(*delay, step) << "seed " << kSeed;
    step = std::min(kLongestDelay, step * 2);
  }
}

TEST(TailProgress, AFrameStartsTheDelaysAnew) {
  SeededRandom random(1);
  TailProgress progress({});
  for (int attempt = 0; attempt < 10; ++attempt) progress.delay_after_loss(random);
  progress.on_frame(stored(1));
  EXPECT_EQ(progress.failures(), 0U);
  EXPECT_LE(*progress.delay_after_loss(random), kFirstDelay);
}

TEST(TailProgress, WaitsAsLongAsTheServerAsksWithinReason) {
  SeededRandom random(1);
  TailProgress progress({});
  EXPECT_EQ(*progress.delay_after_loss(random, Millis{5'000}), Millis{5'000});
  EXPECT_EQ(*progress.delay_after_loss(random, Millis{3'600'000}), Millis{60'000});
}

TEST(TailProgress, GivesUpAfterTooManyFailuresInARow) {
  SeededRandom random(1);
  TailProgress progress({});
  for (std::uint32_t attempt = 0; attempt < kMaxFailuresInARow; ++attempt)
    ASSERT_TRUE(progress.delay_after_loss(random));
  EXPECT_EQ(progress.delay_after_loss(random), std::nullopt);
}

}  // namespace
}  // namespace reprise::server::cli
