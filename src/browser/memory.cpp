#include "browser/memory.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "browser/process_table.h"

namespace reprise::browser {
namespace {

TreeMemory sum_up(std::span<const ProcessStat> processes, pid_t root) {
  TreeMemory memory;
  for (const pid_t pid : tree_of(processes, root)) {
    const auto text = read_proc_file(fmt::format("/proc/{}/smaps_rollup", pid));
    const auto pss = text ? parse_pss(*text) : std::nullopt;
    if (pss) {
      memory.pss_bytes += *pss;
      ++memory.processes;
      continue;
    }
    // What has ended meanwhile, or has ended and is not collected, has no memory.
    const auto stat = read_process_stat(pid);
    if (!stat || stat->state == 'Z') continue;
    ++memory.processes;
    ++memory.unreadable;
  }
  return memory;
}

}  // namespace

// "Pss:               47837 kB" on a line of its own, after a line of addresses.
std::optional<std::uint64_t> parse_pss(std::string_view text) {
  constexpr std::string_view kName = "\nPss:";
  constexpr std::uint64_t kKilo = 1024;
  const std::size_t at = text.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + kName.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc{} || number > std::numeric_limits<std::uint64_t>::max() / kKilo)
    return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (!rest.starts_with(" kB\n")) return std::nullopt;
  return number * kKilo;
}

std::vector<TreeMemory> memory_of_trees(std::span<const pid_t> roots) {
  const std::vector<ProcessStat> processes = read_processes();
  std::vector<TreeMemory> all;
  all.reserve(roots.size());
  for (const pid_t root : roots) all.push_back(sum_up(processes, root));
  return all;
}

TreeMemory memory_of_tree(pid_t root) { return memory_of_trees({&root, 1}).front(); }

}  // namespace reprise::browser
