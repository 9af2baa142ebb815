// StateVault: where the key is that storage states are sealed with, and the sealing.
//
// The key is a file outside the data directory, so that whoever has a copy of the data has no
// cookies in it:
//
//     64 hexadecimal digits and a line end; mode 0600
//
// It is made when the first state is sealed. Without a file's name nothing is ever sealed. Each
// session's states have a key of their own (HMAC-SHA-256 of the session's stream by the file's
// key), and are bound to that stream: a state is of no use in another session's place.
//
// Threads: belongs to the browsers' loop; files are read and made on a pool.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/ids.h"
#include "rt/loop.h"
#include "rt/pool.h"
#include "rt/task.h"

namespace reprise::browser {

// The key in a file, made if there is none and `may_make`. kForbidden if others may read the file,
// kCorrupt if it holds no key, kIo. Waits for the disk.
Result<std::optional<std::string>> load_state_key(const std::filesystem::path& file, bool may_make,
                                                  Random& random);

class StateVault {
 public:
  StateVault(rt::Loop& loop, rt::Pool& pool, Random& random, std::filesystem::path file)
      : loop_(loop), pool_(pool), random_(random), file_(std::move(file)) {}

  bool is_on() const { return !file_.empty(); }
  rt::Task<Result<std::string>> seal(StreamId stream, std::string plain);
  // kCorrupt if it was sealed with another key; kForbidden, kIo as load_state_key(); kNotFound if
  // there is no key at all.
  rt::Task<Result<std::string>> unseal(StreamId stream, std::string sealed);

  // States stored, for metrics.
  void note_kept() { kept_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t kept() const { return kept_.load(std::memory_order_relaxed); }

 private:
  rt::Task<Result<std::string>> key_of(StreamId stream, bool may_make);

  rt::Loop& loop_;
  rt::Pool& pool_;
  Random& random_;
  const std::filesystem::path file_;
  std::string key_;  // once it is known
  std::atomic<std::uint64_t> kept_{0};
};

}  // namespace reprise::browser
