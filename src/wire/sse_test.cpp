#include "wire/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace reprise::wire {
namespace {

std::string frame(std::string_view event, std::optional<std::string_view> id,
                  std::string_view data) {
  std::string out;
  append_sse_frame(out, event, id, data);
  return out;
}

// Each event as "type|id|data".
std::vector<std::string> decoded(std::string_view bytes, std::size_t piece = std::string::npos) {
  SseDecoder decoder;
  std::vector<std::string> seen;
  for (std::size_t at = 0; at < bytes.size(); at += std::min(piece, bytes.size() - at))
    for (const SseEvent& event : decoder.feed(bytes.substr(at, piece)))
      seen.push_back(event.type + "|" + event.last_event_id + "|" + event.data);
  return seen;
}

TEST(Sse, WritesFrames) {
  EXPECT_EQ(frame("", "7", "{\"a\":1}"), "id: 7\ndata: {\"a\":1}\n\n");
  EXPECT_EQ(frame("replayComplete", std::nullopt, ""), "event: replayComplete\ndata: \n\n");
  EXPECT_EQ(frame("", std::nullopt, "a\nb\r\nc\rd\n"),
            "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n");
  std::string out;
  append_sse_comment(out, "");
  EXPECT_EQ(out, ": \n\n");
}

TEST(Sse, ACommentCannotBecomeAField) {
  std::string out;
  append_sse_comment(out, "x\ndata: forged");
  EXPECT_EQ(out, ": x\n: data: forged\n\n");
  EXPECT_TRUE(decoded(out).empty());
}

TEST(SseDeathTest, ALineBreakInANameOrIdIsOurBug) {
  std::string out;
  EXPECT_DEATH(append_sse_frame(out, "a\nb", std::nullopt, ""), "assertion failed");
  EXPECT_DEATH(append_sse_frame(out, "", "a\rb", ""), "assertion failed");
}

TEST(Sse, DecodesWhatTheStandardShows) {
  EXPECT_THAT(decoded("data: YHOO\ndata: +2\ndata: 10\n\n"),
              testing::ElementsAre("message||YHOO\n+2\n10"));
  EXPECT_THAT(decoded(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata: "
                      " third event\n\n"),
              testing::ElementsAre("message|1|first event", "message||second event",
                                   "message|| third event"));
  EXPECT_THAT(decoded("data\n\ndata\ndata\n\ndata:"),
              testing::ElementsAre("message||", "message||\n"));
  EXPECT_THAT(decoded("data:test\n\ndata: test\n\n"),
              testing::ElementsAre("message||test", "message||test"));
}

TEST(Sse, EveryLineEndWorksAndABomIsDropped) {
  EXPECT_THAT(decoded("\xef\xbb\xbf"
                      "data: a\r\rdata: b\r\n\r\ndata: c\n\n"),
              testing::ElementsAre("message||a", "message||b", "message||c"));
}

TEST(Sse, NamesLastForOneFrameAndIdsForAll) {
  EXPECT_THAT(decoded("event: x\nid: 1\ndata: a\n\ndata: b\n\nevent: y\n\ndata: c\n\n"),
              testing::ElementsAre("x|1|a", "message|1|b", "message|1|c"));
  using namespace std::string_view_literals;
  EXPECT_THAT(decoded("id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n"sv),
              testing::ElementsAre("message|1|a", "message|1|b"));
}

TEST(Sse, RetryTakesDigitsOnly) {
  SseDecoder decoder;
  decoder.feed("retry: 1500\n");
  EXPECT_EQ(decoder.retry_ms(), 1500);
  for (const char* line :
       {"retry: -1\n", "retry: 1s\n", "retry:\n", "retry: 99999999999\n", "retry: -0\n"})
    decoder.feed(line);
  EXPECT_EQ(decoder.retry_ms(), 1500);
}

TEST(Sse, AFrameMayReachTheLimitAndNotPassIt) {
  SseDecoder exact(10);
  EXPECT_EQ(exact.feed("data: 1234\n\n").size(), 1U);
  EXPECT_FALSE(exact.has_overflowed());
  SseDecoder line(10);
  line.feed("data: 12345");
  EXPECT_TRUE(line.has_overflowed());
  EXPECT_TRUE(line.feed("\n\ndata: 1\n\n").empty());
  SseDecoder frame_of_lines(10);
  for (int i = 0; i < 20; ++i) frame_of_lines.feed("data: 12\n");
  EXPECT_TRUE(frame_of_lines.has_overflowed());
}

TEST(Sse, RandomFramesSurviveBeingCutAnywhere) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<std::size_t>(random() % n); };
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    std::vector<std::string> sent;
    std::string last_id;
    for (std::size_t i = below(5); i > 0; --i) {
      std::string data;
      for (std::size_t k = below(12); k > 0; --k)
        data += std::string_view("a: \n\xc3\xa9")[below(6)];
      const bool has_id = below(2) == 0;
      if (has_id) last_id = std::to_string(random());
      const std::string event = below(2) == 0 ? "" : "kind";
      append_sse_frame(bytes, event,
                       has_id ? std::optional<std::string_view>(last_id) : std::nullopt, data);
      if (below(3) == 0) append_sse_comment(bytes, "heartbeat");
      sent.push_back((event.empty() ? "message" : event) + "|" + last_id + "|" + data);
    }
    ASSERT_EQ(decoded(bytes), sent);
    ASSERT_EQ(decoded(bytes, 1 + below(7)), sent);
    ASSERT_EQ(decoded(bytes, 1), sent);
  }
}

}  // namespace
}  // namespace reprise::wire
