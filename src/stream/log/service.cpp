#include "stream/log/service.h"

#include "base/assert.h"
#include "base/log.h"
#include "stream/limits.h"
#include "stream/log/service_parts.h"

namespace reprise::stream {
namespace {

Error home_is_busy() {
  Error error{Code::kOverloaded, "the stream's loop has too much waiting"};
  error.retry_after_seconds = 1;
  return error;
}

}  // namespace

LogService::LogService(const std::vector<rt::Loop*>& loops, store::Store& store, Hubs& hubs,
                       rt::Pool& pool, const Clock& clock, Random& random, LogOptions options)
    : store_(store), hubs_(hubs), clock_(clock), random_(random), options_(options), loops_(loops) {
  for (std::size_t i = 0; i < loops.size(); ++i)
    places_.push_back(
        std::make_unique<Place>(*loops[i], store, hubs.at(i), pool, clock, listener_, probe_));
}

LogService::~LogService() = default;

std::size_t LogService::here() const {
  const rt::Loop* current = rt::Loop::current();
  for (std::size_t i = 0; i < loops_.size(); ++i)
    if (loops_[i] == current) return i;
  REPRISE_ASSERT(false, loops_.size());
  return 0;
}

std::size_t LogService::home_index(std::string_view path) const {
  return std::hash<std::string_view>{}(path) % loops_.size();
}

std::shared_ptr<LogActor> LogService::actor(Place& place, const std::string& path) {
  const auto found = place.actors.find(path);
  if (found != place.actors.end()) {
    place.by_use.splice(place.by_use.begin(), place.by_use, found->second);
    return *found->second;
  }
  place.by_use.push_front(std::make_shared<LogActor>(place.context, path));
  place.actors.emplace(path, place.by_use.begin());
  ++probe_.loaded;
  // At most a few a time: the cost stays with whoever makes the list longer.
  for (int tries = 0; tries < 4 && place.actors.size() > options_.max_loaded_per_loop; ++tries) {
    const auto oldest = std::prev(place.by_use.end());
    if ((*oldest)->is_idle() && oldest != place.by_use.begin()) {
      place.actors.erase((*oldest)->path());
      place.by_use.erase(oldest);
      --probe_.loaded;
      ++probe_.evicted;
    } else {
      place.by_use.splice(place.by_use.begin(), place.by_use, oldest);
    }
  }
  return *place.actors.at(path);
}

store::AsyncStore& LogService::store_here() { return *places_[here()]->store; }

rt::Task<Result<LogView>> LogService::look(std::string path, bool is_use) {
  rt::Loop& origin = *loops_[here()];
  Place& place = *places_[home_index(path)];
  if (!co_await rt::switch_to(place.loop)) co_return fail(home_is_busy());
  auto view = co_await actor(place, path)->look(is_use);
  co_await rt::return_to(origin);
  co_return view;
}

rt::Task<Result<AppendOutcome>> LogService::append(std::string path, AppendLog append) {
  rt::Loop& origin = *loops_[here()];
  Place& place = *places_[home_index(path)];
  if (!co_await rt::switch_to(place.loop)) co_return fail(home_is_busy());
  auto outcome = co_await actor(place, path)->append(std::move(append));
  co_await rt::return_to(origin);
  co_return outcome;
}

rt::Task<Result<>> LogService::join(std::string path) {
  rt::Loop& origin = *loops_[here()];
  Place& place = *places_[home_index(path)];
  if (!co_await rt::switch_to(place.loop)) co_return fail(home_is_busy());
  actor(place, path)->add_reader();
  co_await rt::return_to(origin);
  co_return Result<>{};
}

void LogService::leave(std::string path) {
  Place& place = *places_[home_index(path)];
  place.loop.post([this, &place, path = std::move(path)] {
    const auto left = actor(place, path);
    left->remove_reader();
    // Its time to live begins now, and that must not be forgotten with the actor.
    rt::spawn(place.gate, use(left));
  });
}

rt::Task<> LogService::use(std::shared_ptr<LogActor> log) { (void)co_await log->look(true); }

std::size_t LogService::loaded() const {
  std::size_t count = 0;
  for (const auto& place : places_) count += place->actors.size();
  return count;
}

rt::Task<Result<>> LogService::tell(std::string path, std::optional<StreamId> removed) {
  rt::Loop& origin = *loops_[here()];
  Place& place = *places_[home_index(path)];
  // It must be told: it would go on with what it knows.
  while (!co_await rt::switch_to(place.loop)) co_await rt::yield(origin);
  actor(place, path)->changed(removed);
  co_await rt::return_to(origin);
  co_return Result<>{};
}

rt::Task<> LogService::run_janitor(rt::CancelScope& scope) {
  rt::Loop& loop = *loops_[here()];
  while (!scope.is_cancelled()) {
    if (store_.state() == store::StoreState::kWritable) {
      if (auto done = co_await expire_due(scope); !done)
        log::warning(
            "streams past their time could not be removed",
            {{"code", error_row(done.error().code).name}, {"detail", done.error().detail}});
    }
    if (!co_await rt::sleep_for(loop, kLogJanitorInterval, scope)) co_return;
  }
}

rt::Task<> LogService::close() {
  rt::Loop& origin = *loops_[here()];
  for (const auto& place : places_) {
    while (!co_await rt::switch_to(place->loop)) co_await rt::yield(origin);
    place->gate.close();
    co_await place->gate.empty();
    co_await rt::return_to(origin);
  }
}

}  // namespace reprise::stream
