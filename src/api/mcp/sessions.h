// McpSessions: the transport's sessions of clients that say `initialize`, and which of their calls
// are running.
//
// A transport session is no more than a name for a client: what it does in a browser belongs to a
// session of ours, which lives on whatever becomes of the transport. They are in memory only. After
// a restart a client is told that its session is not known, and says `initialize` again.
//
// What a client shows is a secret of 256 bits, and is taken only from whoever was given it: the
// same token must come with it. Sessions that are gone are remembered for a while, so that a client
// is told whether it expired or was ended.
//
// All of it is on one loop, the home. A missed ping ends nothing, and neither does a lost
// connection: only time without a call, the client's own wish, and want of room.
//
// Threads: every member may be called on any of the loops.
#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/mcp/limits.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "rt/cancel.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace reprise::api {

// How a running call is reached from elsewhere. `scope` is read and written on `loop` only, and is
// nullptr once the call has ended.
struct McpCancel {
  rt::Loop& loop;
  rt::CancelScope* scope;
};

struct McpSessionProbe {
  std::atomic<std::uint64_t> open{0};
  std::atomic<std::uint64_t> opened{0};
  std::atomic<std::uint64_t> expired{0};
  std::atomic<std::uint64_t> ended{0};
  std::atomic<std::uint64_t> refused{0};  // there was no room for them
};

class McpSessions {
 public:
  struct Options {
    std::size_t max_sessions = kMaxMcpSessions;
    std::size_t max_remembered = kMaxMcpSessionsRemembered;
  };
  struct View {
    std::string name;    // a UUID; may be stored and shown
    std::string client;  // what it said that it is
  };
  McpSessions(rt::Loop& home, const Clock& clock, Random& random, Options options);

  // What the client is to show. kTooManyRequests.
  rt::Task<Result<std::string>> open(std::string owner, std::string client);
  // The session is used. kNotFound, with `"reason"` expired, ended or unknown in its members; so
  // the others below.
  rt::Task<Result<View>> use(std::string id, std::string owner);
  // A call of this request begins; leave() must follow. kTooManyRequests.
  rt::Task<Result<View>> enter(std::string id, std::string owner, std::string request,
                               std::shared_ptr<McpCancel> call);
  void leave(std::string id, std::shared_ptr<McpCancel> call);
  // Cancels the calls of this request; there may be none any more.
  rt::Task<Result<>> cancel(std::string id, std::string owner, std::string request);
  rt::Task<Result<>> end(std::string id, std::string owner);

  const McpSessionProbe& probe() const { return probe_; }

 private:
  struct Call {
    std::string request;
    std::shared_ptr<McpCancel> reach;
  };
  struct Entry {
    std::string id;
    std::string owner;
    View view;
    rt::Nanos used_at{0};
    std::vector<Call> calls = {};
  };
  using Place = std::list<Entry>::iterator;

  template <typename T>
  rt::Task<Result<T>> at_home(rt::Task<Result<T>> work);
  rt::Task<Result<std::string>> open_here(std::string owner, std::string client);
  rt::Task<Result<View>> use_here(std::string id, std::string owner);
  rt::Task<Result<View>> enter_here(std::string id, std::string owner, std::string request,
                                    std::shared_ptr<McpCancel> call);
  rt::Task<Result<>> cancel_here(std::string id, std::string owner, std::string request);
  rt::Task<Result<>> end_here(std::string id, std::string owner);

  Result<Place> find(const std::string& id, std::string_view owner);
  bool is_idle(const Entry& entry, rt::Nanos since) const;
  void touch(Place place);
  void expire();
  void forget(Place place, std::string_view reason);

  rt::Loop& home_;
  const Clock& clock_;
  Random& random_;
  const Options options_;
  McpSessionProbe probe_;
  std::list<Entry> by_use_;                               // the one that was idle longest first
  std::unordered_map<std::string_view, Place> sessions_;  // the key is the entry's own id
  // Those that are gone, oldest first, and why.
  std::deque<std::string> remembered_;
  std::unordered_map<std::string, std::string_view> reasons_;
};

}  // namespace reprise::api
