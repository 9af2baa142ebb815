// ScratchFile and how one is made; see store/blob_files.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "store/blob_files.h"

namespace reprise::store {
namespace {

std::unexpected<Error> system_error(std::string_view what, int number) {
  const Code code = number == ENOSPC || number == EDQUOT ? Code::kNoSpace : Code::kStorage;
  return fail(code, fmt::format("cannot {}: {}", what, std::generic_category().message(number)));
}

}  // namespace

Result<> ScratchFile::write(std::string_view bytes) {
  REPRISE_CHECK(files_.check_room(file_, bytes.size()));
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t count =
        ::pwrite(file_.get(), rest.data(), rest.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("write a temporary file", errno);
    rest.remove_prefix(static_cast<std::size_t>(count));
    size_ += static_cast<std::uint64_t>(count);
  }
  return {};
}

Result<std::size_t> ScratchFile::read_at(std::uint64_t offset, std::span<char> buffer) const {
  return BlobFiles::read_at(file_, offset, buffer);
}

Result<std::unique_ptr<ScratchFile>> BlobFiles::scratch() {
  // Not every file system has files that never had a name, so it has one for a moment; should the
  // process end in it, an empty file is left, which the next start removes.
  const std::string name = next_name();
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
  constexpr mode_t kOwnerOnly = 0600;
  FileHandle file(::open(name.c_str(), kFlags, kOwnerOnly));
  if (!file.is_open() && errno == ENOENT) {
    REPRISE_CHECK(make_folder(name.substr(0, name.rfind('/'))));
    file = FileHandle(::open(name.c_str(), kFlags, kOwnerOnly));
  }
  if (!file.is_open()) return system_error("make a temporary file", errno);
  if (::unlink(name.c_str()) != 0) return system_error("make a temporary file", errno);
  return std::unique_ptr<ScratchFile>(new ScratchFile(*this, std::move(file)));
}

Pin BlobFiles::pin(std::string hash) {
  // After a removal that goes on now, or before the look of the next one.
  const std::lock_guard names_lock(names_mutex_);
  const std::lock_guard lock(mutex_);
  ++pins_[hash];
  return {this, std::move(hash)};
}

}  // namespace reprise::store
