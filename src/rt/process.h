// Process: a child process that belongs to a loop, and cannot outlive it unnoticed.
//
//     REPRISE_CO_TRY(auto process,
//                    Process::start(loop, {.program = "/usr/bin/x", .channel = true}));
//     auto channel = process->take_channel();           // the child has its end as 3 and 4
//     ...
//     REPRISE_CO_TRY(ExitStatus status, co_await process->exited(scope, deadline));
//
// What a child gets is what is named here and nothing else: no descriptor of ours, no variable of
// our environment, none of our signal handlers. Standard input is empty. It leads a session and a
// process group of its own, makes no core files and can gain no privileges (no_new_privs: a setuid
// program it runs stays what it is).
//
// How it ends. A child goes with its group: kill() reaches all of it, and when the child has ended,
// whatever is left of its group is killed. Dropping the Process does the same. No SIGCHLD handler
// is needed: a pidfd tells when to collect the status, so that no zombie stays, not even of orphans
// that the system hands to us because we are process 1 of a container.
//
// If we die, so does the child: the kernel sends it SIGKILL (PR_SET_PDEATHSIG). It does so when the
// *thread* that started the child ends, not the process; therefore start() is called on the loop's
// own thread, and a loop with children runs for as long as the server does. Only the child itself
// is killed that way: its own children have to notice (as Chromium's do).
//
// Threads: a Process is made, used and dropped on its loop (or dropped when that has stopped).
// start() returns when the child has become the program: a millisecond (rt/process_child.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/real_loop.h"
#include "rt/socket.h"
#include "rt/task.h"

namespace reprise::rt {

// Whom a child runs as. It belongs to no other group.
struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  bool operator==(const Identity&) const = default;
};

struct ExitStatus {
  int code = 0;    // of exit(); 0 if a signal ended it
  int signal = 0;  // that ended it; 0 if none did
  bool is_success() const { return code == 0 && signal == 0; }
  bool operator==(const ExitStatus&) const = default;
};
std::string to_string(const ExitStatus& status);  // "exit code 3", "signal 9"

struct Command {
  std::string program;                   // a path: PATH is not searched
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // all of it, as NAME=value
  std::string directory = "/";           // where it starts
  mode_t umask = 077;
  // To be dropped to, which root alone can do. None, or our own: it runs as we do.
  std::optional<Identity> identity;
  // A connection whose one end is both descriptor 3 and 4 of the child.
  bool channel = false;
  // The lines of its standard output and error, bounded as rt/output_lines.h says; it may drop the
  // Process. None: they are discarded.
  std::function<void(std::string_view line)> on_line;
};

class Process {
 public:
  // kIo where the program cannot be run: it is missing, not executable, the identity may not be
  // taken.
  static Result<std::unique_ptr<Process>> start(RealLoop& loop, Command command);
  // Kills what is left of the group. The status is collected when the child is gone, which this
  // does not wait for.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const;  // and the id of its group and session
  // Our end of the channel, once.
  std::unique_ptr<Socket> take_channel();
  // To the whole group; nothing once the child has ended.
  void kill(int signal);
  // None while it runs.
  std::optional<ExitStatus> exit_status() const;
  // Waits for its end; all its lines have been passed on by then. Whoever waits may drop the
  // Process: its end is still told.
  Task<Result<ExitStatus>> exited(CancelScope& scope, Deadline deadline = Deadline::never());
  // Lines that were too many.
  std::uint64_t dropped_lines() const;

 private:
  struct Impl;
  explicit Process(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace reprise::rt
