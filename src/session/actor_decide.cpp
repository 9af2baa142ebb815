// What becomes of the calls of one batch: decided on the draft, made into a commit, and applied
// once that is durable.
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/log.h"
#include "model/agent.h"
#include "model/artifact.h"
#include "model/event.h"
#include "session/actor_parts.h"
#include "session/browser_rows.h"
#include "session/feed.h"
#include "session/input_records.h"
#include "session/interactions.h"
#include "session/keys.h"
#include "session/limits.h"
#include "session/record_changes.h"
#include "session/tool_call_rows.h"
#include "session/webhooks/outbox.h"

namespace reprise::session {
namespace {

std::string encode_appended(Seq first, Seq last) {
  std::string bytes;
  put_varint(bytes, first.value);
  put_varint(bytes, last.value);
  return bytes;
}

}  // namespace

void SessionActor::take_queue(Batch& batch) {
  bool must_refile = false;
  // More than one thing may be due: each makes the next one possible.
  while (!is_removed_ && !is_provisional_ && batch.draft.state.is_due(batch.now)) {
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
  if (!std::holds_alternative<Look>(call.action) || batch.draft.state.is_due(batch.now))
    REPRISE_CHECK(check_can_write());
  if ((call.claim || call.lease) && call.recalled_under != loads_)
    return fail(Code::kWouldBlock, "the claim was looked up in an older state");
  if (call.lease && call.held_lease.agent != batch.draft.state.owner_agent)
    return fail(Code::kWouldBlock, "the lease was looked up for an earlier owner");
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
  } else if (const auto* lost = std::get_if<AgentLost>(&call.action)) {
    if (const auto due = model::on_agent_lost(batch.draft.state, lost->agent))
      answer = decide_command(call, *due, batch);
  } else if (const auto* change = std::get_if<RecordChange>(&call.action)) {
    answer = decide_change(*change, batch);
  }
  if (answer && call.lease) batch.hold(call.held_lease);
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

Result<Answer> SessionActor::decide_change(const RecordChange& change, Batch& batch) {
  const auto& state = batch.draft.state;
  if (model::is_terminal(state.status))
    return fail(Code::kSessionEnded, fmt::format("the session is {}", word(state.status)));
  const bool is_reset = !change.outlasts_reset && change.visible_after != state.visible_after;
  if (change.stream != batch.draft.stream || is_reset)
    return fail(Code::kWrongVersion, "the session was reset meanwhile");
  if (change.void_to && *change.void_to != state.inputs.void_to)
    return fail(Code::kWrongVersion, "an input was rolled back meanwhile");
  Answer answer{.first = state.head.next()};
  if (change.add_records) change.add_records(batch.commit, answer.first);
  add_events(change.events, batch);
  answer.last = state.head;
  return answer;
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
    const bool is_reserved = model::is_reserved_type(event.type);
    const bool is_audited = is_reserved && model::is_audited_type(event.type);
    if (is_reserved) {
      // The server's own events change the record; a client's change only the counters its entry
      // carries. Of the audit the record holds count and head, and of inputs what is open, which
      // nobody watches; those of artifacts change nothing of it that is watched.
      if (!before && !is_audited && !model::is_artifact_type(event.type) &&
          !model::is_input_type(event.type))
        before = filterable(state);
      batch.writes_record = true;
      batch.draft.slid_at.reset();
      add_interaction_change(batch.commit, batch.draft.stream, state, state.head.next(), event);
      add_input_change(batch.commit, batch.draft.stream, state, state.head.next(), event);
    }
    model::evolve(state, event);
    if (is_reserved) add_browser_rows(batch.commit, id_, batch.draft.stream, state.head, event);
    if (is_audited) {
      batch.entries.push_back(model::encode_entry(event, {.message_count = state.message_count},
                                                  model::audit_extra(state.audit.head)));
      add_tool_call_rows(batch.commit, batch.draft.stream, state.head, event);
    } else {
      batch.entries.push_back(model::encode_entry(event, {.message_count = state.message_count}));
    }
    batch.promises.add(state, event.type, batch.entries.back());
  }
  if (!before) return;
  ++batch.draft.revision;
  batch.feed_entries.push_back(
      encode_feed_entry({.id = id_, .before = std::move(before), .after = batch.draft}));
}

void SessionActor::finish(Batch& batch, bool must_refile) {
  store::Commit& commit = batch.commit;
  // Who comes while the commit is in flight can read its entries in the store, but not that the
  // stream ended or was opened again: such a batch is kept for them.
  const bool is_watched = context_.hub.has_subscribers(stored_.stream) || context_.is_observed() ||
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
    batch.promises.move_to(commit);
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
    if (context_.is_observed()) context_.observer->on_removed(stored_.state);
    if (context_.on_removed) context_.on_removed(id_);
  } else {
    const bool has_new_entries = batch.draft.state.head > stored_.state.head;
    const bool is_over = (model::is_terminal(batch.draft.state.status) &&
                          !model::is_terminal(stored_.state.status)) ||
                         batch.draft.state.visible_after != stored_.state.visible_after;
    if (batch.writes_record) batch.draft.version = durable->versions[batch.record_put];
    stored_ = std::move(batch.draft);
    if (batch.published && context_.is_observed())
      context_.observer->on_events(stored_.state, *batch.published);
    if (batch.published)
      hub.publish(durable.with<std::shared_ptr<const stream::Batch>>(std::move(batch.published)));
    else if (has_new_entries)
      hub.publish_gap(stream);
    batch.promises.announce();
    if (is_over && context_.on_end) context_.on_end(id_);
  }
  // Monitors go back to the store for feed entries: they are rare beside events, and this keeps one
  // way to read them.
  if (batch.is_removal || !batch.feed_entries.empty()) hub.publish_gap(feed_stream(feed_of(id_)));
}

}  // namespace reprise::session
