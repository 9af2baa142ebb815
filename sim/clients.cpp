// What clients do, and what the answers they get promise them.
#include <fmt/format.h>

#include <algorithm>

#include "session/keys.h"
#include "sim/world.h"

namespace reprise::sim {
namespace {

// Refusals that say for certain that nothing was done.
bool is_refusal(Code code) {
  return code == Code::kWrongSequence || code == Code::kSessionEnded ||
         code == Code::kSessionNotFound;
}

// What any call may be told while the world misbehaves; everything else needs a reason of its own.
bool is_world_error(Code code) {
  return code == Code::kNoSpace || code == Code::kShuttingDown || code == Code::kOverloaded;
}

}  // namespace

void World::start_task(rt::Task<> task) {
  Process& process = *process_;
  some_loop().post(
      [&process, task = std::move(task)]() mutable { rt::spawn(process.gate, std::move(task)); });
}

void World::know(SessionId id) {
  if (std::find(sessions_.begin(), sessions_.end(), id) == sessions_.end()) sessions_.push_back(id);
}

std::optional<SessionId> World::some_session() {
  if (sessions_.empty()) return std::nullopt;
  // Mostly one of the newest, so that calls meet.
  const std::size_t newest = std::min<std::size_t>(sessions_.size(), 6);
  if (dice_.percent(80)) return sessions_[sessions_.size() - 1 - dice_.below(newest)];
  return dice_.pick(sessions_);
}

void World::act() {
  Process& process = *process_;
  const auto session = some_session();
  if (!session || (sessions_.size() < 60 && dice_.percent(8))) {
    const bool has_key = dice_.percent(70);
    const bool may_find = has_key && dice_.percent(50);
    // Several callers at once, for the same key.
    const auto creation = some_creation(has_key);
    const std::size_t callers = dice_.one_in(3) ? 3 : 1;
    for (std::size_t i = 0; i < callers; ++i) start_task(create(process, creation, may_find));
    return;
  }
  const SessionId id = *session;
  const std::string mark = fmt::format("mark-{}.", next_number_++);
  const std::uint64_t drawn = dice_.below(100);
  if (drawn < 40) return start_append();
  if (drawn < 50) {
    std::vector<AppendCall*> open;
    for (AppendCall& call : appends_)
      if (call.is_keyed && !call.is_refused && (call.is_unknown || call.number % 4 == 0))
        open.push_back(&call);
    if (!open.empty()) send(*dice_.pick(open));
    return;
  }
  if (drawn < 56) {
    if (readers_.size() < 24)
      readers_.push_back(std::make_unique<Reader>(Reader{.session = id, .last = {}}));
    return;
  }
  if (drawn < 58) {
    if (watchers_.size() >= 6) return;
    auto watcher = std::make_unique<Watcher>();
    if (dice_.one_in(2)) watcher->filter.app = dice_.one_in(2) ? "red" : "blue";
    if (dice_.one_in(2)) watcher->filter.statuses = {model::Status::kActive};
    watchers_.push_back(std::move(watcher));
    return;
  }
  if (drawn < 62)
    return start_task(move(process, id,
                           model::Pause{.pause_reason = dice_.one_of({model::PauseReason::kOperator,
                                                                      model::PauseReason::kInput}),
                                        .reason = mark},
                           mark));
  if (drawn < 66) return start_task(move(process, id, model::Resume{.reason = mark}, mark));
  if (drawn < 68) return start_task(move(process, id, model::Close{.reason = mark}, mark));
  if (drawn < 70)
    return start_task(
        move(process, id, model::Move{.to = dice_.pick(statuses_), .reason = mark}, mark));
  if (drawn < 72)
    return start_task(move(process, id, model::Cancel{.reason = mark, .error = "no"}, mark));
  if (drawn < 76) return start_task(reset(process, id, mark));
  if (drawn < 79) {
    removal_asked_.insert(id);
    return start_task(remove(process, id));
  }
  if (drawn < 85) return start_task(touch(process, id, dice_.one_in(3)));
  if (drawn < 90) {
    session::MergePatch patch_call;
    if (dice_.one_in(2)) patch_call.metadata = fmt::format("{{\"note\":\"{}\"}}", mark);
    if (dice_.one_in(2)) patch_call.owner_agent = dice_.one_of<std::string>({"", "ann", "bob"});
    if (dice_.one_in(4)) patch_call.ttl_seconds = dice_.between(1, 60);
    return start_task(patch(process, id, std::move(patch_call)));
  }
  if (drawn < 93) return start_task(whisper(process, id, next_number_++));
  start_task(read_page(process, id, Seq{dice_.below(10)}, dice_.between(1, 20)));
}

model::Create World::some_creation(bool has_key) {
  model::Create creation;
  creation.app = dice_.one_in(2) ? "red" : "blue";
  if (has_key) creation.name = fmt::format("n{}", dice_.below(3));
  creation.graph_id = dice_.one_in(2) ? "g" : "";
  if (dice_.one_in(2)) creation.status = model::Status::kActive;
  if (dice_.one_in(3)) creation.ttl_seconds = dice_.between(1, 40);
  if (dice_.one_in(5)) creation.max_lifetime_seconds = dice_.between(1, 60);
  return creation;
}

rt::Task<> World::create(Process& process, model::Create creation, bool may_find) {
  const model::SessionKey key{creation.app, creation.name};
  std::optional<session::SessionView> view;
  Code code = Code::kInternal;
  if (may_find) {
    auto found = co_await process.service.get_or_create(creation);
    if (found)
      view = found->view;
    else
      code = found.error().code;
  } else {
    auto created = co_await process.service.create(creation);
    if (created)
      view = (*created)->view;
    else
      code = created.error().code;
  }
  if (process.is_dead) co_return;
  if (!view) {
    const bool is_taken = code == Code::kKeyTaken && !may_find && !key.name.empty();
    if (!is_taken && !is_world_error(code))
      broken(fmt::format("a creation was refused with {}", error_row(code).name));
    co_return;
  }
  const SessionId id = view->state.id;
  know(id);
  if (!model::is_living(view->state.status)) broken("a creation answered with an ended session");
  if (view->state.app != key.app || view->state.name != key.name)
    broken("a creation answered with another key's session");
  if (!stream_of(id)) broken("a creation was told before it was durable");
}

void World::start_append() {
  const SessionId id = *some_session();
  appends_.emplace_back();
  AppendCall& call = appends_.back();
  call.number = next_number_++;
  call.session = id;
  call.is_keyed = dice_.percent(50);
  if (dice_.percent(30)) {
    const auto stream = stream_of(id);
    if (stream) call.expected = Seq{disk_.history(*stream).size()};
  }
  const std::size_t count = dice_.one_in(8) ? dice_.between(2, 40) : 1;
  for (std::size_t i = 0; i < count; ++i)
    call.events.push_back({.type = dice_.one_in(2) ? "message" : "log",
                           .at = {},
                           .data = fmt::format("{{\"call\":{},\"i\":{}}}", call.number, i),
                           .by = {}});
  send(call);
  // An impatient client sends it twice.
  if (call.is_keyed && dice_.one_in(4)) send(call);
}

void World::send(AppendCall& call) {
  ++call.in_flight;
  start_task(append(*process_, call));
}

rt::Task<> World::append(Process& process, AppendCall& call) {
  session::Call request{
      .action = model::Command(model::Append{.events = call.events, .expected_seq = call.expected}),
      .wants_view = dice_.one_in(2)};
  const std::string name = fmt::format("key-{}", call.number);
  if (call.is_keyed) request.claim = *stream::make_claim("events", name, name);
  const auto answer = co_await process.service.call(call.session, std::move(request));
  if (process.is_dead) co_return;
  --call.in_flight;
  if (answer) {
    check_append(call, **answer);
    co_return;
  }
  const Code code = answer.error().code;
  if (code == Code::kWrongSequence && !call.expected)
    broken(fmt::format("append {} expected no head and was told that it was wrong", call.number));
  if (!is_refusal(code)) {
    call.is_unknown = true;
    if (!is_world_error(code))
      broken(fmt::format("append {} was refused with {}", call.number, error_row(code).name));
    co_return;
  }
  // Deleted since, or refused: in the first case an earlier try may well have been stored.
  if (code == Code::kSessionNotFound) {
    if (!removal_asked_.contains(call.session) && service_options_.retention_seconds == 0)
      broken("a session nobody deleted is not found");
    co_return;
  }
  if (call.answer)
    broken(fmt::format("append {} was done, but a repetition was refused with {}", call.number,
                       error_row(code).name));
  // Sent twice, the other one may still be done: the session may be opened again meanwhile.
  if (call.in_flight == 0) call.is_refused = true;
}

void World::check_append(AppendCall& call, const session::Answer& answer) {
  if (call.is_refused) broken(fmt::format("append {} was refused and then done", call.number));
  if (call.answer && *call.answer != std::pair(answer.first, answer.last))
    broken(fmt::format("append {} got {} and then {}", call.number, call.answer->first.value,
                       answer.first.value));
  if (call.answer && !call.is_keyed) broken("an answer to no question");
  call.answer = std::pair(answer.first, answer.last);
  call.is_unknown = false;
  if (answer.last.value - answer.first.value + 1 != call.events.size())
    broken("an append's answer counts other events");
  if (call.expected && answer.first != call.expected->next())
    broken("an append did not follow the head it expected");
  const auto stream = stream_of(call.session);
  if (!stream) return broken("an append to a session that is not stored was answered");
  const auto& history = disk_.history(*stream);
  for (std::size_t i = 0; i < call.events.size(); ++i) {
    const std::size_t place = answer.first.value - 1 + i;
    if (place >= history.size())
      return broken(fmt::format("append {} was answered before it was durable", call.number));
    const auto entry = model::decode_entry(history[place]);
    if (!entry || entry->data != call.events[i].data || entry->type != call.events[i].type)
      return broken(fmt::format("append {} is not what is stored at its place", call.number));
  }
}

// The event that a call caused carries its mark, and is durable when the call is answered.
void World::check_mark(SessionId id, Seq at, const std::string& mark) {
  if (at.value == 0) return;  // it changed nothing
  const auto stream = stream_of(id);
  if (!stream || disk_.history(*stream).size() < at.value)
    return broken(fmt::format("{} was answered before it was durable", mark));
  const auto entry = model::decode_entry(disk_.history(*stream)[at.value - 1]);
  if (!entry || entry->data.find(mark) == std::string_view::npos)
    broken(fmt::format("{} is not what is stored at its place", mark));
}

rt::Task<> World::move(Process& process, SessionId id, model::Command command, std::string mark) {
  const auto answer = co_await process.service.call(id, session::Call{.action = command});
  if (process.is_dead) co_return;
  if (answer) {
    check_mark(id, (*answer)->first, mark);
    co_return;
  }
  const Code code = answer.error().code;
  if (code != Code::kBadTransition && !is_refusal(code) && !is_world_error(code))
    broken(fmt::format("a move was refused with {}", error_row(code).name));
}

rt::Task<> World::patch(Process& process, SessionId id, session::MergePatch change) {
  if (change.ttl_seconds) ttl_changed_.insert(id);
  const auto answer = co_await process.service.call(id, session::Call{.action = std::move(change)});
  if (process.is_dead || answer) co_return;
  const Code code = answer.error().code;
  if (!is_refusal(code) && !is_world_error(code))
    broken(fmt::format("a patch was refused with {}", error_row(code).name));
}

rt::Task<> World::reset(Process& process, SessionId id, std::string mark) {
  const auto answer = co_await process.service.reset(id, mark);
  if (process.is_dead) co_return;
  if (answer) {
    check_mark(id, (*answer)->first, mark);
    co_return;
  }
  const Code code = answer.error().code;
  if (code != Code::kBadTransition && code != Code::kKeyTaken && !is_refusal(code) &&
      !is_world_error(code))
    broken(fmt::format("a reset was refused with {}", error_row(code).name));
}

rt::Task<> World::remove(Process& process, SessionId id) {
  const auto removed = co_await process.service.remove(id);
  if (process.is_dead) co_return;
  if (removed) {
    removal_told_.insert(id);
    if (stored(id)) broken("a removal was told before it was durable");
  } else if (!is_refusal(removed.error().code) && !is_world_error(removed.error().code)) {
    broken(fmt::format("a removal was refused with {}", error_row(removed.error().code).name));
  }
}

rt::Task<> World::touch(Process& process, SessionId id, bool is_explicit) {
  const TimePoint at = time_.now();
  const auto answer = co_await process.service.call(
      id, session::Call{.action = session::Touch{.is_explicit = is_explicit}});
  if (process.is_dead) co_return;
  if (answer) {
    const auto& state = (*answer)->view->state;
    if (state.last_activity_at < at) broken("a touch was not noted");
    Touched& newest = touched_[id];
    if (state.last_activity_at > newest.at) newest = {state.last_activity_at, state.head};
  } else if (!is_refusal(answer.error().code) && !is_world_error(answer.error().code)) {
    broken(fmt::format("a touch was refused with {}", error_row(answer.error().code).name));
  }
}

rt::Task<> World::whisper(Process& process, SessionId id, std::uint64_t number) {
  std::vector<model::Event> events;
  events.push_back({.type = "log",
                    .at = time_.now(),
                    .data = fmt::format("{{\"whisper\":{}}}", number),
                    .by = {}});
  (void)co_await process.service.publish_ephemeral(id, std::move(events));
}

rt::Task<> World::read_page(Process& process, SessionId id, Seq after, std::size_t limit) {
  const auto page = co_await process.service.events(id, after, limit, {});
  if (process.is_dead || !page) co_return;
  const auto stream = stream_of(id);
  const auto& history = disk_.history(*stream);
  if (page->head.value > history.size()) broken("a page told of a head that is not durable");
  Seq previous{0};
  for (const auto& entry : page->entries) {
    if (entry.seq <= after || (previous.value != 0 && entry.seq != previous.next()))
      broken("a page of events has a gap");
    if (entry.seq.value > history.size() || history[entry.seq.value - 1] != entry.bytes)
      broken("a page shows what is not stored");
    previous = entry.seq;
  }
}

}  // namespace reprise::sim
