#include "rt/process_child.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <type_traits>

// The library's clone() by its other name: under the first, ThreadSanitizer takes it for a fork
// whose child has a copy of its books.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);

// What runs in the child must not be instrumented: its stack is none that a sanitizer knows.
#define REPRISE_IN_CHILD [[clang::no_sanitize("address", "thread", "undefined")]]

namespace reprise::rt {
namespace {

using Step = ChildFailure::Step;

constexpr int kCannotRun = 127;
constexpr std::size_t kStackBytes = 64 * 1024;

struct Shared {
  const ChildPlan& plan;
  pid_t parent = 0;
  std::optional<ChildFailure> failure;
};

// As wide as a register: syscall() takes whatever stands there.
template <typename Argument>
REPRISE_IN_CHILD long word(Argument argument) noexcept {
  if constexpr (std::is_pointer_v<Argument>)
    return reinterpret_cast<long>(argument);
  else
    return static_cast<long>(argument);
}

template <typename... Arguments>
REPRISE_IN_CHILD bool succeeds(long number, Arguments... arguments) noexcept {
  return ::syscall(number, word(arguments)...) >= 0;
}

// Handlers are reset by exec anyhow, but signals that we ignore (SIGPIPE) would stay ignored.
REPRISE_IN_CHILD void reset_signals() noexcept {
  // The kernel's own struct sigaction: handler (SIG_DFL is zero), flags, restorer, mask.
  const std::array<unsigned long, 4> plain{};
  constexpr std::size_t kMaskBytes = 8;
  for (int number = 1; number < NSIG; ++number)
    succeeds(SYS_rt_sigaction, number, plain.data(), 0, kMaskBytes);
}

REPRISE_IN_CHILD void unblock_signals() noexcept {
  const unsigned long none = 0;
  succeeds(SYS_rt_sigprocmask, SIG_SETMASK, &none, 0, sizeof none);
}

REPRISE_IN_CHILD bool place_descriptors(const ChildPlan& plan) noexcept {
  if (!succeeds(SYS_dup3, plan.input, 0, 0) || !succeeds(SYS_dup3, plan.output, 1, 0) ||
      !succeeds(SYS_dup3, plan.output, 2, 0))
    return false;
  if (plan.channel < 0) return succeeds(SYS_close_range, 3U, ~0U, 0);
  return succeeds(SYS_dup3, plan.channel, 3, 0) && succeeds(SYS_dup3, plan.channel, 4, 0) &&
         succeeds(SYS_close_range, 5U, ~0U, 0);
}

REPRISE_IN_CHILD bool take_identity(const Identity& identity) noexcept {
  return succeeds(SYS_setgroups, 0, 0) &&
         succeeds(SYS_setresgid, identity.gid, identity.gid, identity.gid) &&
         succeeds(SYS_setresuid, identity.uid, identity.uid, identity.uid);
}

// After the identity, because a change of it clears the signal. The parent may have died before it
// was set: then somebody else is the parent by now.
REPRISE_IN_CHILD bool die_with_parent(pid_t parent) noexcept {
  if (!succeeds(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) return false;
  if (::syscall(SYS_getppid) == parent) return true;
  errno = ESRCH;
  return false;
}

// Up to exec; returns where it failed.
REPRISE_IN_CHILD Step become_program(const ChildPlan& plan, pid_t parent) noexcept {
  reset_signals();
  if (!succeeds(SYS_setsid)) return Step::kSession;
  if (!place_descriptors(plan)) return Step::kDescriptors;
  if (plan.identity && !take_identity(*plan.identity)) return Step::kIdentity;
  if (!succeeds(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return Step::kIdentity;
  if (!die_with_parent(parent)) return Step::kParent;
  if (!succeeds(SYS_chdir, plan.directory)) return Step::kDirectory;
  succeeds(SYS_umask, plan.umask);
  const rlimit no_core{0, 0};
  succeeds(SYS_prlimit64, 0, RLIMIT_CORE, &no_core, 0);
  unblock_signals();
  succeeds(SYS_execve, plan.program, plan.arguments, plan.environment);
  return Step::kProgram;
}

REPRISE_IN_CHILD int run_child(void* argument) noexcept {
  auto& shared = *static_cast<Shared*>(argument);
  const Step step = become_program(shared.plan, shared.parent);
  shared.failure = ChildFailure{step, errno};
  ::syscall(SYS_exit_group, kCannotRun);
  __builtin_unreachable();
}

// All signals of this thread blocked while it lives, and so in a child made meanwhile.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Child start_child(const ChildPlan& plan) {
  struct alignas(16) Stack {
    std::array<std::byte, kStackBytes> bytes;
  };
  const auto stack = std::make_unique_for_overwrite<Stack>();
  Shared shared{plan, ::getpid(), std::nullopt};
  const int was_dumpable = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
  int end = -1;
  Child child;
  {
    const BlockedSignals blocked;
    child.pid = ::__clone(run_child, stack->bytes.data() + stack->bytes.size(),
                          CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &shared, &end);
    if (child.pid < 0) shared.failure = ChildFailure{Step::kFork, errno};
  }
  if (was_dumpable == 1) ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  child.end = Descriptor(end);
  child.failure = shared.failure;
  return child;
}

}  // namespace reprise::rt
