#include "browser/frame_path.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "browser/limits.h"

namespace reprise::browser {
namespace {

using Frames = std::vector<std::string>;

TEST(FramePath, ASelectorMayEnterFrames) {
  const auto plain = parse_framed("  role=button[name=\"frame=x >> y\"] >> nth=0 ").value();
  EXPECT_EQ(plain.frames, Frames{});
  EXPECT_EQ(plain.inner, "role=button[name=\"frame=x >> y\"] >> nth=0");
  const auto two = parse_framed("frame=#a[title='x >> y'] >>frame=iframe>> text=Save >> b").value();
  EXPECT_EQ(two.frames, (Frames{"#a[title='x >> y']", "iframe"}));
  EXPECT_EQ(two.inner, "text=Save >> b");
  const auto quoted = parse_framed(R"(frame="host >> iframe[name=\"p\"]" >> #x)").value();
  EXPECT_EQ(quoted.frames, Frames{R"(host >> iframe[name="p"])"});
  EXPECT_EQ(quoted.inner, "#x");
  const auto anywhere = parse_framed("frame=* >> #x").value();
  EXPECT_TRUE(anywhere.is_anywhere);
  EXPECT_EQ(anywhere.inner, "#x");
}

TEST(FramePath, AFrameWithoutAnElementInItIsRefused) {
  for (const char* wrong : {"frame=#a", "frame=#a >> ", "frame= >> b", "frame=#a >> frame=#b",
                            "frame=* >> frame=* >> b"})
    EXPECT_TRUE(parse_framed(wrong).error().detail.starts_with("invalid:")) << wrong;
}

TEST(FramePath, NoMoreThanSoManyFramesAreEntered) {
  std::string deep;
  for (std::size_t i = 0; i < kMaxFrameSteps; ++i) deep += "frame=iframe >> ";
  EXPECT_EQ(parse_framed(deep + "#x").value().frames.size(), kMaxFrameSteps);
  EXPECT_FALSE(parse_framed("frame=iframe >> " + deep + "#x").has_value());
}

TEST(FramePath, ADescriptionSaysWhereItsElementIs) {
  EXPECT_EQ(with_frames(R"({"role":"button"})", R"([{"selector":"#a"}])"),
            R"({"role":"button","frames":[{"selector":"#a"}]})");
  EXPECT_EQ(with_frames(R"({"role":"button"})", ""), R"({"role":"button"})");
  EXPECT_EQ(with_frames("null", "[1]"), "null");
}

}  // namespace
}  // namespace reprise::browser
