// ArchiveReader: an archive of a session (session/archive_format.h), read step by step and checked
// as far as it has been read.
//
//     ArchiveReader reader(source, limits, {}, nullptr);
//     for (;;) {
//       REPRISE_TRY(const bool has_more, reader.step());  // a member, or a piece of a large one
//       if (!has_more) break;                             // all of it is sound
//     }
//
// It keeps the list of artifacts and the present state in memory, and one member of lines; never
// the events or a content. Threads: one at a time. Blocks as its source and its sink do.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "session/archive_format.h"
#include "session/archive_history.h"
#include "wire/tar.h"

namespace reprise::session {

class ArchiveReader {
 public:
  ArchiveReader(wire::TarReader::Source source, ArchiveLimits limits, ImportAs as,
                ArchiveSink* sink);

  // False once the archive has been read to its end. kBadArchive, kQuotaExceeded, or as the source
  // and the sink fail; then it is of no use any more.
  Result<bool> step();

  // As far as it has been read.
  const ArchiveManifest& manifest() const { return manifest_; }
  const BesidesEvents& besides() const { return besides_; }
  const ArchivedHistory& history() const { return history_; }

 private:
  enum class Part : std::uint8_t {
    kManifest,
    kRecord,
    kArtifacts,
    kCheckpoints,
    kEvents,
    kContents,
    kSums,
    kEnd
  };
  // Goes on to the part that the next member must belong to; its name.
  Result<std::string> expected();
  Result<std::string> read_whole(const wire::TarMember& member, std::size_t limit);
  Result<> read_member(const wire::TarMember& member);
  Result<> read_lines(const wire::TarMember& member);
  Result<> begin_content(const wire::TarMember& member);
  Result<> read_content();
  Result<> compare_sums(const std::string& found) const;

  wire::TarReader tar_;
  const ArchiveLimits limits_;
  ArchiveSink* const sink_;
  ArchivedHistory history_;
  Part part_ = Part::kManifest;
  std::uint64_t next_number_ = 1;  // of the next member of lines
  ArchiveManifest manifest_;
  std::string record_;
  BesidesEvents besides_;
  std::map<std::string, std::uint64_t>::const_iterator content_;  // the next one
  std::uint64_t content_left_ = 0;
  bool is_in_content_ = false;
  Sha256 content_hash_;
  std::string buffer_;
  std::string sums_;  // as they should be
};

}  // namespace reprise::session
