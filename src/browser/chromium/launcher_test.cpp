#include "browser/chromium/launcher.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "browser/memory.h"
#include "browser/process_table.h"
#include "browser/testing.h"
#include "rt/test_loop.h"
#include "wire/json.h"

namespace reprise::browser::chromium {
namespace {

namespace fs = std::filesystem;
using rt::CancelScope;
using rt::Deadline;
using rt::ExitStatus;
using rt::kPatience;
using rt::RealLoop;
using rt::run_on_a_loop;
using rt::Task;
using std::chrono_literals::operator""ms;

struct Place {
  testing::TemporaryDirectory directory;
  testing::TemporaryDirectory programs{fs::temp_directory_path()};
  rt::ThreadPool pool{1};
  std::unique_ptr<ProfileDirs> directories = ProfileDirs::open(directory.path() / "run").value();
  CancelScope scope;

  Task<Result<Launched>> launch(RealLoop& loop, LaunchOptions options) {
    return chromium::launch(loop, pool, *directories, std::move(options), scope,
                            Deadline::after(loop, kPatience));
  }
  bool has_profiles() const { return !fs::is_empty(directories->directory() / "profiles"); }
};

// Enough of CDP for a test: one command, and its answer as text; events are dropped.
Task<std::string> call(rt::Socket& pipe, std::string command) {
  command.push_back('\0');
  EXPECT_TRUE((co_await pipe.write(command)).has_value());
  std::string message;
  for (;;) {
    char byte = 0;
    const auto count = co_await pipe.read_some({&byte, 1});
    EXPECT_TRUE(count.has_value());
    if (count.value_or(0) == 0) co_return "";
    if (byte != '\0') {
      message.push_back(byte);
      continue;
    }
    if (message.starts_with(R"({"id":)")) co_return message;
    message.clear();
  }
}

std::string member(std::string message, std::string_view name) {
  const auto document = wire::parse_json(std::move(message));
  const auto result = document ? document->root().find("result") : std::nullopt;
  const auto value = result ? result->find(name) : std::nullopt;
  return value ? value->as_string().value_or("") : "";
}

// A page whose script has run.
Task<> open_page(rt::Socket& pipe) {
  const std::string target =
      member(co_await call(
                 pipe, R"({"id":7,"method":"Target.createTarget","params":{"url":"about:blank"}})"),
             "targetId");
  const std::string session = member(
      co_await call(pipe, fmt::format(R"({{"id":8,"method":"Target.attachToTarget","params":)"
                                      R"({{"targetId":"{}","flatten":true}}}})",
                                      target)),
      "sessionId");
  const std::string answer = co_await call(
      pipe, fmt::format(R"({{"id":9,"method":"Runtime.evaluate","sessionId":"{}","params":)"
                        R"({{"expression":"6*7"}}}})",
                        session));
  EXPECT_NE(answer.find(R"("value":42)"), std::string::npos) << answer;
}

// A field of /proc/PID/status, such as "Seccomp".
std::string status_field(pid_t pid, std::string_view name) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  const std::string start = fmt::format("{}:\t", name);
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(start)) return line.substr(start.size());
  return "";
}

// A renderer's command line is one text: it has changed its title.
bool is_renderer(pid_t pid) {
  return read_command_line(pid).find("--type=renderer") != std::string::npos;
}

void expect_sandboxed(pid_t browser) {
  const uid_t user = ::geteuid() == 0 ? unprivileged_user().value().uid : ::geteuid();
  const std::string users = fmt::format("{0}\t{0}\t{0}\t{0}", user);
  std::size_t renderers = 0;
  const auto processes = read_processes();
  for (const pid_t pid : tree_of(processes, browser)) {
    EXPECT_EQ(status_field(pid, "Uid"), users);
    EXPECT_EQ(status_field(pid, "NoNewPrivs"), "1");
    if (!is_renderer(pid)) continue;
    ++renderers;
    EXPECT_EQ(status_field(pid, "Seccomp"), "2") << "a filter";
    EXPECT_EQ(status_field(pid, "CapEff"), "0000000000000000");
    const std::string pids = status_field(pid, "NSpid");
    EXPECT_GE(std::ranges::count(pids, '\t'), 1) << "a process namespace of its own: " << pids;
  }
  EXPECT_GE(renderers, 1U);
}

Task<> sandboxed_browser(RealLoop& loop) {
  Place place;
  std::vector<std::string> lines;
  auto browser = co_await place.launch(
      loop, {.wants_port = true,
             .on_line = [&lines](std::string_view line) { lines.emplace_back(line); }});
  EXPECT_TRUE(browser.has_value()) << (browser ? "" : browser.error().detail);
  if (!browser) co_return;
  EXPECT_TRUE(browser->product.starts_with("HeadlessChrome/")) << browser->product;
  EXPECT_TRUE(browser->devtools.has_value());
  co_await open_page(*browser->pipe);
  const pid_t pid = browser->process->pid();
  expect_sandboxed(pid);
  const TreeMemory memory = memory_of_tree(pid);
  EXPECT_GT(memory.processes, 3U);
  EXPECT_EQ(memory.unreadable, 0U);
  EXPECT_GT(memory.pss_bytes, 50'000'000U);
  EXPECT_TRUE(fs::exists(place.directories->directory() / (browser->profile.name + ".browser")));
  EXPECT_FALSE(fs::is_empty(browser->profile.data()));
  // Its port is there, and for loopback only.
  if (browser->devtools)
    EXPECT_TRUE((co_await rt::connect(loop, {"127.0.0.1", browser->devtools->port})).has_value());
  EXPECT_TRUE(lines.empty() || !lines.front().starts_with("DevTools"));
  const auto status = co_await retire(loop, place.pool, *place.directories, std::move(*browser));
  EXPECT_EQ(status, ExitStatus{}) << "it ends by itself when its pipe is closed";
  EXPECT_FALSE(place.has_profiles());
}

TEST(Launcher, ABrowserRunsSandboxedAndEndsWithItsPipe) { run_on_a_loop(sandboxed_browser); }

Task<> open_browser(RealLoop& loop) {
  Place place;
  auto browser = co_await place.launch(loop, {.is_sandboxed = false});
  EXPECT_TRUE(browser.has_value()) << (browser ? "" : browser.error().detail);
  if (!browser) co_return;
  EXPECT_EQ(browser->devtools, std::nullopt);
  co_await open_page(*browser->pipe);
  const auto processes = read_processes();
  for (const pid_t pid : tree_of(processes, browser->process->pid())) {
    if (is_renderer(pid)) EXPECT_EQ(status_field(pid, "Seccomp"), "0");
    if (::geteuid() == 0) EXPECT_NE(status_field(pid, "Uid").substr(0, 2), "0\t");
  }
  browser->process->kill(SIGKILL);
  const auto status = co_await retire(loop, place.pool, *place.directories, std::move(*browser));
  EXPECT_EQ(status, ExitStatus{.signal = SIGKILL});
  EXPECT_FALSE(place.has_profiles());
}

TEST(Launcher, WithoutItsSandboxABrowserIsStillUnprivilegedAndGoesWhenKilled) {
  run_on_a_loop(open_browser);
}

// A program that only claims to be a browser.
fs::path program_that(const Place& place, std::string_view script) {
  const fs::path program = place.programs.path() / "program";
  std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
  fs::permissions(program, fs::perms(0755));
  return program;
}

Task<Error> failed_launch(RealLoop& loop, Place& place, LaunchOptions options, Deadline deadline) {
  auto browser =
      co_await launch(loop, place.pool, *place.directories, options, place.scope, deadline);
  EXPECT_FALSE(browser.has_value());
  EXPECT_FALSE(place.has_profiles());
  co_return browser ? Error{} : browser.error();
}

Task<> browsers_that_do_not_start(RealLoop& loop) {
  Place place;
  const auto failure = [&](LaunchOptions options) {
    return failed_launch(loop, place, std::move(options), Deadline::after(loop, kPatience));
  };
  const Error missing = co_await failure({.binary = "/nowhere/browser"});
  EXPECT_EQ(missing.code, Code::kNotFound);
  EXPECT_NE(missing.detail.find("/nowhere/browser"), std::string::npos) << missing.detail;
  const Error ended = co_await failure(
      {.binary = program_that(place, "echo one >&2; echo 'No usable sandbox!' >&2; exit 5")});
  EXPECT_EQ(ended.code, Code::kIo);
  EXPECT_NE(ended.detail.find("(exit code 5): one | No usable sandbox!"), std::string::npos)
      << ended.detail;
  const Error nonsense = co_await failure(
      {.binary = program_that(place, "printf 'nonsense\\0' >&4; exec cat <&3 >/dev/null")});
  EXPECT_NE(nonsense.code, Code::kDeadline);
  const Error no_address = co_await failure(
      {.binary = program_that(place, R"(printf '{"id":1,"result":{"product":"x"}}\0' >&4)"),
       .wants_port = true});
  EXPECT_EQ(no_address.code, Code::kIo);
  // What it says last is told.
  const Error talkative = co_await failure(
      {.binary = program_that(place, "for n in $(seq 1 20); do echo line $n; done; exit 1")});
  const std::size_t first = 20 - kMaxToldLines + 1;
  EXPECT_NE(talkative.detail.find(fmt::format(": line {} |", first)), std::string::npos)
      << talkative.detail;
  EXPECT_TRUE(talkative.detail.ends_with("| line 20")) << talkative.detail;
  const Error endless = co_await failure(
      {.binary = program_that(place, fmt::format("yes | head -c {} >&4; exec cat <&3 >/dev/null",
                                                 kMaxFirstAnswerBytes))});
  EXPECT_NE(endless.detail.find("too long"), std::string::npos) << endless.detail;
  const Error root = co_await failure({.identity = rt::Identity{0, 0}});
  EXPECT_EQ(root.code, Code::kForbidden);
}

TEST(Launcher, ABrowserThatDoesNotStartSaysWhyAndLeavesNothing) {
  run_on_a_loop(browsers_that_do_not_start);
}

Task<> browsers_that_hang(RealLoop& loop) {
  Place place;
  const LaunchOptions options{.binary = program_that(place, "exec cat <&3 >/dev/null")};
  const Error late = co_await failed_launch(loop, place, options, Deadline::after(loop, 20ms));
  EXPECT_EQ(late.code, Code::kDeadline);
  loop.post([&place] { place.scope.cancel(); });
  const Error cancelled = co_await failed_launch(loop, place, options, Deadline::never());
  EXPECT_EQ(cancelled.code, Code::kCancelled);
}

TEST(Launcher, ABrowserThatHangsIsGivenUp) { run_on_a_loop(browsers_that_hang); }

Task<> browser_that_stays(RealLoop& loop) {
  Place place;
  auto browser = co_await place.launch(
      loop, {.binary = program_that(place, R"(printf '{"id":1,"result":{"product":"x"}}\0' >&4
                                              exec cat /dev/zero >/dev/null)")});
  EXPECT_TRUE(browser.has_value());
  if (!browser) co_return;
  const auto before = loop.now();
  const auto status =
      co_await retire(loop, place.pool, *place.directories, std::move(*browser), 10ms);
  EXPECT_EQ(status, ExitStatus{.signal = SIGKILL});
  EXPECT_LT(loop.now() - before, kMaxGoodbye);
  EXPECT_FALSE(place.has_profiles());
}

TEST(Launcher, ABrowserThatStaysWhenItsPipeIsClosedIsKilled) { run_on_a_loop(browser_that_stays); }

// This test's own program, once more, as a server that is killed.
constexpr const char* kServerVariable = "REPRISE_TEST_RUN_DIRECTORY";

Task<> be_a_server(RealLoop& loop) {
  rt::ThreadPool pool(1);
  CancelScope scope;
  auto directories = ProfileDirs::open(std::getenv(kServerVariable));
  EXPECT_TRUE(directories.has_value());
  if (!directories) co_return;
  auto browser = co_await launch(loop, pool, **directories, {}, scope, Deadline::never());
  EXPECT_TRUE(browser.has_value());
  if (!browser) co_return;
  fmt::print("browser {}\n", browser->process->pid());
  std::fflush(stdout);
  (void)co_await browser->process->exited(scope);
}

Task<> kill_a_server(RealLoop& loop) {
  const testing::TemporaryDirectory directory;
  const fs::path run = directory.path() / "run";
  rt::Signal told(loop);
  pid_t pid = 0;
  rt::Command command{.program = "/proc/self/exe",
                      .arguments = {"--gtest_filter=Launcher.ABrowserDiesWithItsServer"},
                      .environment = {fmt::format("{}={}", kServerVariable, run.native())}};
  command.on_line = [&](std::string_view line) {
    if (!line.starts_with("browser ")) return;
    std::from_chars(line.data() + 8, line.data() + line.size(), pid);
    told.notify();
  };
  auto server = rt::Process::start(loop, std::move(command));
  EXPECT_TRUE(server.has_value());
  if (!server) co_return;
  CancelScope scope;
  EXPECT_TRUE((co_await told.wait(scope, Deadline::after(loop, kPatience))).has_value());
  const rt::Descriptor end(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  EXPECT_TRUE(end.is_valid());
  ::kill((*server)->pid(), SIGKILL);
  EXPECT_EQ(co_await (*server)->exited(scope), ExitStatus{.signal = SIGKILL});
  pollfd ended{end.number(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())), 1);
  // The next server finds what is left.
  EXPECT_FALSE(fs::is_empty(run / "profiles"));
  rt::ThreadPool pool(1);
  auto directories = ProfileDirs::open(run);
  EXPECT_TRUE(directories.has_value());
  if (!directories) co_return;
  const auto swept = co_await sweep_profiles(loop, pool, **directories, scope);
  EXPECT_EQ(swept ? swept->removed : 0, 1U);
  EXPECT_EQ(swept ? swept->remaining : 1, 0U);
  EXPECT_TRUE(fs::is_empty(run / "profiles"));
}

TEST(Launcher, ABrowserDiesWithItsServer) {
  run_on_a_loop(std::getenv(kServerVariable) != nullptr ? be_a_server : kill_a_server);
}

}  // namespace
}  // namespace reprise::browser::chromium
