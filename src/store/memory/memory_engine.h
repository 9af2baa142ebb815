// An engine in memory, for tests and the simulation. Deterministic: same calls, same answers.
//
//     MemoryEngine engine;
//     // The third write from now:
//     engine.fail_write(3, Code::kNoSpace, MemoryEngine::Outcome::kApplied);
//     auto after_crash = engine.copy();                              // what a restart would find
//
// A failed write whose outcome is kApplied is not seen by readers until recover() or copy(): as
// with a real disk, nobody knows before the log is read again.
//
// Threads: as Engine says; the hooks may be called from any thread.
#pragma once

#include <memory>

#include "store/engine.h"

namespace reprise::store {

class MemoryEngine final : public Engine {
 public:
  enum class Outcome : std::uint8_t { kLost, kApplied };

  MemoryEngine();
  ~MemoryEngine() override;

  Result<std::optional<Record>> get(std::string_view key, ReadMode mode) const override;
  Result<ScanPage> scan(const ScanRequest& request, ReadMode mode) const override;
  Result<> read(const ReadRequest& request, ReadMode mode, EntryVisitor& visitor) const override;
  Result<std::optional<StoredEntry>> last(StreamId stream, ReadMode mode) const override;
  Result<Seq> head(StreamId stream, ReadMode mode) const override;
  Result<Seq> first(StreamId stream, ReadMode mode) const override;
  Result<std::int64_t> counter(std::string_view key, ReadMode mode) const override;
  Result<> write(const WriteSet& writes) override;
  Result<> recover() override;
  Version version_floor() const override;
  EngineStatistics statistics() const override;

  // The k-th write from now (1 is the next) fails with `code`.
  void fail_write(std::uint64_t k, Code code, Outcome outcome);
  // While full, writes and recover() fail with kNoSpace.
  void set_full(bool is_full);
  // While cold, kCached reads fail with kWouldBlock.
  void set_cold(bool is_cold);
  // While set, every read fails with this code.
  void fail_reads(std::optional<Code> code);
  // Writes that became durable, and reads, so far.
  std::uint64_t writes() const;
  std::uint64_t reads() const;

  // What a restart after a crash would find; without the hooks.
  std::unique_ptr<MemoryEngine> copy() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::store
