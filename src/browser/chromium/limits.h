// The limits of the Chromium driver, each with a name.
#pragma once

#include <chrono>
#include <cstddef>

namespace reprise::browser::chromium {

// The answer to the first question a browser is asked.
inline constexpr std::size_t kMaxFirstAnswerBytes = 64 * 1024;
// Lines of a browser that did not start, told in the error.
inline constexpr std::size_t kMaxToldLines = 6;
// How long a browser may take to end by itself once its pipe is closed.
inline constexpr std::chrono::milliseconds kMaxGoodbye{3'000};
// Downloads under way in one browser; a further one is cancelled.
inline constexpr std::size_t kMaxBrowserDownloads = 1'024;

}  // namespace reprise::browser::chromium
