// What the tests of src/stream and src/session share: several loops in one thread over one engine,
// where nothing runs by itself; a reader that writes down what it is told; and a writer.
//
//     World world(3);
//     world.run(world.loop(0), append(world, stream, {"a", "b"}));   // runs until nothing is left
//     world.settle();                                    // loops and commits, to the end
//
// Included by *_test.cpp only.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/ids.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/manual_loop.h"
#include "rt/pool.h"
#include "store/async.h"
#include "store/memory/memory_engine.h"
#include "stream/hub.h"
#include "stream/tail.h"

namespace reprise::stream::testing {

// The seed of a property test: REPRISE_SEED, or a fixed one; printed, so that a failure repeats.
inline std::uint64_t test_seed() {
  const char* text = std::getenv("REPRISE_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 20'261'115;
  fmt::print("seed {} (set REPRISE_SEED for another)\n", seed);
  return seed;
}

// The memory engine, and a moment between a write and its completion in which a test may look.
class HookedEngine final : public store::Engine {
 public:
  explicit HookedEngine(store::MemoryEngine& inner) : inner_(inner) {}
  std::function<void()> on_written;
  std::function<void(std::string_view key)> on_get;  // when it has been read

  Result<std::optional<store::Record>> get(std::string_view key,
                                           store::ReadMode mode) const override {
    auto record = inner_.get(key, mode);
    if (on_get) on_get(key);
    return record;
  }
  Result<store::ScanPage> scan(const store::ScanRequest& request,
                               store::ReadMode mode) const override {
    return inner_.scan(request, mode);
  }
  Result<> read(const store::ReadRequest& request, store::ReadMode mode,
                store::EntryVisitor& visitor) const override {
    return inner_.read(request, mode, visitor);
  }
  Result<std::optional<store::StoredEntry>> last(StreamId stream,
                                                 store::ReadMode mode) const override {
    return inner_.last(stream, mode);
  }
  Result<Seq> head(StreamId stream, store::ReadMode mode) const override {
    return inner_.head(stream, mode);
  }
  Result<Seq> first(StreamId stream, store::ReadMode mode) const override {
    return inner_.first(stream, mode);
  }
  Result<std::int64_t> counter(std::string_view key, store::ReadMode mode) const override {
    return inner_.counter(key, mode);
  }
  Result<> write(const store::WriteSet& writes) override {
    auto written = inner_.write(writes);
    if (on_written) on_written();
    return written;
  }
  Result<> recover() override { return inner_.recover(); }
  store::Version version_floor() const override { return inner_.version_floor(); }
  store::EngineStatistics statistics() const override { return inner_.statistics(); }

 private:
  store::MemoryEngine& inner_;
};

// A loop in front of another that can hold back what is posted: answers that are on their way.
class LateAnswers final : public rt::Loop {
 public:
  explicit LateAnswers(rt::Loop& inner) : inner_(inner) {}
  void hold() { is_holding_ = true; }
  std::size_t held() const { return held_.size(); }
  void release() {
    is_holding_ = false;
    for (auto& function : std::exchange(held_, {})) inner_.post(std::move(function));
  }
  void post(rt::Function function) override {
    if (is_holding_)
      held_.push_back(std::move(function));
    else
      inner_.post(std::move(function));
  }
  rt::Nanos now() const override { return inner_.now(); }

 private:
  rt::Loop& inner_;
  bool is_holding_ = false;
  std::vector<rt::Function> held_;
};

class World {
 public:
  explicit World(std::size_t loops, std::unique_ptr<store::MemoryEngine> contents = nullptr)
      : engine(contents ? std::move(contents) : std::make_unique<store::MemoryEngine>()),
        hooked(*engine),
        committer(hooked, [this] { return time.steady(); }),
        store(hooked, committer) {
    for (std::size_t i = 0; i < loops; ++i)
      loops_.push_back(std::make_unique<rt::ManualLoop>(time));
  }
  ~World() { settle(); }

  rt::ManualLoop& loop(std::size_t index) { return *loops_[index]; }
  std::vector<rt::Loop*> loops() {
    std::vector<rt::Loop*> all;
    for (const auto& loop : loops_) all.push_back(loop.get());
    return all;
  }

  // Everything but commits.
  bool run_loops() {
    bool has_run = false;
    for (bool more = true; more; has_run = has_run || more) {
      more = false;
      for (const auto& loop : loops_) more = loop->run_ready() > 0 || more;
    }
    return has_run;
  }
  void settle() {
    do {
      run_loops();
    } while (!is_holding_commits && committer.drain());
  }
  // One thing at a time on a loop chosen by chance: an interleaving that the seed repeats.
  void settle_shuffled(Random& random) {
    for (;;) {
      std::vector<std::size_t> ready;
      for (std::size_t i = 0; i < loops_.size(); ++i)
        if (loops_[i]->has_ready()) ready.push_back(i);
      const bool has_commits = committer.has_work();
      if (ready.empty() && !has_commits) return settle();
      const std::size_t pick = random.next_u64() % (ready.size() + (has_commits ? 1 : 0));
      if (pick == ready.size())
        committer.drain();
      else
        loops_[ready[pick]]->run_one();
    }
  }
  void advance(Millis by) {
    // In steps that no timer of a test is shorter than, so that commits happen in between.
    for (Millis done{0}; done < by;) {
      const Millis step = std::min(by - done, kStep);
      time.advance(step);
      done += step;
      settle();
    }
  }

  template <typename T>
  using Place = std::shared_ptr<std::optional<T>>;
  // Starts a task on a loop; its value is there once it has ended.
  template <typename T>
  Place<T> start(rt::Loop& on, rt::Task<T> task) {
    auto place = std::make_shared<std::optional<T>>();
    on.post([this, place, task = std::make_shared<rt::Task<T>>(std::move(task))] {
      rt::spawn(gate, into(std::move(*task), place));
    });
    return place;
  }
  template <typename T>
  T run(rt::Loop& on, rt::Task<T> task) {
    auto place = start(on, std::move(task));
    settle();
    REPRISE_ASSERT(place->has_value());
    return std::move(**place);
  }
  template <typename T>
  T run(rt::Task<T> task) {
    return run(loop(0), std::move(task));
  }

  static constexpr Millis kStep{std::chrono::seconds{1}};
  rt::ManualTime time;
  std::unique_ptr<store::MemoryEngine> engine;
  HookedEngine hooked;
  store::Committer committer;
  store::Store store;
  rt::InlinePool pool;
  rt::Gate gate;
  bool is_holding_commits = false;

 private:
  template <typename T>
  static rt::Task<> into(rt::Task<T> task, Place<T> place) {
    place->emplace(co_await std::move(task));
  }
  std::vector<std::unique_ptr<rt::ManualLoop>> loops_;
};

// Where a reader's frames go. `room` is what it takes before it is full.
class TestOutlet final : public Outlet {
 public:
  explicit TestOutlet(rt::Loop& loop) : taken_(loop) {}
  bool push(const SharedBytes& bytes, std::size_t offset) override {
    if (backlog >= room) return false;
    text += bytes->substr(offset);
    backlog += bytes->size() - offset;
    ++pushes;
    if (on_push) on_push();
    return true;
  }
  rt::Task<Result<>> wait_for_room(rt::CancelScope& scope) override {
    while (backlog >= room) REPRISE_CO_CHECK(co_await taken_.wait(scope));
    co_return Result<>{};
  }
  // The connection has taken everything.
  void take_all() {
    backlog = 0;
    taken_.notify();
  }

  std::string text;
  std::size_t backlog = 0;
  std::size_t room = std::size_t{1} << 40;
  std::size_t pushes = 0;
  std::function<void()> on_push;

 private:
  rt::Signal taken_;
};

// An entry is "7:bytes\n".
class TestFormat final : public FrameFormat {
 public:
  void append_entry(std::string& out, Seq seq, std::string_view entry) const override {
    out += fmt::format("{}:{}\n", seq.value, entry);
  }
};

class TestFrames final : public TailFrames {
 public:
  const FrameFormat& format() const override { return format_; }
  void replay_complete(std::string& out, Seq at) const override {
    out += fmt::format("R{}\n", at.value);
  }
  std::string ephemeral(std::string_view event_json) const override {
    return fmt::format("~{}\n", event_json);
  }
  std::string end(std::string_view reason) const override { return fmt::format("E{}\n", reason); }
  std::string heartbeat() const override { return "H\n"; }

 private:
  TestFormat format_;
};

inline const TestFrames& test_frames() {
  static const TestFrames frames;
  return frames;
}

// The numbers of the entries in a reader's text, in the order in which they came.
inline std::vector<std::uint64_t> numbers_in(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.empty() && line[0] >= '0' && line[0] <= '9')
      numbers.push_back(std::strtoull(std::string(line).c_str(), nullptr, 10));
  }
  return numbers;
}

inline std::size_t count_lines(std::string_view text, std::string_view start) {
  std::size_t count = text.starts_with(start) ? 1 : 0;
  const std::string needle = "\n" + std::string(start);
  for (auto at = text.find(needle); at != std::string_view::npos; at = text.find(needle, at + 1))
    ++count;
  return count;
}

inline std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t n = first; n <= last; ++n) all.push_back(n);
  return all;
}

// Where a stream has ended, for readers that come later; 0: it has not.
struct SharedEnd {
  std::atomic<std::uint64_t> at{0};
};

// Appends `total` entries and a few more in batches of chance sizes, and ends the stream. Some
// batches are not handed on, as when nobody watched: readers are sent to the store. On the home
// loop, 0. How many there were.
inline rt::Task<std::uint64_t> write_stream(Hubs& hubs, store::AsyncStore& async, StreamId stream,
                                            std::uint64_t total, Random& random, SharedEnd& end) {
  Hub& hub = hubs.at(0);
  std::uint64_t appended = 0;
  while (appended < total) {
    auto batch = std::make_shared<Batch>();
    batch->stream = stream;
    for (std::uint64_t left = 1 + random.next_u64() % 4; left > 0; --left)
      batch->entries.push_back(fmt::format("entry {}", ++appended));
    batch->is_end = appended >= total;
    batch->end_reason = "COMPLETED";
    store::Commit commit;
    commit.appends.push_back({.stream = stream, .expected_head = {}, .entries = batch->entries});
    auto done = co_await async.commit(std::move(commit));
    REPRISE_ASSERT(done.has_value());
    batch->first = (*done)->first_seqs[0];
    if (batch->is_end) end.at = appended;
    if (!batch->is_end && random.next_u64() % 8 == 0)
      hub.publish_gap(stream);
    else
      hub.publish(done->with<std::shared_ptr<const Batch>>(std::move(batch)));
    if (random.next_u64() % 2 == 0) co_await rt::yield(hub.loop());
  }
  co_return appended;
}

// Reads a stream to its end with many broken connections and a backlog that is often full. The
// numbers it was given, in order.
inline rt::Task<std::vector<std::uint64_t>> read_with_breaks(rt::Loop& loop, Hubs& hubs,
                                                             std::size_t index, store::Store& store,
                                                             rt::Pool& pool, StreamId stream,
                                                             Random& random, SharedEnd& end) {
  std::vector<std::uint64_t> seen;
  for (;;) {
    store::AsyncStore async(store, loop, pool);
    const auto outlet = std::make_shared<TestOutlet>(loop);
    rt::CancelScope scope;
    Tail tail(hubs.at(index), async, *outlet, test_frames(), {.stream = stream});
    if (!co_await tail.subscribe()) {
      co_await rt::yield(loop);
      continue;
    }
    const auto head = co_await async.head(stream);
    REPRISE_ASSERT(head.has_value());
    const std::uint64_t ended_at = end.at;  // after the head, so that it is the newer of the two
    std::optional<std::string> reason;
    if (ended_at > 0) reason = "COMPLETED";
    tail.set_replay(Seq{seen.empty() ? 0 : seen.back()}, ended_at > 0 ? Seq{ended_at} : *head,
                    std::move(reason));
    outlet->room = 1 + random.next_u64() % 100;
    const std::uint64_t patience = 1 + random.next_u64() % 12;
    outlet->on_push = [&outlet = *outlet, &loop, &scope, patience, keep = std::weak_ptr(outlet)] {
      if (outlet.pushes >= patience) scope.cancel();
      loop.post([keep] {
        if (const auto alive = keep.lock()) alive->take_all();
      });
    };
    const auto outcome = co_await tail.follow(scope);
    const auto more = numbers_in(outlet->text);
    seen.insert(seen.end(), more.begin(), more.end());
    if (outcome) co_return seen;
    REPRISE_ASSERT(outcome.error().code == Code::kCancelled, outcome.error().detail);
  }
}

}  // namespace reprise::stream::testing
