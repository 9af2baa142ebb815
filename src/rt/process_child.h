// The child's side of Process::start(). Never included outside src/rt.
//
// The child borrows our memory until it becomes the program (clone with CLONE_VM and CLONE_VFORK,
// as posix_spawn does, on a stack of its own), and the calling thread waits meanwhile. A plain fork
// would copy the tables of all our pages: measured, 0.1 s for each GiB the server holds, on a loop.
// Borrowed memory asks for care:
//
// - The child makes system calls and nothing else, not through the library's functions where those
//   keep books (signals, identities) that are ours too. All signals are blocked, so that none of
//   our handlers runs in it.
// - A task that changes its user makes its memory undumpable, which is ours: it is set back after.
//   (Until then it keeps others of that user from looking into it.)
//
// In return a failure needs no pipe: the child just writes it down.
#pragma once

#include <sys/types.h>

#include <optional>

#include "rt/descriptor.h"
#include "rt/process.h"

namespace reprise::rt {

// Where the child failed on its way, and the errno.
struct ChildFailure {
  enum class Step : std::uint8_t {
    kFork,
    kDescriptors,
    kSession,
    kIdentity,
    kDirectory,
    kParent,
    kProgram,
  };
  Step step = Step::kProgram;
  int number = 0;
};

// Descriptors below this are given to the child, so those they are taken from are above.
inline constexpr int kFirstOwnDescriptor = 16;

// What the child does, with everything allocated.
struct ChildPlan {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;
  mode_t umask = 077;
  std::optional<Identity> identity;
  int input = -1;
  int output = -1;
  int channel = -1;  // -1: none
};

struct Child {
  pid_t pid = -1;
  Descriptor end;  // a pidfd
  std::optional<ChildFailure> failure;
};

// Returns when the child has become the program, or failed to. There is a child to collect,
// whatever became of it, if there is a pid.
Child start_child(const ChildPlan& plan);

}  // namespace reprise::rt
