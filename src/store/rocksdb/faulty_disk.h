// A disk that can lose power, tear writes, fail syncs and run full, under a real RocksDB. For tests
// only.
//
// It passes everything on to the real file system but remembers, for every file, what was there
// when it was last synced. cut_power_at(k) makes the k-th write or sync the last thing that
// happens; restore() then makes the files what a power cut leaves: what was synced, and of the rest
// nothing or any sectors, in any order. Syncs are not passed on: durability is what this class
// says, and so the tests are quick.
//
// A file's name is taken as durable at once; RocksDB syncs directories itself, but that is not
// modelled.
//
// Threads: any, as RocksDB's background threads call it.
#pragma once

#include <rocksdb/file_system.h>

#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>

namespace reprise::store::testing {

class FaultyDisk final : public rocksdb::FileSystemWrapper {
 public:
  enum class Unsynced : std::uint8_t { kLost, kSomeSectors };

  FaultyDisk() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FaultyDisk"; }

  // The k-th operation from now (1 is the next one); each is forgotten once it has struck.
  void cut_power_at(std::uint64_t k);  // writes and syncs count
  void fail_sync_at(std::uint64_t k);  // syncs count; it fails with EIO
  void run_full_at(
      std::uint64_t k);  // writes count; it and all later ones fail, after half their bytes
  void make_room();
  bool has_struck() const;
  // Tables written so far.
  std::uint64_t tables() const;
  // After the database is closed: what a machine that comes up again finds.
  void restore(Unsynced unsynced, std::mt19937_64& random);

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& name, const std::string& old_name,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

  // For the files it hands out. `write` gives how many of the bytes to write before failing, if it
  // is to fail.
  struct WriteFault {
    rocksdb::IOStatus status;
    std::size_t bytes = 0;
  };
  std::optional<WriteFault> before_write(std::size_t bytes);
  rocksdb::IOStatus sync(const std::string& name);

 private:
  rocksdb::IOStatus before_change();
  void lose_power();
  void wrap(const std::string& name, std::unique_ptr<rocksdb::FSWritableFile>* file);

  mutable std::mutex mutex_;
  std::map<std::string, std::string> synced_;  // by name: contents at the last sync
  std::map<std::string, std::string> at_cut_;  // contents when the power went
  std::uint64_t until_cut_ = 0;
  std::uint64_t until_sync_failure_ = 0;
  std::uint64_t until_full_ = 0;
  bool is_off_ = false;
  bool is_full_ = false;
  bool has_struck_ = false;
  std::uint64_t tables_ = 0;
};

}  // namespace reprise::store::testing
