// The limits of the runtime, each with a name.
#pragma once

#include <cstddef>

namespace reprise::rt {

// Work that other threads may have waiting for one loop; beyond it they are told to come back
// later.
inline constexpr std::size_t kMaxPendingPosts = 65'536;
// Calls waiting for a thread of the pool for what blocks.
inline constexpr std::size_t kMaxPoolQueue = 4'096;
// Encrypted bytes one TLS socket holds while the kernel's buffer is full. Application data is one
// record (16 KiB and its frame); the rest is for OpenSSL's own messages.
inline constexpr std::size_t kMaxTlsHeldBytes = 65'536;

// A line that a child process prints: what is longer is cut there.
inline constexpr std::size_t kMaxOutputLineBytes = 4'096;
// What a child's lines may come to in a second; the lines beyond it are dropped.
inline constexpr std::size_t kMaxOutputBytesPerSecond = 65'536;

// Coroutine frames up to this size are kept for the next one, up to so many bytes per thread.
inline constexpr std::size_t kMaxPooledFrame = 4096;
inline constexpr std::size_t kMaxPooledBytes = 1024 * 1024;

}  // namespace reprise::rt
