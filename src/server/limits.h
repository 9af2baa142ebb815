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

// What a pool of browsers may be configured to have.
inline constexpr std::uint32_t kMaxPoolBrowsers = 1'000;
inline constexpr std::uint32_t kMaxPoolContexts = 100'000;

// A webhook's URL.
inline constexpr std::size_t kMaxWebhookUrlBytes = 2'048;
// From looking up a webhook's name to the last byte of its reply.
inline constexpr std::chrono::milliseconds kWebhookCallTimeout{10'000};
// The body of a webhook's reply; a larger one is a failed call.
inline constexpr std::size_t kMaxWebhookReplyBytes = 64 * 1024;
// Addresses of one name that are tried.
inline constexpr std::size_t kMaxWebhookAddresses = 8;

}  // namespace reprise::server
