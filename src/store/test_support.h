// What the tests of this folder share. Included by *_test.cpp only.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "store/committer.h"
#include "store/engine.h"
#include "store/store.h"

namespace reprise::store::testing {

// In memory where the system has such a place: syncs are then free, and what these tests prove
// about them they prove with FaultyDisk.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::error_code ignored;
    const std::filesystem::path memory = "/dev/shm";
    const bool has_memory = std::filesystem::is_directory(memory, ignored);
    std::string pattern =
        ((has_memory ? memory : std::filesystem::temp_directory_path()) / "reprise-store-XXXXXX")
            .string();
    REPRISE_ASSERT(::mkdtemp(pattern.data()) != nullptr, pattern);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline StreamId stream_id(std::uint64_t number) {
  StreamId id;
  for (std::size_t i = 16; i-- > 8; number >>= 8) {
    id.bytes[i] = static_cast<unsigned char>(number & 0xFF);
  }
  return id;
}

// An engine's committer, driven by the test itself.
class ManualCommitter {
 public:
  explicit ManualCommitter(Engine& engine)
      : committer_(engine, [this] { return now_; }), store_(engine, committer_) {}

  // Submits without draining; the outcome is at the returned index of outcomes().
  std::size_t submit(Commit commit) {
    const std::size_t index = outcomes_.size();
    outcomes_.emplace_back();
    committer_.submit(std::move(commit),
                      [this, index](CommitResult result) { outcomes_[index] = std::move(result); });
    return index;
  }
  void drain() {
    while (committer_.drain()) {
    }
  }
  Result<Committed> commit(Commit commit) {
    const std::size_t index = submit(std::move(commit));
    drain();
    return outcome(index);
  }
  bool is_done(std::size_t index) const { return outcomes_[index].has_value(); }
  Result<Committed> outcome(std::size_t index) const {
    REPRISE_ASSERT(outcomes_[index].has_value(), index);
    if (!*outcomes_[index]) return fail(outcomes_[index]->error());
    return **(*outcomes_[index]);
  }
  // kInternal stands for "it did not fail".
  Code code(std::size_t index) const {
    const auto result = outcome(index);
    return result ? Code::kInternal : result.error().code;
  }

  void advance(std::chrono::nanoseconds by) { now_ += by; }
  Committer& committer() { return committer_; }
  Store& store() { return store_; }

 private:
  std::chrono::nanoseconds now_{std::chrono::hours{1}};
  std::vector<std::optional<CommitResult>> outcomes_;
  Committer committer_;
  Store store_;
};

inline Commit append(StreamId stream, std::vector<std::string> entries,
                     std::optional<std::uint64_t> expected_head = {}) {
  Commit commit;
  StreamAppend one{.stream = stream, .expected_head = {}, .entries = std::move(entries)};
  if (expected_head) one.expected_head = Seq{*expected_head};
  commit.appends.push_back(std::move(one));
  return commit;
}

inline Commit put(std::string key, std::string value, Precondition only_if = {}) {
  Commit commit;
  commit.puts.push_back({std::move(key), std::move(value), only_if});
  return commit;
}

inline Commit erase(std::string key, Precondition only_if = {}) {
  Commit commit;
  commit.erases.push_back({std::move(key), only_if});
  return commit;
}

inline Commit add(std::string key, std::int64_t delta) {
  Commit commit;
  commit.counters.push_back({std::move(key), delta});
  return commit;
}

inline Commit cut(StreamId stream, std::uint64_t up_to, bool forget = false) {
  Commit commit;
  commit.cuts.push_back({stream, Seq{up_to}, forget});
  return commit;
}

}  // namespace reprise::store::testing
