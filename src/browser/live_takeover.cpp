// How a browser is taken over and handed back.
#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "base/json_text.h"
#include "base/log.h"
#include "browser/limits.h"
#include "browser/live_service.h"
#include "browser/operator.h"
#include "browser/service.h"
#include "session/browser_rows.h"

namespace reprise::browser {
namespace {

constexpr std::size_t kLeaseBytes = 18;

Error busy() { return Error{Code::kOverloaded, "the browsers' loop has too much waiting"}; }

Error is_taken(const Operator& person) {
  Error error{Code::kTakenOver,
              person.by.empty() ? std::string("somebody has taken the browser over already")
                                : fmt::format("{} has taken the browser over already", person.by)};
  error.members = fmt::format(R"("takenOverBy":{},"takenAt":"{}")",
                              person.by.empty() ? "null" : json_string(person.by),
                              format_time(person.taken_at));
  return error;
}

rt::Task<Result<>> write_mark(store::AsyncStore& store, SessionId session, StreamId stream,
                              bool is_set) {
  store::Commit commit;
  if (is_set)
    session::put_takeover_row(commit, session, stream);
  else
    session::erase_takeover_row(commit, session, stream);
  REPRISE_CO_CHECK(co_await store.commit(std::move(commit)));
  co_return Result<>{};
}

}  // namespace

rt::Task<Result<TakeOver>> LiveService::take_over(session::SessionRef session, std::string by) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(browsers_.around_.loop)) co_return fail(busy());
  auto taken = co_await take_over_here(std::move(session), std::move(by));
  co_await rt::return_to(origin);
  co_return taken;
}

rt::Task<Result<TakeOver>> LiveService::take_over_here(session::SessionRef session,
                                                       std::string by) {
  REPRISE_CO_TRY(const Held browser, co_await browsers_.living(std::move(session)));
  if (is_closed_) co_return fail(Code::kShuttingDown, "the server is stopping");
  const SessionId id = browser->session();
  if (const auto other = operators_.find(id); other != operators_.end())
    co_return fail(is_taken(*other->second));
  Surroundings& around = browsers_.around_;
  const auto person = std::make_shared<Operator>(around.loop);
  std::string lease(kLeaseBytes, '\0');
  around.random.fill(reinterpret_cast<unsigned char*>(lease.data()), lease.size());
  person->lease = to_base64url(lease);
  person->session = id;
  person->stream = browser->stream();
  person->browser = browser;
  person->by = std::move(by);
  person->taken_at = around.clock.now();
  // From here on nobody else's commands run; what runs is let finish, and is followed by theirs.
  operators_.emplace(id, person);
  browser->set_taken_over(true);
  if (auto begun = co_await begin(person); !begun) {
    co_await end_take_over(person, "the take-over failed");
    co_return fail(std::move(begun).error());
  }
  const bool is_there = browser->facts()->status == model::ContextStatus::kOpen;
  if (!person->is_over && !is_there) co_await end_take_over(person, "the browser was released");
  if (person->is_over) {
    // It, or the session, ended before the pause.
    if (person->is_pausing)
      (void)co_await resume(id, person->stream, "the browser was released during a take-over");
    co_return fail(Code::kNoBrowser, "the browser was released meanwhile");
  }
  person->has_begun = true;
  probe_.take_overs.fetch_add(1, std::memory_order_relaxed);
  rt::spawn(person->running, operate(person));
  arm_lapse(person);
  browser_changed(*browser);
  co_return TakeOver{.lease = person->lease,
                     .by = person->by,
                     .taken_at = person->taken_at,
                     .expires_at = around.clock.now() + grace_,
                     .is_pausing = person->is_pausing};
}

// One that sleeps is woken: a person wants to see it. Then the session is paused.
rt::Task<Result<>> LiveService::begin(std::shared_ptr<Operator> person) {
  if (!person->browser->is_open()) {
    REPRISE_CO_TRY(const rt::Turns::Turn turn,
                   co_await person->browser->turns().take(browsers_.scope_));
    REPRISE_CO_CHECK(co_await person->browser->open(browsers_.scope_));
  }
  co_return co_await pause(*person);
}

// A session that an operator has paused before stays paused afterwards: it was not for this.
rt::Task<Result<>> LiveService::pause(Operator& person) {
  session::SessionService& sessions = browsers_.around_.sessions;
  REPRISE_CO_TRY(const session::SessionView view, co_await sessions.get(person.session));
  if (view.state.pause_reasons.contains(model::PauseReason::kOperator)) co_return Result<>{};
  // The mark first: whatever becomes of us, a session that is paused for this has one.
  REPRISE_CO_CHECK(co_await write_mark(sessions.store_here(), person.session, person.stream, true));
  person.is_pausing = true;
  model::Pause pause{.pause_reason = model::PauseReason::kOperator,
                     .reason = person.by.empty() ? std::string("the browser was taken over")
                                                 : "the browser was taken over by " + person.by};
  REPRISE_CO_CHECK(co_await sessions.call(
      person.session, {.action = model::Command(std::move(pause)), .wants_view = false}));
  co_return Result<>{};
}

rt::Task<Result<>> LiveService::hand_back(session::SessionRef session) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(browsers_.around_.loop)) co_return fail(busy());
  auto outcome = co_await hand_back_here(std::move(session));
  co_await rt::return_to(origin);
  co_return outcome;
}

rt::Task<Result<>> LiveService::hand_back_here(session::SessionRef session) {
  REPRISE_CO_TRY(const session::SessionView view,
                 co_await browsers_.around_.sessions.get(std::move(session)));
  const auto found = operators_.find(view.state.id);
  if (found == operators_.end() || found->second->is_over)
    co_return fail(Code::kConflict, "nobody has taken the browser over");
  co_await end_take_over(found->second, "the browser was handed back");
  co_return Result<>{};
}

// What the person did is recorded, and then the session goes on as it was before.
rt::Task<> LiveService::end_take_over(std::shared_ptr<Operator> person, std::string why) {
  if (std::exchange(person->is_over, true)) co_return;
  person->lapse.cancel();
  person->scope.cancel(Error{Code::kToolFailed, "cancelled: the take-over is over"});
  person->changed.notify();
  co_await person->running.empty();
  co_await rt::yield(browsers_.around_.loop);  // the gate is theirs, and they may go below
  if (is_closed_) co_return;
  person->browser->set_taken_over(false);
  if (person->is_pausing) {
    auto resumed = co_await resume(person->session, person->stream, std::move(why));
    if (!resumed)
      log::warning("a session could not be resumed after a take-over",
                   {{"session", person->session.to_string()}, {"detail", resumed.error().detail}});
  }
  // Only now may somebody else take over: their pause is not ours to end.
  operators_.erase(person->session);
  refresh(person->session);
}

rt::Task<Result<>> LiveService::resume(SessionId id, StreamId stream, std::string why) {
  session::SessionService& sessions = browsers_.around_.sessions;
  model::Resume resume{.reason = std::move(why), .only = model::PauseReason::kOperator};
  auto resumed = co_await sessions.call(
      id, {.action = model::Command(std::move(resume)), .wants_view = false});
  // One that has ended, or is gone, is not paused either.
  if (!resumed && resumed.error().code != Code::kSessionNotFound &&
      resumed.error().code != Code::kSessionEnded && resumed.error().code != Code::kBadTransition)
    co_return fail(std::move(resumed).error());
  co_return co_await write_mark(sessions.store_here(), id, stream, false);
}

void LiveService::arm_lapse(const std::shared_ptr<Operator>& person) {
  if (person->is_over) return;
  person->lapse.arm(browsers_.around_.loop.now() + grace_, [this, weak = std::weak_ptr(person)] {
    const auto still = weak.lock();
    if (still != nullptr && !is_closed_)
      rt::spawn(browsers_.background_, end_take_over(still, "the take-over lapsed"));
  });
}

void LiveService::claim(LiveTicket ticket, LiveClaim claim, std::string by) {
  browsers_.around_.loop.post([this, ticket, claim = std::move(claim), by = std::move(by)] {
    LiveSink* sink = sink_of(ticket);
    if (sink == nullptr) return;
    const auto found = operators_.find(ticket.session);
    const bool is_theirs = found != operators_.end() && !found->second->is_over &&
                           found->second->lease == claim.lease && found->second->by == by;
    if (!is_theirs)
      return sink->answer({.id = claim.id,
                           .error = Error{Code::kForbidden,
                                          "that is not a lease of yours that "
                                          "holds: it may have lapsed"}});
    found->second->viewer = ticket.viewer;
    found->second->lapse.cancel();
    sink->answer({.id = claim.id, .error = std::nullopt});
    browser_changed(*found->second->browser);
  });
}

void LiveService::input(LiveTicket ticket, LiveInput input) {
  browsers_.around_.loop.post([this, ticket, input = std::move(input)]() mutable {
    LiveSink* sink = sink_of(ticket);
    if (sink == nullptr) return;
    Operator* person = operator_of(ticket);
    if (person == nullptr || person->is_over)
      return sink->answer({.id = input.id,
                           .error = Error{Code::kForbidden,
                                          "only who has taken over may do that: POST "
                                          "…/browser/takeover, then claim the lease"}});
    const auto is_move = [](const LiveInput& one) {
      const auto* mouse = std::get_if<MouseInput>(&one.action);
      return mouse != nullptr && mouse->action == MouseAction::kMove;
    };
    // Of moves that wait only the last one matters.
    if (!person->queue.empty() && is_move(input) && is_move(person->queue.back().input)) {
      sink->answer({.id = person->queue.back().input.id, .error = std::nullopt});
      person->queue.back().input = std::move(input);
    } else if (person->queue.size() >= kMaxLiveInputs) {
      sink->answer({.id = input.id,
                    .error = Error{Code::kTooManyRequests, "too much waits to be done already"}});
    } else {
      person->queue.push_back({.viewer = ticket.viewer, .input = std::move(input)});
    }
    person->changed.notify();
  });
}

rt::Task<Result<>> LiveService::load() {
  store::AsyncStore& store = browsers_.around_.sessions.store_here();
  const std::string prefix = session::takeovers_prefix();
  std::string begin = prefix;
  for (bool has_more = true; has_more;) {
    REPRISE_CO_TRY(const auto page,
                   co_await store.scan({.begin = begin, .end = prefix_end(prefix)}));
    has_more = page.has_more;
    for (const auto& row : page.records) {
      begin = row.key + '\0';
      const auto id = SessionId::from_bytes(std::string_view(row.key).substr(prefix.size()));
      const auto stream = StreamId::from_bytes(row.value);
      if (!id || !stream) co_return fail(Code::kCorrupt, "a take-over does not decode");
      auto resumed = co_await resume(*id, *stream, "the server stopped during a take-over");
      if (!resumed)
        log::warning("a session could not be resumed after a take-over",
                     {{"session", id->to_string()}, {"detail", resumed.error().detail}});
    }
  }
  co_return Result<>{};
}

}  // namespace reprise::browser
