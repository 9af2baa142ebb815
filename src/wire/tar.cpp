#include "wire/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "base/assert.h"

namespace reprise::wire {
namespace {

constexpr std::size_t kBufferBytes = 64 * 1024;

struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

// What moved the bytes may have failed, and says better why than the library can.
Error error_of(archive* handle, const std::optional<Error>& cause, Code code) {
  if (cause) return *cause;
  const char* text = archive_error_string(handle);
  return {code, text == nullptr ? "the archive does not decode" : text};
}

}  // namespace

struct TarWriter::Impl {
  Sink sink;
  TimePoint changed_at;
  std::optional<Error> error = std::nullopt;
  archive* handle = archive_write_new();
  std::uint64_t left = 0;  // of the present member

  static la_ssize_t take(archive* handle, void* self, const void* bytes, std::size_t size) {
    auto& impl = *static_cast<Impl*>(self);
    auto written = impl.sink({static_cast<const char*>(bytes), size});
    if (written) return static_cast<la_ssize_t>(size);
    impl.error = std::move(written).error();
    archive_set_error(handle, EIO, "the bytes could not be written");
    return -1;
  }
};

TarWriter::TarWriter(TimePoint changed_at, Sink sink)
    : impl_(new Impl{.sink = std::move(sink), .changed_at = changed_at}) {
  archive* handle = impl_->handle;
  REPRISE_ASSERT(handle != nullptr);
  archive_write_set_format_pax_restricted(handle);
  archive_write_set_bytes_in_last_block(handle, 1);  // no padding to a tape's block
  archive_write_open(handle, impl_.get(), nullptr, &Impl::take, nullptr);
}

TarWriter::~TarWriter() {
  // Freeing closes, and closing writes an end: nobody is there any more to take it.
  impl_->sink = [](std::string_view) { return Result<>{}; };
  archive_write_free(impl_->handle);
}

Result<> TarWriter::begin(const std::string& name, std::uint64_t size) {
  REPRISE_ASSERT(impl_->left == 0, impl_->left);
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), impl_->changed_at.ms / 1000, 0);
  if (archive_write_header(impl_->handle, entry.get()) != ARCHIVE_OK)
    return fail(error_of(impl_->handle, impl_->error, Code::kInternal));
  impl_->left = size;
  return {};
}

Result<> TarWriter::write(std::string_view bytes) {
  REPRISE_ASSERT(bytes.size() <= impl_->left, bytes.size(), impl_->left);
  while (!bytes.empty()) {
    const la_ssize_t count = archive_write_data(impl_->handle, bytes.data(), bytes.size());
    if (count <= 0) return fail(error_of(impl_->handle, impl_->error, Code::kInternal));
    impl_->left -= static_cast<std::uint64_t>(count);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<> TarWriter::finish() {
  REPRISE_ASSERT(impl_->left == 0, impl_->left);
  if (archive_write_close(impl_->handle) != ARCHIVE_OK)
    return fail(error_of(impl_->handle, impl_->error, Code::kInternal));
  return {};
}

struct TarReader::Impl {
  Source source;
  std::optional<Error> error = std::nullopt;
  archive* handle = archive_read_new();
  bool is_open = false;
  std::array<char, kBufferBytes> buffer{};

  static la_ssize_t give(archive* handle, void* self, const void** bytes) {
    auto& impl = *static_cast<Impl*>(self);
    auto count = impl.source(impl.buffer);
    *bytes = impl.buffer.data();
    if (count) return static_cast<la_ssize_t>(*count);
    impl.error = std::move(count).error();
    archive_set_error(handle, EIO, "the bytes could not be read");
    return -1;
  }

  Error failure() const { return error_of(handle, error, Code::kBadArchive); }
};

TarReader::TarReader(Source source) : impl_(new Impl{.source = std::move(source)}) {
  REPRISE_ASSERT(impl_->handle != nullptr);
  archive_read_support_format_tar(impl_->handle);
}

TarReader::~TarReader() { archive_read_free(impl_->handle); }

Result<std::optional<TarMember>> TarReader::next() {
  archive* handle = impl_->handle;
  if (!std::exchange(impl_->is_open, true) &&
      archive_read_open(handle, impl_.get(), nullptr, &Impl::give, nullptr) != ARCHIVE_OK)
    return fail(impl_->failure());
  archive_entry* entry = nullptr;
  const int outcome = archive_read_next_header(handle, &entry);
  if (impl_->error) return fail(*impl_->error);
  if (outcome == ARCHIVE_EOF) return std::nullopt;
  // A warning is about something in the header that was not understood: not one of ours.
  if (outcome != ARCHIVE_OK) return fail(impl_->failure());
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr) return fail(Code::kBadArchive, "a member of the archive has no name");
  const bool is_plain = archive_entry_filetype(entry) == AE_IFREG &&
                        archive_entry_hardlink(entry) == nullptr &&
                        archive_entry_sparse_count(entry) == 0 &&
                        archive_entry_size_is_set(entry) != 0 && archive_entry_size(entry) >= 0;
  if (!is_plain)
    return fail(Code::kBadArchive, fmt::format("'{}' in the archive is no plain file", name));
  return TarMember{.name = name, .size = static_cast<std::uint64_t>(archive_entry_size(entry))};
}

Result<std::size_t> TarReader::read(std::span<char> buffer) {
  const la_ssize_t count = archive_read_data(impl_->handle, buffer.data(), buffer.size());
  if (impl_->error) return fail(*impl_->error);
  if (count < 0) return fail(impl_->failure());
  return static_cast<std::size_t>(count);
}

}  // namespace reprise::wire
