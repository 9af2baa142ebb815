// Checkpoints: what an agent saves to go on from, so that another worker can take over.
//
//     REPRISE_CO_TRY(auto put, co_await checkpoints.put(session, {.name = "state", .data = "{}"}));
//     REPRISE_CO_TRY(auto saved, co_await checkpoints.get(session, "state", std::nullopt));
//
// Each save is the next version of its name, committed together with its event by the session's
// actor; the newest kMaxVersionsPerCheckpoint are kept. A version that a reset or a rollback
// (model/input.h) came after is not found any more: the newest before it counts again.
//
// Changes of one session's checkpoints are made one after another (session/holds.h), on the
// session's home loop.
//
// Threads: members may be awaited on any loop of the session service.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "session/checkpoint_records.h"
#include "session/holds.h"
#include "session/limits.h"
#include "session/service.h"

namespace reprise::session {

// Counts since start; read from any thread.
struct CheckpointProbe {
  std::atomic<std::uint64_t> saved{0};
  std::atomic<std::uint64_t> saved_bytes{0};
  std::atomic<std::uint64_t> over_quota{0};
};

struct NewCheckpoint {
  std::string name;
  std::string data;                     // minified JSON
  std::optional<std::string> if_match;  // lists of entity tags
  std::optional<std::string> if_none_match;
  std::string by;
  std::optional<Generation> lease = {};
};

struct CheckpointView {
  std::string name;
  model::CheckpointVersion version;
  std::string etag() const;  // with its quotes
};
struct CheckpointPut {
  CheckpointView view;
  bool is_new = false;  // there was no version of the name
};
struct SavedCheckpoint {
  CheckpointView view;
  std::string data;
};

struct CheckpointPage {
  std::vector<CheckpointView> checkpoints;  // the newest of each name, by name
  std::string next;                         // empty: there are no more
};

class Checkpoints {
 public:
  explicit Checkpoints(SessionService& sessions);

  // kSessionEnded, kBodyTooLarge, kQuotaExceeded, kPreconditionFailed, kFenced.
  rt::Task<Result<CheckpointPut>> put(SessionRef session, NewCheckpoint what);
  // The newest version, or the one of that number; kCheckpointNotFound.
  rt::Task<Result<SavedCheckpoint>> get(SessionRef session, std::string name,
                                        std::optional<std::uint64_t> number);
  // Names after `after`.
  rt::Task<Result<CheckpointPage>> list(SessionRef session, std::string after, std::size_t limit);
  // The name with all of its versions.
  rt::Task<Result<>> remove(SessionRef session, std::string name, std::string by,
                            std::optional<Generation> lease);

  SessionService& sessions() { return sessions_; }
  const CheckpointProbe& probe() const { return probe_; }

 private:
  // A name's versions: those that count, and those that a reset or a rollback took away.
  struct Sorted {
    std::vector<model::CheckpointVersion> live;
    std::vector<model::CheckpointVersion> gone;
  };
  Holds& home_of(SessionId id) { return *homes_[sessions_.home_index(id)]; }
  rt::Task<Result<Sorted>> sort(const SessionView& view, const CheckpointRow& row);
  rt::Task<Result<CheckpointPut>> put_once(SessionId id, const NewCheckpoint& what);
  rt::Task<Result<std::vector<CheckpointRow>>> make_room(const SessionView& view,
                                                         const std::string& name);
  rt::Task<Result<>> remove_once(SessionId id, const std::string& name, const std::string& by,
                                 std::optional<Generation> lease);

  SessionService& sessions_;
  CheckpointProbe probe_;
  std::vector<std::unique_ptr<Holds>> homes_;
};

}  // namespace reprise::session
