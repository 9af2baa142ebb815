#include "browser/session_browser.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/log.h"
#include "browser/app_policies.h"
#include "browser/attached_client.h"
#include "browser/limits.h"
#include "browser/timing.h"
#include "model/artifact.h"

namespace reprise::browser {
namespace {

using model::ContextStatus;
using model::TabStatus;
namespace type = model::event_type;

// Events of a session's tabs that wait for a store that cannot write.
constexpr std::size_t kMaxUntoldEvents = 1'000;
// Tabs that are gone and may yet be named by what is put on record of their end.
constexpr std::size_t kMaxClosedTargets = 16;

bool is_web_page(std::string_view url) {
  return url.starts_with("http://") || url.starts_with("https://") || url.starts_with("data:");
}

}  // namespace

SessionBrowser::SessionBrowser(Surroundings& around, Pool& pool, SessionId id, StreamId stream,
                               BrowserOptions options)
    : around_(around),
      pool_(pool),
      id_(id),
      stream_(stream),
      options_(std::move(options)),
      policy_(around.outside.policy),
      turns_(around.loop),
      writing_(around.loop),
      last_used_(around.loop.now()),
      state_(around, stream),
      lender_(around.loop, around.artifacts, id),
      downloads_(around, id) {
  state_.is_watched = [this] { return has_clients(); };
}

SessionBrowser::~SessionBrowser() = default;

void SessionBrowser::note_state(bool is_by_command) {
  if (facts_ && facts_->status != ContextStatus::kOpen) return;
  if (is_by_command)
    state_.note_change(context_);
  else
    state_.note_time(context_);
}

void SessionBrowser::note_use() { last_used_ = around_.loop.now(); }

void SessionBrowser::restore(model::ContextFacts context, std::vector<model::TabFacts> tabs,
                             std::optional<model::TabId> active) {
  facts_ = std::move(context);
  active_ = active;
  std::ranges::sort(tabs, {}, &model::TabFacts::index);
  for (model::TabFacts& facts : tabs) {
    next_index_ = std::max(next_index_, facts.index + 1);
    if (facts.status == TabStatus::kClosed) continue;
    tabs_.push_back(std::make_shared<Tab>(Tab{.facts = std::move(facts), .page = nullptr}));
  }
}

rt::Task<Result<>> SessionBrowser::open_context(rt::CancelScope& scope) {
  Outside& outside = around_.outside;
  REPRISE_CO_TRY(policy_, co_await policy_of_session(around_.sessions, id_, outside.policy));
  ProxyOptions through{.policy = policy_, .upstream = options_.proxy};
  through.on_refused = [log = troubles_](const std::string& url, const Refusal& refusal) {
    log->add(url, refusal.error());
  };
  through.on_failed = [log = troubles_](const std::string& url, const Error& error) {
    log->add(url, error);
  };
  REPRISE_CO_TRY(proxy_, ContextProxy::start(outside.loop, outside.resolver, outside.ports,
                                             outside.probe, std::move(through)));
  ContextOptions options = options_.context;
  options.proxy_server = proxy_->server();
  auto opened = co_await pool_.open(std::move(options), *this, scope);
  if (!opened) {
    co_await close_proxy();
    co_return fail(std::move(opened).error());
  }
  context_ = std::move(opened->context);
  context_->set_taken_over(is_taken_over_);
  place_ = std::move(opened->place);
  auto restored = co_await state_.restore(*context_);
  if (restored && retired_) restored = fail(*retired_);
  if (!restored) {
    co_await abandon_context();
    co_return fail(std::move(restored).error());
  }
  state_note_ = std::move(*restored);
  co_return Result<>{};
}

// Of one that nobody was told of.
rt::Task<> SessionBrowser::abandon_context() {
  if (const auto context = std::exchange(context_, nullptr))
    (void)co_await context->close(rt::Deadline::after(around_.loop, kPagePatience));
  place_.reset();
  co_await close_proxy();
}

rt::Task<> SessionBrowser::close_proxy() {
  const auto proxy = std::exchange(proxy_, nullptr);
  if (proxy != nullptr) co_await proxy->close();
}

rt::Task<Result<>> SessionBrowser::open(rt::CancelScope& scope) {
  if (retired_) co_return fail(*retired_);
  if (facts_ && facts_->status == ContextStatus::kOrphaned) co_await drop_lost();
  if (context_ != nullptr) co_return Result<>{};
  const bool is_revival = facts_ && facts_->status != ContextStatus::kClosed && !tabs_.empty();
  REPRISE_CO_CHECK(co_await open_context(scope));
  const TimePoint now = around_.clock.now();
  if (is_revival) {
    facts_->status = ContextStatus::kOpen;
    facts_->closed_at.reset();
    facts_->reason = state_note_.empty() ? "revived" : "revived, " + state_note_;
  } else {
    const auto id = model::ContextId::make(now, around_.random);
    facts_ = model::ContextFacts{.id = id,
                                 .key = id.to_string(),
                                 .pool_key = options_.pool_key,
                                 .opened_at = now,
                                 .closed_at = std::nullopt,
                                 .reason = state_note_};
  }
  tell_context(type::kContextOpened);
  Result<> opened;
  if (is_revival) {
    opened = co_await reopen_tabs();
  } else {
    auto tab = co_await open_tab("about:blank");
    if (!tab) opened = fail(std::move(tab).error());
  }
  if (!opened) {
    (void)co_await release(ContextStatus::kClosed, "it could not be opened");
    co_return opened;
  }
  co_return co_await flush();
}

// What is left of a context whose browser has gone.
rt::Task<> SessionBrowser::drop_lost() {
  co_await abandon_context();
  co_await downloads_.stop();
  co_await state_.stop();
  if (options_.wants_restore) co_return;
  if (const auto forgotten = co_await state_.forget(); !forgotten)
    log::warning("a session's cookies and storage could not be removed",
                 {{"detail", forgotten.error().detail}});
  const auto tabs = std::exchange(tabs_, {});
  active_.reset();
  for (const auto& tab : tabs) {
    close_facts(*tab);
    tell_tab(type::kTabClosed, *tab);
  }
}

// Tabs come back under their ids, at the addresses they had.
rt::Task<Result<>> SessionBrowser::reopen_tabs() {
  const auto active = active_;
  const auto tabs = tabs_;
  for (const auto& tab : tabs) {
    reopening_ = tab;
    const std::string url = is_web_page(tab->facts.url) ? tab->facts.url : "about:blank";
    auto page = co_await context_->open(url, rt::Deadline::after(around_.loop, kPagePatience));
    reopening_ = nullptr;
    if (!page) co_return fail(std::move(page).error());
  }
  active_ = active && tab(*active) ? active : tabs_.front()->facts.id;
  co_return Result<>{};
}

rt::Task<Result<>> SessionBrowser::release(ContextStatus status, std::string reason) {
  if (!facts_ || facts_->status == ContextStatus::kClosed) co_return Result<>{};
  if (status == ContextStatus::kClosed && reason == kSessionEndReason)
    end_clients(kSessionEndedClose, reason);
  else
    end_clients(kBrowserReleasedClose, reason);
  co_await downloads_.stop();
  co_await state_.stop();
  if (status == ContextStatus::kHibernated && context_ != nullptr &&
      facts_->status == ContextStatus::kOpen) {
    const auto held = context_;
    if (const auto saved = co_await state_.save(*held); !saved)
      log::warning("a session's cookies and storage could not be kept",
                   {{"session", id_.to_string()}, {"detail", saved.error().detail}});
  }
  const auto context = std::exchange(context_, nullptr);
  Result<> closed;
  if (context != nullptr)
    closed = co_await context->close(rt::Deadline::after(around_.loop, kPagePatience));
  // One that was done while the rest was being stopped is still being kept.
  co_await downloads_.stop();
  place_.reset();
  co_await close_proxy();
  facts_->status = status;
  facts_->closed_at = around_.clock.now();
  facts_->reason = std::move(reason);
  for (const auto& tab : tabs_) tab->page = nullptr;
  if (status == ContextStatus::kClosed) {
    if (const auto forgotten = co_await state_.forget(); !forgotten)
      log::warning("a session's cookies and storage could not be removed",
                   {{"session", id_.to_string()}, {"detail", forgotten.error().detail}});
    const auto tabs = std::exchange(tabs_, {});
    active_.reset();
    for (const auto& tab : tabs) {
      close_facts(*tab);
      tell_tab(type::kTabClosed, *tab);
    }
  }
  tell_context(type::kContextClosed);
  co_await flushing_.empty();
  auto told = co_await flush();
  // A session that has ended takes no more events: whoever ended it writes the rows.
  if (!told && told.error().code != Code::kSessionEnded &&
      told.error().code != Code::kSessionNotFound)
    co_return told;
  if (!closed) log::warning("a context did not close", {{"detail", closed.error().detail}});
  co_return Result<>{};
}

std::shared_ptr<Tab> SessionBrowser::tab(model::TabId id) const {
  const auto found =
      std::ranges::find_if(tabs_, [&](const auto& tab) { return tab->facts.id == id; });
  return found == tabs_.end() ? nullptr : *found;
}

std::shared_ptr<Tab> SessionBrowser::tab_of(const Page& page) const {
  const auto found =
      std::ranges::find_if(tabs_, [&](const auto& tab) { return tab->page.get() == &page; });
  return found == tabs_.end() ? nullptr : *found;
}

JournalMarks SessionBrowser::journal_marks() const {
  JournalMarks marks;
  for (const auto& tab : tabs_)
    if (tab->page) marks.add(tab->page);
  return marks;
}

std::shared_ptr<Tab> SessionBrowser::active() const { return active_ ? tab(*active_) : nullptr; }

rt::Task<Result<std::shared_ptr<Tab>>> SessionBrowser::need_active(rt::CancelScope& scope) {
  REPRISE_CO_CHECK(co_await open(scope));
  if (auto tab = active()) co_return tab;
  co_return co_await open_tab("about:blank");
}

rt::Task<Result<std::shared_ptr<Tab>>> SessionBrowser::open_tab(std::string url) {
  if (context_ == nullptr) co_return fail(Code::kNoBrowser, "the session has no browser");
  if (tabs_.size() >= kMaxTabsPerSession)
    co_return fail(
        Code::kToolFailed,
        fmt::format("the session has {} tabs, which is the most: close some", tabs_.size()));
  REPRISE_CO_TRY(
      const auto page,
      co_await context_->open(std::move(url), rt::Deadline::after(around_.loop, kPagePatience)));
  auto tab = tab_of(*page);
  if (tab == nullptr) co_return fail(Code::kToolFailed, "the tab was closed at once");
  co_return tab;
}

rt::Task<Result<>> SessionBrowser::close_tab(std::shared_ptr<Tab> tab) {
  if (tab->page == nullptr) co_return Result<>{};
  const auto page = tab->page;
  co_return co_await page->close(rt::Deadline::after(around_.loop, kPagePatience));
}

rt::Task<Result<>> SessionBrowser::activate(std::shared_ptr<Tab> tab) {
  if (tab->page != nullptr)
    REPRISE_CO_CHECK(
        co_await tab->page->bring_to_front(rt::Deadline::after(around_.loop, kPagePatience)));
  if (active_ == tab->facts.id) co_return Result<>{};
  active_ = tab->facts.id;
  tell_tab(type::kTabUpdated, *tab);
  co_return Result<>{};
}

void SessionBrowser::on_page_opened(const std::shared_ptr<Page>& page) {
  const TimePoint now = around_.clock.now();
  if (reopening_ != nullptr && page->opener().empty()) {
    const auto tab = std::exchange(reopening_, nullptr);
    tab->page = page;
    tab->facts.status = TabStatus::kOpen;
    tab->last_seen_at = now;
    tell_tab(type::kTabUpdated, *tab);
    return;
  }
  if (tabs_.size() >= kMaxTabsPerSession) return;  // nobody sees it: it goes with its context
  const auto opener = std::ranges::find_if(tabs_, [&](const auto& tab) {
    return tab->page != nullptr && tab->page->target() == page->opener();
  });
  const auto id = model::TabId::make(now, around_.random);
  const auto tab = std::make_shared<Tab>(Tab{
      .facts = {.id = id,
                .key = id.to_string(),
                .context = facts_ ? facts_->id : model::ContextId{},
                .index = next_index_++,
                .url = page->url(),
                .title = page->title(),
                .opener = opener == tabs_.end() ? std::nullopt : std::optional((*opener)->facts.id),
                .is_popup = !page->opener().empty(),
                .created_at = now,
                .closed_at = std::nullopt},
      .page = page,
      .last_seen_at = now});
  tabs_.push_back(tab);
  active_ = id;
  tell_tab(type::kTabOpened, *tab);
}

void SessionBrowser::on_page_changed(Page& page) {
  const auto tab = tab_of(page);
  if (tab == nullptr) return;
  const TabStatus status = page.is_crashed() ? TabStatus::kCrashed : TabStatus::kOpen;
  tab->last_seen_at = around_.clock.now();
  if (tab->facts.url == page.url() && tab->facts.title == page.title() &&
      tab->facts.status == status)
    return;
  tab->facts.url = page.url();
  tab->facts.title = page.title();
  tab->facts.status = status;
  state_.note_change(context_);
  tell_tab(type::kTabUpdated, *tab);
}

void SessionBrowser::close_facts(Tab& tab) {
  tab.page = nullptr;
  tab.facts.status = TabStatus::kClosed;
  tab.facts.closed_at = around_.clock.now();
}

void SessionBrowser::on_page_closed(Page& page) {
  const auto tab = tab_of(page);
  if (tab == nullptr) return;
  std::erase(tabs_, tab);
  // Who closed it is put on record after it is gone.
  closed_targets_.emplace_back(page.target(), tab->facts.id);
  if (closed_targets_.size() > kMaxClosedTargets) closed_targets_.pop_front();
  close_facts(*tab);
  if (active_ == tab->facts.id)
    active_ = tabs_.empty() ? std::nullopt : std::optional(tabs_.front()->facts.id);
  tell_tab(type::kTabClosed, *tab);
}

void SessionBrowser::on_dialog(Page&) { note_change(); }

void SessionBrowser::note_change() {
  if (around_.watcher != nullptr) around_.watcher->browser_changed(*this);
}

void SessionBrowser::on_lost() {
  if (!facts_) return;
  // The context itself stays until nobody works with it any more; its place is of no use.
  facts_->status = ContextStatus::kOrphaned;
  facts_->closed_at = around_.clock.now();
  facts_->reason = "the browser's process has ended";
  for (const auto& tab : tabs_) tab->page = nullptr;
  tell_context(type::kContextClosed);
  end_clients(kBrowserGoneClose, facts_->reason);
}

void SessionBrowser::tell_tab(std::string_view event, const Tab& tab) {
  // Updates of a tab that wait to be told are one: a page that changes its title without end costs
  // one event for each commit.
  if (event == type::kTabUpdated && !told_.empty() && told_.back().type == type::kTabUpdated) {
    const auto before = model::decode_tab(told_.back().data);
    if (before && before->id == tab.facts.id) told_.pop_back();
  }
  tell(model::tab_event(event, tab.facts, active_, around_.clock.now()));
}

void SessionBrowser::tell_context(std::string_view event) {
  tell(model::context_event(event, *facts_, around_.clock.now()));
}

void SessionBrowser::tell(model::Event event) {
  told_.push_back(std::move(event));
  note_change();
  flush_soon();
}

// What a page does by itself is told soon; what a command did is told with it.
rt::Task<> SessionBrowser::flush_later() {
  rt::CancelScope scope;
  (void)co_await rt::sleep_for(around_.loop, kTellDelay, scope);
  is_flush_scheduled_ = false;
  auto told = co_await flush();
  if (!told && told.error().code != Code::kSessionEnded)
    log::warning("what a browser did could not be stored",
                 {{"session", id_.to_string()}, {"detail", told.error().detail}});
}

rt::Task<Result<>> SessionBrowser::flush() {
  auto written = co_await write(std::nullopt, std::nullopt);
  if (!written) co_return fail(std::move(written).error());
  co_return Result<>{};
}

rt::Task<Result<Seq>> SessionBrowser::record(model::Event event, std::optional<Generation> lease) {
  return write(std::move(event), lease);
}

rt::Task<Result<Seq>> SessionBrowser::write(std::optional<model::Event> last,
                                            std::optional<Generation> lease) {
  rt::CancelScope scope;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await writing_.take(scope));
  std::vector<model::Event> events = std::exchange(told_, {});
  const std::size_t waiting = events.size();
  writing_count_ = waiting;
  if (last) events.push_back(std::move(*last));
  if (events.empty()) co_return Seq{};
  session::RecordChange change{.events = events,
                               .add_records = {},
                               .stream = stream_,
                               .visible_after = {},
                               .outlasts_reset = true};
  auto answer = co_await around_.sessions.call(
      id_, {.action = std::move(change), .lease = lease, .wants_view = false});
  writing_count_ = 0;
  for (AttachedClient* client : clients_) client->stored();
  if (answer) co_return (*answer)->last;
  const Code code = answer.error().code;
  // Nobody will ever hear of it; otherwise it is told with what comes next.
  const bool is_over =
      code == Code::kSessionEnded || code == Code::kSessionNotFound || code == Code::kWrongVersion;
  events.resize(waiting);
  if (!is_over && told_.size() + events.size() <= kMaxUntoldEvents)
    told_.insert(told_.begin(), std::make_move_iterator(events.begin()),
                 std::make_move_iterator(events.end()));
  co_return fail(std::move(answer).error());
}

rt::Task<Result<>> SessionBrowser::keep(std::string path, std::string content_type,
                                        std::string bytes) {
  session::NewArtifact what{.path = std::move(path),
                            .kind = model::ArtifactKind::kAttachment,
                            .content_type = std::move(content_type),
                            .announced_bytes = bytes.size(),
                            .if_match = {},
                            .if_none_match = {},
                            .by = {}};
  REPRISE_CO_TRY(auto upload, co_await around_.artifacts.begin(id_, std::move(what)));
  REPRISE_CO_CHECK(co_await around_.artifacts.write(*upload, std::move(bytes)));
  REPRISE_CO_CHECK(co_await around_.artifacts.finish(std::move(upload)));
  co_return Result<>{};
}

rt::Task<Result<std::string>> SessionBrowser::fetch(std::string path, std::size_t max_bytes) {
  REPRISE_CO_CHECK(model::check_artifact_path(path));
  REPRISE_CO_TRY(const auto view, co_await around_.artifacts.look(id_, path, std::nullopt));
  if (view.version.artifact.size > max_bytes)
    co_return fail(Code::kBodyTooLarge, fmt::format("artifact {} has {} bytes, at most {} fit",
                                                    path, view.version.artifact.size, max_bytes));
  REPRISE_CO_TRY(const auto content, co_await around_.artifacts.open(id_, view));
  std::string bytes(view.version.artifact.size, '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    REPRISE_CO_TRY(const std::size_t read,
                   co_await content->read(at, std::span(bytes.data() + at, bytes.size() - at)));
    at += read;
  }
  co_return bytes;
}

}  // namespace reprise::browser
