#include "rt/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "rt/descriptor.h"
#include "rt/test_loop.h"

namespace reprise::rt {
namespace {

using std::chrono_literals::operator""ms;

const std::vector<std::string> kPlainEnvironment{"PATH=/usr/bin:/bin"};

Command shell(std::string script) {
  return {.program = "/bin/sh",
          .arguments = {"-c", std::move(script)},
          .environment = kPlainEnvironment};
}

// How a command ended and what it printed.
struct Outcome {
  ExitStatus status;
  std::vector<std::string> lines;
};

Task<Outcome> outcome_of(RealLoop& loop, Command command) {
  Outcome outcome;
  command.on_line = [&outcome](std::string_view line) { outcome.lines.emplace_back(line); };
  auto process = Process::start(loop, std::move(command));
  EXPECT_TRUE(process.has_value()) << (process ? "" : process.error().detail);
  if (!process) co_return outcome;
  CancelScope scope;
  const auto status = co_await (*process)->exited(scope, Deadline::after(loop, kPatience));
  EXPECT_TRUE(status.has_value());
  outcome.status = status.value_or(ExitStatus{});
  EXPECT_EQ((*process)->exit_status(), outcome.status);
  co_return outcome;
}

pid_t to_pid(const std::string& text) {
  pid_t pid = 0;
  std::from_chars(text.data(), text.data() + text.size(), pid);
  return pid;
}

// Notices the end of any process, ours or not; a process that does not exist has ended.
class Watched {
 public:
  explicit Watched(pid_t pid) : end_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  bool has_ended_within(std::chrono::milliseconds time) const {
    pollfd poll{end_.number(), POLLIN, 0};
    return !end_.is_valid() || ::poll(&poll, 1, static_cast<int>(time.count())) == 1;
  }

 private:
  Descriptor end_;
};

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

Task<> exit_codes(RealLoop& loop) {
  const Outcome good = co_await outcome_of(loop, shell("exit 0"));
  EXPECT_TRUE(good.status.is_success());
  const Outcome bad = co_await outcome_of(loop, shell("exit 3"));
  EXPECT_EQ(bad.status, ExitStatus{.code = 3});
  EXPECT_EQ(to_string(bad.status), "exit code 3");
  const Outcome killed = co_await outcome_of(loop, shell("kill -SEGV $$"));
  EXPECT_EQ(killed.status, ExitStatus{.signal = SIGSEGV});
  EXPECT_EQ(to_string(killed.status), "signal 11");
}

TEST(Process, TellsHowItEnded) { run_on_a_loop(exit_codes); }

Task<> lines_of_both(RealLoop& loop) {
  const Outcome outcome =
      co_await outcome_of(loop, shell("echo one; echo two >&2; cat; printf 'no end'"));
  EXPECT_EQ(outcome.lines, (std::vector<std::string>{"one", "two", "no end"}));
  const Outcome much = co_await outcome_of(loop, shell("yes x | head -c 60000"));
  EXPECT_EQ(much.lines.size(), 30'000U);
}

TEST(Process, PassesOnTheLinesOfBothItsOutputsAndHasNoInput) { run_on_a_loop(lines_of_both); }

Task<> endless_lines(RealLoop& loop) {
  std::size_t lines = 0;
  Command command = shell("exec yes");
  command.on_line = [&lines](std::string_view) { ++lines; };
  auto process = Process::start(loop, std::move(command));
  EXPECT_TRUE(process.has_value());
  if (!process) co_return;
  while ((*process)->dropped_lines() == 0) co_await yield(loop);
  EXPECT_GT(lines, 0U);
  (*process)->kill(SIGTERM);
  CancelScope scope;
  EXPECT_EQ(co_await (*process)->exited(scope), ExitStatus{.signal = SIGTERM});
}

TEST(Process, LinesWithoutEndAreDropped) { run_on_a_loop(endless_lines); }

Task<> drop_within_a_line(RealLoop& loop) {
  std::unique_ptr<Process> process;
  std::size_t lines = 0;
  Signal dropped(loop);
  Command command = shell("echo one; echo two; exec cat /dev/zero");
  command.on_line = [&](std::string_view) {
    ++lines;
    process.reset();
    dropped.notify();
  };
  auto started = Process::start(loop, std::move(command));
  EXPECT_TRUE(started.has_value());
  if (!started) co_return;
  process = std::move(*started);
  const Watched child(process->pid());
  CancelScope scope;
  EXPECT_TRUE((co_await dropped.wait(scope)).has_value());
  EXPECT_EQ(lines, 1U);
  while (has_children()) co_await yield(loop);
}

TEST(Process, MayBeDroppedByWhoGetsItsLines) { run_on_a_loop(drop_within_a_line); }

Task<> surroundings(RealLoop& loop) {
  Command command = shell(
      "env; pwd; umask; grep -E '^(SigIgn|SigBlk|NoNewPrivs):' "
      "/proc/self/status; ulimit -c; set -- $(cat /proc/$$/stat); "
      "test $$ = $5 && test $$ = $6 && echo leads");
  command.environment = {"PATH=/usr/bin:/bin", "ONLY=this"};
  command.directory = "/usr";
  command.umask = 027;
  std::signal(SIGPIPE, SIG_IGN);  // as a server does
  const Outcome outcome = co_await outcome_of(loop, std::move(command));
  std::signal(SIGPIPE, SIG_DFL);
  const auto has = [&](std::string_view line) { return std::ranges::count(outcome.lines, line); };
  EXPECT_EQ(has("ONLY=this"), 1);
  for (const std::string& line : outcome.lines) EXPECT_FALSE(line.starts_with("HOME=")) << line;
  EXPECT_EQ(has("/usr"), 1);
  EXPECT_EQ(has("0027"), 1);
  EXPECT_EQ(has("SigIgn:\t0000000000000000"), 1);
  EXPECT_EQ(has("SigBlk:\t0000000000000000"), 1);
  EXPECT_EQ(has("NoNewPrivs:\t1"), 1);
  EXPECT_EQ(has("0"), 1) << "core files";
  EXPECT_EQ(has("leads"), 1) << "a session and a group of its own";
}

TEST(Process, HasTheSurroundingsItWasGivenAndNoOthers) { run_on_a_loop(surroundings); }

Task<> own_descriptors(RealLoop& loop) {
  const Descriptor open(::open("/dev/null", O_RDONLY));
  const Descriptor high(::fcntl(open.number(), F_DUPFD, 300));  // neither is closed by exec
  Command command{.program = "/bin/ls", .arguments = {"-1", "/proc/self/fd"}};
  const Outcome plain = co_await outcome_of(loop, command);
  EXPECT_EQ(plain.lines, (std::vector<std::string>{"0", "1", "2", "3"})) << "3 is the folder";
  command.channel = true;
  const Outcome with_channel = co_await outcome_of(loop, command);
  EXPECT_EQ(with_channel.lines, (std::vector<std::string>{"0", "1", "2", "3", "4", "5"}));
}

TEST(Process, HasNoDescriptorOfOurs) { run_on_a_loop(own_descriptors); }

Task<> cannot_run(RealLoop& loop) {
  const auto start = [&loop](Command command) { return Process::start(loop, std::move(command)); };
  const auto missing = start({.program = "/nowhere/program"});
  EXPECT_FALSE(missing.has_value());
  if (!missing) EXPECT_EQ(missing.error().code, Code::kIo);
  if (!missing)
    EXPECT_EQ(missing.error().detail, "cannot start '/nowhere/program': No such file or directory");
  const auto not_a_program = start({.program = "/etc/passwd", .channel = true});
  EXPECT_FALSE(not_a_program.has_value());
  if (!not_a_program) EXPECT_NE(not_a_program.error().detail.find("Permission"), std::string::npos);
  const auto no_directory = start({.program = "/bin/true", .directory = "/nowhere"});
  EXPECT_FALSE(no_directory.has_value());
  if (!no_directory) EXPECT_NE(no_directory.error().detail.find("/nowhere"), std::string::npos);
  EXPECT_FALSE(has_children());
  co_return;
}

TEST(Process, WhatCannotBeRunIsAnErrorAndLeavesNoChild) { run_on_a_loop(cannot_run); }

// As root, a child becomes somebody else; as anybody else, it can only stay who it is.
Task<> identities(RealLoop& loop) {
  const Identity other{54321, 54322};
  const Identity own{::geteuid(), ::getegid()};
  Command command = shell("id -u; id -g; id -G; grep -E '^Cap(Prm|Eff):' /proc/self/status");
  const std::string no_capabilities = "0000000000000000";
  if (::geteuid() == 0) {
    command.identity = other;
    const Outcome outcome = co_await outcome_of(loop, command);
    EXPECT_EQ(outcome.lines,
              (std::vector<std::string>{"54321", "54322", "54322", "CapPrm:\t" + no_capabilities,
                                        "CapEff:\t" + no_capabilities}));
    EXPECT_EQ(::prctl(PR_GET_DUMPABLE), 1) << "our memory was the child's for a moment";
  } else {
    command.identity = other;
    const auto refused = Process::start(loop, command);
    EXPECT_FALSE(refused.has_value());
    if (!refused) EXPECT_EQ(refused.error().code, Code::kIo);
  }
  command.identity = own;
  const Outcome unchanged = co_await outcome_of(loop, command);
  EXPECT_GE(unchanged.lines.size(), 2U);
  if (unchanged.lines.size() < 2) co_return;
  EXPECT_EQ(unchanged.lines[0], std::to_string(own.uid));
  EXPECT_EQ(unchanged.lines[1], std::to_string(own.gid));
}

TEST(Process, RunsAsWhomItIsTold) { run_on_a_loop(identities); }

Task<> send_all(Socket& socket, const std::string& bytes) {
  EXPECT_TRUE((co_await socket.write(bytes)).has_value());
  socket.shutdown_write();
}

Task<> echo_channel(RealLoop& loop) {
  Command command = shell("exec cat <&3 >&4");
  command.channel = true;
  auto process = Process::start(loop, std::move(command));
  EXPECT_TRUE(process.has_value());
  if (!process) co_return;
  auto channel = (*process)->take_channel();
  EXPECT_EQ((*process)->take_channel(), nullptr);
  EXPECT_EQ(channel->peer_address(), "");
  const std::string bytes = numbered_bytes(8'000'000);
  Gate gate;
  spawn(gate, send_all(*channel, bytes));
  EXPECT_EQ(gate.inside(), 1U) << "more than the kernel takes at once";
  EXPECT_GT(channel->unsent_bytes(), 0U);
  EXPECT_TRUE(co_await read_to_end(*channel, 50'000) == bytes);
  co_await gate.empty();
  CancelScope scope;
  EXPECT_EQ(co_await (*process)->exited(scope), ExitStatus{});
}

TEST(Process, ItsChannelCarriesMuchBothWays) { run_on_a_loop(echo_channel); }

Task<> close_channel(RealLoop& loop) {
  Command command = shell("cat <&3 >/dev/null; exit 7");
  command.channel = true;
  auto process = Process::start(loop, std::move(command));
  EXPECT_TRUE(process.has_value());
  if (!process) co_return;
  (*process)->take_channel()->close();
  CancelScope scope;
  EXPECT_EQ(co_await (*process)->exited(scope), ExitStatus{.code = 7});
}

TEST(Process, SeesTheEndOfItsChannel) { run_on_a_loop(close_channel); }

Task<> wait_with_limits(RealLoop& loop) {
  auto process = Process::start(loop, shell("exec cat /dev/zero"));
  EXPECT_TRUE(process.has_value());
  if (!process) co_return;
  CancelScope scope;
  const auto late = co_await (*process)->exited(scope, Deadline::after(loop, 1ms));
  EXPECT_EQ(late ? Code::kInternal : late.error().code, Code::kDeadline);
  loop.post([&scope] { scope.cancel(); });
  const auto cancelled = co_await (*process)->exited(scope);
  EXPECT_EQ(cancelled ? Code::kInternal : cancelled.error().code, Code::kCancelled);
  EXPECT_EQ((*process)->exit_status(), std::nullopt);
  // Dropped while somebody waits: who does is told.
  CancelScope other;
  loop.post([&process] { process->reset(); });
  EXPECT_EQ(co_await (*process)->exited(other), ExitStatus{.signal = SIGKILL});
  EXPECT_FALSE(has_children());
}

TEST(Process, WaitingForItsEndCanEnd) { run_on_a_loop(wait_with_limits); }

// A shell with a child of its own, whose pid is the line.
Task<> kill_group(RealLoop& loop) {
  for (const bool is_dropped : {false, true}) {
    Signal told(loop);
    std::string line;
    Command command = shell("cat /dev/zero >/dev/null & echo $!; wait");
    command.on_line = [&](std::string_view text) {
      line = text;
      told.notify();
    };
    auto process = Process::start(loop, std::move(command));
    EXPECT_TRUE(process.has_value());
    if (!process) co_return;
    CancelScope scope;
    if (line.empty()) EXPECT_TRUE((co_await told.wait(scope)).has_value());
    const Watched grandchild(to_pid(line));
    EXPECT_FALSE(grandchild.has_ended_within(0ms));
    if (is_dropped) {
      process->reset();
    } else {
      (*process)->kill(SIGTERM);
      EXPECT_EQ(co_await (*process)->exited(scope), ExitStatus{.signal = SIGTERM});
      (*process)->kill(SIGTERM);  // and nothing happens
    }
    EXPECT_TRUE(grandchild.has_ended_within(kPatience));
    while (has_children()) co_await yield(loop);
  }
}

TEST(Process, KillingReachesTheWholeGroup) { run_on_a_loop(kill_group); }

Task<> leave_orphan(RealLoop& loop) {
  const Outcome outcome =
      co_await outcome_of(loop, shell("cat /dev/zero >/dev/null & echo $!; exit 5"));
  EXPECT_EQ(outcome.status, ExitStatus{.code = 5});
  EXPECT_EQ(outcome.lines.size(), 1U);
  if (outcome.lines.empty()) co_return;
  EXPECT_TRUE(Watched(to_pid(outcome.lines.front())).has_ended_within(kPatience));
  while (has_children()) co_await yield(loop);
}

TEST(Process, WhatItLeavesBehindIsKilled) { run_on_a_loop(leave_orphan); }

// As process 1 of a container has it: orphans become our children, and nobody else collects them.
TEST(Process, OrphansThatBecomeOursAreCollected) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  run_on_a_loop(leave_orphan);
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

Task<> many_children(RealLoop& loop) {
  const auto open_descriptors = [] {
    return std::ranges::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                 std::filesystem::directory_iterator());
  };
  std::signal(SIGCHLD, SIG_IGN);  // who started us may have it so
  const auto before = open_descriptors();
  std::vector<std::unique_ptr<Process>> processes;
  CancelScope scope;
  for (int round = 0; round < 200; ++round) {
    Command command{.program = "/bin/true", .channel = round % 2 == 0};
    if (round % 3 == 0) command.on_line = [](std::string_view) {};
    auto process = Process::start(loop, std::move(command));
    EXPECT_TRUE(process.has_value());
    if (process && round % 4 != 0) processes.push_back(std::move(*process));  // others are dropped
  }
  for (const auto& process : processes) EXPECT_EQ(co_await process->exited(scope), ExitStatus{});
  processes.clear();
  while (has_children()) co_await yield(loop);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Process, ManyLeaveNeitherZombiesNorDescriptors) { run_on_a_loop(many_children); }

TEST(Process, ALoopThatEndsTakesItsChildrenAlong) {
  std::unique_ptr<Process> process;
  std::unique_ptr<Watched> child;
  {
    LoopThread thread;
    call_on(thread.loop(), [&] {
      auto started = Process::start(thread.loop(), shell("exec cat /dev/zero"));
      ASSERT_TRUE(started.has_value());
      process = std::move(*started);
      child = std::make_unique<Watched>(process->pid());
    });
    thread.stop();
    process.reset();
  }
  EXPECT_TRUE(child->has_ended_within(0ms));
  EXPECT_FALSE(has_children());
}

// This test's own program, once more: there it starts a child, tells its pid and waits to be
// killed.
constexpr const char* kParentVariable = "REPRISE_TEST_IS_PARENT";

Task<> be_a_parent(RealLoop& loop) {
  Command command = shell("exec cat /dev/zero");
  if (::geteuid() == 0) command.identity = Identity{54321, 54321};  // which clears the death signal
  auto process = Process::start(loop, std::move(command));
  EXPECT_TRUE(process.has_value());
  if (!process) co_return;
  fmt::print("child {}\n", (*process)->pid());
  std::fflush(stdout);
  CancelScope scope;
  co_await (*process)->exited(scope);
}

Task<> kill_a_parent(RealLoop& loop) {
  Signal told(loop);
  std::string line;
  Command command{.program = "/proc/self/exe",
                  .arguments = {"--gtest_filter=Process.DiesWithItsParent"},
                  .environment = {std::string(kParentVariable) + "=1"}};
  command.on_line = [&](std::string_view text) {
    if (!text.starts_with("child ")) return;
    line = text.substr(6);
    told.notify();
  };
  auto parent = Process::start(loop, std::move(command));
  EXPECT_TRUE(parent.has_value());
  if (!parent) co_return;
  CancelScope scope;
  if (line.empty())
    EXPECT_TRUE((co_await told.wait(scope, Deadline::after(loop, kPatience))).has_value());
  const Watched child(to_pid(line));
  EXPECT_FALSE(child.has_ended_within(0ms));
  ::kill((*parent)->pid(), SIGKILL);  // it alone, and the child is of another group anyhow
  EXPECT_EQ(co_await (*parent)->exited(scope), ExitStatus{.signal = SIGKILL});
  EXPECT_TRUE(child.has_ended_within(kPatience));
}

TEST(Process, DiesWithItsParent) {
  run_on_a_loop(std::getenv(kParentVariable) != nullptr ? be_a_parent : kill_a_parent);
}

}  // namespace
}  // namespace reprise::rt
