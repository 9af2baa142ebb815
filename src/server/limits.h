// The limits of the composition root and the command line, each with a name.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace reprise::server {

// Network loops; more than this many cores are not used.
inline constexpr std::uint32_t kMaxThreads = 64;
// The largest body `--max-body-bytes` may allow: bodies are held in memory whole.
inline constexpr std::uint64_t kMaxBodyBytesLimit = 256ULL * 1024 * 1024;
// A configuration file larger than this is some other file.
inline constexpr std::size_t kMaxConfigFileBytes = 1024 * 1024;

}  // namespace reprise::server
