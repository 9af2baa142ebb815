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

rt::Task<Result<SessionService::Holder>> SessionService::holder_of(model::SessionKey key) {
  Holder holder;
  REPRISE_CO_TRY(const auto record, co_await store_here().get(name_key(key)));
  if (!record) {
    holder.only_if = store::Precondition::absent();
    co_return holder;
  }
  holder.only_if = store::Precondition::version(record->version);
  holder.holder = SessionId::from_bytes(record->value);
  if (!holder.holder) co_return fail(Code::kCorrupt, "a key's record does not decode");
  auto view = co_await look(*holder.holder, Freshness::kAsStored);
  if (!view && view.error().code != Code::kSessionNotFound) co_return fail(std::move(view).error());
  // Whether the key is free is not decided on what may have changed.
  if (view && view->is_provisional)
    co_return fail(Code::kNoSpace, "the store has no room to write");
  if (view && model::is_living(view->state.status)) holder.living = std::move(*view);
  co_return holder;
}

rt::Task<Result<store::Durable<Created>>> SessionService::create_at_home(
    model::Create create, std::optional<store::Precondition> key_hold) {
  rt::Loop& origin = *loops_[here()];
  create.id = SessionId::make(clock_.now(), random_);
  Shard& shard = home(create.id);
  if (!co_await rt::switch_to(shard.loop())) co_return fail(home_is_busy());
  auto created = co_await shard.create(std::move(create), key_hold);
  co_await rt::return_to(origin);
  co_return created;
}

rt::Task<Result<store::Durable<Created>>> SessionService::create(model::Create create) {
  if (create.name.empty()) co_return co_await create_at_home(std::move(create), std::nullopt);
  const model::SessionKey key{create.app, create.name};
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    REPRISE_CO_TRY(const Holder holder, co_await holder_of(key));
    if (holder.living) {
      Error taken{Code::kKeyTaken,
                  fmt::format("the living session {} holds the key '{}'",
                              holder.living->state.id.to_string(), key.to_string())};
      taken.members = "\"sessionId\":\"" + holder.living->state.id.to_string() + '"';
      co_return fail(std::move(taken));
    }
    auto created = co_await create_at_home(create, holder.only_if);
    if (created || created.error().code != Code::kWrongVersion) co_return created;
  }
  co_return fail(Code::kOverloaded, "too many callers race for this key");
}

rt::Task<Result<GotOrCreated>> SessionService::get_or_create(model::Create create) {
  const model::SessionKey key{create.app, create.name};
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    REPRISE_CO_TRY(const Holder holder, co_await holder_of(key));
    if (holder.living) {
      auto touched = co_await call_actor(holder.living->state.id, Call{.action = Touch{}});
      if (touched) co_return GotOrCreated{.view = *(*touched)->view, .is_created = false};
      const Code code = touched.error().code;
      // It ended or went between the two looks: look again.
      if (code == Code::kSessionEnded || code == Code::kSessionNotFound) continue;
      co_return fail(std::move(touched).error());
    }
    auto created = co_await create_at_home(create, holder.only_if);
    if (created) co_return GotOrCreated{.view = (*created)->view, .is_created = true};
    if (created.error().code != Code::kWrongVersion) co_return fail(std::move(created).error());
  }
  co_return fail(Code::kOverloaded, "too many callers race for this key");
}

rt::Task<Result<ActorAnswer>> SessionService::reset(SessionRef session, std::string reason) {
  REPRISE_CO_TRY(const SessionId id, co_await resolve(std::move(session)));
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    REPRISE_CO_TRY(const SessionView view, co_await look(id, Freshness::kAcknowledged));
    Call call{.action = model::Command(model::Reset{.reason = reason})};
    if (view.state.has_key()) {
      REPRISE_CO_TRY(const Holder holder, co_await holder_of(view.state.key()));
      if (holder.living && holder.living->state.id != id)
        co_return fail(
            Code::kKeyTaken,
            fmt::format("the living session {} holds the key '{}' by now",
                        holder.living->state.id.to_string(), view.state.key().to_string()));
      // The key's record is written anew also when it names this session already: a creation that
      // saw this session ended then finds that it has changed.
      call.key_hold = KeyHold{.is_own = holder.holder == id, .only_if = holder.only_if};
    }
    auto answer = co_await call_actor(id, std::move(call));
    if (answer || answer.error().code != Code::kWrongVersion) co_return answer;
  }
  co_return fail(Code::kOverloaded, "too many callers race for this key");
}

rt::Task<Result<>> SessionService::remove(SessionRef session, Remove removal) {
  REPRISE_CO_TRY(const SessionId id, co_await resolve(std::move(session)));
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    REPRISE_CO_TRY(const SessionView view, co_await look(id, Freshness::kAcknowledged));
    Call call{.action = removal, .wants_view = false};
    call.key_hold = KeyHold{};
    if (view.state.has_key()) {
      REPRISE_CO_TRY(const auto record, co_await store_here().get(name_key(view.state.key())));
      call.key_hold->is_own = record && record->value == id.view();
      call.key_hold->only_if =
          record ? store::Precondition::version(record->version) : store::Precondition::absent();
    }
    auto answer = co_await call_actor(id, std::move(call));
    if (answer) co_return Result<>{};
    if (answer.error().code != Code::kWrongVersion) co_return fail(std::move(answer).error());
  }
  co_return fail(Code::kOverloaded, "too many callers race for this key");
}

rt::Task<Result<>> SessionService::publish_ephemeral(SessionRef session,
                                                     std::vector<model::Event> events) {
  REPRISE_CO_TRY(const SessionId id, co_await resolve(std::move(session)));
  rt::Loop& origin = *loops_[here()];
  Shard& shard = home(id);
  if (!co_await rt::switch_to(shard.loop())) co_return fail(home_is_busy());
  auto outcome = co_await shard.publish_ephemeral(id, std::move(events));
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
  }
  return sum;
}

}  // namespace reprise::session
