#include "wire/range.h"

#include <gtest/gtest.h>

namespace reprise::wire {
namespace {

using Kind = RangeAnswer::Kind;

RangeAnswer part(std::uint64_t first, std::uint64_t last) {
  return {.kind = Kind::kPart, .range = {.first = first, .last = last}};
}

void expect_range(std::string_view header, std::uint64_t size, const RangeAnswer& expected) {
  const RangeAnswer answer = parse_range(header, size);
  EXPECT_EQ(answer.kind, expected.kind) << header;
  EXPECT_EQ(answer.range, expected.range) << header;
}

TEST(Range, NamesAPart) {
  expect_range("bytes=0-0", 10, part(0, 0));
  expect_range("bytes=2-5", 10, part(2, 5));
  expect_range("bytes=2-", 10, part(2, 9));
  expect_range("bytes=2-99", 10, part(2, 9));
  expect_range("bytes=-3", 10, part(7, 9));
  expect_range("bytes=-99", 10, part(0, 9));
  expect_range("Bytes= 4-5 ", 10, part(4, 5));
  expect_range("bytes=0-99999999999999999999999", 10, part(0, 9));
  EXPECT_EQ(part(2, 5).range.length(), 4U);
}

TEST(Range, BeyondTheContentIsUnsatisfiable) {
  for (const std::string_view header :
       {"bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999999-"})
    EXPECT_EQ(parse_range(header, 10).kind, Kind::kUnsatisfiable) << header;
  EXPECT_EQ(parse_range("bytes=0-", 0).kind, Kind::kUnsatisfiable);
  EXPECT_EQ(parse_range("bytes=-1", 0).kind, Kind::kUnsatisfiable);
}

TEST(Range, WhatIsNoRangeOrSeveralIsIgnored) {
  for (const std::string_view header :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-2", "bytes=0-1,3-4", "lines=0-1",
        "bytes=+1-2", "bytes=1 - 2", "bytes=0x1-2", "=0-1", "bytes==0-1", "bytes=1--2"})
    EXPECT_EQ(parse_range(header, 10).kind, Kind::kWhole) << header;
}

TEST(EntityTags, AreFoundInLists) {
  EXPECT_TRUE(names_etag("*", "\"a\"", false));
  EXPECT_TRUE(names_etag("\"a\"", "\"a\"", false));
  EXPECT_TRUE(names_etag("\"x\", \"y,z\" ,\"a\"", "\"a\"", false));
  EXPECT_TRUE(names_etag("W/\"a\"", "\"a\"", true));
  EXPECT_FALSE(names_etag("W/\"a\"", "\"a\"", false));
  for (const std::string_view list : {"", "a", "\"b\"", "\"a", "\"b\" \"a\"", "w/\"a\""})
    EXPECT_FALSE(names_etag(list, "\"a\"", true)) << list;
}

}  // namespace
}  // namespace reprise::wire
