// The command line and the environment that a Chromium is started with.
//
// The aim is a browser that does what its sessions ask and nothing of its own: no calls home, no
// updates, no first-run pages, no slowing down of tabs nobody looks at, no way around a proxy.
#pragma once

#include <string>
#include <vector>

#include "browser/chromium/binary.h"
#include "browser/profile_dirs.h"

namespace reprise::browser::chromium {

struct ArgumentOptions {
  BinaryKind kind = BinaryKind::kHeadlessShell;
  bool is_sandboxed = true;
  // A DevTools port on loopback beside the pipe; the system picks it.
  bool has_port = false;
  // Shared memory goes to the profile's temporary directory instead of /dev/shm.
  bool avoids_shared_memory = false;
  // After ours, so that they win; features to turn off are added to ours.
  std::vector<std::string> extra;
};

std::vector<std::string> browser_arguments(const ArgumentOptions& options, const Profile& profile);

// Everything a browser might write to is inside the profile, and no bus of the system is reachable.
std::vector<std::string> browser_environment(const Profile& profile,
                                             const std::vector<std::string>& extra);

// Whether /dev/shm is too small for a browser's pages (a container has 64 MiB).
bool is_shared_memory_small();

}  // namespace reprise::browser::chromium
