#include "base/time.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "base/ids.h"

namespace reprise {
namespace {

constexpr std::int64_t kMsPerDay = 86'400'000;

TEST(Time, KnownTimesAreWrittenInRfc3339) {
  EXPECT_EQ(format_time({0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time({1'794'766'382'117}), "2026-11-15T18:13:02.117Z");
  EXPECT_EQ(format_time({951'782'400'000}), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(format_time({253'402'300'799'999}), "9999-12-31T23:59:59.999Z");
}

TEST(Time, TimesBefore1970AreWrittenToo) {
  // In a thread of its own: the first date a thread writes must not come from an unfilled memory of
  // dates.
  std::string text;
  std::jthread([&text] { text = format_time({-1}); }).join();
  EXPECT_EQ(text, "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time({-kMsPerDay}), "1969-12-31T00:00:00.000Z");
  EXPECT_EQ(format_time({-kMsPerDay - 1}), "1969-12-30T23:59:59.999Z");
}

TEST(Time, TimesThatFourDigitsCannotSayAreShownAsTheNearest) {
  EXPECT_EQ(format_time({std::numeric_limits<std::int64_t>::max()}), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time({std::numeric_limits<std::int64_t>::min()}), "0000-01-01T00:00:00.000Z");
}

TEST(Time, ChangingDaysAndBackKeepsTheDatesRight) {
  std::string out;
  for (const std::int64_t day : {0, 1, 0, 19'000, 1}) append_time(out, {day * kMsPerDay});
  EXPECT_EQ(out,
            "1970-01-01T00:00:00.000Z1970-01-02T00:00:00.000Z1970-01-01T00:00:00.000Z"
            "2022-01-08T00:00:00.000Z1970-01-02T00:00:00.000Z");
}

TEST(Time, WhatIsWrittenIsReadBack) {
  constexpr std::uint64_t kSeed = 24;
  SeededRandom random(kSeed);
  for (int i = 0; i < 20'000; ++i) {
    const TimePoint at{static_cast<std::int64_t>(random.next_u64() % 315'569'520'000'000) -
                       62'167'219'200'000};
    const auto read = parse_time(format_time(at));
    ASSERT_TRUE(read) << at.ms << ", seed " << kSeed;
    ASSERT_EQ(*read, at) << "seed " << kSeed;
  }
}

TEST(Time, OffsetsFractionsAndLowerCaseAreRead) {
  const TimePoint at{1'794'766'382'000};
  EXPECT_EQ(parse_time("2026-11-15T18:13:02Z"), at);
  EXPECT_EQ(parse_time("2026-11-15t18:13:02z"), at);
  EXPECT_EQ(parse_time("2026-11-15T19:13:02+01:00"), at);
  EXPECT_EQ(parse_time("2026-11-15T12:43:02-05:30"), at);
  EXPECT_EQ(parse_time("2026-11-16T00:13:02+06:00"), at);
  EXPECT_EQ(parse_time("2026-11-15T18:13:02.1Z"), at + Millis{100});
  EXPECT_EQ(parse_time("2026-11-15T18:13:02.1179999Z"), at + Millis{117});
  EXPECT_EQ(parse_time("2026-11-15T18:13:02.123456789Z"), at + Millis{123});
}

TEST(Time, ALeapSecondIsReadAsTheSecondAfter) {
  EXPECT_EQ(parse_time("2016-12-31T23:59:60Z"), parse_time("2017-01-01T00:00:00Z").value());
}

TEST(Time, MalformedTimesAreRefused) {
  for (const std::string_view bad : {"",
                                     "2026",
                                     "2026-11-15",
                                     "2026-11-15T18:13:02",
                                     "2026-11-15 18:13:02Z",
                                     "2026-13-15T18:13:02Z",
                                     "2026-00-15T18:13:02Z",
                                     "2026-02-29T18:13:02Z",
                                     "2026-11-15T24:00:00Z",
                                     "2026-11-15T18:60:02Z",
                                     "2026-11-15T18:13:61Z",
                                     "2026-11-15T18:13:02.Z",
                                     "2026-11-15T18:13:02.1234567890Z",
                                     "2026-11-15T18:13:02Zx",
                                     "2026-11-15T18:13:02+01",
                                     "2026-11-15T18:13:02+0100",
                                     "2026-11-15T18:13:02+24:00",
                                     "2026-11-15T18:13:02+01:60",
                                     "2026-11-15T18:13:02+",
                                     "2026-1a-15T18:13:02Z",
                                     "+026-11-15T18:13:02Z"}) {
    const auto read = parse_time(bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().code, Code::kBadParameter) << bad;
  }
}

TEST(Time, ArithmeticIsInMilliseconds) {
  const TimePoint at{1000};
  EXPECT_EQ(at + std::chrono::seconds{2}, TimePoint{3000});
  EXPECT_EQ(at - std::chrono::seconds{2}, TimePoint{-1000});
  EXPECT_EQ(TimePoint{3000} - at, Millis{2000});
}

TEST(Time, TheSystemClockGoesForwardFromThisCentury) {
  const SystemClock clock;
  const TimePoint first = clock.now();
  EXPECT_GT(first.ms, 946'684'800'000);
  EXPECT_GE(clock.now(), first);
}

}  // namespace
}  // namespace reprise
