#include "browser/chromium/launcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <csignal>
#include <deque>

#include "browser/chromium/arguments.h"
#include "wire/json.h"

namespace reprise::browser::chromium {
namespace {

using rt::CancelScope;
using rt::Deadline;
using rt::Process;
using rt::RealLoop;
using rt::Socket;
using rt::Task;

constexpr std::string_view kFirstQuestion = R"({"id":1,"method":"Browser.getVersion"})";
// How often it is looked whether a browser that prints nothing still runs.
constexpr std::chrono::milliseconds kLook{50};
// How long a browser that did not start may take to end by itself and say why.
constexpr std::chrono::milliseconds kLastWords{500};

// What a browser prints, first for the launch, then for who launched it. Shared with the Process.
struct Printed {
  explicit Printed(RealLoop& loop) : found_address(loop) {}
  std::deque<std::string> last;  // until it is launched
  std::optional<DevToolsAddress> address;
  rt::Signal found_address;
  bool is_launched = false;
  std::function<void(std::string_view)> on_line;

  void add(std::string_view line) {
    if (is_launched) {
      if (on_line) on_line(line);
      return;
    }
    if (!address && (address = parse_devtools_line(line))) found_address.notify();
    if (line.empty()) return;
    last.emplace_back(line);
    if (last.size() > kMaxToldLines) last.pop_front();
  }
};

// What a launch finds out about the system before it starts anything, on the pool.
struct Prepared {
  std::filesystem::path binary;
  std::optional<rt::Identity> identity;
  bool avoids_shared_memory = false;
  Profile profile;
};

Result<Prepared> prepare(const LaunchOptions& options, ProfileDirs& directories) {
  Prepared prepared{.binary = options.binary, .identity = options.identity};
  if (prepared.binary.empty()) {
    REPRISE_TRY(prepared.binary, find_browser(options.kind));
  } else if (::access(prepared.binary.c_str(), X_OK) != 0) {
    return fail(Code::kNotFound,
                fmt::format("no browser: there is no program {}", prepared.binary.native()));
  }
  if (!prepared.identity && ::geteuid() == 0) {
    REPRISE_TRY(prepared.identity, unprivileged_user());
  }
  if (options.is_sandboxed && prepared.identity && prepared.identity->uid == 0)
    return fail(Code::kForbidden, "a sandboxed browser cannot run as root");
  prepared.avoids_shared_memory = is_shared_memory_small();
  REPRISE_TRY(prepared.profile, directories.make(prepared.identity));
  return prepared;
}

rt::Command command_of(const LaunchOptions& options, const Prepared& prepared,
                       std::shared_ptr<Printed> printed) {
  return {
      .program = prepared.binary,
      .arguments = browser_arguments({.kind = options.kind,
                                      .is_sandboxed = options.is_sandboxed,
                                      .has_port = options.wants_port,
                                      .avoids_shared_memory = prepared.avoids_shared_memory,
                                      .extra = options.extra_arguments},
                                     prepared.profile),
      .environment = browser_environment(prepared.profile, options.extra_environment),
      .directory = prepared.profile.home(),
      .identity = prepared.identity,
      .channel = true,
      .on_line = [printed = std::move(printed)](std::string_view line) { printed->add(line); },
  };
}

// Nothing else was asked, so the first message is the answer. An error if the browser ends, which
// is also how it ends when the launch is given up.
Task<Result<std::string>> ask_for_product(Socket& pipe) {
  std::string question(kFirstQuestion);
  question.push_back('\0');
  REPRISE_CO_CHECK(co_await pipe.write(question));
  std::string answer(kMaxFirstAnswerBytes, '\0');
  std::size_t size = 0;
  while (size == 0 || answer[size - 1] != '\0') {
    if (size == answer.size()) co_return fail(Code::kIo, "its first answer is too long");
    REPRISE_CO_TRY(const std::size_t count,
                   co_await pipe.read_some(std::span(answer).subspan(size)));
    if (count == 0) co_return fail(Code::kIo, "it closed its pipe");
    size += count;
  }
  answer.resize(size - 1);
  REPRISE_CO_TRY(const wire::JsonDocument document, wire::parse_json(std::move(answer)));
  const auto result = document.root().find("result");
  const auto product = result ? result->find("product") : std::nullopt;
  const auto text = product ? product->as_string() : std::nullopt;
  if (!text) co_return fail(Code::kIo, "its first answer is no answer");
  co_return *text;
}

Task<Result<>> wait_for_address(RealLoop& loop, const Process& process, Printed& printed,
                                CancelScope& scope, Deadline deadline) {
  while (!printed.address) {
    if (process.exit_status()) co_return fail(Code::kIo, "it told no DevTools address");
    const Deadline look = Deadline::after(loop, kLook);
    const auto told =
        co_await printed.found_address.wait(scope, look.at() < deadline.at() ? look : deadline);
    if (!told && (told.error().code != Code::kDeadline || deadline.has_passed(loop)))
      co_return fail(told.error());
  }
  co_return Result<>{};
}

// Until it is ready; whatever happens, the browser is killed when the deadline or the scope says
// so.
Task<Result<>> wait_until_ready(RealLoop& loop, Launched& browser, Printed& printed,
                                bool wants_port, CancelScope& scope, Deadline deadline) {
  Process& process = *browser.process;
  const CancelScope::Listener cancelled(scope, [&process] { process.kill(SIGKILL); });
  rt::Timer late(loop.timers());
  if (!deadline.is_never()) late.arm(deadline.at(), [&process] { process.kill(SIGKILL); });
  auto product = co_await ask_for_product(*browser.pipe);
  Result<> outcome{};
  if (product)
    browser.product = std::move(*product);
  else
    outcome = fail(std::move(product).error());
  if (outcome && wants_port)
    outcome = co_await wait_for_address(loop, process, printed, scope, deadline);
  browser.devtools = printed.address;
  if (outcome) co_return outcome;
  if (scope.is_cancelled()) co_return fail(scope.reason());
  if (deadline.has_passed(loop)) co_return fail(Code::kDeadline, "the browser took too long");
  co_return outcome;
}

// Why a browser did not start: how it ended, and what it said.
Error failure(const Error& reason, const std::optional<rt::ExitStatus>& status,
              const Printed& printed) {
  if (reason.code != Code::kIo && reason.code != Code::kClosed) return reason;
  std::string detail = fmt::format("the browser did not start: {}", reason.detail);
  if (status) detail += fmt::format(" ({})", to_string(*status));
  if (!printed.last.empty()) detail += fmt::format(": {}", fmt::join(printed.last, " | "));
  return {Code::kIo, std::move(detail)};
}

Task<Result<>> remove_it(RealLoop& loop, rt::Pool& pool, ProfileDirs& directories,
                         Profile profile) {
  CancelScope own;  // a profile is removed whether or not somebody still waits for it
  co_return co_await remove_profile(loop, pool, directories, std::move(profile), own);
}

Task<Result<>> start_browser(RealLoop& loop, rt::Pool& pool, ProfileDirs& directories,
                             Launched& browser, rt::Command command) {
  REPRISE_CO_TRY(browser.process, Process::start(loop, std::move(command)));
  browser.pipe = browser.process->take_channel();
  const pid_t pid = browser.process->pid();
  co_return co_await pool.run(loop, [&directories, profile = browser.profile, pid] {
    return directories.record(profile, pid);
  });
}

}  // namespace

Task<Result<Launched>> launch(RealLoop& loop, rt::Pool& pool, ProfileDirs& directories,
                              LaunchOptions options, CancelScope& scope, Deadline deadline) {
  REPRISE_CO_TRY(const Prepared prepared, co_await pool.run(loop, [&options, &directories] {
    return prepare(options, directories);
  }));
  const auto printed = std::make_shared<Printed>(loop);
  Launched browser;
  browser.profile = prepared.profile;
  auto outcome = co_await start_browser(loop, pool, directories, browser,
                                        command_of(options, prepared, printed));
  if (outcome)
    outcome =
        co_await wait_until_ready(loop, browser, *printed, options.wants_port, scope, deadline);
  if (outcome) {
    printed->is_launched = true;
    printed->last.clear();
    printed->on_line = std::move(options.on_line);
    co_return browser;
  }
  // A browser that could not even be started says why itself; others ended, or are ended now.
  Error error = outcome.error();
  if (browser.process) {
    browser.pipe.reset();
    CancelScope own;
    auto status = co_await browser.process->exited(own, Deadline::after(loop, kLastWords));
    if (!status) {
      browser.process->kill(SIGKILL);
      (void)co_await browser.process->exited(own);
    }
    error = failure(error, status ? std::optional(*status) : std::nullopt, *printed);
  }
  (void)co_await remove_it(loop, pool, directories, browser.profile);
  co_return fail(std::move(error));
}

Task<Result<rt::ExitStatus>> retire(RealLoop& loop, rt::Pool& pool, ProfileDirs& directories,
                                    Launched browser, std::chrono::milliseconds patience) {
  browser.pipe.reset();
  CancelScope own;
  auto status = co_await browser.process->exited(own, Deadline::after(loop, patience));
  if (!status) {
    browser.process->kill(SIGKILL);
    status = co_await browser.process->exited(own);
  }
  REPRISE_CO_CHECK(co_await remove_it(loop, pool, directories, browser.profile));
  co_return status;
}

}  // namespace reprise::browser::chromium
