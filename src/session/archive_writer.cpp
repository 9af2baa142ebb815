#include "session/archive_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "session/checkpoint_records.h"
#include "session/limits.h"

namespace reprise::session {

// Entries as lines, until the member is full or the snapshot's head is there.
class ArchiveWriter::Lines final : public store::EntryVisitor {
 public:
  Lines(Seq last, Seq until, std::string& out) : last_(last), until_(until), out_(out) {}
  bool visit(Seq seq, std::string_view bytes) override {
    if (seq > until_) return false;
    const auto entry = model::decode_entry(bytes);
    if (!entry) outcome_ = fail(entry.error());
    if (seq != last_.next())
      outcome_ = fail(Code::kCorrupt, fmt::format("event {} is missing", last_.value + 1));
    if (!outcome_) return false;
    append_event_line(out_, seq, *entry);
    last_ = seq;
    return seq < until_ && out_.size() < kArchiveChunkBytes;
  }
  Seq last() const { return last_; }
  const Result<>& outcome() const { return outcome_; }

 private:
  Seq last_;
  const Seq until_;
  std::string& out_;
  Result<> outcome_;
};

ArchiveWriter::ArchiveWriter(const store::Store& store, const store::BlobFiles& files,
                             const ArtifactSnapshot& snapshot, const BesidesEvents& besides,
                             wire::TarWriter::Sink output)
    : store_(store),
      files_(files),
      snapshot_(snapshot),
      besides_(besides),
      tar_(snapshot.session.state.created_at, std::move(output)) {
  for (const StoredVersion& version : snapshot.versions)
    sizes_.emplace(version.artifact.sha256, version.artifact.size);
  content_ = sizes_.begin();
}

Result<bool> ArchiveWriter::step() {
  switch (part_) {
    case Part::kHead: REPRISE_CHECK(write_head()); break;
    case Part::kCheckpoints: REPRISE_CHECK(write_checkpoints()); break;
    case Part::kEvents: REPRISE_CHECK(write_events()); break;
    case Part::kContents: REPRISE_CHECK(write_content()); break;
    case Part::kSums:
      REPRISE_CHECK(write_member(std::string(kSumsName), sums_));
      REPRISE_CHECK(tar_.finish());
      return false;
  }
  return true;
}

Result<> ArchiveWriter::write_member(const std::string& name, std::string_view bytes) {
  if (part_ != Part::kSums) sums_ += sum_line(sha256(bytes), name);
  REPRISE_CHECK(tar_.begin(name, bytes.size()));
  return tar_.write(bytes);
}

Result<> ArchiveWriter::write_head() {
  const model::SessionState& state = snapshot_.session.state;
  ArchiveManifest manifest{.session = state.id,
                           .app = state.app,
                           .last_seq = state.head,
                           .versions = snapshot_.versions.size(),
                           .contents = sizes_.size()};
  for (const auto& [hash, size] : sizes_) manifest.content_bytes += size;
  REPRISE_CHECK(list_checkpoints());
  manifest.checkpoints = checkpoints_.size();
  REPRISE_CHECK(write_member(std::string(kManifestName), encode_manifest(manifest)));
  REPRISE_CHECK(write_member(std::string(kRecordName), encode_record(state, besides_)));
  REPRISE_CHECK(write_versions());
  part_ = checkpoints_.empty() ? Part::kEvents : Part::kCheckpoints;
  return {};
}

// Those that were there at the snapshot's head.
Result<> ArchiveWriter::list_checkpoints() {
  const std::string prefix = checkpoint_prefix(snapshot_.session.stream);
  const Seq head = snapshot_.session.state.head;
  std::string begin = prefix;
  for (bool has_more = true; has_more;) {
    REPRISE_TRY(const auto page,
                store_.scan({.begin = begin, .end = prefix_end(prefix), .limit = kJanitorBatch},
                            store::ReadMode::kBlocking));
    has_more = page.has_more;
    for (const auto& record : page.records) {
      begin = record.key + '\0';
      REPRISE_TRY(const CheckpointRow row, decode_checkpoint(record.key, record.value));
      const std::size_t before = checkpoints_.size();
      for (const model::CheckpointVersion& version : row.versions)
        if (version.seq <= head)
          checkpoints_.push_back({.name = row.name, .version = version, .last_number = {}});
      if (checkpoints_.size() > before && row.last_number > checkpoints_.back().version.version &&
          row.versions.back().seq <= head)
        checkpoints_.back().last_number = row.last_number;
    }
  }
  return {};
}

Result<> ArchiveWriter::write_checkpoints() {
  for (; next_checkpoint_ < checkpoints_.size() && chunk_.size() < kArchiveChunkBytes;
       ++next_checkpoint_) {
    const ArchivedCheckpoint& checkpoint = checkpoints_[next_checkpoint_];
    REPRISE_TRY(const auto data,
                store_.get(checkpoint_data_key(snapshot_.session.stream, checkpoint.name,
                                               checkpoint.version.version),
                           store::ReadMode::kBlocking));
    if (!data)
      return fail(Code::kOverloaded, "checkpoints were saved while the session was exported");
    append_checkpoint_line(chunk_, checkpoint, data->value);
  }
  REPRISE_CHECK(write_member(checkpoints_name(next_number_++), chunk_));
  chunk_.clear();
  if (next_checkpoint_ < checkpoints_.size()) return {};
  part_ = Part::kEvents;
  next_number_ = 1;
  return {};
}

Result<> ArchiveWriter::write_versions() {
  std::uint64_t number = 0;
  std::string chunk;
  const auto& versions = snapshot_.versions;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const model::ArtifactVersion& artifact = versions[i].artifact;
    ArchivedVersion archived{.version = versions[i], .last_number = std::nullopt};
    const bool is_last = i + 1 == versions.size() || versions[i + 1].artifact.path != artifact.path;
    const std::uint64_t highest = snapshot_.last_numbers.at(artifact.path);
    if (is_last && highest > artifact.version) archived.last_number = highest;
    append_version_line(chunk, archived);
    if (chunk.size() < kArchiveChunkBytes && i + 1 < versions.size()) continue;
    REPRISE_CHECK(write_member(artifacts_name(++number), chunk));
    chunk.clear();
  }
  return {};
}

Result<> ArchiveWriter::write_events() {
  const Seq until = snapshot_.session.state.head;
  Lines lines(written_, until, chunk_);
  REPRISE_CHECK(store_.read({.stream = snapshot_.session.stream,
                             .after = written_,
                             .limit = kMaxEventPageLimit,
                             .max_bytes = kArchiveStepBytes},
                            store::ReadMode::kBlocking, lines));
  REPRISE_CHECK(lines.outcome());
  if (lines.last() == written_)
    return fail(Code::kSessionNotFound, "the session was deleted while it was exported");
  written_ = lines.last();
  if (chunk_.size() < kArchiveChunkBytes && written_ < until) return {};
  REPRISE_CHECK(write_member(events_name(next_number_++), chunk_));
  chunk_.clear();
  if (written_ == until) part_ = sizes_.empty() ? Part::kSums : Part::kContents;
  return {};
}

Result<> ArchiveWriter::write_content() {
  const auto& [hash, size] = *content_;
  const std::string name = content_name(hash);
  if (!file_.is_open()) {
    REPRISE_TRY(file_, files_.open(hash, size));
    REPRISE_CHECK(tar_.begin(name, size));
    hash_ = Sha256();
    offset_ = 0;
  }
  chunk_.resize(std::min<std::uint64_t>(size - offset_, kArchiveStepBytes));
  REPRISE_TRY(const std::size_t count, store::BlobFiles::read_at(file_, offset_, chunk_));
  if (count != chunk_.size()) return fail(Code::kCorrupt, "content is cut off");
  hash_.add(chunk_);
  REPRISE_CHECK(tar_.write(chunk_));
  offset_ += count;
  if (offset_ < size) return {};
  if (hash_.finish() != hash)
    return fail(Code::kCorrupt, fmt::format("{} is damaged on the disk", name));
  sums_ += sum_line(hash, name);
  file_ = store::FileHandle();
  if (++content_ == sizes_.end()) part_ = Part::kSums;
  return {};
}

}  // namespace reprise::session
