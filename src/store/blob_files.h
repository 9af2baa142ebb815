// BlobFiles: content as files named by its SHA-256, so that equal content is stored once.
//
//     DATA/blobs/ab/ab12…   64 hexadecimal digits: a whole, synced file, never changed
//     DATA/blobs/incoming/  what is still being written; emptied at every start. Files without a
//                           name (ScratchFile) are made here too
//
// A file comes into being under a temporary name, is synced, and only then gets its own name; the
// folder is synced before place() returns. So a name stands for whole content, whatever happens.
//
// Who refers to a file is told by records of the store, committed after the file has been placed.
// Between the two nobody refers to it, and a sweep must not take it for garbage. That is what a Pin
// is for: place() pins the content, and the pin is held until the outcome of the commit is known.
// remove_unless() looks at the pins, then at the records, and removes, all under the lock that
// place() takes: a file is either pinned or referred to before the look, or placed anew after the
// removal.
//
// Threads: any. Members may wait for the disk, so loops call them on a pool; a pin may go anywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace reprise::store {

class BlobFiles;

// An open file, closed when dropped.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  ~FileHandle();
  FileHandle(FileHandle&& other) noexcept;
  FileHandle& operator=(FileHandle&& other) noexcept;
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

// Content being written. Dropped before it is placed, it leaves nothing.
class IncomingBlob {
 public:
  ~IncomingBlob();
  IncomingBlob(const IncomingBlob&) = delete;
  IncomingBlob& operator=(const IncomingBlob&) = delete;

  // kNoSpace, or kStorage for any other failure; then it is of no use any more.
  Result<> write(std::string_view bytes);
  std::uint64_t size() const { return size_; }

 private:
  friend class BlobFiles;
  IncomingBlob(const BlobFiles& files, std::string name, FileHandle file)
      : files_(files), name_(std::move(name)), file_(std::move(file)) {}
  const BlobFiles& files_;
  std::string name_;  // empty once it has been placed
  FileHandle file_;
  Sha256 hash_;
  std::uint64_t size_ = 0;
};

// Keeps content from being swept.
class Pin {
 public:
  Pin() = default;
  ~Pin() { release(true); }
  Pin(Pin&& other) noexcept;
  Pin& operator=(Pin&& other) noexcept;
  const std::string& hash() const { return hash_; }
  // A commit refers to the content now. Without this, the content may be garbage, and is looked at
  // by the next sweep (take_doubtful()).
  void settle() { release(false); }

 private:
  friend class BlobFiles;
  Pin(BlobFiles* files, std::string hash) : files_(files), hash_(std::move(hash)) {}
  void release(bool is_doubtful);
  BlobFiles* files_ = nullptr;
  std::string hash_;
};

// A file without a name, to be written and then read: it is gone when it is closed, and with the
// process, however that ends.
class ScratchFile {
 public:
  // At the end; kNoSpace, or kStorage for any other failure.
  Result<> write(std::string_view bytes);
  std::uint64_t size() const { return size_; }
  // Fewer bytes than asked for only at the end.
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) const;

 private:
  friend class BlobFiles;
  ScratchFile(const BlobFiles& files, FileHandle file) : files_(files), file_(std::move(file)) {}
  const BlobFiles& files_;
  FileHandle file_;
  std::uint64_t size_ = 0;
};

class BlobFiles {
 public:
  // `directory` is made when it is first needed. `free_bytes` tells the room on its file system;
  // none: the system does.
  explicit BlobFiles(std::string directory, std::function<std::uint64_t()> free_bytes = {});
  ~BlobFiles();
  BlobFiles(const BlobFiles&) = delete;
  BlobFiles& operator=(const BlobFiles&) = delete;

  // Removes what an earlier process was still writing. Before the first begin().
  Result<> clear_incoming();

  Result<std::unique_ptr<IncomingBlob>> begin();
  // Syncs the content and gives it its name; the pin knows its hash (32 bytes).
  Result<Pin> place(std::unique_ptr<IncomingBlob> blob);

  // On the same file system as the blobs, and as careful about its room.
  Result<std::unique_ptr<ScratchFile>> scratch();
  // Keeps content that a record names from being swept; the caller sees to it that one does.
  Pin pin(std::string hash);

  // kCorrupt where the file is missing or has another size.
  Result<FileHandle> open(std::string_view hash, std::uint64_t size) const;
  // Reads up to the size of the buffer; fewer only at the end of the file.
  static Result<std::size_t> read_at(const FileHandle& file, std::uint64_t offset,
                                     std::span<char> buffer);

  enum class Removal : std::uint8_t { kRemoved, kReferred, kPinned };
  // Removes the file unless it is pinned or `is_referred` says that a record names it (asked under
  // the lock). Removing what is not there is a success.
  Result<Removal> remove_unless(std::string_view hash,
                                const std::function<Result<bool>()>& is_referred);
  // Content whose pin went without a commit; each is given once.
  std::vector<std::string> take_doubtful();
  void add_doubtful(std::string hash);

  // The hashes of all files in one of the 256 folders; for the sweep of what a crash left.
  static constexpr unsigned kFolders = 256;
  Result<std::vector<std::string>> list(unsigned folder) const;

  std::uint64_t removed() const;

 private:
  friend class Pin;
  friend class IncomingBlob;
  friend class ScratchFile;
  std::string next_name();
  // kNoSpace where less than kBlobReserveBytes would be left.
  Result<> check_room(const FileHandle& file, std::size_t bytes) const;
  void unpin(const std::string& hash, bool is_doubtful);
  std::string folder_of(std::string_view hash) const;
  std::string file_of(std::string_view hash) const;
  Result<> make_folder(const std::string& folder) const;

  const std::string directory_;
  const std::function<std::uint64_t()> free_bytes_;
  std::mutex names_mutex_;    // held while files get their names and lose them; taken first
  mutable std::mutex mutex_;  // of what follows; never held while the disk is waited for
  std::unordered_map<std::string, std::size_t> pins_;
  std::set<std::string> doubtful_;
  std::uint64_t next_name_ = 0;
  std::uint64_t removed_ = 0;
};

}  // namespace reprise::store
