// What sessions do to keys: created, found or created, reset and removed. Whoever writes a key's
// record has looked at it before, and looks again if somebody else was quicker.
#include <fmt/format.h>

#include "session/keys.h"
#include "session/limits.h"
#include "session/service.h"

namespace reprise::session {

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
    model::Create create, std::optional<store::Precondition> key_hold,
    std::optional<Generation> lease) {
  rt::Loop& origin = *loops_[here()];
  REPRISE_CO_TRY(const AppHold app_hold, co_await prepare_for_app(create));
  create.id = SessionId::make(clock_.now(), random_);
  Shard& shard = home(create.id);
  if (!co_await rt::switch_to(shard.loop())) co_return fail(home_is_busy());
  auto created = co_await shard.create(std::move(create), key_hold, app_hold, lease);
  co_await rt::return_to(origin);
  co_return created;
}

rt::Task<Result<store::Durable<Created>>> SessionService::create(model::Create create,
                                                                 std::optional<Generation> lease) {
  if (create.name.empty()) {
    for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
      auto created = co_await create_at_home(create, std::nullopt, lease);
      // Without a key there was nothing to race for but the lease, of which the next look knows
      // more, and the app.
      if (created || created.error().code != Code::kWrongVersion) co_return created;
    }
    co_return fail(Code::kOverloaded, "too many callers change this app");
  }
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
    auto created = co_await create_at_home(create, holder.only_if, lease);
    if (created || created.error().code != Code::kWrongVersion) co_return created;
  }
  co_return fail(Code::kOverloaded, "too many callers race for this key");
}

rt::Task<Result<GotOrCreated>> SessionService::get_or_create(model::Create create,
                                                             std::optional<Generation> lease) {
  const model::SessionKey key{create.app, create.name};
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    REPRISE_CO_TRY(const Holder holder, co_await holder_of(key));
    if (holder.living) {
      auto touched =
          co_await call_actor(holder.living->state.id, Call{.action = Touch{}, .lease = lease});
      if (touched) co_return GotOrCreated{.view = *(*touched)->view, .is_created = false};
      const Code code = touched.error().code;
      // It ended or went between the two looks: look again.
      if (code == Code::kSessionEnded || code == Code::kSessionNotFound) continue;
      co_return fail(std::move(touched).error());
    }
    auto created = co_await create_at_home(create, holder.only_if, lease);
    if (created) co_return GotOrCreated{.view = (*created)->view, .is_created = true};
    if (created.error().code != Code::kWrongVersion) co_return fail(std::move(created).error());
  }
  co_return fail(Code::kOverloaded, "too many callers race for this key");
}

rt::Task<Result<ActorAnswer>> SessionService::reset(SessionRef session, std::string reason,
                                                    std::optional<Generation> lease) {
  REPRISE_CO_TRY(const SessionId id, co_await resolve(std::move(session)));
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    REPRISE_CO_TRY(const SessionView view, co_await look(id, Freshness::kAcknowledged));
    Call call{.action = model::Command(model::Reset{.reason = reason}), .lease = lease};
    // An ended one lives again, and counts.
    if (model::is_terminal(view.state.status)) {
      auto found = co_await app(view.state.app);
      if (found) REPRISE_CO_CHECK(co_await check_app_room(view.state.app, found->settings));
    }
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

rt::Task<Result<>> SessionService::remove(SessionRef session, Remove removal,
                                          std::optional<Generation> lease) {
  REPRISE_CO_TRY(const SessionId id, co_await resolve(std::move(session)));
  for (int tries = 0; tries < kMaxKeyRaces; ++tries) {
    REPRISE_CO_TRY(const SessionView view, co_await look(id, Freshness::kAcknowledged));
    Call call{.action = removal, .lease = lease, .wants_view = false};
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

}  // namespace reprise::session
