#include "wire/limits.h"

#include <gtest/gtest.h>

#include "wire/http.h"
#include "wire/http_lines.h"
#include "wire/json.h"

namespace reprise::wire {
namespace {

bool is_accepted(const std::string& bytes, const ParserLimits& limits = {}) {
  RequestParser parser(limits);
  return parser.feed(bytes) && parser.is_complete();
}

std::string get(const std::string& method, const std::string& target) {
  return method + ' ' + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

TEST(WireLimits, AMethodIsAsLongAsItMayBeAndNoLonger) {
  EXPECT_TRUE(is_accepted(get(std::string(kMaxMethodBytes, 'M'), "/")));
  EXPECT_FALSE(is_accepted(get(std::string(kMaxMethodBytes + 1, 'M'), "/")));
}

TEST(WireLimits, ALineHasRoomForTheLongestMethodAndTarget) {
  const ParserLimits limits{.max_target_bytes = 100};
  const std::string line = get(std::string(kMaxMethodBytes, 'M'), '/' + std::string(99, 't'));
  EXPECT_EQ(line.find("\r\n") + 2, limits.max_target_bytes + kMaxRequestLineExtraBytes);
  EXPECT_TRUE(is_accepted(line, limits));
  EXPECT_FALSE(is_accepted(get("GET", '/' + std::string(100, 't')), limits));
}

TEST(WireLimits, EmptyLinesBeforeARequestAreForgivenOnce) {
  std::string lines;
  for (std::size_t i = 0; i < kMaxLeadingEmptyLines; ++i) lines += "\r\n";
  EXPECT_TRUE(is_accepted(lines + get("GET", "/")));
  EXPECT_FALSE(is_accepted(lines + "\r\n" + get("GET", "/")));
}

TEST(WireLimits, AnAnnouncedBodyGetsMemoryOnlyAsItArrives) {
  const auto capacity_for = [](std::size_t length) {
    RequestParser parser;
    const auto fed = parser.feed(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n");
    EXPECT_TRUE(fed.has_value());
    return parser.partial().body.capacity();
  };
  EXPECT_GE(capacity_for(kMaxBodyReserve), kMaxBodyReserve);
  EXPECT_LT(capacity_for(8 * kMaxBodyReserve), 2 * kMaxBodyReserve);
}

TEST(WireLimits, ALineLongerThanIsKeptIsReadAndTheNextOneToo) {
  RequestParser parser;
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  for (const std::string& piece :
       {head + std::string(kKeptLineBytes, 'x'), std::string(kKeptLineBytes, 'y') + "\r\n\r\n"})
    ASSERT_TRUE(parser.feed(piece));
  ASSERT_TRUE(parser.is_complete());
  EXPECT_EQ(parser.take().headers.get("x")->size(), 2 * kKeptLineBytes);
  ASSERT_TRUE(parser.feed(get("GET", "/next")));
  EXPECT_EQ(parser.take().target, "/next");
}

TEST(WireLimits, ABufferThatHasGrownIsGivenBackAndASmallOneKept) {
  std::string grown(kKeptLineBytes + 1, 'x');
  empty_buffer(grown);
  EXPECT_TRUE(grown.empty());
  EXPECT_LT(grown.capacity(), kKeptLineBytes);
  std::string small(kKeptLineBytes, 'x');
  small.shrink_to_fit();
  empty_buffer(small);
  EXPECT_TRUE(small.empty());
  EXPECT_GE(small.capacity(), kKeptLineBytes);
}

TEST(WireLimits, DocumentsAroundTheKeptSizeReadTheSame) {
  for (const std::size_t size : {kKeptJsonBytes - 1, kKeptJsonBytes, kKeptJsonBytes + 1}) {
    const std::string text = '"' + std::string(size - 2, 'x') + '"';
    const auto document = parse_json(text);
    ASSERT_TRUE(document) << size;
    EXPECT_EQ(document->root().as_string()->size(), size - 2);
  }
}

}  // namespace
}  // namespace reprise::wire
