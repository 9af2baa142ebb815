// ArchiveWriter: the archive of a session (session/archive_format.h), written step by step.
//
// It reads the stream up to the head of the snapshot, a page at a time, and contents piece by
// piece: neither is ever in memory. Threads: one at a time. Blocks for the store and the disk.
#pragma once

#include <map>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "session/archive_format.h"
#include "session/artifacts.h"
#include "store/blob_files.h"
#include "store/store.h"
#include "wire/tar.h"

namespace reprise::session {

class ArchiveWriter {
 public:
  // `output` takes the archive's bytes as they come.
  ArchiveWriter(const store::Store& store, const store::BlobFiles& files,
                const ArtifactSnapshot& snapshot, const BesidesEvents& besides,
                wire::TarWriter::Sink output);

  // False once all has been written. kSessionNotFound if the session was deleted meanwhile.
  Result<bool> step();

 private:
  class Lines;
  enum class Part : std::uint8_t { kHead, kCheckpoints, kEvents, kContents, kSums };
  Result<> write_member(const std::string& name, std::string_view bytes);
  Result<> write_head();
  Result<> write_versions();
  Result<> list_checkpoints();
  Result<> write_checkpoints();
  Result<> write_events();
  Result<> write_content();

  const store::Store& store_;
  const store::BlobFiles& files_;
  const ArtifactSnapshot& snapshot_;
  const BesidesEvents besides_;
  wire::TarWriter tar_;
  Part part_ = Part::kHead;
  std::map<std::string, std::uint64_t> sizes_;  // of contents by hash
  std::map<std::string, std::uint64_t>::const_iterator content_;
  std::vector<ArchivedCheckpoint> checkpoints_;
  std::size_t next_checkpoint_ = 0;
  store::FileHandle file_;
  std::uint64_t offset_ = 0;
  Sha256 hash_;
  Seq written_;
  std::uint64_t next_number_ = 1;
  std::string chunk_;
  std::string sums_;
};

}  // namespace reprise::session
