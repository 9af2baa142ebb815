#include "session/actor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/log.h"
#include "model/event.h"
#include "session/feed.h"
#include "session/keys.h"
#include "session/limits.h"
#include "session/record_changes.h"

namespace reprise::session {

// A call in the queue: its coroutine sleeps until the answer is there.
struct SessionActor::Waiting {
  SessionActor& actor;
  Call call;
  std::optional<Result<ActorAnswer>> outcome = std::nullopt;
  std::coroutine_handle<> handle{};

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    handle = waiting;
    actor.queue_.push_back(this);
    if (actor.is_running_) return;
    actor.is_running_ = true;
    // In a later turn, so that calls of the same turn share a commit.
    actor.context_.start_later(actor.shared_from_this());
  }
  Result<ActorAnswer> await_resume() { return std::move(*outcome); }
};

// One commit in the making.
struct SessionActor::Batch {
  explicit Batch(const StoredSession& from, TimePoint at) : draft(from), now(at) {}
  StoredSession draft;
  TimePoint now;
  std::vector<Waiting*> calls;
  std::vector<Result<Answer>> answers;
  std::vector<std::string> entries;
  std::vector<std::string> feed_entries;
  store::Commit commit;
  bool writes_record = false;
  bool is_removal = false;
  std::size_t record_put = 0;                // its place among the commit's puts
  std::shared_ptr<stream::Batch> published;  // kept only if somebody watches
};

namespace {

std::string encode_appended(Seq first, Seq last) {
  std::string bytes;
  put_varint(bytes, first.value);
  put_varint(bytes, last.value);
  return bytes;
}

Result<Answer> decode_appended(std::string_view bytes) {
  ByteReader reader(bytes);
  Answer answer;
  if (!reader.varint(answer.first.value) || !reader.varint(answer.last.value) || !reader.at_end())
    return fail(Code::kCorrupt, "a remembered answer does not decode");
  return answer;
}

}  // namespace

void ActorContext::start_later(std::shared_ptr<SessionActor> actor) {
  ready.push_back(std::move(actor));
  if (ready.size() == 1) hub.loop().post([this] { start_ready(); });
}

void ActorContext::start_ready() {
  const store::AsyncStore::Together together(store);
  // An actor that starts may have others called.
  for (const auto& actor : std::exchange(ready, {})) actor->start();
}

void SessionActor::start() {
  if (!rt::spawn(context_.gate, run())) refuse_all();
}

SessionActor::SessionActor(ActorContext& context, SessionId id) : context_(context), id_(id) {}

SessionActor::~SessionActor() { REPRISE_ASSERT(queue_.empty(), queue_.size()); }

void SessionActor::adopt(StoredSession created) {
  if (is_loaded_ || is_removed_ || is_running_) return;
  stored_ = std::move(created);
  is_loaded_ = true;
}

bool SessionActor::is_idle() const {
  return !is_running_ && queue_.empty() && in_flight_.empty() && subscribers_.connected() == 0;
}

SessionView SessionActor::view_of(const StoredSession& stored) const {
  return {stored.state, stored.revision, subscribers_.connected(), stored.stream, is_provisional_};
}

SessionView SessionActor::view() const {
  REPRISE_ASSERT(is_loaded_);
  return view_of(stored_);
}

std::optional<SessionView> SessionActor::current_view() const {
  if (must_load() || is_removed_ || stored_.state.is_expired(context_.clock.now()))
    return std::nullopt;
  return view();
}

// Not a coroutine itself: a call and its answer are large, and each layer would move both once
// more.
rt::Task<Result<ActorAnswer>> SessionActor::call(Call call) {
  auto self = shared_from_this();
  return call.claim ? call_claimed(std::move(self), std::move(call))
                    : enqueue(std::move(self), std::move(call));
}

rt::Task<Result<ActorAnswer>> SessionActor::call_claimed(std::shared_ptr<SessionActor> self,
                                                         Call call) {
  // A repetition of a call in flight waits until that one has ended, and then finds its answer.
  const std::string claim_key = call.claim->key_hash;
  rt::CancelScope scope;
  for (auto busy = in_flight_.find(claim_key); busy != in_flight_.end();
       busy = in_flight_.find(claim_key)) {
    const auto ended = busy->second;
    REPRISE_CO_CHECK(co_await ended->wait(scope));
  }
  in_flight_.emplace(claim_key, std::make_shared<rt::Signal>(context_.hub.loop()));
  auto outcome = co_await self->call_once(std::move(call));
  const auto ended = in_flight_.find(claim_key)->second;
  in_flight_.erase(claim_key);
  ended->notify();
  co_return outcome;
}

rt::Task<Result<ActorAnswer>> SessionActor::call_once(Call call) {
  for (;;) {
    if (must_load()) {
      auto loaded = co_await enqueue(shared_from_this(), Call{.action = Look{}});
      if (!loaded) co_return loaded;
    }
    call.recalled_under = loads_;
    REPRISE_CO_TRY(auto record, co_await context_.store.get(
                                    stream::idempotency_key(stored_.stream, *call.claim)));
    REPRISE_CO_TRY(auto remembered, stream::recall(record, *call.claim, context_.clock.now()));
    if (remembered) {
      REPRISE_CO_TRY(Answer answer, decode_appended(*remembered));
      answer.remembered = std::move(*remembered);
      co_return ActorAnswer::unchanged(std::move(answer));
    }
    if (call.refused_unless_repeated) co_return fail(*call.refused_unless_repeated);
    auto answer = co_await enqueue(shared_from_this(), call);
    // The session was loaded anew since the look: what failed before may have been written.
    if (answer || answer.error().code != Code::kWouldBlock) co_return answer;
  }
}

rt::Task<Result<ActorAnswer>> SessionActor::enqueue(std::shared_ptr<SessionActor> self, Call call) {
  if (is_removed_) co_return fail(Code::kSessionNotFound, "the session was deleted");
  if (queue_.size() >= kMaxQueuedPerSession)
    co_return fail(Code::kTooManyRequests,
                   fmt::format("{} calls wait for this session already", queue_.size()));
  Waiting waiting{*self, std::move(call)};
  co_return co_await waiting;
}

void SessionActor::refuse_all() {
  is_running_ = false;
  for (Waiting* waiting : std::exchange(queue_, {})) {
    waiting->outcome = fail(Code::kShuttingDown, "the server is stopping");
    waiting->handle.resume();
  }
}

rt::Task<> SessionActor::run() {
  const auto self = shared_from_this();
  int lost_races = 0;
  while (!queue_.empty()) {
    if (must_load() && !is_removed_) {
      is_loaded_ = false;
      if (auto loaded = co_await load(); !loaded) {
        // Those who wait now are told; whoever comes later tries again.
        for (Waiting* waiting : std::exchange(queue_, {})) {
          waiting->outcome = fail(loaded.error());
          waiting->handle.resume();
        }
        continue;
      }
      if (must_load()) continue;  // the store recovered meanwhile
    }
    Batch batch(stored_, context_.clock.now());
    take_queue(batch);
    if (batch.commit.is_empty()) {
      // Nothing to write: what was decided rests on durable state, activity noted in memory aside.
      if (!is_removed_) stored_ = std::move(batch.draft);
      for (std::size_t i = 0; i < batch.calls.size(); ++i) {
        auto& answer = batch.answers[i];
        batch.calls[i]->outcome =
            answer ? Result<ActorAnswer>(ActorAnswer::unchanged(std::move(*answer)))
                   : fail(std::move(answer).error());
      }
    } else {
      auto committed = co_await context_.store.commit(std::move(batch.commit));
      if (committed) {
        lost_races = 0;
        apply(batch, *committed);
        for (std::size_t i = 0; i < batch.calls.size(); ++i) {
          auto& answer = batch.answers[i];
          batch.calls[i]->outcome =
              answer ? Result<ActorAnswer>(ActorAnswer(committed->with(std::move(*answer))))
                     : fail(std::move(answer).error());
        }
      } else {
        is_loaded_ = false;
        was_loaded_ = true;
        if (may_decide_again(batch, committed.error()) && ++lost_races < kMaxKeyRaces) {
          queue_.insert(queue_.begin(), batch.calls.begin(), batch.calls.end());
          continue;
        }
        for (Waiting* waiting : batch.calls) waiting->outcome = fail(committed.error());
      }
    }
    for (Waiting* waiting : batch.calls) waiting->handle.resume();
  }
  is_running_ = false;
}

// A commit that found the stream or the record other than they were loaded changed nothing: its
// calls are decided again on what is there. A lost race for a key is for the caller, who looks at
// the key again.
bool SessionActor::may_decide_again(const Batch& batch, const Error& error) const {
  const bool writes_key = batch.calls.front()->call.key_hold.has_value();
  return error.code == Code::kWrongSequence || (error.code == Code::kWrongVersion && !writes_key);
}

// While the store cannot write, what a failed commit wrote after all does not show. State loaded
// then may be read, but nothing is decided on it, and it is loaded anew once the store has
// recovered.
bool SessionActor::must_load() const {
  if (!is_loaded_ || !is_provisional_) return !is_loaded_;
  // It may have recovered and failed again.
  const store::Store& store = context_.store.sync();
  return store.state() == store::StoreState::kWritable ||
         store.probe().failed_writes != failed_writes_;
}

Result<> SessionActor::check_can_write() const {
  if (!is_provisional_) return {};
  if (context_.store.sync().state() == store::StoreState::kReadOnly)
    return fail(Code::kReadOnly, "the store is read-only after a failed write");
  return fail(Code::kNoSpace, "the store has no room to write");
}

rt::Task<Result<>> SessionActor::load() {
  const std::uint64_t failed_writes = context_.store.sync().probe().failed_writes;
  const bool is_provisional = context_.store.sync().state() != store::StoreState::kWritable;
  REPRISE_CO_TRY(auto record, co_await context_.store.get(session_key(id_)));
  if (!record) {
    is_removed_ = true;
    if (was_loaded_) context_.hub.publish_removed(stored_.stream, "deleted");
    co_return fail(Code::kSessionNotFound, fmt::format("there is no session {}", id_.to_string()));
  }
  REPRISE_CO_TRY(StoredSession stored, decode_stored(record->value, record->version));
  REPRISE_CO_TRY(auto newest, co_await context_.store.last(stored.stream));
  REPRISE_CO_CHECK(bring_up_to(stored, newest));
  grant_unwritten_activity(stored, context_.clock.now());
  stored_ = std::move(stored);
  is_loaded_ = true;
  is_provisional_ = is_provisional;
  failed_writes_ = failed_writes;
  ++loads_;
  if (std::exchange(was_loaded_, is_provisional)) {
    // What the failed commit wrote after all was told to nobody: readers look for themselves.
    context_.hub.publish_gap(stored_.stream);
    context_.hub.publish_gap(feed_stream(feed_of(id_)));
  }
  co_return Result<>{};
}

void SessionActor::take_queue(Batch& batch) {
  bool must_refile = false;
  if (!is_removed_ && !is_provisional_ && batch.draft.state.is_expired(batch.now)) {
    const auto events = model::decide(&batch.draft.state, model::Expire{}, batch.now);
    REPRISE_ASSERT(events.has_value());
    add_events(*events, batch);
  }
  std::size_t taken = 0;
  while (taken < queue_.size()) {
    Waiting* waiting = queue_[taken];
    // What also writes the key's record may lose a race for it, and then fails alone.
    const bool is_alone = waiting->call.key_hold.has_value();
    if (is_alone && taken > 0) break;
    ++taken;
    must_refile = must_refile || std::holds_alternative<ExpireOrRefile>(waiting->call.action);
    batch.answers.push_back(decide(waiting->call, batch));
    if (is_alone) break;
  }
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(taken);
  if (end == queue_.end()) {
    batch.calls.swap(queue_);
  } else {
    batch.calls.assign(queue_.begin(), end);
    queue_.erase(queue_.begin(), end);
  }
  if (!is_removed_) finish(batch, must_refile);
}

Result<Answer> SessionActor::decide(const Call& call, Batch& batch) {
  if (is_removed_) return fail(Code::kSessionNotFound, "the session was deleted");
  // What is past its time is not shown as if it were not.
  if (!std::holds_alternative<Look>(call.action) || batch.draft.state.is_expired(batch.now))
    REPRISE_CHECK(check_can_write());
  if (call.claim && call.recalled_under != loads_)
    return fail(Code::kWouldBlock, "the claim was looked up in an older state");
  if (call.if_match && *call.if_match != batch.draft.revision)
    return fail(Code::kPreconditionFailed,
                fmt::format("If-Match names \"{}\" but the etag is \"{}\"", *call.if_match,
                            batch.draft.revision));
  Result<Answer> answer = Answer{};
  if (const auto* command = std::get_if<model::Command>(&call.action)) {
    answer = decide_command(call, *command, batch);
  } else if (const auto* patch = std::get_if<MergePatch>(&call.action)) {
    model::Patch merged{.metadata = std::nullopt,
                        .ttl_seconds = patch->ttl_seconds,
                        .owner_agent = patch->owner_agent};
    if (patch->metadata) {
      REPRISE_TRY(merged.metadata,
                  model::merge_patch(batch.draft.state.metadata, *patch->metadata));
    }
    answer = decide_command(call, model::Command(std::move(merged)), batch);
  } else if (const auto* touch = std::get_if<Touch>(&call.action)) {
    answer = decide_touch(*touch, batch);
  } else if (const auto* removal = std::get_if<Remove>(&call.action)) {
    answer = decide_removal(call, *removal, batch);
  }
  if (answer && call.wants_view && !batch.is_removal) answer->view = view_of(batch.draft);
  return answer;
}

Result<Answer> SessionActor::decide_command(const Call& call, const model::Command& command,
                                            Batch& batch) {
  REPRISE_TRY(const auto events, model::decide(&batch.draft.state, command, batch.now));
  if (std::holds_alternative<model::Reset>(command) && call.key_hold)
    batch.commit.puts.push_back({.key = name_key(batch.draft.state.key()),
                                 .value = std::string(id_.view()),
                                 .only_if = call.key_hold->only_if});
  Answer answer;
  if (!events.empty()) answer.first = batch.draft.state.head.next();
  add_events(events, batch);
  if (!events.empty()) answer.last = batch.draft.state.head;
  if (call.claim)
    stream::remember(batch.commit, batch.draft.stream, *call.claim,
                     encode_appended(answer.first, answer.last), batch.now);
  return answer;
}

Result<Answer> SessionActor::decide_touch(const Touch& touch, Batch& batch) {
  auto& state = batch.draft.state;
  if (model::is_terminal(state.status))
    return fail(Code::kSessionEnded, fmt::format("the session is {}: it has no time left to extend",
                                                 word(state.status)));
  state.last_activity_at = std::max(state.last_activity_at, batch.now);
  const Millis since_written = batch.now - stored_.slid_at.value_or(TimePoint{});
  const Millis tenth{state.ttl_seconds.value_or(0) * 100};
  if (touch.is_explicit || (state.ttl_seconds && since_written >= tenth)) {
    batch.draft.slid_at = batch.now;
    batch.writes_record = true;
  }
  return Answer{};
}

Result<Answer> SessionActor::decide_removal(const Call& call, const Remove& removal, Batch& batch) {
  const auto& state = batch.draft.state;
  if (removal.only_if_ended_by && !(state.ended_at && *state.ended_at <= *removal.only_if_ended_by))
    return fail(Code::kConflict, fmt::format("the session is {} by now", word(state.status)));
  batch.is_removal = true;
  if (!call.key_hold || !state.has_key()) return Answer{};
  std::string key = name_key(state.key());
  // Also a key of somebody else's must still be so: it may have become this session's.
  if (call.key_hold->is_own)
    batch.commit.erases.push_back({.key = std::move(key), .only_if = call.key_hold->only_if});
  else
    batch.commit.checks.push_back({.key = std::move(key), .only_if = call.key_hold->only_if});
  return Answer{};
}

void SessionActor::add_events(const std::vector<model::Event>& events, Batch& batch) {
  auto& state = batch.draft.state;
  std::optional<Filterable> before;
  for (const model::Event& event : events) {
    if (model::is_reserved_type(event.type)) {
      // The server's own events change the record; a client's change only the counters its entry
      // carries.
      if (!before) before = filterable(state);
      batch.draft.slid_at.reset();
    }
    model::evolve(state, event);
    batch.entries.push_back(model::encode_entry(event, {.message_count = state.message_count}));
  }
  if (!before) return;
  batch.writes_record = true;
  ++batch.draft.revision;
  batch.feed_entries.push_back(
      encode_feed_entry({.id = id_, .before = std::move(before), .after = batch.draft}));
}

void SessionActor::finish(Batch& batch, bool must_refile) {
  store::Commit& commit = batch.commit;
  // Who comes while the commit is in flight can read its entries in the store, but not that the
  // stream ended or was opened again: such a batch is kept for them.
  const bool is_watched = context_.hub.has_subscribers(stored_.stream) ||
                          model::is_terminal(stored_.state.status) ||
                          model::is_terminal(batch.draft.state.status);
  if (batch.is_removal) {
    add_removal(commit, stored_);
    commit.appends.push_back(
        {.stream = feed_stream(feed_of(id_)),
         .expected_head = std::nullopt,
         .entries = {encode_feed_entry(
             {.id = id_, .before = filterable(stored_.state), .after = std::nullopt})}});
    return;
  }
  if (!batch.entries.empty()) {
    if (is_watched) {
      batch.published = std::make_shared<stream::Batch>();
      batch.published->stream = stored_.stream;
      batch.published->first = stored_.state.head.next();
      batch.published->entries = batch.entries;
      batch.published->is_end = model::is_terminal(batch.draft.state.status);
      batch.published->end_reason = model::word(batch.draft.state.status);
    }
    commit.appends.push_back({.stream = stored_.stream,
                              .expected_head = stored_.state.head,
                              .entries = std::move(batch.entries)});
    batch.entries.clear();
  }
  if (!batch.feed_entries.empty())
    commit.appends.push_back({.stream = feed_stream(feed_of(id_)),
                              .expected_head = std::nullopt,
                              .entries = batch.feed_entries});
  const bool refiles = file_expiry(commit, stored_, batch.draft, must_refile);
  if (!batch.writes_record && !refiles) return;
  batch.writes_record = true;
  add_index_changes(commit, stored_.state, batch.draft.state);
  batch.record_put = commit.puts.size();
  commit.puts.push_back({.key = session_key(id_),
                         .value = encode_stored(batch.draft),
                         .only_if = store::Precondition::version(stored_.version)});
}

void SessionActor::apply(Batch& batch, const store::Durable<store::Committed>& durable) {
  stream::Hub& hub = context_.hub;
  const StreamId stream = stored_.stream;
  if (batch.is_removal) {
    is_removed_ = true;
    hub.publish_removed(stream, "deleted");
  } else {
    const bool has_new_entries = batch.draft.state.head > stored_.state.head;
    if (batch.writes_record) batch.draft.version = durable->versions[batch.record_put];
    stored_ = std::move(batch.draft);
    if (batch.published)
      hub.publish(durable.with<std::shared_ptr<const stream::Batch>>(std::move(batch.published)));
    else if (has_new_entries)
      hub.publish_gap(stream);
  }
  // Monitors go back to the store for feed entries: they are rare beside events, and this keeps one
  // way to read them.
  if (batch.is_removal || !batch.feed_entries.empty()) hub.publish_gap(feed_stream(feed_of(id_)));
}

}  // namespace reprise::session
