#include "browser/chromium/frames.h"

#include <gtest/gtest.h>

#include "browser/limits.h"

namespace reprise::browser::chromium {
namespace {

TEST(Frames, ADocumentOfItsOwnHasRefsOfItsOwn) {
  Frames frames;
  frames.attach("s", "main", "");
  frames.navigated("s", "main", "", "loader1", "about:blank");
  EXPECT_EQ(frames.main()->ref_prefix(), "") << "the first document of a page";
  frames.main()->script = "object";
  frames.navigated("s", "main", "", "loader2", "http://x/");
  EXPECT_EQ(frames.main()->ref_prefix(), "f2");
  EXPECT_EQ(frames.main()->script, "") << "the script went with its document";
  frames.navigated("s", "main", "", "loader2", "http://x/#here");
  EXPECT_EQ(frames.main()->ref_prefix(), "f2") << "a move within the document is none";
}

TEST(Frames, OnlyThePresentDocumentIsLoaded) {
  Frames frames;
  frames.attach("s", "main", "");
  frames.navigated("s", "main", "", "loader1", "a");
  frames.lifecycle("main", "loader0", "load");
  EXPECT_FALSE(frames.main()->is_content_loaded) << "of the document before";
  frames.lifecycle("main", "loader1", "DOMContentLoaded");
  EXPECT_TRUE(frames.main()->is_content_loaded);
  EXPECT_FALSE(frames.main()->is_loaded);
  frames.lifecycle("main", "loader1", "load");
  EXPECT_TRUE(frames.main()->is_loaded);
  frames.navigated("s", "main", "", "loader2", "b");
  EXPECT_FALSE(frames.main()->is_content_loaded);
}

TEST(Frames, GoWithTheirParentsAndTheirProcessUnlessAnotherTakesThemOver) {
  Frames frames;
  frames.attach("s", "main", "");
  frames.attach("s", "child", "main");
  frames.attach("s", "grandchild", "child");
  const auto list = frames.list();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].id, "main");
  EXPECT_EQ(list[2].parent, "child");
  frames.detach("child", true);
  EXPECT_EQ(frames.size(), 3U) << "another process shows it";
  frames.moved("child", "other");
  frames.session_ended("s");
  EXPECT_NE(frames.find("child"), nullptr);
  EXPECT_EQ(frames.find("grandchild"), nullptr);
  EXPECT_NE(frames.main(), nullptr) << "the page's own goes with the page";
  frames.session_ended("other");
  EXPECT_EQ(frames.find("child"), nullptr);
}

TEST(Frames, AreRememberedUpToALimit) {
  Frames frames;
  frames.attach("s", "main", "");
  for (std::size_t i = 1; i < kMaxFramesPerPage; ++i) frames.attach("s", std::to_string(i), "main");
  EXPECT_EQ(frames.size(), kMaxFramesPerPage);
  frames.attach("s", "one more", "main");
  frames.navigated("s", "another", "main", "l", "u");
  EXPECT_EQ(frames.size(), kMaxFramesPerPage);
}

}  // namespace
}  // namespace reprise::browser::chromium
