#include "browser/live_view.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "browser/limits.h"
#include "browser/timing.h"
#include "rt/manual_loop.h"

namespace reprise::browser {
namespace {

// A browser's side: sends what it is told to, at most two that are not answered.
class FakeCast final : public Screencast {
 public:
  void start(ScreencastOptions, OnFrame told) override {
    ++starts;
    told_ = std::move(told);
    unanswered_ = 0;
    if (!picture_.empty()) draw(picture_);
  }
  void go_on() override { unanswered_ = 0; }
  void stop() override {
    ++stops;
    told_ = nullptr;
  }
  // The page looks otherwise.
  void draw(std::string picture) {
    picture_ = std::move(picture);
    if (!told_ || unanswered_ >= 2) return;
    ++unanswered_;
    told_({.picture = picture_, .width = 800, .height = 600});
  }
  bool is_running() const { return told_ != nullptr; }
  int starts = 0;
  int stops = 0;

 private:
  OnFrame told_;
  std::string picture_;
  int unanswered_ = 0;
};

struct FakeSink final : LiveSink {
  void show(SharedText picture) override { pictures.push_back(std::move(picture)); }
  void tell(SharedText state) override { states.push_back(*state); }
  void answer(LiveAnswer) override {}
  void end(std::uint16_t code, std::string reason) override {
    ended = std::to_string(code) + ' ' + reason;
  }
  // The JPEG of the last one.
  std::string last() const {
    const std::string& bytes = *pictures.back();
    return bytes.substr(4 + get_be32(bytes));
  }
  std::vector<SharedText> pictures;
  std::vector<std::string> states;
  std::string ended;
};

class LiveViewTest : public ::testing::Test {
 protected:
  LiveScene scene(std::string state, std::string tab = "one") {
    return {
        .state = std::move(state), .tab = std::move(tab), .url = "u", .title = "t", .cast = cast};
  }
  std::shared_ptr<FakeSink> sink() { return std::make_shared<FakeSink>(); }
  void pass(std::chrono::milliseconds so_long) { loop.advance(so_long); }

  rt::ManualTime time;
  rt::ManualLoop loop{time};
  LiveProbe probe;
  std::shared_ptr<FakeCast> cast = std::make_shared<FakeCast>();
  LiveView view{loop, probe};
};

TEST_F(LiveViewTest, OneScreencastServesAllViewersAndRunsWhileThereIsOne) {
  view.show(scene("s1"));
  EXPECT_EQ(cast->starts, 0);
  const auto one = sink();
  const auto other = sink();
  const auto first = view.join(one);
  const auto second = view.join(other);
  EXPECT_EQ(cast->starts, 1);
  EXPECT_EQ(probe.screencasts, 1U);
  EXPECT_EQ(probe.viewers, 2U);
  cast->draw("a");
  ASSERT_EQ(one->pictures.size(), 1U);
  ASSERT_EQ(other->pictures.size(), 1U);
  EXPECT_EQ(one->pictures[0].get(), other->pictures[0].get()) << "the bytes are shared";
  view.leave(first);
  EXPECT_TRUE(cast->is_running());
  view.leave(second);
  EXPECT_FALSE(cast->is_running());
  EXPECT_EQ(probe.viewers, 0U);
  EXPECT_EQ(probe.screencasts, 0U);
}

TEST_F(LiveViewTest, APictureIsDescribedAndFollowedByItsBytes) {
  view.show(scene("s1", "tab-7"));
  const auto one = sink();
  view.join(one);
  cast->draw("JPEG");
  const std::string& bytes = *one->pictures.at(0);
  EXPECT_EQ(bytes.substr(4, get_be32(bytes)),
            R"({"type":"frame","frame":1,"tabId":"tab-7","url":"u","title":"t","format":"jpeg",)"
            R"("width":800,"height":600,"offsetTop":0,"pageScale":1,"scrollX":0,"scrollY":0})");
  EXPECT_EQ(one->last(), "JPEG");
}

TEST_F(LiveViewTest, AnAnimationIsShownTenTimesASecondAndItsEndIsNotMissed) {
  view.show(scene("s1"));
  const auto one = sink();
  const auto id = view.join(one);
  // Sixty changes in a second, and every picture is acknowledged at once.
  for (int i = 0; i < 60; ++i) {
    const std::size_t before = one->pictures.size();
    cast->draw("frame " + std::to_string(i));
    pass(std::chrono::milliseconds{16});
    for (std::size_t n = before; n < one->pictures.size(); ++n) view.picture_taken(id);
  }
  EXPECT_LE(one->pictures.size(), 11U);
  EXPECT_GE(one->pictures.size(), 7U);
  // Nothing changes any more: what the browser dropped while it waited is seen all the same.
  for (int i = 0; i < 20; ++i) {
    pass(std::chrono::milliseconds{50});
    view.picture_taken(id);
  }
  EXPECT_EQ(one->last(), "frame 59");
  const int starts = cast->starts;
  const std::size_t pictures = one->pictures.size();
  pass(std::chrono::seconds{5});
  EXPECT_EQ(cast->starts, starts) << "and then it is left in peace";
  EXPECT_EQ(one->pictures.size(), pictures);
}

TEST_F(LiveViewTest, ASlowViewerSkipsToTheLatestAndHoldsNobodyUp) {
  view.show(scene("s1"));
  const auto slow = sink();
  const auto quick = sink();
  const auto slow_id = view.join(slow);
  const auto quick_id = view.join(quick);
  for (int i = 0; i < 10; ++i) {
    cast->draw(std::to_string(i));
    pass(kFrameInterval + kFreshFramePatience);
    view.picture_taken(quick_id);
  }
  EXPECT_EQ(slow->pictures.size(), kMaxPicturesUnderWay);
  EXPECT_EQ(quick->pictures.size(), 10U);
  EXPECT_GT(probe.skipped, 0U);
  view.picture_taken(slow_id);
  EXPECT_EQ(slow->pictures.size(), kMaxPicturesUnderWay + 1);
  EXPECT_EQ(slow->last(), "9");
  view.picture_taken(slow_id);
  EXPECT_EQ(slow->pictures.size(), kMaxPicturesUnderWay + 1) << "there is nothing newer";
}

TEST_F(LiveViewTest, WhileNobodyCanTakePicturesTheBrowserDrawsNone) {
  view.show(scene("s1"));
  const auto slow = sink();
  const auto id = view.join(slow);
  for (int i = 0; i < 100; ++i) {
    cast->draw(std::to_string(i));
    pass(std::chrono::milliseconds{16});
  }
  EXPECT_LE(probe.pictures, kMaxPicturesUnderWay + 1);
  for (int i = 0; i < 10; ++i) {
    view.picture_taken(id);
    pass(kFrameInterval + kFreshFramePatience);
  }
  EXPECT_EQ(slow->last(), "99");
  // More acknowledgements than there were pictures are no credit.
  for (int i = 0; i < 10; ++i) view.picture_taken(id);
  const std::size_t before = slow->pictures.size();
  for (int i = 0; i < 10; ++i) {
    cast->draw("x" + std::to_string(i));
    pass(kFrameInterval + kFreshFramePatience);
  }
  EXPECT_EQ(slow->pictures.size(), before + kMaxPicturesUnderWay);
}

TEST_F(LiveViewTest, TheTabThatIsShownIsFollowed) {
  view.show(scene("s1", "one"));
  const auto one = sink();
  view.join(one);
  cast->draw("of one");
  const auto first = std::exchange(cast, std::make_shared<FakeCast>());
  view.show(scene("s2", "two"));
  EXPECT_FALSE(first->is_running());
  EXPECT_TRUE(cast->is_running());
  pass(kFrameInterval);
  cast->draw("of two");
  EXPECT_EQ(one->last(), "of two");
  // It goes to sleep: there is nothing to be seen, and the viewer stays.
  cast = nullptr;
  view.show(scene("s3", ""));
  EXPECT_EQ(probe.screencasts, 0U);
  cast = std::make_shared<FakeCast>();
  view.state_taken(1);
  view.show(scene("s4", "two"));
  EXPECT_TRUE(cast->is_running());
}

TEST_F(LiveViewTest, OnlyTheLatestStateIsTold) {
  view.show(scene("s1"));
  const auto one = sink();
  const auto id = view.join(one);
  EXPECT_EQ(one->states, std::vector<std::string>{"s1"});
  view.show(scene("s2"));
  view.show(scene("s3"));
  EXPECT_EQ(one->states.size(), 1U) << "the first is still under way";
  view.state_taken(id);
  EXPECT_EQ(one->states, (std::vector<std::string>{"s1", "s3"}));
  view.state_taken(id);
  view.show(scene("s3"));
  EXPECT_EQ(one->states.size(), 2U) << "nothing has changed";
}

TEST_F(LiveViewTest, WhoComesLaterSeesTheLastPictureAtOnce) {
  view.show(scene("s1"));
  const auto one = sink();
  view.join(one);
  cast->draw("there");
  const auto late = sink();
  view.join(late);
  EXPECT_EQ(late->last(), "there");
  EXPECT_EQ(cast->starts, 1);
}

TEST_F(LiveViewTest, EverybodyIsToldTheEnd) {
  view.show(scene("s1"));
  const auto one = sink();
  const auto other = sink();
  view.join(one);
  view.join(other);
  view.end(4001, "over");
  EXPECT_EQ(one->ended, "4001 over");
  EXPECT_EQ(other->ended, "4001 over");
  EXPECT_EQ(view.viewers(), 0U);
  EXPECT_FALSE(cast->is_running());
}

}  // namespace
}  // namespace reprise::browser
