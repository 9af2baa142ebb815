#include "api/mcp/sessions.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/json_text.h"

namespace reprise::api {
namespace {

std::unexpected<Error> not_found(std::string_view reason) {
  Error error{Code::kNotFound, {}};
  if (reason == "expired")
    error.detail = "the MCP session has expired; initialize again";
  else if (reason == "ended")
    error.detail = "the MCP session was ended; initialize again";
  else
    error.detail =
        "there is no such MCP session: it never existed here, or the server was restarted; "
        "initialize again";
  error.members = "\"reason\":" + json_string(reason);
  return fail(std::move(error));
}

}  // namespace

McpSessions::McpSessions(rt::Loop& home, const Clock& clock, Random& random, Options options)
    : home_(home), clock_(clock), random_(random), options_(options) {}

template <typename T>
rt::Task<Result<T>> McpSessions::at_home(rt::Task<Result<T>> work) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(home_))
    co_return fail(Code::kOverloaded, "too much waits for the MCP sessions");
  auto outcome = co_await std::move(work);
  co_await rt::return_to(origin);
  co_return outcome;
}

rt::Task<Result<std::string>> McpSessions::open(std::string owner, std::string client) {
  return at_home(open_here(std::move(owner), std::move(client)));
}
rt::Task<Result<McpSessions::View>> McpSessions::use(std::string id, std::string owner) {
  return at_home(use_here(std::move(id), std::move(owner)));
}
rt::Task<Result<McpSessions::View>> McpSessions::enter(std::string id, std::string owner,
                                                       std::string request,
                                                       std::shared_ptr<McpCancel> call) {
  return at_home(enter_here(std::move(id), std::move(owner), std::move(request), std::move(call)));
}
rt::Task<Result<>> McpSessions::cancel(std::string id, std::string owner, std::string request) {
  return at_home(cancel_here(std::move(id), std::move(owner), std::move(request)));
}
rt::Task<Result<>> McpSessions::end(std::string id, std::string owner) {
  return at_home(end_here(std::move(id), std::move(owner)));
}

bool McpSessions::is_idle(const Entry& entry, rt::Nanos since) const {
  return entry.calls.empty() && home_.now() - entry.used_at >= since;
}

void McpSessions::touch(Place place) {
  place->used_at = home_.now();
  by_use_.splice(by_use_.end(), by_use_, place);
}

void McpSessions::forget(Place place, std::string_view reason) {
  while (remembered_.size() >= options_.max_remembered) {
    reasons_.erase(remembered_.front());
    remembered_.pop_front();
  }
  remembered_.push_back(place->id);
  reasons_.emplace(place->id, reason);
  (reason == "expired" ? probe_.expired : probe_.ended).fetch_add(1, std::memory_order_relaxed);
  sessions_.erase(place->id);
  by_use_.erase(place);
  probe_.open.store(sessions_.size(), std::memory_order_relaxed);
}

// Those whose time is up are the first. One that was idle for a day and has a call now was touched
// when that began.
void McpSessions::expire() {
  while (!by_use_.empty() && is_idle(by_use_.front(), kMcpSessionIdle))
    forget(by_use_.begin(), "expired");
}

Result<McpSessions::Place> McpSessions::find(const std::string& id, std::string_view owner) {
  expire();
  const auto found = sessions_.find(id);
  if (found != sessions_.end() && found->second->owner == owner) return found->second;
  const auto gone = reasons_.find(id);
  return not_found(gone == reasons_.end() ? "unknown" : gone->second);
}

rt::Task<Result<std::string>> McpSessions::open_here(std::string owner, std::string client) {
  expire();
  if (sessions_.size() >= options_.max_sessions) {
    if (!is_idle(by_use_.front(), kMcpSessionMayGo)) {
      probe_.refused.fetch_add(1, std::memory_order_relaxed);
      co_return fail(Code::kTooManyRequests, "there are too many MCP sessions in use");
    }
    forget(by_use_.begin(), "expired");
  }
  std::array<unsigned char, 32> secret;
  random_.fill(secret.data(), secret.size());
  Entry entry{.id = to_base64url({reinterpret_cast<const char*>(secret.data()), secret.size()}),
              .owner = std::move(owner),
              .view = {.name = format_uuid(make_uuid_v7(clock_.now(), random_)),
                       .client = std::move(client)},
              .used_at = home_.now()};
  by_use_.push_back(std::move(entry));
  const Place place = std::prev(by_use_.end());
  sessions_.emplace(place->id, place);
  probe_.opened.fetch_add(1, std::memory_order_relaxed);
  probe_.open.store(sessions_.size(), std::memory_order_relaxed);
  co_return place->id;
}

rt::Task<Result<McpSessions::View>> McpSessions::use_here(std::string id, std::string owner) {
  REPRISE_CO_TRY(const Place place, find(id, owner));
  touch(place);
  co_return place->view;
}

rt::Task<Result<McpSessions::View>> McpSessions::enter_here(std::string id, std::string owner,
                                                            std::string request,
                                                            std::shared_ptr<McpCancel> call) {
  REPRISE_CO_TRY(const Place place, find(id, owner));
  touch(place);
  if (place->calls.size() >= kMaxMcpCallsPerSession)
    co_return fail(Code::kTooManyRequests, "too many calls of this MCP session are running");
  place->calls.push_back({std::move(request), std::move(call)});
  co_return place->view;
}

void McpSessions::leave(std::string id, std::shared_ptr<McpCancel> call) {
  // As many as calls, which are bounded.
  home_.post([this, id = std::move(id), call = std::move(call)] {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return;  // it was ended meanwhile
    std::erase_if(found->second->calls, [&](const Call& one) { return one.reach == call; });
    touch(found->second);
  });
}

rt::Task<Result<>> McpSessions::cancel_here(std::string id, std::string owner,
                                            std::string request) {
  REPRISE_CO_TRY(const Place place, find(id, owner));
  touch(place);
  for (const Call& call : place->calls) {
    if (call.request != request) continue;
    // As many as there are notifications, each of which is a request that is being answered.
    call.reach->loop.post([reach = call.reach] {
      if (reach->scope != nullptr)
        reach->scope->cancel(Error{Code::kCancelled, "the client has cancelled the call"});
    });
  }
  co_return Result<>{};
}

rt::Task<Result<>> McpSessions::end_here(std::string id, std::string owner) {
  REPRISE_CO_TRY(const Place place, find(id, owner));
  // What it has running goes on to its end: each call has a connection that waits for it.
  forget(place, "ended");
  co_return Result<>{};
}

}  // namespace reprise::api
