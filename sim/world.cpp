#include "sim/world.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "session/limits.h"

namespace reprise::sim {
namespace {

// Worlds start far apart, so that ids made from the clock do not depend on which world ran before
// (and not too far: nanoseconds must count them).
TimePoint start_of(std::uint64_t seed) {
  constexpr std::uint64_t kTenDays = 864'000'000;
  return TimePoint{static_cast<std::int64_t>(1'700'000'000'000 + seed % 5'000 * kTenDays)};
}

std::vector<rt::Loop*> pointers(const std::vector<std::unique_ptr<rt::ManualLoop>>& loops) {
  std::vector<rt::Loop*> all;
  for (const auto& loop : loops) all.push_back(loop.get());
  return all;
}

std::vector<std::unique_ptr<rt::ManualLoop>> make_loops(rt::ManualTime& time, std::size_t count) {
  std::vector<std::unique_ptr<rt::ManualLoop>> loops;
  for (std::size_t i = 0; i < count; ++i) loops.push_back(std::make_unique<rt::ManualLoop>(time));
  return loops;
}

rt::Task<> run_janitor(Process& process) { co_await process.janitor.run(process.scope); }

}  // namespace

Process::Process(Disk& disk, rt::ManualTime& time, Random& random, std::size_t loop_count,
                 session::ServiceOptions options)
    : loops(make_loops(time, loop_count)),
      committer(disk, [&time] { return time.steady(); }),
      store(disk, committer),
      service(pointers(loops), store, pool, time, random, options),
      janitor(service) {}

bool Process::is_quiet() const {
  if (!pool.is_empty() || committer.has_work()) return false;
  for (const auto& loop : loops) {
    const auto due = loop->timers().next_due();
    if (loop->has_ready() || (due && *due <= loop->now())) return false;
  }
  return true;
}

World::World(std::uint64_t seed, WorldOptions options)
    : seed_(seed),
      options_(options),
      dice_(seed),
      random_(dice_.next()),
      time_(start_of(seed)),
      disk_(dice_.next()),
      loop_count_(dice_.between(1, 4)) {
  service_options_.max_loaded_per_loop = dice_.one_of<std::size_t>({1, 3, 100});
  service_options_.retention_seconds = dice_.one_in(3) ? 20 : 0;
}

World::~World() {
  if (process_) crash();
}

std::optional<std::string> World::run() {
  start();
  for (at_step_ = 0; at_step_ < options_.steps && !broken_; ++at_step_) step();
  if (!broken_) finish();
  return broken_;
}

void World::broken(std::string promise) {
  if (broken_) return;
  broken_ = fmt::format("seed {} step {}: {}", seed_, at_step_, promise);
}

rt::ManualLoop& World::some_loop() { return *dice_.pick(process_->loops); }

void World::start() {
  process_ = std::make_unique<Process>(disk_, time_, random_, loop_count_, service_options_);
  disk_.set_cold(dice_.one_of<std::uint64_t>({0, 10, 60}));
  Process& process = *process_;
  process.loops.front()->post([&process] { rt::spawn(process.gate, run_janitor(process)); });
}

void World::crash() {
  Process& process = *process_;
  process.is_dead = true;
  // The last batch may have reached the disk without anybody being told.
  if (dice_.one_in(2) && process.committer.has_work()) process.committer.drain();
  disk_.freeze();
  process.committer.close();
  process.scope.cancel(Error{Code::kShuttingDown, "the process is dead"});
  run_dry();
  REPRISE_ASSERT(process.gate.inside() == 0, seed_, process.gate.inside());
  process_.reset();
  disk_.thaw();
  for (const auto& reader : readers_) reader->is_connected = false;
  for (const auto& watcher : watchers_) watcher->is_connected = false;
  for (AppendCall& call : appends_) {
    if (call.in_flight > 0) call.is_unknown = true;
    call.in_flight = 0;
  }
}

// One thing the machine does by itself; false if there is none.
bool World::run_something() {
  Process& process = *process_;
  std::vector<rt::ManualLoop*> ready;
  for (const auto& loop : process.loops) {
    const auto due = loop->timers().next_due();
    if (loop->has_ready() || (due && *due <= loop->now())) ready.push_back(loop.get());
  }
  const bool has_reads = !process.pool.is_empty();
  const bool has_commits = process.committer.has_work();
  const std::size_t kinds = ready.size() * 4 + (has_reads ? 2 : 0) + (has_commits ? 1 : 0);
  if (kinds == 0) return false;
  std::size_t drawn = dice_.below(kinds);
  if (drawn < ready.size() * 4) {
    rt::ManualLoop& loop = *ready[drawn / 4];
    const auto due = loop.timers().next_due();
    if (due && *due <= loop.now() && (!loop.has_ready() || dice_.one_in(4)))
      loop.post([&loop] { loop.timers().run_due(loop.now()); });
    loop.run_one();
    return true;
  }
  drawn -= ready.size() * 4;
  if (has_reads && drawn < 2)
    process.pool.run_one(dice_);
  else
    process.committer.drain();
  return true;
}

void World::run_dry() {
  std::size_t turns = 0;
  while (run_something()) REPRISE_ASSERT(++turns < 5'000'000, seed_);
}

void World::step() {
  const std::uint64_t drawn = dice_.below(1'000);
  if (drawn < 60) return act();
  if (drawn < 140) return step_of_network();
  if (drawn < 160) return step_of_disk();
  if (drawn < 162) {
    crash();
    audit();
    return start();
  }
  if (drawn < 163) return audit();
  if (drawn < 200) {
    // Mostly a moment, now and then long enough for deadlines, heartbeats and expiry.
    const Millis by{dice_.one_in(10) ? dice_.between(500, 20'000) : dice_.between(1, 60)};
    return time_.advance(by);
  }
  if (!run_something()) time_.advance(Millis{dice_.between(1, 30)});
}

void World::step_of_network() {
  Process& process = *process_;
  if (dice_.one_in(4)) {
    // Somebody comes back, or comes anew.
    for (const auto& reader : readers_)
      if (!reader->is_connected && !reader->is_done && dice_.one_in(3)) return connect(*reader);
    for (const auto& watcher : watchers_)
      if (!watcher->is_connected && dice_.one_in(3)) return connect(*watcher);
  }
  if (process.connections.empty()) return;
  Connection& connection = *dice_.pick(process.connections);
  if (dice_.one_in(40)) return connection.lose();
  connection.take(dice_.one_in(3) ? dice_.between(1, 40) : 100'000);
}

void World::step_of_disk() {
  switch (dice_.below(8)) {
    case 0: return disk_.fail_next_write();
    case 1: return disk_.set_full(dice_.one_in(4));
    case 2: return disk_.set_cold(dice_.one_of<std::uint64_t>({0, 10, 60, 100}));
    case 3: return process_->committer.tick();
    default: return disk_.set_full(false);
  }
}

// Lets everything come to rest: no more faults, every connection takes what it gets.
void World::settle(Millis duration) {
  disk_.heal();
  constexpr Millis kTick{100};
  for (Millis passed{0};; passed += kTick) {
    process_->committer.tick();
    do {
      run_dry();
      for (Connection* connection : Connections(process_->connections)) connection->take(1 << 20);
    } while (!process_->is_quiet());
    if (passed >= duration) return;
    for (const auto& reader : readers_)
      if (!reader->is_connected && !reader->is_done) connect(*reader);
    for (const auto& watcher : watchers_)
      if (!watcher->is_connected) connect(*watcher);
    time_.advance(kTick);
  }
}

void World::finish() {
  // Longer than two heartbeats: by then who missed the news has looked for itself.
  settle(Millis{40'000});
  audit();
  audit_rest();
  if (broken_) return;
  // Everything readers were promised must also be there for the next process.
  crash();
  audit();
  start();
  settle(Millis{3'000});
  // Past the window of idempotency keys and the age of every session that may expire.
  time_.advance(std::chrono::hours{25});
  settle(Millis{3'000});
  audit();
  audit_swept();
}

}  // namespace reprise::sim
