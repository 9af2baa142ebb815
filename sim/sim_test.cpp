// The simulation with a fixed set of seeds; sim_run looks at others.
#include <gtest/gtest.h>

#include "base/log.h"
#include "sim/world.h"

namespace reprise::sim {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REPRISE_SIM_IS_SLOW 1
#endif
#endif
#ifdef REPRISE_SIM_IS_SLOW
constexpr std::uint64_t kSeeds = 30;
#else
constexpr std::uint64_t kSeeds = 200;
#endif

class Simulation : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { log::configure(log::Level::kOff, log::Format::kText); }
};

TEST_F(Simulation, KeepsEveryPromiseUnderAnySeed) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto broken = World(seed, {.steps = 2'000}).run();
    ASSERT_FALSE(broken.has_value()) << *broken;
  }
}

TEST_F(Simulation, KeepsEveryPromiseInALongLife) {
  const auto broken = World(1'000'001, {.steps = 20'000}).run();
  ASSERT_FALSE(broken.has_value()) << *broken;
}

}  // namespace
}  // namespace reprise::sim
