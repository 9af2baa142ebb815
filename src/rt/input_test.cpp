#include "rt/input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>

namespace reprise::rt {
namespace {

struct Pipe {
  std::array<int, 2> ends{};
  Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }
  ~Pipe() {
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }
  void write(std::string_view text) const {
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() { ::close(std::exchange(ends[1], -1)); }
};

TEST(Input, GivesWhatComesAndThenTheEnd) {
  RealLoop loop;
  Pipe pipe;
  std::string all;
  std::optional<Input> input;
  loop.post([&] {
    input.emplace(loop, pipe.ends[0], [&](std::string_view bytes) {
      all += bytes;
      if (bytes.empty()) loop.stop();
      if (all == "one") pipe.write("two");
      if (all == "onetwo") pipe.end();
    });
    pipe.write("one");
  });
  loop.run();
  EXPECT_EQ(all, "onetwo");
}

TEST(Input, LeavesTheDescriptorBlocking) {
  RealLoop loop;
  Pipe pipe;
  std::optional<Input> input;
  loop.post([&] {
    input.emplace(loop, pipe.ends[0], [&](std::string_view) { loop.stop(); });
    pipe.write("x");
  });
  loop.run();
  EXPECT_EQ(::fcntl(pipe.ends[0], F_GETFL) & O_NONBLOCK, 0);
}

TEST(Input, MayBeDestroyedByWhoeverItTells) {
  RealLoop loop;
  Pipe pipe;
  int told = 0;
  std::optional<Input> input;
  loop.post([&] {
    input.emplace(loop, pipe.ends[0], [&](std::string_view) {
      ++told;
      input.reset();
      pipe.write("more");
      loop.post([&] { loop.stop(); });
    });
    pipe.write("x");
  });
  loop.run();
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace reprise::rt
