#include "session/lease.h"

#include <fmt/format.h>

#include "model/agent.h"
#include "session/keys.h"

namespace reprise::session {

store::RecordCheck HeldLease::check() const {
  return {.key = agent_key(agent), .only_if = store::Precondition::version(version)};
}

rt::Task<Result<HeldLease>> hold_lease(store::AsyncStore& store, std::string agent,
                                       Generation shown) {
  if (agent.empty())
    co_return fail(Code::kFenced,
                   fmt::format("the lease {} is stale: the session has no owner", shown.value));
  REPRISE_CO_TRY(const auto record, co_await store.get(agent_key(agent)));
  if (!record)
    co_return fail(Code::kFenced, fmt::format("the lease {} is stale: the owner '{}' is not "
                                              "registered",
                                              shown.value, agent));
  REPRISE_CO_TRY(const model::Agent owner, model::decode_agent(record->value));
  if (owner.loss)
    co_return fail(Code::kFenced, fmt::format("the lease {} is stale: the owner '{}' was lost",
                                              shown.value, agent));
  if (!owner.is_current(shown))
    co_return fail(Code::kFenced,
                   fmt::format("the lease {} is stale: the present one of the owner '{}' is {}",
                               shown.value, agent, owner.generation.value));
  co_return HeldLease{.agent = std::move(agent), .version = record->version};
}

}  // namespace reprise::session
