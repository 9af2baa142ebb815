#include "session/archives.h"

#include <fmt/format.h>

#include <limits>

#include "base/bytes.h"
#include "base/log.h"
#include "session/archive_writer.h"
#include "session/keys.h"
#include "session/stored_session.h"

namespace reprise::session {
namespace {

void count(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

std::string random_name(Random& random) {
  std::string name(16, '\0');
  random.fill(reinterpret_cast<unsigned char*>(name.data()), name.size());
  return name;
}

}  // namespace

// Closing gives back the room of a large file, which takes a while: not on a loop.
Archive::~Archive() {
  probe_.at_once.fetch_sub(1, std::memory_order_relaxed);
  pool_.submit([file = std::move(file_)]() mutable { file.reset(); });
}

rt::Task<Result<std::size_t>> Archive::read(std::uint64_t offset, std::span<char> buffer) {
  REPRISE_CO_TRY(const std::size_t size, co_await pool_.run(*rt::Loop::current(), [&] {
    return file_->read_at(offset, buffer);
  }));
  if (size != buffer.size()) co_return fail(Code::kCorrupt, "the archive is cut off");
  count(probe_.export_bytes, size);
  co_return size;
}

ArchiveService::ArchiveService(SessionService& sessions, ArtifactService& artifacts,
                               ArchiveOptions options)
    : sessions_(sessions),
      artifacts_(artifacts),
      options_(options),
      process_(random_name(sessions.random())),
      stops_at_(std::numeric_limits<std::int64_t>::max()) {}

void ArchiveService::stop_after(Millis time) { stops_at_ = (here().now() + time).count(); }

Result<> ArchiveService::check_going_on() const {
  if (here().now().count() < stops_at_) return {};
  return fail(Code::kShuttingDown, "the server is stopping");
}

rt::Task<Result<std::unique_ptr<Archive>>> ArchiveService::begin() {
  REPRISE_CO_CHECK(check_going_on());
  if (probe_.at_once.fetch_add(1, std::memory_order_relaxed) >= options_.max_at_once) {
    probe_.at_once.fetch_sub(1, std::memory_order_relaxed);
    count(probe_.refused_at_once);
    co_return fail(Code::kOverloaded, "too many sessions are being exported or imported");
  }
  store::BlobFiles& files = artifacts_.files();
  auto file = co_await artifacts_.pool().run(here(), [&files] { return files.scratch(); });
  if (!file) {
    probe_.at_once.fetch_sub(1, std::memory_order_relaxed);
    co_return fail(std::move(file).error());
  }
  co_return std::unique_ptr<Archive>(new Archive(artifacts_.pool(), probe_, std::move(*file)));
}

rt::Task<Result<std::unique_ptr<Archive>>> ArchiveService::export_session(SessionRef session) {
  REPRISE_CO_TRY(const SessionView view, co_await sessions_.get(std::move(session)));
  const SessionId id = view.state.id;
  REPRISE_CO_TRY(auto archive, co_await begin());
  REPRISE_CO_TRY(const ArtifactSnapshot snapshot, co_await artifacts_.snapshot(id));
  REPRISE_CO_TRY(const auto record, co_await sessions_.store_here().get(session_key(id)));
  if (!record) co_return fail(Code::kSessionNotFound, "the session was deleted");
  REPRISE_CO_TRY(const StoredSession stored, decode_stored(record->value, record->version));
  ArchiveWriter writer(
      sessions_.store(), artifacts_.files(), snapshot,
      {.revision = stored.revision, .touched_at = stored.slid_at},
      [&file = *archive->file_](std::string_view bytes) { return file.write(bytes); });
  for (bool has_more = true; has_more;) {
    REPRISE_CO_CHECK(check_going_on());
    auto step = co_await artifacts_.pool().run(here(), [&writer] { return writer.step(); });
    if (!step) {
      // What is missing may have gone with the session, and then this says so.
      if (step.error().code == Code::kCorrupt) REPRISE_CO_CHECK(co_await sessions_.get(id));
      co_return fail(std::move(step).error());
    }
    has_more = *step;
  }
  archive->session_ = id;
  count(probe_.exports);
  co_return archive;
}

rt::Task<Result<std::unique_ptr<Archive>>> ArchiveService::begin_import() { return begin(); }

rt::Task<Result<>> ArchiveService::write(Archive& archive, std::string piece) {
  REPRISE_CO_CHECK(check_going_on());
  if (archive.size() + piece.size() > options_.max_import_bytes)
    co_return fail(Code::kBodyTooLarge,
                   fmt::format("an archive has at most {} bytes", options_.max_import_bytes));
  count(probe_.import_bytes, piece.size());
  co_return co_await artifacts_.pool().run(here(), [&] { return archive.file_->write(piece); });
}

rt::Task<Result<SessionView>> ArchiveService::import_session(std::unique_ptr<Archive> archive,
                                                             ImportTerms terms) {
  auto imported = co_await import_checked(*archive, terms);
  count(imported ? probe_.imports : probe_.refused_imports);
  co_return imported;
}

rt::Task<Result<ArchiveService::Note>> ArchiveService::note_import(StreamId stream) {
  store::Commit commit;
  commit.puts.push_back({.key = import_key(stream), .value = process_, .only_if = {}});
  auto noted = co_await sessions_.store_here().commit(std::move(commit));
  if (noted) co_return Note{.stream = stream, .version = (*noted)->versions.front()};
  // It may have been written after all.
  remember({.stream = stream});
  co_return fail(std::move(noted).error());
}

// The outcome of the last commit may be unknown: if it was written after all, the note is gone, and
// so is the reason to sweep anything.
rt::Task<Result<>> ArchiveService::abandon(Note note) {
  if (note.version == 0) {
    REPRISE_CO_TRY(const auto written,
                   co_await sessions_.store_here().get(import_key(note.stream)));
    if (!written) co_return Result<>{};
    note.version = written->version;
  }
  store::Commit commit;
  commit.erases.push_back(
      {.key = import_key(note.stream), .only_if = store::Precondition::version(note.version)});
  commit.puts.push_back({.key = deleted_key(note.stream), .value = {}, .only_if = {}});
  auto done = co_await sessions_.store_here().commit(std::move(commit));
  if (!done && done.error().code != Code::kWrongVersion) co_return fail(std::move(done).error());
  co_return Result<>{};
}

rt::Task<> ArchiveService::abandon_or_remember(Note note) {
  count(probe_.abandoned);
  if (!co_await abandon(note)) remember(note);
}

void ArchiveService::remember(Note note) {
  sessions_.hubs().at(0).loop().post([this, note] { left_over_.push_back(note); });
}

rt::Task<> ArchiveService::run(rt::CancelScope& scope) {
  rt::Loop& loop = here();
  while (!scope.is_cancelled()) {
    if (auto swept = co_await sweep(); !swept)
      log::warning(
          "imports that failed could not be swept",
          {{"code", error_row(swept.error().code).name}, {"detail", swept.error().detail}});
    if (!co_await rt::sleep_for(loop, kAbandonedImportInterval, scope)) co_return;
  }
}

rt::Task<Result<>> ArchiveService::sweep() {
  if (sessions_.store().state() != store::StoreState::kWritable) co_return Result<>{};
  std::vector<Note> notes = std::exchange(left_over_, {});
  const std::string prefix = import_prefix();
  std::string begin = prefix;
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page,
                   co_await sessions_.store_here().scan(
                       {.begin = begin, .end = prefix_end(prefix), .limit = kJanitorBatch}));
    has_more = page.has_more;
    for (const auto& row : page.records) {
      begin = row.key + '\0';
      const auto stream = stream_of_import_key(row.key);
      if (!stream) co_return fail(Code::kCorrupt, "a note of an import does not decode");
      // Those of this process are under way, or left over.
      if (row.value != process_) notes.push_back({.stream = *stream, .version = row.version});
    }
  }
  Result<> first;
  for (const Note& note : notes) {
    auto done = co_await abandon(note);
    if (done) continue;
    left_over_.push_back(note);
    if (first) first = std::move(done);
  }
  co_return first;
}

}  // namespace reprise::session
