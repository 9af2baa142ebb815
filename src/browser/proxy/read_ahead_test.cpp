#include "browser/proxy/read_ahead.h"

#include <gtest/gtest.h>

#include "browser/proxy/limits.h"
#include "rt/test_loop.h"

namespace reprise::browser {
namespace {

// Waits for bytes and takes them; empty at the end.
rt::Task<std::string> take(ReadAhead& input) {
  const auto has_bytes = co_await input.wait();
  std::string bytes(input.bytes());
  EXPECT_EQ(has_bytes.value_or(false), !bytes.empty());
  input.skip(bytes.size());
  co_return bytes;
}

rt::Task<> adapts(rt::RealLoop& loop) {
  auto pair = co_await rt::connected_pair(loop);
  ReadAhead input(*pair.server);
  const std::string much = rt::numbered_bytes(kIdleProxyBufferBytes + kProxyBufferBytes + 1);
  EXPECT_TRUE((co_await pair.client->write(much)).has_value());
  const std::string first = co_await take(input);
  EXPECT_EQ(first.size(), kIdleProxyBufferBytes);
  std::string all = first;
  std::size_t largest = 0;
  while (all.size() < much.size()) {
    const std::string piece = co_await take(input);
    largest = std::max(largest, piece.size());
    all += piece;
  }
  EXPECT_GT(largest, kIdleProxyBufferBytes);
  EXPECT_LE(largest, kProxyBufferBytes);
  EXPECT_TRUE(all == much);
}

TEST(ReadAhead, HoldsALargeBufferOnlyForThoseWhoHaveMuchToSay) { rt::run_on_a_loop(adapts); }

rt::Task<> keeps(rt::RealLoop& loop) {
  auto pair = co_await rt::connected_pair(loop);
  ReadAhead input(*pair.server, "early ");
  int ends = 0;
  input.watch([&ends] { ++ends; });
  EXPECT_EQ(input.bytes(), "early ");
  input.skip(6);
  input.keep_watching();
  EXPECT_TRUE((co_await pair.client->write("more")).has_value());
  while (input.bytes().empty()) co_await rt::yield(loop);
  pair.client->close();
  // What is unread is not followed by another read, so that no more than one buffer is held.
  EXPECT_EQ(co_await take(input), "more");
  input.keep_watching();
  while (ends == 0) co_await rt::yield(loop);
  EXPECT_TRUE(input.has_ended());
  EXPECT_EQ(co_await take(input), "");
  input.watch([&ends] { ++ends; });
  EXPECT_EQ(ends, 2);
}

TEST(ReadAhead, KeepsWhatCameWhileNobodyWaited) { rt::run_on_a_loop(keeps); }

rt::Task<> outlived(rt::RealLoop& loop) {
  auto pair = co_await rt::connected_pair(loop);
  int ends = 0;
  {
    ReadAhead input(*pair.server);
    input.watch([&ends] { ++ends; });
  }
  pair.server->close();
  for (int turn = 0; turn < 10; ++turn) co_await rt::yield(loop);
  EXPECT_EQ(ends, 0);
}

TEST(ReadAhead, TellsNobodyOnceItIsGone) { rt::run_on_a_loop(outlived); }

}  // namespace
}  // namespace reprise::browser
