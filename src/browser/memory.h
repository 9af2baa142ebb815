// How much memory a browser takes: the proportional set size (PSS) of its process tree.
//
// The processes of a browser share most of their pages. Summing up their resident sizes counts
// those once per process, at 300 tabs six times too much; PSS divides each page by those who share
// it, so that the sum is what would be free without them.
//
// Threads: any. The kernel walks all pages of a process to tell its PSS, which takes milliseconds:
// loops call this on a pool, and not often.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace reprise::browser {

struct TreeMemory {
  std::uint64_t pss_bytes = 0;
  std::size_t processes = 0;
  // Processes whose memory we may not look at, which are missing from the sum: another user's, when
  // we are not root.
  std::size_t unreadable = 0;
};

// The text of /proc/PID/smaps_rollup, in bytes.
std::optional<std::uint64_t> parse_pss(std::string_view text);

// In the order of `roots`, from one look at the system; a process that does not exist has no
// memory.
std::vector<TreeMemory> memory_of_trees(std::span<const pid_t> roots);
TreeMemory memory_of_tree(pid_t root);

}  // namespace reprise::browser
