// A connection inside this machine: a pair of sockets, one for us and one for somebody else, such
// as a child process (rt/process.h).
#pragma once

#include <memory>

#include "rt/descriptor.h"
#include "rt/socket.h"

namespace reprise::rt {

struct LocalPair {
  std::unique_ptr<Socket> ours;  // belongs to the loop
  Descriptor theirs;             // blocking, and closed by exec
};

Result<LocalPair> local_pair(RealLoop& loop);

}  // namespace reprise::rt
