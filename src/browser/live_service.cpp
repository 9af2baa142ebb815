#include "browser/live_service.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/json_text.h"
#include "base/log.h"
#include "browser/limits.h"
#include "browser/operator.h"
#include "browser/service.h"

namespace reprise::browser {
namespace {

Error busy() { return Error{Code::kOverloaded, "the browsers' loop has too much waiting"}; }

std::string tab_state(const Tab& tab, bool is_active) {
  const model::TabFacts& facts = tab.facts;
  return fmt::format(
      R"({{"id":"{}","index":{},"status":"{}","url":{},"title":{},"isActive":{},"isPopup":{},)"
      R"("openerTabId":{}}})",
      facts.id.to_string(), facts.index, model::word(facts.status), json_string(facts.url),
      json_string(facts.title), is_active, facts.is_popup,
      facts.opener ? fmt::format("\"{}\"", facts.opener->to_string()) : "null");
}

std::string dialog_state(const Tab* tab) {
  if (tab == nullptr || tab->page == nullptr || !tab->page->dialog()) return "null";
  const Dialog& dialog = *tab->page->dialog();
  return fmt::format(R"({{"tabId":"{}","kind":{},"message":{},"defaultText":{}}})",
                     tab->facts.id.to_string(), json_string(dialog.kind),
                     json_string(dialog.message), json_string(dialog.default_text));
}

std::string files_state(const Tab* tab) {
  if (tab == nullptr || tab->page == nullptr || !tab->page->file_chooser()) return "null";
  return fmt::format(R"({{"tabId":"{}"}})", tab->facts.id.to_string());
}

std::string holder_state(const Operator* person) {
  if (person == nullptr) return "null";
  return fmt::format(R"({{"by":{},"takenAt":"{}","isConnected":{}}})",
                     person->by.empty() ? "null" : json_string(person->by),
                     format_time(person->taken_at), person->viewer.has_value());
}

std::string state_json(SessionId id, const SessionBrowser* browser, const Operator* person) {
  const auto active = browser == nullptr ? nullptr : browser->active();
  std::string tabs;
  if (browser != nullptr)
    for (const auto& tab : browser->tabs()) {
      if (!tabs.empty()) tabs += ',';
      tabs += tab_state(*tab, tab == active);
    }
  const bool has_context = browser != nullptr && browser->facts().has_value();
  const bool has_list = person != nullptr && person->options;
  return fmt::format(
      R"({{"type":"state","sessionId":"{}","browser":"{}","activeTabId":{},"tabs":[{}],)"
      R"("dialog":{},"fileChooser":{},"select":{},"takeOver":{}}})",
      id.to_string(), has_context ? model::word(browser->facts()->status) : "none",
      active ? fmt::format("\"{}\"", active->facts.id.to_string()) : "null", tabs,
      dialog_state(active.get()), files_state(active.get()),
      has_list ? person->options->offered : "null", holder_state(person));
}

}  // namespace

LiveService::LiveService(BrowserService& browsers, Millis grace)
    : browsers_(browsers), grace_(grace) {}

LiveService::~LiveService() = default;

LiveScene LiveService::scene_of(SessionId id) const {
  const auto found = browsers_.browsers_.find(id);
  const SessionBrowser* browser =
      found == browsers_.browsers_.end() ? nullptr : found->second.get();
  const auto person = operators_.find(id);
  LiveScene scene{
      .state = state_json(id, browser, person == operators_.end() ? nullptr : person->second.get()),
      .tab = {},
      .url = {},
      .title = {},
      .cast = nullptr};
  const auto active = browser == nullptr ? nullptr : browser->active();
  if (active == nullptr || active->page == nullptr || active->page->is_crashed()) return scene;
  scene.tab = active->facts.id.to_string();
  scene.url = active->facts.url;
  scene.title = active->facts.title;
  scene.cast = std::shared_ptr<Screencast>(active->page, &active->page->screencast());
  return scene;
}

// Many things change at once: all of them are shown together, when they are done.
void LiveService::browser_changed(SessionBrowser& browser) {
  const SessionId id = browser.session();
  if (is_closed_ || (!views_.contains(id) && !operators_.contains(id))) return;
  if (changed_.empty()) browsers_.around_.loop.post([this] { refresh_all(); });
  changed_.insert(id);
}

void LiveService::refresh_all() {
  for (const SessionId id : std::exchange(changed_, {})) refresh(id);
}

void LiveService::refresh(SessionId id) {
  if (is_closed_) return;
  if (const auto found = operators_.find(id); found != operators_.end()) {
    const auto person = found->second;
    const auto& facts = person->browser->facts();
    // A person has nothing in hand any more.
    if (facts && facts->status != model::ContextStatus::kOpen && person->has_begun &&
        !person->is_over)
      rt::spawn(
          browsers_.background_,
          end_take_over(person, fmt::format("the browser is {}", model::word(facts->status))));
  }
  if (const auto view = views_.find(id); view != views_.end()) view->second->show(scene_of(id));
}

rt::Task<Result<LiveTicket>> LiveService::watch(session::SessionRef session,
                                                std::shared_ptr<LiveSink> sink) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(browsers_.around_.loop)) co_return fail(busy());
  auto watched = co_await watch_here(std::move(session), std::move(sink));
  co_await rt::return_to(origin);
  co_return watched;
}

rt::Task<Result<LiveTicket>> LiveService::watch_here(session::SessionRef session,
                                                     std::shared_ptr<LiveSink> sink) {
  REPRISE_CO_TRY(const session::SessionView view,
                 co_await browsers_.around_.sessions.get(std::move(session)));
  const SessionId id = view.state.id;
  if (model::is_terminal(view.state.status))
    co_return fail(Code::kSessionEnded,
                   fmt::format("the session is {}", model::word(view.state.status)));
  REPRISE_CO_CHECK(co_await browsers_.browser_of(view));
  if (is_closed_) co_return fail(Code::kShuttingDown, "the server is stopping");
  auto& place = views_[id];
  if (place == nullptr) place = std::make_unique<LiveView>(browsers_.around_.loop, probe_);
  if (place->viewers() >= kMaxViewersPerSession) {
    probe_.refused.fetch_add(1, std::memory_order_relaxed);
    co_return fail(Code::kTooManyRequests,
                   fmt::format("{} look at this session already", place->viewers()));
  }
  place->show(scene_of(id));
  const std::uint64_t viewer = place->join(std::move(sink));
  // It may have ended while its browser was looked up, before anybody knew of this viewer.
  const auto now = co_await browsers_.around_.sessions.get(id);
  if (!now || model::is_terminal(now->state.status)) session_ended(id, "the session has ended");
  co_return LiveTicket{.session = id, .viewer = viewer};
}

void LiveService::leave(LiveTicket ticket) {
  browsers_.around_.loop.post([this, ticket] { leave_here(ticket); });
}

void LiveService::leave_here(LiveTicket ticket) {
  if (Operator* person = operator_of(ticket)) {
    person->viewer.reset();
    arm_lapse(operators_.at(ticket.session));
    browser_changed(*person->browser);
  }
  const auto found = views_.find(ticket.session);
  if (found == views_.end()) return;
  found->second->leave(ticket.viewer);
  if (found->second->viewers() == 0) views_.erase(found);
}

void LiveService::picture_taken(LiveTicket ticket) {
  browsers_.around_.loop.post([this, ticket] {
    const auto found = views_.find(ticket.session);
    if (found != views_.end()) found->second->picture_taken(ticket.viewer);
  });
}

void LiveService::state_taken(LiveTicket ticket) {
  browsers_.around_.loop.post([this, ticket] {
    const auto found = views_.find(ticket.session);
    if (found != views_.end()) found->second->state_taken(ticket.viewer);
  });
}

LiveSink* LiveService::sink_of(LiveTicket ticket) const {
  const auto found = views_.find(ticket.session);
  return found == views_.end() ? nullptr : found->second->sink(ticket.viewer);
}

Operator* LiveService::operator_of(LiveTicket ticket) const {
  const auto found = operators_.find(ticket.session);
  const bool is_theirs = found != operators_.end() && found->second->viewer == ticket.viewer;
  return is_theirs ? found->second.get() : nullptr;
}

void LiveService::session_ended(SessionId id, const std::string& reason) {
  if (const auto found = operators_.find(id); found != operators_.end())
    rt::spawn(browsers_.background_, end_take_over(found->second, reason));
  const auto view = views_.extract(id);
  if (view) view.mapped()->end(kLiveSessionEnded, reason);
}

// They stay in the table: their gate outlives its tasks.
rt::Task<> LiveService::wait_for(Operator& person) { co_await person.running.empty(); }

void LiveService::close() {
  is_closed_ = true;
  // What they paused is resumed when the server starts again.
  for (const auto& [id, person] : operators_) {
    person->is_over = true;
    person->lapse.cancel();
    person->scope.cancel(Error{Code::kShuttingDown, "the server is stopping"});
    person->changed.notify();
    rt::spawn(browsers_.background_, wait_for(*person));
  }
  views_.clear();
}

}  // namespace reprise::browser
