#include "session/shard.h"

#include "base/assert.h"
#include "base/json_text.h"
#include "model/event.h"
#include "session/feed.h"
#include "session/keys.h"
#include "session/record_changes.h"
#include "session/webhooks/outbox.h"

namespace reprise::session {

namespace {

// An ephemeral event has no number: it is not part of the stream.
std::string ephemeral_json(const model::Event& event) {
  std::string json = "{\"type\":";
  append_json_string(json, event.type);
  json += ",\"at\":\"";
  append_time(json, event.at);
  json += "\",\"data\":";
  json += event.data;
  if (!event.by.empty()) {
    json += ",\"by\":";
    append_json_string(json, event.by);
  }
  json += ",\"ephemeral\":true}";
  return json;
}

}  // namespace

Shard::Shard(store::AsyncStore& store, stream::Hub& hub, const Clock& clock, Random& random,
             std::size_t max_loaded)
    : store_(store),
      hub_(hub),
      clock_(clock),
      random_(random),
      max_loaded_(max_loaded),
      context_{store, hub, clock, gate_} {}

Shard::~Shard() = default;

std::shared_ptr<SessionActor> Shard::loaded(SessionId id) {
  const auto found = actors_.find(id);
  if (found == actors_.end()) return nullptr;
  if ((*found->second)->is_removed()) {
    forget(id);
    return nullptr;
  }
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return *found->second;
}

std::shared_ptr<SessionActor> Shard::actor(SessionId id) {
  if (auto known = loaded(id)) return known;
  loads_.fetch_add(1, std::memory_order_relaxed);
  return add(id);
}

std::shared_ptr<SessionActor> Shard::add(SessionId id) {
  auto made = std::make_shared<SessionActor>(context_, id);
  by_use_.push_front(made);
  actors_.emplace(id, by_use_.begin());
  forget_idle(*made);
  return made;
}

void Shard::forget(SessionId id) {
  const auto found = actors_.find(id);
  by_use_.erase(found->second);
  actors_.erase(found);
  loaded_count_.store(actors_.size(), std::memory_order_relaxed);
}

void Shard::forget_idle(const SessionActor& keep) {
  // At most a few a time: the cost stays with whoever makes the list longer.
  for (int tries = 0; tries < 4 && actors_.size() > max_loaded_; ++tries) {
    const auto oldest = std::prev(by_use_.end());
    if (!(*oldest)->is_idle() || oldest->get() == &keep) {
      by_use_.splice(by_use_.begin(), by_use_, oldest);
      continue;
    }
    actors_.erase((*oldest)->id());
    by_use_.erase(oldest);
    evicted_.fetch_add(1, std::memory_order_relaxed);
  }
  loaded_count_.store(actors_.size(), std::memory_order_relaxed);
}

rt::Task<Result<HeldLease>> Shard::hold_lease(std::string agent, Generation shown) {
  auto held = co_await session::hold_lease(store_, std::move(agent), shown);
  if (!held && held.error().code == Code::kFenced) ++context_.fenced;
  co_return held;
}

rt::Task<Result<store::Durable<Created>>> Shard::create(model::Create create,
                                                        std::optional<store::Precondition> key_hold,
                                                        AppHold app_hold,
                                                        std::optional<Generation> lease) {
  if (gate_.is_closed()) co_return fail(Code::kShuttingDown, "the server is stopping");
  const TimePoint now = clock_.now();
  REPRISE_CO_TRY(const auto events, model::decide(nullptr, model::Command(create), now));
  StoredSession session;
  session.stream = StreamId::make(now, random_);
  store::StreamAppend append{
      .stream = session.stream, .expected_head = Seq{0}, .entries = {}, .is_new_stream = true};
  store::Commit commit;
  if (lease) {
    REPRISE_CO_TRY(const HeldLease held, co_await hold_lease(create.owner_agent, *lease));
    commit.checks.push_back(held.check());
  }
  app_hold.add_to(commit);
  // Nothing is waited for between here and the commit: what is promised is by the present table.
  Promises promises(context_.hooks, create.app);
  for (const model::Event& event : events) {
    model::evolve(session.state, event);
    append.entries.push_back(
        model::encode_entry(event, {.message_count = session.state.message_count}));
    promises.add(session.state, event.type, append.entries.back());
  }
  commit.appends.push_back(std::move(append));
  promises.move_to(commit);
  file_expiry(commit, session, session, true);
  add_creation(commit, session);
  if (session.state.has_key()) {
    REPRISE_ASSERT(key_hold.has_value());
    commit.puts.push_back({.key = name_key(session.state.key()),
                           .value = std::string(session.state.id.view()),
                           .only_if = *key_hold});
  }
  commit.appends.push_back(
      {.stream = feed_stream(feed_of(session.state.id)),
       .expected_head = std::nullopt,
       .entries = {
           encode_feed_entry({.id = session.state.id, .before = std::nullopt, .after = session})}});
  // The id was made just now: nothing can be there, and is not looked for.
  commit.puts.push_back(
      {.key = session_key(session.state.id), .value = encode_stored(session), .only_if = {}});
  // The actor has its place before the commit: somebody may find the session in the store, and call
  // it, before the commit's completion has come back to this loop, and there must be one actor.
  const SessionId id = session.state.id;
  const auto made = add(id);
  auto committed = co_await store_.commit(std::move(commit));
  const auto place = actors_.find(id);
  const bool is_in_place = place != actors_.end() && *place->second == made;
  if (!committed) {
    if (is_in_place && made->is_idle()) forget(id);
    co_return fail(std::move(committed).error());
  }
  session.version = (*committed)->versions.back();
  created_.fetch_add(1, std::memory_order_relaxed);
  promises.announce();
  if (is_in_place) made->adopt(session);
  if (context_.is_observed()) context_.observer->on_created(session.state);
  hub_.publish_gap(feed_stream(feed_of(session.state.id)));
  co_return std::move(*committed).map([&](store::Committed&&) {
    return Created{{session.state, session.revision, 0, session.stream}};
  });
}

rt::Task<Result<>> Shard::publish_ephemeral(SessionId id, std::vector<model::Event> events,
                                            std::optional<Generation> lease) {
  const auto session = actor(id);
  auto view = session->current_view();
  if (!view) {
    REPRISE_CO_TRY(auto looked, co_await session->call(Call{.action = Look{}}));
    view = looked->view;
  }
  if (model::is_terminal(view->state.status))
    co_return fail(Code::kSessionEnded, "an ended session takes no more events");
  if (lease) REPRISE_CO_CHECK(co_await hold_lease(view->state.owner_agent, *lease));
  for (const model::Event& event : events) {
    hub_.publish_ephemeral(view->stream,
                           std::make_shared<const std::string>(ephemeral_json(event)));
  }
  co_return Result<>{};
}

rt::Task<> Shard::close() {
  gate_.close();
  co_await gate_.empty();
}

ShardProbe Shard::probe() const {
  return {loaded_count_.load(std::memory_order_relaxed), created_.load(std::memory_order_relaxed),
          loads_.load(std::memory_order_relaxed), evicted_.load(std::memory_order_relaxed),
          context_.fenced.load(std::memory_order_relaxed)};
}

}  // namespace reprise::session
