#include "rt/output_lines.h"

#include <gtest/gtest.h>

#include <vector>

#include "rt/limits.h"

namespace reprise::rt {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

struct Printed {
  std::vector<std::string> lines;
  OutputLines output{[this](std::string_view line) { lines.emplace_back(line); }};
};

TEST(OutputLines, AreSplitWhereverTheBytesAre) {
  const std::string all = "one\n\ntwo\r\nthree";
  for (std::size_t step = 1; step <= all.size(); ++step) {
    Printed printed;
    for (std::size_t at = 0; at < all.size(); at += step)
      printed.output.add(std::string_view(all).substr(at, step), 0s);
    printed.output.finish(0s);
    printed.output.finish(0s);
    EXPECT_EQ(printed.lines, (std::vector<std::string>{"one", "", "two", "three"})) << step;
  }
}

TEST(OutputLines, ALongLineIsCutAndTheNextOneIsWhole) {
  for (const std::size_t step : {1UL, 7UL, 100'000UL}) {
    Printed printed;
    const std::string all = std::string(kMaxOutputLineBytes, 'x') + "\r\n" +
                            std::string(2 * kMaxOutputLineBytes, 'y') + "\nnext\n";
    for (std::size_t at = 0; at < all.size(); at += step)
      printed.output.add(std::string_view(all).substr(at, step), 0s);
    ASSERT_EQ(printed.lines.size(), 3U);
    EXPECT_EQ(printed.lines[0], std::string(kMaxOutputLineBytes, 'x'));
    EXPECT_EQ(printed.lines[1], std::string(kMaxOutputLineBytes, 'y'));
    EXPECT_EQ(printed.lines[2], "next");
  }
}

TEST(OutputLines, WhatIsTooMuchForASecondIsDroppedAndCounted) {
  Printed printed;
  const std::string line = std::string(1'023, 'x') + "\n";
  const std::size_t fitting = kMaxOutputBytesPerSecond / (line.size() - 1);
  for (std::size_t count = 0; count < fitting + 5; ++count) printed.output.add(line, 999ms);
  EXPECT_EQ(printed.lines.size(), fitting);
  EXPECT_EQ(printed.output.dropped(), 5U);
  printed.output.add(line, 1'998ms);
  EXPECT_EQ(printed.output.dropped(), 6U);
  printed.output.add(line, 1'999ms);
  EXPECT_EQ(printed.output.dropped(), 6U);
  EXPECT_EQ(printed.lines.size(), fitting + 1);
}

TEST(OutputLines, MayBeStoppedFromWithinALine) {
  std::size_t count = 0;
  OutputLines* stopping = nullptr;
  OutputLines output([&](std::string_view) {
    ++count;
    stopping->stop();
  });
  stopping = &output;
  output.add("one\ntwo\nthree", 0s);
  output.finish(0s);
  EXPECT_EQ(count, 1U);
}

}  // namespace
}  // namespace reprise::rt
