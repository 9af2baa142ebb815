#include "wire/cdp_pipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise::wire {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string framed(std::initializer_list<std::string_view> messages) {
  std::string out;
  for (const std::string_view message : messages) append_cdp_pipe_message(out, message);
  return out;
}

TEST(CdpPipe, MessagesComeOutAsTheyWentInHoweverTheyAreCut) {
  const std::string bytes = framed({"{}", "", R"({"id":1})", "x"});
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    CdpPipeDecoder decoder;
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      for (std::string& message : decoder.feed(std::string_view(bytes).substr(at, piece)))
        seen.push_back(std::move(message));
    EXPECT_THAT(seen, ElementsAre("{}", "", R"({"id":1})", "x")) << piece;
    EXPECT_EQ(decoder.buffered_bytes(), 0U);
  }
}

TEST(CdpPipe, AMessageIsAsLongAsItMayBeAndNoLonger) {
  CdpPipeDecoder decoder(4);
  EXPECT_THAT(decoder.feed(framed({"1234"})), ElementsAre("1234"));
  EXPECT_THAT(decoder.feed("123"), IsEmpty());
  EXPECT_EQ(decoder.buffered_bytes(), 3U);
  EXPECT_THAT(decoder.feed(framed({"45"})), IsEmpty());
  EXPECT_TRUE(decoder.has_overflowed());
  EXPECT_EQ(decoder.buffered_bytes(), 0U);
  EXPECT_THAT(decoder.feed(framed({"1"})), IsEmpty());
}

TEST(CdpPipeDeathTest, ANulInAMessageIsOurBug) {
  std::string out;
  EXPECT_DEATH(append_cdp_pipe_message(out, std::string_view("a\0b", 3)), "assertion failed");
}

TEST(CdpPipe, AMessageMayBeLongButNotWithoutEnd) {
  CdpPipeDecoder decoder;
  const std::string piece(1024 * 1024, 'x');
  for (std::size_t fed = 0; fed < kMaxCdpMessageBytes; fed += piece.size())
    EXPECT_THAT(decoder.feed(piece), IsEmpty());
  EXPECT_FALSE(decoder.has_overflowed());
  EXPECT_THAT(decoder.feed("x"), IsEmpty());
  EXPECT_TRUE(decoder.has_overflowed());
}

}  // namespace
}  // namespace reprise::wire
