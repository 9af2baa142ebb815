// Opening: the marker file, the settings and the watch over the log.
// docs/decisions/003-rocksdb-options.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/bytes.h"
#include "store/rocksdb/rocksdb_internal.h"

namespace reprise::store {

namespace {

constexpr std::string_view kMarkerName = "REPRISE";
constexpr std::string_view kMarkerTitle = "reprise store\n";
constexpr std::string_view kMarkerFormat = "format 1\n";

Error system_error(std::string_view what, const std::string& path) {
  const int number = errno;
  const Code code = number == ENOSPC || number == EDQUOT ? Code::kNoSpace : Code::kStorage;
  return {code, fmt::format("{} {}: {}", what, path, std::generic_category().message(number))};
}

Result<> sync_directory(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return fail(system_error("cannot open directory", path));
  const int synced = ::fsync(descriptor);
  const Error error = synced == 0 ? Error{} : system_error("cannot sync directory", path);
  ::close(descriptor);
  if (synced != 0) return fail(error);
  return {};
}

Result<> make_directories(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return {};
  const std::filesystem::path parent = path.parent_path();
  if (!parent.empty() && parent != path) REPRISE_CHECK(make_directories(parent));
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(system_error("cannot create directory", path.string()));
  }
  return sync_directory(parent.empty() ? "." : parent.string());
}

// The whole file, or what its first 4 KiB hold: a marker is shorter.
Result<std::string> read_marker(int descriptor, const std::string& path) {
  std::string text(4096, '\0');
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  if (count < 0) return fail(system_error("cannot read", path));
  text.resize(static_cast<std::size_t>(count));
  return text;
}

Result<> check_marker(std::string_view text, const std::string& path) {
  if (!text.starts_with(kMarkerTitle)) {
    return fail(Code::kInvalid, fmt::format("{} is not the marker of a store", path));
  }
  text.remove_prefix(kMarkerTitle.size());
  if (text == kMarkerFormat) return {};
  if (text.starts_with("format ") && text.ends_with("\n")) {
    return fail(Code::kUnsupportedVersion,
                fmt::format("{} is of a format that this release does not know", path));
  }
  return fail(Code::kCorrupt, fmt::format("{} names no format", path));
}

// Writes a new marker in one step, so that a crash leaves a whole one or none.
Result<> create_marker(const std::string& directory, const std::string& path) {
  const std::string text = fmt::format("{}{}", kMarkerTitle, kMarkerFormat);
  const std::string temporary = path + ".new";
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return fail(system_error("cannot create", temporary));
  const bool is_written =
      ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(descriptor) == 0;
  const Error error = is_written ? Error{} : system_error("cannot write", temporary);
  ::close(descriptor);
  if (!is_written) return fail(error);
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return fail(system_error("cannot rename", temporary));
  }
  return sync_directory(directory);
}

// A directory that is to become a store must be empty (but for a marker that a crash left
// unfinished).
Result<> check_empty(const std::string& directory) {
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = item.path().filename().string();
    if (name == "lost+found" || name == fmt::format("{}.new", kMarkerName)) continue;
    return fail(Code::kInvalid,
                fmt::format("{} holds {} but no store: name an empty directory", directory, name));
  }
  if (error) return fail(Code::kStorage, fmt::format("{}: {}", directory, error.message()));
  return {};
}

// RocksDB would take tables without a CURRENT file for a new database and delete them.
Result<> check_not_headless(const std::string& directory) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::path(directory) / "CURRENT", error)) return {};
  for (const auto& item : std::filesystem::directory_iterator(directory, error)) {
    if (item.path().extension() == ".sst") {
      return fail(Code::kCorrupt, fmt::format("{} holds tables but no CURRENT file", directory));
    }
  }
  return {};
}

// Which keys of the memtable follow each other: new sessions have rising ids, so in every table and
// index the next key stands close behind the last one, and is found from there instead of from the
// top of the skip list. Half of what inserting costs when sessions are created. Records must never
// be deleted by range: this version may use the hints for the wrong one of its two lists then.
class NeighboursInMemory final : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "reprise.table"; }
  bool InDomain(const rocksdb::Slice& key) const override {
    return key.size() > kTableBytes && key[0] == kRecordPrefix;
  }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), kTableBytes};
  }

 private:
  static constexpr std::size_t kTableBytes = 2;  // the space, and the letter of the table
};

void set_table_options(rocksdb::Options& options, const RocksDbOptions& ours,
                       const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 8 << 10;
  table.format_version = 5;
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  // Partitioned, so that a million sessions' filters and indexes are not in memory as a whole.
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));

  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = ours.write_buffer_bytes / 2;  // one fills while one is flushed
  options.max_write_buffer_number = 4;
  options.memtable_insert_with_hint_prefix_extractor = std::make_shared<NeighboursInMemory>();
  options.compression = rocksdb::kLZ4Compression;
  options.level_compaction_dynamic_level_bytes = true;
}

rocksdb::Options database_options(const RocksDbOptions& ours) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.track_and_verify_wals_in_manifest = true;
  options.db_write_buffer_size = ours.write_buffer_bytes;
  options.max_open_files = ours.max_open_files;
  options.max_background_jobs = 2;
  options.max_bgerror_resume_count = 0;  // the committer decides when to try again
  options.bytes_per_sync = 1 << 20;
  options.compaction_readahead_size = 2 << 20;
  options.skip_stats_update_on_db_open = true;
  options.allow_concurrent_memtable_write = false;  // there is one writer
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log_level = rocksdb::WARN_LEVEL;
  options.max_log_file_size = 1 << 20;
  options.keep_log_file_num = 4;
  options.max_manifest_file_size = std::uint64_t{64} << 20;
  return options;
}

}  // namespace

Result<StoreMarker> StoreMarker::open(const std::string& directory) {
  REPRISE_CHECK(make_directories(directory));
  const std::string path = (std::filesystem::path(directory) / kMarkerName).string();
  int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) {
    REPRISE_CHECK(check_empty(directory));
    REPRISE_CHECK(create_marker(directory, path));
    descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  if (descriptor < 0) return fail(system_error("cannot open", path));
  StoreMarker marker(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail(system_error("cannot lock", path));
    return fail(Code::kConflict, fmt::format("{} is in use by another process", directory));
  }
  REPRISE_TRY(const std::string text, read_marker(descriptor, path));
  REPRISE_CHECK(check_marker(text, path));
  REPRISE_CHECK(check_not_headless(directory));
  return marker;
}

StoreMarker::StoreMarker(StoreMarker&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

StoreMarker::~StoreMarker() {
  if (descriptor_ >= 0) ::close(descriptor_);  // releases the lock
}

OpenDatabase::~OpenDatabase() {
  if (!db) return;
  db->Close().PermitUncheckedError();
}

Result<std::unique_ptr<OpenDatabase>> OpenDatabase::open(const std::string& path,
                                                         const RocksDbOptions& options,
                                                         bool is_read_only) {
  auto opened = std::make_unique<OpenDatabase>();
  rocksdb::Options settings = database_options(options);
  if (options.hooks) {
    opened->env = options.hooks->make_env();
    settings.env = opened->env.get();
  }
  opened->cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  set_table_options(settings, options, opened->cache);

  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = is_read_only ? rocksdb::DB::OpenForReadOnly(settings, path, &db)
                                              : rocksdb::DB::Open(settings, path, &db);
  opened->db.reset(db);
  if (!status.ok()) return fail(error_of(status));
  return opened;
}

}  // namespace reprise::store
