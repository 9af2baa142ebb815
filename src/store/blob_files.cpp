#include "store/blob_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/assert.h"
#include "base/bytes.h"
#include "store/limits.h"

namespace reprise::store {
namespace {

constexpr std::string_view kIncoming = "/incoming";
constexpr std::size_t kHashBytes = 32;
// Written pages are handed to the disk so often, so that the last sync does not have to write all.
constexpr std::uint64_t kWriteBackBytes = 16ULL * 1024 * 1024;

std::unexpected<Error> system_error(std::string_view what, int number) {
  const Code code = number == ENOSPC || number == EDQUOT ? Code::kNoSpace : Code::kStorage;
  return fail(code, fmt::format("cannot {}: {}", what, std::generic_category().message(number)));
}

Result<> sync_folder(const std::string& folder) {
  const FileHandle handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle.is_open()) return system_error("open a folder of blobs", errno);
  if (::fsync(handle.get()) != 0) return system_error("sync a folder of blobs", errno);
  return {};
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// The names in a folder, without those that begin with a dot; none if there is no such folder.
Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> open(::opendir(folder.c_str()));
  if (!open) {
    if (errno == ENOENT) return names;
    return system_error("list a folder of blobs", errno);
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the folder's handle is this function's own
  while (const dirent* entry = ::readdir(open.get()))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  return names;
}

}  // namespace

FileHandle::~FileHandle() {
  if (is_open()) ::close(descriptor_);
}
FileHandle::FileHandle(FileHandle&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}
FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

IncomingBlob::~IncomingBlob() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

Result<> IncomingBlob::write(std::string_view bytes) {
  REPRISE_CHECK(files_.check_room(file_, bytes.size()));
  hash_.add(bytes);
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t count = ::write(file_.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("write a blob", errno);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  const std::uint64_t before = size_ / kWriteBackBytes;
  size_ += bytes.size();
  if (size_ / kWriteBackBytes != before)
    (void)::sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  return {};
}

Pin::Pin(Pin&& other) noexcept
    : files_(std::exchange(other.files_, nullptr)), hash_(std::move(other.hash_)) {}
Pin& Pin::operator=(Pin&& other) noexcept {
  std::swap(files_, other.files_);
  std::swap(hash_, other.hash_);
  return *this;
}
void Pin::release(bool is_doubtful) {
  if (files_ != nullptr) std::exchange(files_, nullptr)->unpin(hash_, is_doubtful);
}

BlobFiles::BlobFiles(std::string directory, std::function<std::uint64_t()> free_bytes)
    : directory_(std::move(directory)), free_bytes_(std::move(free_bytes)) {}

BlobFiles::~BlobFiles() = default;

Result<> BlobFiles::check_room(const FileHandle& file, std::size_t bytes) const {
  std::uint64_t room = 0;
  if (free_bytes_) {
    room = free_bytes_();
  } else {
    struct statvfs status{};
    if (::fstatvfs(file.get(), &status) != 0) return {};  // the write will tell
    room = std::uint64_t{status.f_bavail} * status.f_frsize;
  }
  if (room >= kBlobReserveBytes + bytes) return {};
  return fail(Code::kNoSpace, "the file system's free space is down to what commits need");
}

std::string BlobFiles::folder_of(std::string_view hash) const {
  REPRISE_ASSERT(hash.size() == kHashBytes, hash.size());
  return directory_ + '/' + to_hex(hash.substr(0, 1));
}

std::string BlobFiles::file_of(std::string_view hash) const {
  return folder_of(hash) + '/' + to_hex(hash);
}

// A folder that was made just now is synced into the one above it: what it will hold must be found
// again.
Result<> BlobFiles::make_folder(const std::string& folder) const {
  constexpr mode_t kOwnerOnly = 0700;
  if (::mkdir(folder.c_str(), kOwnerOnly) == 0)
    return sync_folder(folder.substr(0, folder.rfind('/')));
  if (errno == EEXIST) return {};
  if (errno != ENOENT || folder == directory_) return system_error("make a folder of blobs", errno);
  REPRISE_CHECK(make_folder(directory_));
  return make_folder(folder);
}

Result<> BlobFiles::clear_incoming() {
  const std::string folder = directory_ + std::string(kIncoming);
  REPRISE_TRY(const auto names, names_in(folder));
  for (const std::string& name : names)
    if (::unlink((folder + '/' + name).c_str()) != 0 && errno != ENOENT)
      return system_error("remove what was being written", errno);
  return {};
}

std::string BlobFiles::next_name() {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = next_name_++;
  }
  return fmt::format("{}{}/{}-{}", directory_, kIncoming, ::getpid(), number);
}

Result<std::unique_ptr<IncomingBlob>> BlobFiles::begin() {
  const std::string folder = directory_ + std::string(kIncoming);
  std::string name = next_name();
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  constexpr mode_t kOwnerOnly = 0600;
  FileHandle file(::open(name.c_str(), kFlags, kOwnerOnly));
  if (!file.is_open() && errno == ENOENT) {
    REPRISE_CHECK(make_folder(folder));
    file = FileHandle(::open(name.c_str(), kFlags, kOwnerOnly));
  }
  if (!file.is_open()) return system_error("make a blob", errno);
  return std::unique_ptr<IncomingBlob>(new IncomingBlob(*this, std::move(name), std::move(file)));
}

Result<Pin> BlobFiles::place(std::unique_ptr<IncomingBlob> blob) {
  // Never tried again: after a failed sync the system may have forgotten what it did not write.
  if (::fsync(blob->file_.get()) != 0) return system_error("sync a blob", errno);
  std::string hash = blob->hash_.finish();
  const std::string folder = folder_of(hash);
  REPRISE_CHECK(make_folder(folder));
  bool is_renamed = false;
  int number = 0;
  {
    const std::lock_guard names_lock(names_mutex_);
    {
      const std::lock_guard lock(mutex_);
      ++pins_[hash];
    }
    // Over equal content, if it is there: that costs nothing, and mends a file that was damaged.
    is_renamed = ::rename(blob->name_.c_str(), file_of(hash).c_str()) == 0;
    number = errno;
  }
  Pin pin(this, hash);
  if (!is_renamed) return system_error("name a blob", number);
  blob->name_.clear();
  REPRISE_CHECK(sync_folder(folder));
  return pin;
}

Result<FileHandle> BlobFiles::open(std::string_view hash, std::uint64_t size) const {
  FileHandle file(::open(file_of(hash).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno != ENOENT) return system_error("open a blob", errno);
  struct stat status{};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0 ||
      static_cast<std::uint64_t>(status.st_size) != size)
    return fail(Code::kCorrupt, fmt::format("the content {} is missing or cut off", to_hex(hash)));
  return file;
}

Result<std::size_t> BlobFiles::read_at(const FileHandle& file, std::uint64_t offset,
                                       std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t count = ::pread(file.get(), buffer.data() + filled, buffer.size() - filled,
                                  static_cast<off_t>(offset + filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read a blob", errno);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

Result<BlobFiles::Removal> BlobFiles::remove_unless(
    std::string_view hash, const std::function<Result<bool>()>& is_referred) {
  const std::lock_guard names_lock(names_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (pins_.contains(std::string(hash))) return Removal::kPinned;
  }
  REPRISE_TRY(const bool is_kept, is_referred());
  if (is_kept) return Removal::kReferred;
  if (::unlink(file_of(hash).c_str()) != 0)
    return errno == ENOENT ? Result<Removal>(Removal::kRemoved)
                           : system_error("remove a blob", errno);
  const std::lock_guard lock(mutex_);
  ++removed_;
  return Removal::kRemoved;
}

void BlobFiles::unpin(const std::string& hash, bool is_doubtful) {
  const std::lock_guard lock(mutex_);
  const auto pinned = pins_.find(hash);
  REPRISE_ASSERT(pinned != pins_.end() && pinned->second > 0);
  if (--pinned->second == 0) pins_.erase(pinned);
  if (is_doubtful) doubtful_.insert(hash);
}

std::vector<std::string> BlobFiles::take_doubtful() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> taken(doubtful_.begin(), doubtful_.end());
  doubtful_.clear();
  return taken;
}

void BlobFiles::add_doubtful(std::string hash) {
  const std::lock_guard lock(mutex_);
  doubtful_.insert(std::move(hash));
}

Result<std::vector<std::string>> BlobFiles::list(unsigned folder) const {
  REPRISE_ASSERT(folder < kFolders, folder);
  const std::string path = fmt::format("{}/{:02x}", directory_, folder);
  REPRISE_TRY(const auto names, names_in(path));
  std::vector<std::string> hashes;
  for (const std::string& name : names)
    if (auto hash = from_hex(name); hash && hash->size() == kHashBytes)
      hashes.push_back(std::move(*hash));
  return hashes;
}

std::uint64_t BlobFiles::removed() const {
  const std::lock_guard lock(mutex_);
  return removed_;
}

}  // namespace reprise::store
