#include "session/archive_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "session/limits.h"

namespace reprise::session {
namespace {

std::unexpected<Error> bad(std::string detail) {
  return fail(Code::kBadArchive, std::move(detail));
}

// A name from outside, as a message may hold it.
std::string shown(std::string_view name) {
  constexpr std::size_t kShownBytes = 128;
  std::string text;
  for (const char c : name.substr(0, kShownBytes)) text += c >= ' ' && c <= '~' ? c : '?';
  return text;
}

}  // namespace

ArchiveReader::ArchiveReader(wire::TarReader::Source source, ArchiveLimits limits, ImportAs as,
                             ArchiveSink* sink)
    : tar_(std::move(source)),
      limits_(limits),
      sink_(sink),
      history_(limits, std::move(as), sink) {}

Result<std::string> ArchiveReader::expected() {
  if (part_ == Part::kArtifacts && history_.versions().size() >= manifest_.versions) {
    REPRISE_CHECK(history_.end_versions(manifest_));
    part_ = Part::kCheckpoints;
    next_number_ = 1;
  }
  if (part_ == Part::kCheckpoints && history_.checkpoints().size() >= manifest_.checkpoints) {
    REPRISE_CHECK(history_.end_checkpoints(manifest_));
    part_ = Part::kEvents;
    next_number_ = 1;
  }
  if (part_ == Part::kEvents && history_.state().head >= manifest_.last_seq) {
    if (history_.state().head != manifest_.last_seq)
      return bad(fmt::format("there are more events than {}", manifest_.last_seq.value));
    REPRISE_CHECK(history_.end_events(manifest_, record_, besides_));
    part_ = Part::kContents;
    content_ = history_.contents().begin();
  }
  if (part_ == Part::kContents && content_ == history_.contents().end()) part_ = Part::kSums;
  switch (part_) {
    case Part::kManifest: return std::string(kManifestName);
    case Part::kRecord: return std::string(kRecordName);
    case Part::kArtifacts: return artifacts_name(next_number_);
    case Part::kCheckpoints: return checkpoints_name(next_number_);
    case Part::kEvents: return events_name(next_number_);
    case Part::kContents: return content_name(content_->first);
    case Part::kSums: return std::string(kSumsName);
    case Part::kEnd: break;
  }
  return std::string();
}

Result<bool> ArchiveReader::step() {
  if (is_in_content_) {
    REPRISE_CHECK(read_content());
    return true;
  }
  REPRISE_TRY(const std::string name, expected());
  REPRISE_TRY(const auto member, tar_.next());
  if (part_ == Part::kEnd) {
    if (!member) return false;
    return bad(fmt::format("'{}' follows the archive's end", shown(member->name)));
  }
  if (!member) return bad(fmt::format("the archive ends before {}", name));
  if (member->name != name)
    return bad(fmt::format("the archive has '{}' where {} should be", shown(member->name), name));
  REPRISE_CHECK(read_member(*member));
  return true;
}

Result<std::string> ArchiveReader::read_whole(const wire::TarMember& member, std::size_t limit) {
  if (member.size > limit)
    return bad(
        fmt::format("{} has {} bytes, at most {} are allowed", member.name, member.size, limit));
  std::string bytes(member.size, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    REPRISE_TRY(const std::size_t count, tar_.read(std::span(bytes).subspan(filled)));
    if (count == 0) return bad(fmt::format("{} is cut off", member.name));
    filled += count;
  }
  if (part_ != Part::kSums) sums_ += sum_line(sha256(bytes), member.name);
  return bytes;
}

Result<> ArchiveReader::read_member(const wire::TarMember& member) {
  switch (part_) {
    case Part::kManifest: {
      REPRISE_TRY(std::string text, read_whole(member, kMaxManifestBytes));
      REPRISE_TRY(manifest_, parse_manifest(std::move(text)));
      if (manifest_.last_seq.value == 0) return bad("a session has at least one event");
      if (manifest_.versions > limits_.max_session_versions)
        return fail(Code::kQuotaExceeded,
                    fmt::format("the archive has {} versions of artifacts, a session has at most "
                                "{}",
                                manifest_.versions, limits_.max_session_versions));
      part_ = Part::kRecord;
      return {};
    }
    case Part::kRecord: {
      REPRISE_TRY(record_, read_whole(member, kMaxArchivedRecordBytes));
      REPRISE_TRY(besides_, parse_besides(record_));
      part_ = Part::kArtifacts;
      return {};
    }
    case Part::kContents: return begin_content(member);
    case Part::kSums: {
      // As long as it should be, or it is not it.
      REPRISE_TRY(const std::string found, read_whole(member, sums_.size()));
      part_ = Part::kEnd;
      return compare_sums(found);
    }
    default: return read_lines(member);
  }
}

Result<> ArchiveReader::read_lines(const wire::TarMember& member) {
  REPRISE_TRY(const std::string text,
              read_whole(member, kArchiveChunkBytes + kMaxArchiveLineBytes));
  if (text.empty() || text.back() != '\n')
    return bad(fmt::format("{} does not end with a line's end", member.name));
  const std::uint64_t most = manifest_.last_seq.value;
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string line(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    ++number;
    if (line.size() > kMaxArchiveLineBytes)
      return bad(fmt::format("{} line {} has {} bytes, at most {} are allowed", member.name, number,
                             line.size(), kMaxArchiveLineBytes));
    if (part_ == Part::kEvents && history_.state().head.value >= most)
      return bad(fmt::format("there are more events than {}", most));
    auto added = part_ == Part::kEvents        ? history_.add_event(std::move(line))
                 : part_ == Part::kCheckpoints ? history_.add_checkpoint(std::move(line))
                                               : history_.add_version(std::move(line));
    if (added) continue;
    Error error = std::move(added).error();
    error.detail = fmt::format("{} line {}: {}", member.name, number, error.detail);
    return fail(std::move(error));
  }
  ++next_number_;
  return {};
}

Result<> ArchiveReader::begin_content(const wire::TarMember& member) {
  if (member.size != content_->second)
    return bad(
        fmt::format("{} has {} bytes instead of {}", member.name, member.size, content_->second));
  content_hash_ = Sha256();
  content_left_ = member.size;
  is_in_content_ = true;
  if (sink_ != nullptr) return sink_->begin_content(content_->first);
  return {};
}

Result<> ArchiveReader::read_content() {
  if (content_left_ > 0) {
    buffer_.resize(std::min<std::uint64_t>(content_left_, kArchiveStepBytes));
    REPRISE_TRY(const std::size_t count, tar_.read(buffer_));
    const std::string name = content_name(content_->first);
    if (count == 0) return bad(fmt::format("{} is cut off", name));
    const std::string_view bytes = std::string_view(buffer_).substr(0, count);
    content_hash_.add(bytes);
    content_left_ -= count;
    if (sink_ != nullptr) REPRISE_CHECK(sink_->add_content(bytes));
    if (content_left_ > 0) return {};
  }
  const std::string& hash = content_->first;
  if (content_hash_.finish() != hash)
    return bad(fmt::format("{} is not the content of that hash", content_name(hash)));
  sums_ += sum_line(hash, content_name(hash));
  is_in_content_ = false;
  ++content_;
  if (sink_ != nullptr) return sink_->end_content();
  return {};
}

Result<> ArchiveReader::compare_sums(const std::string& found) const {
  if (found == sums_) return {};
  // The first line that differs names the member.
  const auto [ours, theirs] = std::ranges::mismatch(sums_, found);
  const auto at = static_cast<std::size_t>(ours - sums_.begin());
  const std::size_t begin = at == 0 ? 0 : sums_.rfind('\n', at - 1) + 1;
  std::string_view line = std::string_view(sums_).substr(begin);
  line = line.substr(0, line.find('\n'));
  return bad(fmt::format("{} is not what SHA256SUMS says", line.substr(line.rfind(' ') + 1)));
}

}  // namespace reprise::session
