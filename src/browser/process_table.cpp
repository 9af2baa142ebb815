#include "browser/process_table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <unordered_set>

#include "rt/descriptor.h"

namespace reprise::browser {
namespace {

// A file of /proc; command lines are the longest, and what follows in one does not matter here.
constexpr std::size_t kMaxFileBytes = 256 * 1024;

// The next word of a text whose words are separated by one space.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
  return word;
}

template <typename Number>
bool to_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::optional<std::string> read_proc_file(const std::string& path) {
  const rt::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_valid()) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;
  while (text.size() < kMaxFileBytes) {
    const ssize_t count = ::read(file.number(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

// "123 (name) S 1 123 123 ...": proc(5). The name ends at the last bracket, and field 3 follows it.
std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  constexpr int kFieldOfStart = 22;
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  ProcessStat stat;
  std::string_view rest = text.substr(close + 2);
  const std::string_view state = take_word(rest);
  if (state.size() != 1) return std::nullopt;
  stat.state = state.front();
  if (!to_number(text.substr(0, open), stat.pid) || !to_number(take_word(rest), stat.parent) ||
      !to_number(take_word(rest), stat.group) || !to_number(take_word(rest), stat.session))
    return std::nullopt;
  for (int field = 7; field < kFieldOfStart; ++field) take_word(rest);
  if (!to_number(take_word(rest), stat.started)) return std::nullopt;
  return stat;
}

std::optional<ProcessStat> read_process_stat(pid_t pid) {
  const auto text = read_proc_file(fmt::format("/proc/{}/stat", pid));
  return text ? parse_process_stat(*text) : std::nullopt;
}

std::string read_command_line(pid_t pid) {
  return read_proc_file(fmt::format("/proc/{}/cmdline", pid)).value_or("");
}

std::vector<ProcessStat> read_processes() {
  std::vector<ProcessStat> processes;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    pid_t pid = 0;
    if (!to_number(entry->path().filename().native(), pid)) continue;
    // It may have ended since its name was listed.
    if (const auto stat = read_process_stat(pid)) processes.push_back(*stat);
  }
  return processes;
}

std::vector<pid_t> tree_of(std::span<const ProcessStat> processes, pid_t root) {
  std::vector<pid_t> tree;
  std::unordered_set<pid_t> known;
  const auto add = [&](pid_t pid) {
    if (known.insert(pid).second) tree.push_back(pid);
  };
  for (const ProcessStat& process : processes)
    if (process.pid == root || process.session == root) add(process.pid);
  for (std::size_t next = 0; next < tree.size(); ++next)
    for (const ProcessStat& process : processes)
      if (process.parent == tree[next]) add(process.pid);
  return tree;
}

}  // namespace reprise::browser
