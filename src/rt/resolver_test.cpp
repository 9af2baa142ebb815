#include "rt/resolver.h"

#include <gtest/gtest.h>

#include "rt/test_loop.h"

namespace reprise::rt {
namespace {

using std::chrono_literals::operator""ms;

// Takes work and keeps it until it is told to do it.
class HeldPool final : public Pool {
 public:
  bool submit(Function work) override {
    held.push_back(std::move(work));
    return is_open;
  }
  std::vector<Function> held;
  bool is_open = true;
};

Task<> asks_nobody(RealLoop& loop) {
  HeldPool pool;
  SystemResolver resolver(pool);
  CancelScope scope;
  for (const char* host : {"192.0.2.7", "2001:db8::1", "localhost", "a.LOCALHOST."}) {
    const auto found = co_await resolver.resolve(loop, host, scope, Deadline::never());
    EXPECT_TRUE(found.has_value()) << host;
    if (found) EXPECT_EQ(found->size(), IpAddress::parse(host) ? 1U : 2U) << host;
  }
  EXPECT_TRUE(pool.held.empty());
}

TEST(SystemResolver, AsksNobodyForAnAddressOrThisMachine) { run_on_a_loop(asks_nobody); }

Task<> asks_the_system(RealLoop& loop) {
  ThreadPool pool(1);
  SystemResolver resolver(pool);
  CancelScope scope;
  // Not an address to IpAddress::parse, so it is the system that reads it.
  const auto found = co_await resolver.resolve(loop, "127.1", scope, Deadline::never());
  EXPECT_TRUE(found.has_value());
  if (found) EXPECT_EQ(found->front().to_string(), "127.0.0.1");
  const auto none = co_await resolver.resolve(loop, "no name at all", scope, Deadline::never());
  EXPECT_EQ(none ? Code::kInternal : none.error().code, Code::kIo);
}

TEST(SystemResolver, AsksTheSystem) { run_on_a_loop(asks_the_system); }

Task<> gives_up(RealLoop& loop) {
  HeldPool pool;
  SystemResolver resolver(pool);
  CancelScope scope;
  const auto late = co_await resolver.resolve(loop, "127.1", scope, Deadline::after(loop, 5ms));
  EXPECT_EQ(late ? Code::kInternal : late.error().code, Code::kDeadline);
  scope.cancel();
  const auto gone = co_await resolver.resolve(loop, "127.1", scope, Deadline::never());
  EXPECT_EQ(gone ? Code::kInternal : gone.error().code, Code::kCancelled);
  pool.is_open = false;
  CancelScope other;
  const auto full = co_await resolver.resolve(loop, "127.1", other, Deadline::never());
  EXPECT_EQ(full ? Code::kInternal : full.error().code, Code::kOverloaded);
}

TEST(SystemResolver, GivesUpInTime) { run_on_a_loop(gives_up); }

}  // namespace
}  // namespace reprise::rt
