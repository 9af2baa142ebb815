#include "session/service.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "model/event.h"
#include "session/keys.h"
#include "session/limits.h"

namespace reprise::session {

SessionService::SessionService(const std::vector<rt::Loop*>& loops, store::Store& store,
                               rt::Pool& pool, const Clock& clock, Random& random,
                               ServiceOptions options)
    : store_(store),
      clock_(clock),
      random_(random),
      options_(options),
      loops_(loops),
      hubs_(loops) {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    stores_.push_back(std::make_unique<store::AsyncStore>(store, *loops[i], pool));
    shards_.push_back(std::make_unique<Shard>(*stores_[i], hubs_.at(i), clock, random,
                                              options.max_loaded_per_loop));
  }
}

SessionService::~SessionService() = default;

Error SessionService::home_is_busy() {
  Error error{Code::kOverloaded, "the session's loop has too much waiting"};
  error.retry_after_seconds = 1;
  return error;
}

std::size_t SessionService::here() const {
  const rt::Loop* current = rt::Loop::current();
  for (std::size_t i = 0; i < loops_.size(); ++i)
    if (loops_[i] == current) return i;
  REPRISE_ASSERT(false, loops_.size());
  return 0;
}

// Sessions of one feed share a home, so that a feed's entries are announced in order from one loop.
std::size_t SessionService::home_index(SessionId id) const { return feed_home(feed_of(id)); }
std::size_t SessionService::feed_home(std::size_t feed) const { return feed % loops_.size(); }

rt::Task<Result<SessionId>> SessionService::resolve(SessionRef session) {
  if (const auto* id = std::get_if<SessionId>(&session)) co_return *id;
  const auto& key = std::get<model::SessionKey>(session);
  REPRISE_CO_TRY(const auto record, co_await store_here().get(name_key(key)));
  const auto id = record ? SessionId::from_bytes(record->value) : std::nullopt;
  if (!id)
    co_return fail(Code::kSessionNotFound,
                   fmt::format("there is no session '{}'", key.to_string()));
  co_return *id;
}

rt::Task<Result<ActorAnswer>> SessionService::call_actor(SessionId id, Call call) {
  rt::Loop& origin = *loops_[here()];
  Shard& shard = home(id);
  if (!co_await rt::switch_to(shard.loop())) co_return fail(home_is_busy());
  auto answer = co_await shard.actor(id)->call(std::move(call));
  co_await rt::return_to(origin);
  co_return answer;
}

rt::Task<Result<SessionView>> SessionService::look(SessionId id, Freshness freshness) {
  rt::Loop& origin = *loops_[here()];
  Shard& shard = home(id);
  if (!co_await rt::switch_to(shard.loop())) co_return fail(home_is_busy());
  const auto actor = shard.actor(id);
  const bool may_answer = freshness == Freshness::kAcknowledged || !actor->is_running();
  if (auto view = may_answer ? actor->current_view() : std::nullopt) {
    co_await rt::return_to(origin);
    co_return std::move(*view);
  }
  auto answer = co_await actor->call(Call{.action = Look{}});
  co_await rt::return_to(origin);
  if (!answer) co_return fail(std::move(answer).error());
  co_return *(*answer)->view;
}

rt::Task<Result<SessionView>> SessionService::get(SessionRef session) {
  REPRISE_CO_TRY(const SessionId id, co_await resolve(std::move(session)));
  co_return co_await look(id, Freshness::kAcknowledged);
}

rt::Task<Result<ActorAnswer>> SessionService::call(SessionRef session, Call call) {
  // The usual case, without a coroutine of its own.
  if (const auto* id = std::get_if<SessionId>(&session); id && home(*id).loop().is_current())
    return home(*id).actor(*id)->call(std::move(call));
  return call_elsewhere(std::move(session), std::move(call));
}

rt::Task<Result<ActorAnswer>> SessionService::call_elsewhere(SessionRef session, Call call) {
  REPRISE_CO_TRY(const SessionId id, co_await resolve(std::move(session)));
  co_return co_await call_actor(id, std::move(call));
}

rt::Task<Result<>> SessionService::publish_ephemeral(SessionRef session,
                                                     std::vector<model::Event> events,
                                                     std::optional<Generation> lease) {
  REPRISE_CO_TRY(const SessionId id, co_await resolve(std::move(session)));
  rt::Loop& origin = *loops_[here()];
  Shard& shard = home(id);
  if (!co_await rt::switch_to(shard.loop())) co_return fail(home_is_busy());
  auto outcome = co_await shard.publish_ephemeral(id, std::move(events), lease);
  co_await rt::return_to(origin);
  co_return outcome;
}

rt::Task<Result<>> SessionService::join(SessionId session, std::string client_id, bool is_named) {
  rt::Loop& origin = *loops_[here()];
  Shard& shard = home(session);
  if (!co_await rt::switch_to(shard.loop())) co_return fail(home_is_busy());
  auto outcome = shard.actor(session)->subscribers().connect(client_id, is_named, clock_.now());
  co_await rt::return_to(origin);
  co_return outcome;
}

void SessionService::leave(SessionId session, std::string client_id) {
  Shard& shard = home(session);
  shard.loop().post([this, &shard, session, client_id = std::move(client_id)] {
    if (const auto actor = shard.loaded(session))
      actor->subscribers().disconnect(client_id, clock_.now());
  });
}

void SessionService::on_end(const std::function<void(SessionId)>& told) {
  for (const auto& shard : shards_) shard->on_end(told);
}

void SessionService::on_removed(const std::function<void(SessionId)>& told) {
  for (const auto& shard : shards_) shard->on_removed(told);
}

void SessionService::observe(Observer& observer) {
  for (const auto& shard : shards_) shard->observe(observer);
}

rt::Task<> SessionService::close() {
  rt::Loop& origin = *loops_[here()];
  for (const auto& shard : shards_) {
    // Nothing new comes by now, so the mailbox has room soon.
    while (!co_await rt::switch_to(shard->loop())) co_await rt::yield(origin);
    co_await shard->close();
    co_await rt::return_to(origin);
  }
}

ShardProbe SessionService::probe() const {
  ShardProbe sum;
  for (const auto& shard : shards_) {
    const ShardProbe one = shard->probe();
    sum.loaded += one.loaded;
    sum.created += one.created;
    sum.loads += one.loads;
    sum.evicted += one.evicted;
    sum.fenced += one.fenced;
  }
  return sum;
}

}  // namespace reprise::session
