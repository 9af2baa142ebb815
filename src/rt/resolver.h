// Resolver: the addresses of a name.
//
// Whoever must know where it connects to before it does (webhooks, the browsers' proxy) resolves
// here, judges every address, and connects to one of them: rt::connect() with a name would look it
// up again, and could be told something else.
//
//     rt::SystemResolver resolver(pool);
//     REPRISE_CO_TRY(auto addresses, co_await resolver.resolve(loop, "example.com", scope, soon));
//
// Threads: any loop may ask; the answer comes on that loop. A resolver's pool is destroyed before
// the loops.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/ip_range.h"
#include "rt/cancel.h"
#include "rt/loop.h"
#include "rt/pool.h"
#include "rt/task.h"

namespace reprise::rt {

class Resolver {
 public:
  virtual ~Resolver() = default;
  // In order of preference, each once, at least one. kIo for a name that has none, kDeadline,
  // kOverloaded, or the scope's reason.
  virtual Task<Result<std::vector<IpAddress>>> resolve(Loop& home, std::string host,
                                                       CancelScope& scope, Deadline deadline) = 0;
};

// By the system's means, on a pool's threads. An address is its own; localhost and what is below it
// are this machine, and nobody is asked (RFC 6761, section 6.3).
class SystemResolver final : public Resolver {
 public:
  explicit SystemResolver(Pool& pool) : pool_(pool) {}
  Task<Result<std::vector<IpAddress>>> resolve(Loop& home, std::string host, CancelScope& scope,
                                               Deadline deadline) override;

 private:
  Pool& pool_;
};

}  // namespace reprise::rt
