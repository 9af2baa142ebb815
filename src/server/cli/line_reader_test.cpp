#include "server/cli/line_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace reprise::server::cli {
namespace {

// A pipe whose writing end the test holds.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    close();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int reader() const { return ends_[0]; }
  void write(std::string_view text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }

 private:
  int ends_[2] = {-1, -1};
};

using Lines = std::vector<std::string>;

TEST(LineReader, GivesAllLinesThatAreThereWithoutWaitingForMore) {
  Pipe pipe;
  LineReader reader(pipe.reader());
  pipe.write("1\n2\n3");
  EXPECT_EQ(*reader.next({}), (Lines{"1", "2"}));
  pipe.write("0\r\n\n4\n");
  EXPECT_EQ(*reader.next({}), (Lines{"30", "4"}));
  EXPECT_EQ(reader.line_number(), 5U);
  pipe.write("last");
  pipe.close();
  EXPECT_EQ(*reader.next({}), (Lines{"last"}));
  EXPECT_EQ(*reader.next({}), Lines{});
  EXPECT_TRUE(reader.is_at_end());
}

TEST(LineReader, ABatchEndsAtItsLimits) {
  Pipe pipe;
  LineReader reader(pipe.reader());
  pipe.write("aa\nbb\ncc\ndd\n");
  pipe.close();
  EXPECT_EQ(*reader.next({.lines = 1}), (Lines{"aa"}));
  EXPECT_EQ(*reader.next({.bytes = 3}), (Lines{"bb", "cc"}));
  EXPECT_EQ(*reader.next({}), (Lines{"dd"}));
}

TEST(LineReader, ALineLongerThanTheLimitIsAnError) {
  Pipe pipe;
  LineReader reader(pipe.reader());
  pipe.write("ok\n" + std::string(100, 'x'));
  EXPECT_EQ(*reader.next({.lines = 1, .line_bytes = 50}), (Lines{"ok"}));
  const auto lines = reader.next({.line_bytes = 50});
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().code, Code::kBodyTooLarge);
}

TEST(LineReader, ReadToEndStopsAtItsLimit) {
  Pipe small;
  small.write("12345");
  small.close();
  EXPECT_EQ(*read_to_end(small.reader(), 5), "12345");
  Pipe large;
  large.write("123456");
  large.close();
  EXPECT_EQ(read_to_end(large.reader(), 5).error().code, Code::kBodyTooLarge);
}

}  // namespace
}  // namespace reprise::server::cli
