// The limits of the runtime, each with a name.
#pragma once

#include <cstddef>

namespace reprise::rt {

// Work that other threads may have waiting for one loop; beyond it they are told to come back
// later.
inline constexpr std::size_t kMaxPendingPosts = 65'536;
// Calls waiting for a thread of the pool for what blocks.
inline constexpr std::size_t kMaxPoolQueue = 4'096;

}  // namespace reprise::rt
