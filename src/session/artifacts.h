// ArtifactService: the files of sessions, uploaded and downloaded piece by piece.
//
//     REPRISE_CO_TRY(auto upload, co_await artifacts.begin(session, {.path = "workspace/a.txt"}));
//     REPRISE_CO_CHECK(co_await artifacts.write(*upload, piece));        // again and again
//     REPRISE_CO_TRY(auto put, co_await artifacts.finish(std::move(upload)));
//
// Content is a file named by its hash (store/blob_files.h); what refers to it are records of the
// store (session/artifact_records.h), written by the session's actor together with the event that
// tells of it. So the order of an upload is: write, sync, name, commit, answer; a crash anywhere
// leaves at most a file that nobody refers to, which the sweep removes.
//
// Changes of one session's artifacts are made one after another (session/holds.h), on the session's
// home loop.
//
// Threads: members may be awaited on any loop of the session service. What blocks runs on a pool.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/tally.h"
#include "model/artifact.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/pool.h"
#include "session/artifact_records.h"
#include "session/limits.h"
#include "session/service.h"
#include "store/blob_files.h"

namespace reprise::session {

struct ArtifactOptions {
  std::uint64_t max_artifact_bytes = kDefaultMaxArtifactBytes;
  std::uint64_t max_session_bytes = kDefaultMaxSessionBytes;
  std::uint64_t max_session_versions = kMaxVersionsPerSession;
  std::uint64_t max_versions_per_artifact = kMaxVersionsPerArtifact;
  std::size_t max_transfers = kMaxTransfers;
};

// Counts since start; read from any thread.
struct ArtifactProbe {
  std::atomic<std::uint64_t> uploads{0};  // that made a version
  std::atomic<std::uint64_t> unchanged{0};
  std::atomic<std::uint64_t> upload_bytes{0};
  std::atomic<std::uint64_t> downloads{0};
  std::atomic<std::uint64_t> download_bytes{0};
  std::atomic<std::uint64_t> over_quota{0};
  std::atomic<std::uint64_t> refused_transfers{0};
  std::atomic<std::uint64_t> transfers{0};  // now
  std::atomic<std::uint64_t> diffs{0};
};

// What is asked of one upload.
struct NewArtifact {
  std::string path;
  std::optional<model::ArtifactKind> kind;  // none: that of the version before, else `other`
  std::string content_type = std::string(model::kDefaultContentType);
  std::optional<std::uint64_t> announced_bytes;
  std::optional<std::string> if_match;  // lists of entity tags
  std::optional<std::string> if_none_match;
  std::string by;
  std::optional<Generation> lease = {};  // which a worker shows; a stale one is kFenced
};

// One version as callers see it.
struct ArtifactView {
  StoredVersion version;
  std::uint64_t versions = 0;  // how many there are of the path
  std::string etag() const;    // with its quotes
};

struct ArtifactPut {
  ArtifactView view;
  bool is_new_path = false;
  bool is_unchanged = false;  // the newest version was the same already
};

// A place among the transfers that go on at one time.
class TransferSlot {
 public:
  explicit TransferSlot(std::atomic<std::uint64_t>* transfers) : transfers_(transfers) {}
  ~TransferSlot() {
    if (transfers_ != nullptr) transfers_->fetch_sub(1, std::memory_order_relaxed);
  }
  TransferSlot(TransferSlot&& other) noexcept
      : transfers_(std::exchange(other.transfers_, nullptr)) {}
  TransferSlot& operator=(TransferSlot&&) = delete;

 private:
  std::atomic<std::uint64_t>* transfers_;
};

// Bytes that uploads under way have brought, by session: they count before they are a version.
using Receiving = Tally<SessionId>;

// An upload under way. Dropped before finish(), it leaves nothing.
class Upload {
 public:
  ~Upload();
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

 private:
  friend class ArtifactService;
  Upload(rt::Pool& pool, TransferSlot slot) : pool_(pool), slot_(std::move(slot)) {}
  rt::Pool& pool_;
  TransferSlot slot_;
  SessionId session_;
  TimePoint touched_at_;
  std::uint64_t used_before_ = 0;  // by the session's artifacts, when it began
  std::uint64_t received_ = 0;
  std::shared_ptr<Receiving> receiving_;
  NewArtifact what_;
  std::unique_ptr<store::IncomingBlob> blob_;
};

// The content of a version, open for reading.
class Download {
 public:
  ~Download();
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;
  // Fills the buffer from `offset` on; kCorrupt if the content ends before.
  rt::Task<Result<std::size_t>> read(std::uint64_t offset, std::span<char> buffer);

 private:
  friend class ArtifactService;
  Download(rt::Pool& pool, ArtifactProbe& probe, TransferSlot slot, store::FileHandle file)
      : pool_(pool), probe_(probe), slot_(std::move(slot)), file_(std::move(file)) {}
  rt::Pool& pool_;
  ArtifactProbe& probe_;
  TransferSlot slot_;
  store::FileHandle file_;
};

struct ArtifactQuery {
  std::string prefix;
  std::optional<model::ArtifactKind> kind;
  bool wants_versions = false;  // every version of each path, not only the newest
  std::string after;            // a page's `next`
  std::size_t limit = kDefaultArtifactPageLimit;
};

struct ArtifactPage {
  std::vector<ArtifactView> artifacts;  // by path, then by version
  std::string next;                     // empty: there are no more
  ArtifactUsage usage;
  std::uint64_t max_bytes = 0;
};

// The artifacts of a session at one moment: what readers may see then, by path and version. Content
// is pinned while this lives.
struct ArtifactSnapshot {
  SessionView session;
  std::vector<StoredVersion> versions;
  std::map<std::string, std::uint64_t> last_numbers;  // by path: StoredArtifact::last_number
  std::map<std::string, store::Pin> contents;         // by hash

  ArtifactSnapshot() = default;
  ~ArtifactSnapshot();
  ArtifactSnapshot(ArtifactSnapshot&&) = default;
  ArtifactSnapshot& operator=(ArtifactSnapshot&&) = delete;
};

class ArtifactService {
 public:
  ArtifactService(SessionService& sessions, store::BlobFiles& files, rt::Pool& pool,
                  ArtifactOptions options);
  ~ArtifactService();

  // Refuses what can be refused before the first byte: kSessionEnded, kBodyTooLarge,
  // kQuotaExceeded, kPreconditionFailed, kOverloaded.
  rt::Task<Result<std::unique_ptr<Upload>>> begin(SessionRef session, NewArtifact what);
  // Keeps the session from expiring meanwhile; kSessionEnded if it has ended all the same, and
  // kQuotaExceeded as soon as this and the session's other uploads pass what it may have.
  rt::Task<Result<>> write(Upload& upload, std::string piece);
  rt::Task<Result<ArtifactPut>> finish(std::unique_ptr<Upload> upload);

  // The newest version, or the one of that number; kArtifactNotFound.
  rt::Task<Result<ArtifactView>> look(SessionRef session, std::string path,
                                      std::optional<std::uint64_t> number);
  rt::Task<Result<std::unique_ptr<Download>>> open(SessionRef session, const ArtifactView& view);
  // All versions, or one of them.
  rt::Task<Result<>> remove(SessionRef session, std::string path,
                            std::optional<std::uint64_t> number, std::string by,
                            std::optional<Generation> lease = {});
  // For an export; no change of the session's artifacts goes on while it is made.
  rt::Task<Result<ArtifactSnapshot>> snapshot(SessionId id);
  rt::Task<Result<ArtifactPage>> list(SessionRef session, ArtifactQuery query);

  // Removes content that nobody refers to, until the scope is cancelled: first what a crash left,
  // then what is dropped. On the first loop.
  rt::Task<> run(rt::CancelScope& scope);
  // One round of it; for tests.
  rt::Task<Result<>> sweep();
  // All content is looked at, also what no record says was dropped; for the start.
  rt::Task<Result<>> sweep_all();
  // Waits for what ended sessions left under way. On the first loop.
  rt::Task<> close();

  const ArtifactOptions& options() const { return options_; }
  const ArtifactProbe& probe() const { return probe_; }
  const store::BlobFiles& files() const { return files_; }
  store::BlobFiles& files() { return files_; }
  rt::Pool& pool() { return pool_; }

 private:
  struct Home;
  struct Change;
  Home& home_of(SessionId id);
  rt::Loop& here() const;
  std::optional<TransferSlot> take_slot();
  static bool is_visible(const SessionView& session, const StoredVersion& newest);
  Result<> check_size(std::uint64_t bytes) const;
  Result<> check_quota(const ArtifactUsage& usage, std::uint64_t added) const;
  // kNoSpace, kReadOnly: what a commit of unknown outcome wrote does not show yet.
  Result<> check_known(const SessionView& view) const;
  rt::Task<Result<>> touch(SessionId id, std::optional<Generation> lease);
  // The artifact as readers may see it now.
  rt::Task<Result<std::optional<StoredArtifact>>> visible_artifact(const SessionView& session,
                                                                   std::string path);
  rt::Task<Result<ArtifactPut>> put_held(SessionId id, const NewArtifact& what, std::string hash,
                                         std::uint64_t size);
  rt::Task<Result<ArtifactPut>> put_once(SessionId id, const NewArtifact& what, std::string hash,
                                         std::uint64_t size);
  rt::Task<std::optional<std::string>> difference(const StoredVersion& before,
                                                  const StoredVersion& after);
  rt::Task<Result<>> remove_once(SessionId id, const std::string& path,
                                 std::optional<std::uint64_t> number, const std::string& by,
                                 std::optional<Generation> lease);
  rt::Task<Result<ArtifactSnapshot>> snapshot_held(SessionId id);
  rt::Task<> sweep_ended(SessionId id);
  rt::Task<Result<>> sweep_temporary(SessionId id);
  rt::Task<Result<>> sweep_temporary_held(SessionId id);
  rt::Task<Result<>> sweep_marked();
  rt::Task<Result<>> sweep_garbage();
  rt::Task<Result<store::BlobFiles::Removal>> collect(std::string hash);
  rt::Task<Result<std::vector<std::string>>> files_in(unsigned folder);
  bool is_stopping() const { return stopping_ != nullptr && stopping_->is_cancelled(); }

  SessionService& sessions_;
  store::BlobFiles& files_;
  rt::Pool& pool_;
  const ArtifactOptions options_;
  ArtifactProbe probe_;
  std::vector<std::unique_ptr<Home>> homes_;
  std::shared_ptr<Receiving> receiving_ = std::make_shared<Receiving>();
  const rt::CancelScope* stopping_ = nullptr;  // of run()
};

}  // namespace reprise::session
