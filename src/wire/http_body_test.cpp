// Request bodies that are taken piece by piece, and the stop before long ones.
#include <gtest/gtest.h>

#include "wire/http.h"

namespace reprise::wire {
namespace {

ParserLimits small(bool stops = true) {
  ParserLimits limits;
  limits.max_body_bytes = 10;
  limits.stops_before_long_bodies = stops;
  return limits;
}

constexpr std::string_view kLongHead = "PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 20\r\n\r\n";
constexpr std::string_view kChunkedHead =
    "PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(RequestBody, StopsAtTheHeadOfALongOne) {
  RequestParser parser(small());
  const std::string bytes = std::string(kLongHead) + "0123456789";
  EXPECT_EQ(*parser.feed(bytes), kLongHead.size());
  EXPECT_TRUE(parser.is_header_complete() && !parser.is_complete());
  EXPECT_EQ(*parser.feed("more"), 0U);
  EXPECT_EQ(parser.buffer_body().error().code, Code::kBodyTooLarge);
}

TEST(RequestBody, WithoutTheStopIsRefusedAtOnce) {
  RequestParser parser(small(false));
  EXPECT_EQ(parser.feed(kLongHead).error().code, Code::kBodyTooLarge);
}

TEST(RequestBody, IsTakenPieceByPiece) {
  RequestParser parser(small());
  ASSERT_TRUE(parser.feed(kLongHead));
  ASSERT_TRUE(parser.stream_body(20));
  EXPECT_EQ(*parser.feed("0123456789abc"), 13U);
  EXPECT_EQ(parser.take_body(), "0123456789abc");
  EXPECT_EQ(parser.take_body(), "");
  EXPECT_EQ(*parser.feed("defghijNEXT"), 7U);
  EXPECT_TRUE(parser.is_complete());
  EXPECT_EQ(parser.take_body(), "defghij");
  EXPECT_EQ(parser.take().body, "");
  // The next one is as ever.
  ASSERT_TRUE(parser.feed("PUT /y HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok"));
  EXPECT_EQ(parser.take().body, "ok");
}

TEST(RequestBody, ThatHasBegunMayStillBeStreamed) {
  RequestParser parser(small());
  ASSERT_TRUE(parser.feed("PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab"));
  ASSERT_TRUE(parser.stream_body(4));
  EXPECT_EQ(parser.take_body(), "ab");
  ASSERT_TRUE(parser.feed("cd"));
  EXPECT_EQ(parser.take_body(), "cd");
  EXPECT_TRUE(parser.is_complete());
}

TEST(RequestBody, HasALimitAlsoWhenItIsTaken) {
  RequestParser announced(small());
  ASSERT_TRUE(announced.feed(kLongHead));
  EXPECT_EQ(announced.stream_body(19).error().code, Code::kBodyTooLarge);

  RequestParser chunked(small());
  EXPECT_EQ(*chunked.feed(std::string(kChunkedHead) + "5\r\n"), kChunkedHead.size());
  ASSERT_TRUE(chunked.stream_body(15));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(chunked.feed("5\r\n12345\r\n"));
    EXPECT_EQ(chunked.take_body(), "12345");
  }
  EXPECT_EQ(chunked.feed("1\r\n1\r\n").error().code, Code::kBodyTooLarge);
}

TEST(RequestBody, InChunksIsTakenToo) {
  RequestParser parser(small());
  ASSERT_TRUE(parser.feed(kChunkedHead));
  ASSERT_TRUE(parser.stream_body(100));
  std::string body;
  const std::string bytes = "14\r\n01234567890123456789\r\n3;x=y\r\nabc\r\n0\r\nT: v\r\n\r\n";
  for (const char byte : bytes) {
    ASSERT_EQ(*parser.feed({&byte, 1}), 1U);
    body += parser.take_body();
  }
  EXPECT_TRUE(parser.is_complete());
  EXPECT_EQ(body, "01234567890123456789abc");
}

TEST(RequestBody, InChunksMayAlsoBeKept) {
  RequestParser parser(small());
  ASSERT_TRUE(parser.feed(kChunkedHead));
  ASSERT_TRUE(parser.buffer_body());
  ASSERT_TRUE(parser.feed("3\r\nabc\r\n0\r\n\r\n"));
  EXPECT_EQ(parser.take().body, "abc");
}

}  // namespace
}  // namespace reprise::wire
