// ArchiveService: whole sessions as files (session/archive_format.h), made and taken in.
//
//     REPRISE_CO_TRY(auto archive, co_await archives.export_session(session));
//     REPRISE_CO_TRY(auto count, co_await archive->read(offset, buffer));   // again and again
//
//     REPRISE_CO_TRY(auto archive, co_await archives.begin_import());
//     REPRISE_CO_CHECK(co_await archives.write(*archive, piece));           // again and again
//     REPRISE_CO_TRY(auto view, co_await archives.import_session(std::move(archive), terms));
//
// An archive is a file without a name, so a process that ends takes it along. An import reads it
// twice: first to check all of it, then to write it. Entries and records go under a new stream that
// no record names, noted as `I stream` first; the last commit makes the session and erases the
// note, so until then there is nothing to be seen. What fails in between becomes `d stream`, which
// the janitor sweeps, and what a crash leaves is found at the next start.
//
// Threads: members may be awaited on any loop of the session service. What blocks runs on the
// artifacts' pool.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "rt/cancel.h"
#include "session/archive_reader.h"
#include "session/artifacts.h"
#include "session/limits.h"
#include "session/service.h"

namespace reprise::session {

struct ArchiveOptions {
  std::uint64_t max_import_bytes = kDefaultMaxImportBytes;
  std::size_t max_at_once = kMaxArchivesAtOnce;
};

// Counts since start; read from any thread.
struct ArchiveProbe {
  std::atomic<std::uint64_t> exports{0};
  std::atomic<std::uint64_t> export_bytes{0};
  std::atomic<std::uint64_t> imports{0};  // that made a session
  std::atomic<std::uint64_t> import_bytes{0};
  std::atomic<std::uint64_t> refused_imports{0};
  std::atomic<std::uint64_t> refused_at_once{0};  // because too many were going on
  std::atomic<std::uint64_t> abandoned{0};        // imports of which something had been written
  std::atomic<std::uint64_t> at_once{0};          // now
};

// An archive on its way out or in.
class Archive {
 public:
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  std::uint64_t size() const { return file_->size(); }
  SessionId session() const { return session_; }  // of an export
  // Fills the buffer from `offset` on.
  rt::Task<Result<std::size_t>> read(std::uint64_t offset, std::span<char> buffer);

 private:
  friend class ArchiveService;
  Archive(rt::Pool& pool, ArchiveProbe& probe, std::unique_ptr<store::ScratchFile> file)
      : pool_(pool), probe_(probe), file_(std::move(file)) {}
  rt::Pool& pool_;
  ArchiveProbe& probe_;
  std::unique_ptr<store::ScratchFile> file_;
  SessionId session_;
};

struct ImportTerms {
  bool wants_new_id = false;
  std::optional<std::string> name;  // instead of the one it had
  // Whether the caller may have sessions of this app.
  std::function<Result<>(std::string_view app)> check_app;
};

class ArchiveService {
 public:
  ArchiveService(SessionService& sessions, ArtifactService& artifacts, ArchiveOptions options);

  // All of the session up to its head at this moment. kSessionNotFound, kOverloaded, kNoSpace.
  rt::Task<Result<std::unique_ptr<Archive>>> export_session(SessionRef session);

  rt::Task<Result<std::unique_ptr<Archive>>> begin_import();
  rt::Task<Result<>> write(Archive& archive, std::string piece);
  // kBadArchive, kQuotaExceeded, kSessionExists, kKeyTaken, and what the app says about one more
  // session; then nothing of it is left.
  rt::Task<Result<SessionView>> import_session(std::unique_ptr<Archive> archive, ImportTerms terms);

  // Hands what an earlier process or a failed import left to the janitor, until the scope is
  // cancelled. On the first loop.
  rt::Task<> run(rt::CancelScope& scope);
  // One round of it; for tests.
  rt::Task<Result<>> sweep();
  // What is not done so long after this is given up.
  void stop_after(Millis time);

  const ArchiveOptions& options() const { return options_; }
  const ArchiveProbe& probe() const { return probe_; }

 private:
  struct Import;
  // An import of which something may have been written.
  struct Note {
    StreamId stream;
    store::Version version = 0;  // of the note; 0: nobody knows whether it was written
  };
  rt::Loop& here() const { return *rt::Loop::current(); }
  Result<> check_going_on() const;
  rt::Task<Result<std::unique_ptr<Archive>>> begin();
  ArchiveReader reader_of(const Archive& archive, const ImportAs& as, ArchiveSink* sink) const;
  rt::Task<Result<>> check(ArchiveReader& reader);
  rt::Task<Result<SessionView>> import_checked(const Archive& archive, const ImportTerms& terms);
  rt::Task<Result<AppHold>> check_place(const model::SessionState& state);
  rt::Task<Result<Note>> note_import(StreamId stream);
  rt::Task<Result<>> write_all(Import& import);
  rt::Task<Result<>> write_versions(const Import& import);
  rt::Task<Result<>> show(const Import& import);
  rt::Task<Result<>> add_key(store::Commit& commit, const model::SessionState& state);
  rt::Task<Result<>> abandon(Note note);
  rt::Task<> abandon_or_remember(Note note);
  // For the next sweep.
  void remember(Note note);

  SessionService& sessions_;
  ArtifactService& artifacts_;
  const ArchiveOptions options_;
  ArchiveProbe probe_;
  const std::string process_;    // the notes of this one
  std::vector<Note> left_over_;  // of the first loop
  std::atomic<std::int64_t> stops_at_;
};

}  // namespace reprise::session
