#include "rt/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/assert.h"
#include "rt/asio_native.h"
#include "rt/descriptor.h"
#include "rt/local_socket.h"
#include "rt/output_lines.h"
#include "rt/process_child.h"

namespace reprise::rt {
namespace {

constexpr std::size_t kReadBytes = 16 * 1024;
// A pipe holds 64 KiB: more than this after the end comes from somebody who left the group.
constexpr int kReadsAfterEnd = 16;
// Orphans of the group that became our children have been killed: they need not be waited for long.
constexpr std::chrono::milliseconds kOrphanPause{5};
constexpr int kMaxOrphanLooks = 400;

std::string message_of(int number) { return std::generic_category().message(number); }

std::unexpected<Error> cannot(std::string_view what, int number) {
  return fail(Code::kIo, fmt::format("cannot {}: {}", what, message_of(number)));
}

// The same file under a number that the child has no other use for.
Descriptor above_standard(Descriptor descriptor) {
  if (!descriptor.is_valid() || descriptor.number() >= kFirstOwnDescriptor) return descriptor;
  return Descriptor(::fcntl(descriptor.number(), F_DUPFD_CLOEXEC, kFirstOwnDescriptor));
}

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> numbers{};
  if (::pipe2(numbers.data(), O_CLOEXEC) != 0) return cannot("make a pipe", errno);
  Pipe pipe{Descriptor(numbers[0]), Descriptor(numbers[1])};
  pipe.write = above_standard(std::move(pipe.write));
  if (!pipe.write.is_valid()) return cannot("make a pipe", errno);
  return pipe;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string describe(const ChildFailure& failure, const Command& command) {
  const auto told = [&](std::string_view what) {
    return fmt::format("cannot start '{}': {}: {}", command.program, what,
                       message_of(failure.number));
  };
  switch (failure.step) {
    case ChildFailure::Step::kFork: return told("a process for it");
    case ChildFailure::Step::kDescriptors: return told("its descriptors");
    case ChildFailure::Step::kSession: return told("a session of its own");
    case ChildFailure::Step::kIdentity:
      return command.identity ? told(fmt::format("as user {}, group {}", command.identity->uid,
                                                 command.identity->gid))
                              : told("without privileges");
    case ChildFailure::Step::kDirectory: return told(fmt::format("in '{}'", command.directory));
    case ChildFailure::Step::kParent: return told("to die with its parent");
    case ChildFailure::Step::kProgram: break;
  }
  const std::string reason = message_of(failure.number);
  if (!command.identity) return fmt::format("cannot start '{}': {}", command.program, reason);
  return fmt::format("cannot start '{}' as user {}: {}", command.program, command.identity->uid,
                     reason);
}

ExitStatus status_of(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return {.code = info.si_status};
  return {.signal = info.si_status};
}

// The status of a child that has ended; none if it runs, which only happens with WNOHANG.
std::optional<ExitStatus> collect(pid_t child, int options) {
  for (;;) {
    siginfo_t info{};
    const int outcome = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | options);
    if (outcome != 0 && errno == EINTR) continue;
    REPRISE_ASSERT(outcome == 0, child, errno);  // nobody else collects our children
    if (info.si_pid == 0) return std::nullopt;
    return status_of(info);
  }
}

}  // namespace

std::string to_string(const ExitStatus& status) {
  return status.signal != 0 ? fmt::format("signal {}", status.signal)
                            : fmt::format("exit code {}", status.code);
}

// Shared with what waits on the loop: a Process may be dropped at any moment, and its child is
// collected afterwards.
struct Process::Impl : std::enable_shared_from_this<Impl> {
  RealLoop& loop;
  const pid_t pid;
  boost::asio::posix::stream_descriptor end;     // the pidfd
  boost::asio::posix::stream_descriptor output;  // open while lines are wanted
  OutputLines lines;
  std::unique_ptr<Socket> channel;
  std::optional<ExitStatus> status;
  Signal ended;
  boost::asio::steady_timer orphans_due;
  int orphan_looks = 0;

  Impl(RealLoop& home, pid_t child, std::function<void(std::string_view)> on_line)
      : loop(home),
        pid(child),
        end(home.native().context),
        output(home.native().context),
        lines(std::move(on_line)),
        ended(home),
        orphans_due(home.native().context) {}

  // Not collected only if the loop ended first.
  ~Impl() {
    if (status) return;
    ::kill(-pid, SIGKILL);
    collect(pid, 0);
  }

  void wait_for_end() {
    end.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                   [self = shared_from_this()](const boost::system::error_code& error) {
                     if (!error) self->on_end();
                   });
  }

  void on_end() {
    // Its pid, and so the group's id, is nobody else's until it is collected.
    ::kill(-pid, SIGKILL);
    for (int reads = 0; reads < kReadsAfterEnd && read_output() == Output::kRead; ++reads) {
    }
    lines.finish(loop.now());
    close_output();
    status = collect(pid, 0);
    boost::system::error_code ignored;
    end.close(ignored);
    ended.notify();
    collect_orphans();
  }

  // Where we are process 1, or a subreaper, the group's orphans are our children by now. Elsewhere
  // there are none.
  void collect_orphans() {
    siginfo_t info{};
    do {
      info = {};
      if (::waitid(P_PGID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) != 0) return;
    } while (info.si_pid != 0);
    if (++orphan_looks == kMaxOrphanLooks) return;
    orphans_due.expires_after(kOrphanPause);
    orphans_due.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->collect_orphans();
    });
  }

  void wait_for_output() {
    output.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        if (error) return;
                        if (self->read_output() != Output::kEnded) self->wait_for_output();
                      });
  }

  enum class Output : std::uint8_t { kRead, kNothingYet, kEnded };
  Output read_output() {
    if (!output.is_open()) return Output::kEnded;
    std::array<char, kReadBytes> buffer;
    const ssize_t count = ::read(output.native_handle(), buffer.data(), buffer.size());
    if (count == 0) return Output::kEnded;
    if (count < 0) return errno == EAGAIN || errno == EINTR ? Output::kNothingYet : Output::kEnded;
    lines.add({buffer.data(), static_cast<std::size_t>(count)}, loop.now());
    return output.is_open() ? Output::kRead : Output::kEnded;  // who got a line may have dropped us
  }

  void close_output() {
    boost::system::error_code ignored;
    output.close(ignored);
  }

  static Task<Result<ExitStatus>> exited(std::shared_ptr<Impl> self, CancelScope& scope,
                                         Deadline deadline);

  void abandon() {
    lines.stop();
    close_output();
    channel.reset();
    if (!status) ::kill(-pid, SIGKILL);
  }
};

namespace {

// The descriptors of a child, ours and its own.
struct Ends {
  Descriptor input;
  Pipe output;
  LocalPair channel;
};

Result<Ends> make_ends(RealLoop& loop, const Command& command) {
  Ends ends;
  ends.input = above_standard(Descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  if (!ends.input.is_valid()) return cannot("open /dev/null", errno);
  if (command.on_line) {
    REPRISE_TRY(ends.output, make_pipe());
    if (::fcntl(ends.output.read.number(), F_SETFL, O_NONBLOCK) != 0)
      return cannot("make a pipe", errno);
  }
  if (command.channel) {
    REPRISE_TRY(ends.channel, local_pair(loop));
    ends.channel.theirs = above_standard(std::move(ends.channel.theirs));
    if (!ends.channel.theirs.is_valid()) return cannot("make a channel", errno);
  }
  return ends;
}

// Only root can drop an identity, and only another one than ours is to be dropped to.
std::optional<Identity> identity_to_take(const Command& command) {
  if (::geteuid() != 0 && command.identity == Identity{::geteuid(), ::getegid()}) return {};
  return command.identity;
}

// A parent that ignores SIGCHLD has its children collected by the system, and who started us may
// have chosen so.
void keep_ended_children() {
  struct sigaction present{};
  if (::sigaction(SIGCHLD, nullptr, &present) != 0 || present.sa_handler != SIG_IGN) return;
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &plain, nullptr);
}

// A child that has become the program.
Result<Child> start_program(Command& command, const Ends& ends) {
  std::vector<std::string> arguments{command.program};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(command.environment);
  Child child = start_child({
      .program = command.program.c_str(),
      .arguments = argument_pointers.data(),
      .environment = environment_pointers.data(),
      .directory = command.directory.c_str(),
      .umask = command.umask,
      .identity = identity_to_take(command),
      .input = ends.input.number(),
      .output = (command.on_line ? ends.output.write : ends.input).number(),
      .channel = ends.channel.theirs.number(),
  });
  if (!child.failure) return child;
  if (child.pid > 0) collect(child.pid, 0);
  return fail(Code::kIo, describe(*child.failure, command));
}

}  // namespace

Result<std::unique_ptr<Process>> Process::start(RealLoop& loop, Command command) {
  REPRISE_ASSERT(loop.is_current());  // PR_SET_PDEATHSIG, see the header
  keep_ended_children();
  REPRISE_TRY(Ends ends, make_ends(loop, command));
  REPRISE_TRY(Child child, start_program(command, ends));
  const bool is_heard = command.on_line != nullptr;
  // From here on it is killed and collected if anything fails.
  auto impl = std::make_shared<Impl>(loop, child.pid, std::move(command.on_line));
  impl->channel = std::move(ends.channel.ours);
  boost::system::error_code error;
  impl->end.assign(child.end.number(), error);
  if (error) return cannot("watch a process", error.value());
  child.end.release();
  if (is_heard) {
    impl->output.assign(ends.output.read.number(), error);
    if (error) return cannot("read a process's output", error.value());
    ends.output.read.release();
    impl->wait_for_output();
  }
  impl->wait_for_end();
  return std::unique_ptr<Process>(new Process(std::move(impl)));
}

Process::Process(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Process::~Process() { impl_->abandon(); }

pid_t Process::pid() const { return impl_->pid; }
std::unique_ptr<Socket> Process::take_channel() { return std::move(impl_->channel); }
std::optional<ExitStatus> Process::exit_status() const { return impl_->status; }
std::uint64_t Process::dropped_lines() const { return impl_->lines.dropped(); }

void Process::kill(int signal) {
  if (!impl_->status) ::kill(-impl_->pid, signal);
}

Task<Result<ExitStatus>> Process::exited(CancelScope& scope, Deadline deadline) {
  return Impl::exited(impl_, scope, deadline);
}

Task<Result<ExitStatus>> Process::Impl::exited(std::shared_ptr<Impl> self, CancelScope& scope,
                                               Deadline deadline) {
  while (!self->status) REPRISE_CO_CHECK(co_await self->ended.wait(scope, deadline));
  co_return *self->status;
}

}  // namespace reprise::rt
