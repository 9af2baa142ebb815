// What the system tells of processes, in the files of /proc.
//
// A pid alone names nobody for long: numbers are used again. A pid with the time at which the
// process started does.
//
// Threads: any. Reading does not wait for a disk, but for many processes it takes milliseconds:
// loops call what reads more than one process on a pool.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::browser {

struct ProcessStat {
  pid_t pid = 0;
  char state = 0;  // 'Z': it has ended and nobody has collected it
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  std::uint64_t started = 0;  // in clock ticks since the system started
};

// The text of /proc/PID/stat. A process chooses its own name in it, brackets and spaces included.
std::optional<ProcessStat> parse_process_stat(std::string_view text);
// None if there is no such process.
std::optional<ProcessStat> read_process_stat(pid_t pid);
std::vector<ProcessStat> read_processes();
// The arguments, each followed by a NUL; empty if there is no such process or it has ended.
std::string read_command_line(pid_t pid);

// `root`, what descends from it, and what shares its session although its parent has gone.
std::vector<pid_t> tree_of(std::span<const ProcessStat> processes, pid_t root);

// The whole of a small file of /proc; none if it cannot be read.
std::optional<std::string> read_proc_file(const std::string& path);

}  // namespace reprise::browser
