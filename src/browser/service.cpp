#include "browser/service.h"
#include "browser/timing.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "base/log.h"
#include "browser/stored_browser.h"
#include "browser/tools/catalogue.h"

namespace reprise::browser {
namespace {

using model::ContextStatus;

Error busy() { return Error{Code::kOverloaded, "the browsers' loop has too much waiting"}; }

Result<> check_living(const session::SessionView& view) {
  if (!model::is_terminal(view.state.status)) return {};
  return fail(Code::kSessionEnded,
              fmt::format("the session is {}", model::word(view.state.status)));
}

}  // namespace

BrowserService::BrowserService(rt::Loop& loop, Outside& outside, session::SessionService& sessions,
                               session::ArtifactService& artifacts, const Clock& clock,
                               Random& random, const model::Redactor& redactor,
                               BrowserServiceOptions options)
    : vault_(loop, artifacts.pool(), random, options.state_key_file),
      around_{.loop = loop,
              .outside = outside,
              .clock = clock,
              .random = random,
              .sessions = sessions,
              .artifacts = artifacts,
              .vault = vault_},
      redactor_(redactor),
      options_(options),
      external_(loop, sessions, clock),
      opening_(loop),
      live_(*this, options_.takeover_grace) {
  around_.watcher = &live_;
  const auto told = [this](SessionId id) { session_ended(id); };
  sessions.on_end(told);
  sessions.on_removed(told);
}

BrowserService::~BrowserService() = default;

Result<> BrowserService::check_free(const SessionBrowser& browser) {
  if (!browser.is_taken_over()) return {};
  return fail(Code::kTakenOver,
              "a person has taken the browser over: wait until they hand it back");
}

void BrowserService::add_pool(std::unique_ptr<Pool> pool) {
  std::string key = pool->options().key;
  pools_[std::move(key)] = std::move(pool);
}

BrowserProbe BrowserService::probe() const {
  return {.commands = commands_.load(),
          .failed_commands = failed_.load(),
          .captures = captures_.load(),
          .hibernated = hibernated_.load(),
          .kept_states = vault_.kept(),
          .sessions = open_.load()};
}

// The session's browser in memory; one that sleeps is brought there, and one that never was is
// made.
rt::Task<Result<BrowserService::Held>> BrowserService::browser_of(
    const session::SessionView& view) {
  const SessionId id = view.state.id;
  if (const auto found = browsers_.find(id); found != browsers_.end()) co_return found->second;
  const StreamId stream = view.stream;
  const auto active = view.state.active_tab;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await opening_.take(scope_));
  if (const auto found = browsers_.find(id); found != browsers_.end()) co_return found->second;
  REPRISE_CO_TRY(StoredBrowser stored,
                 co_await read_stored_browser(around_.sessions.store_here(), stream));
  REPRISE_CO_TRY(Pool* const pool, co_await pool_of(stored.options.pool_key));
  co_await find_proxy_password(stream, stored.options);
  const auto browser =
      std::make_shared<SessionBrowser>(around_, *pool, id, stream, std::move(stored.options));
  if (stored.context && stored.context->status != ContextStatus::kClosed)
    browser->restore(std::move(*stored.context), std::move(stored.tabs), active);
  if (is_closed_) co_return fail(Code::kShuttingDown, "the server is stopping");
  browsers_.emplace(id, browser);
  open_.store(browsers_.size());
  co_return browser;
}

// The options are stored as they are, and so the password is not among them.
rt::Task<Result<>> BrowserService::keep_proxy_password(StreamId stream,
                                                       const BrowserOptions& options) {
  std::string sealed;
  if (options.proxy && !options.proxy->password.empty()) {
    if (!vault_.is_on())
      co_return invalid("/proxy/password", "no password can be kept here: there is no key for it");
    REPRISE_CO_TRY(sealed, co_await vault_.seal(stream, options.proxy->password));
  }
  co_return co_await write_proxy_password(around_.sessions.store_here(), stream, std::move(sealed));
}

// Without it the proxy refuses, and says so: nothing goes around it.
rt::Task<> BrowserService::find_proxy_password(StreamId stream, BrowserOptions& options) {
  if (!options.proxy) co_return;
  auto sealed = co_await read_proxy_password(around_.sessions.store_here(), stream);
  if (!sealed || !*sealed) co_return;
  auto password = co_await vault_.unseal(stream, std::move(**sealed));
  if (password)
    options.proxy->password = std::move(*password);
  else
    log::warning("the password of a session's proxy cannot be read",
                 {{"detail", password.error().detail}});
}

rt::Task<Result<BrowserService::Held>> BrowserService::living(session::SessionRef session) {
  REPRISE_CO_TRY(const session::SessionView view,
                 co_await around_.sessions.get(std::move(session)));
  REPRISE_CO_CHECK(check_living(view));
  REPRISE_CO_TRY(Held browser, co_await browser_of(view));
  if (!browser->facts() || browser->facts()->status == ContextStatus::kClosed)
    co_return fail(Code::kNoBrowser, "the session has no browser: POST …/browser opens one");
  co_return browser;
}

rt::Task<Result<bool>> BrowserService::open(session::SessionRef session, BrowserOptions options) {
  REPRISE_CO_TRY(session::SessionView view, co_await around_.sessions.get(std::move(session)));
  REPRISE_CO_CHECK(check_living(view));
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(around_.loop)) co_return fail(busy());
  auto opened = co_await open_here(std::move(view), std::move(options));
  co_await rt::return_to(origin);
  co_return opened;
}

rt::Task<Result<bool>> BrowserService::open_here(session::SessionView view,
                                                 BrowserOptions options) {
  REPRISE_CO_CHECK(co_await pool_of(options.pool_key));
  REPRISE_CO_TRY(Held browser, co_await browser_of(view));
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await browser->turns().take(scope_));
  const bool has_context = browser->facts() && browser->facts()->status != ContextStatus::kClosed;
  if (has_context && options.storage_state)
    co_return fail(Code::kConflict,
                   "the session has a browser: DELETE it first, or use browser_set_storage_state");
  if (has_context) {
    if (!are_same(browser->options(), options))
      co_return fail(Code::kConflict,
                     "the session has a browser with other options: DELETE it first");
    REPRISE_CO_CHECK(co_await browser->open(scope_));
    co_return false;
  }
  // Another browser with other options takes the place of the one that never was.
  REPRISE_CO_CHECK(
      co_await write_browser_options(around_.sessions.store_here(), view.stream, options));
  REPRISE_CO_CHECK(co_await keep_proxy_password(view.stream, options));
  browser->retire(Error{Code::kConflict, "the session got a browser with other options meanwhile"});
  browsers_.erase(view.state.id);
  REPRISE_CO_TRY(Held made, co_await browser_of(view));
  REPRISE_CO_TRY(const rt::Turns::Turn its_turn, co_await made->turns().take(scope_));
  if (options.storage_state) made->state().begin_with(std::move(*options.storage_state));
  REPRISE_CO_CHECK(co_await made->open(scope_));
  co_return true;
}

rt::Task<Result<>> BrowserService::release(session::SessionRef session) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(around_.loop)) co_return fail(busy());
  Result<> released;
  auto browser = co_await living(std::move(session));
  if (browser) {
    auto turn = co_await (*browser)->turns().take(scope_);
    if (turn)
      released = co_await (*browser)->release(ContextStatus::kClosed, "asked for");
    else
      released = fail(std::move(turn).error());
  } else {
    released = fail(std::move(browser).error());
  }
  co_await rt::return_to(origin);
  co_return released;
}

rt::Task<Result<model::TabId>> BrowserService::open_tab(session::SessionRef session,
                                                        std::string url) {
  CommandCall call{
      .tool = "browser_tabs",
      .arguments = url.empty() ? R"({"action":"new"})"
                               : fmt::format(R"({{"action":"new","url":{}}})", json_string(url)),
      .by = {}};
  REPRISE_CO_TRY(const CommandAnswer answer,
                 co_await call_tool(std::move(session), std::move(call)));
  if (!answer.is_ok) co_return fail(Code::kToolFailed, answer.error);
  if (!answer.tab) co_return fail(Code::kToolFailed, "the tab was closed at once");
  co_return *answer.tab;
}

rt::Task<Result<>> BrowserService::close_tab(session::SessionRef session, model::TabId id) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(around_.loop)) co_return fail(busy());
  auto outcome = co_await with_tab(std::move(session), id, &SessionBrowser::close_tab);
  co_await rt::return_to(origin);
  co_return outcome;
}

rt::Task<Result<>> BrowserService::activate_tab(session::SessionRef session, model::TabId id) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(around_.loop)) co_return fail(busy());
  auto outcome = co_await with_tab(std::move(session), id, &SessionBrowser::activate);
  co_await rt::return_to(origin);
  co_return outcome;
}

rt::Task<Result<>> BrowserService::with_tab(session::SessionRef session, model::TabId id,
                                            TabAction action) {
  REPRISE_CO_TRY(Held browser, co_await living(std::move(session)));
  REPRISE_CO_CHECK(check_free(*browser));
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await browser->turns().take(scope_));
  REPRISE_CO_CHECK(check_free(*browser));
  REPRISE_CO_CHECK(co_await browser->open(scope_));
  const auto tab = browser->tab(id);
  if (tab == nullptr)
    co_return fail(Code::kTabNotFound, fmt::format("there is no open tab {}", id.to_string()));
  REPRISE_CO_CHECK(co_await (browser.get()->*action)(tab));
  co_return co_await browser->flush();
}

rt::Task<Result<Picture>> BrowserService::screenshot(session::SessionRef session, model::TabId id,
                                                     PictureOptions options) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(around_.loop)) co_return fail(busy());
  auto picture = co_await screenshot_here(std::move(session), id, std::move(options));
  co_await rt::return_to(origin);
  co_return picture;
}

rt::Task<Result<Picture>> BrowserService::screenshot_here(session::SessionRef session,
                                                          model::TabId id, PictureOptions options) {
  REPRISE_CO_TRY(Held browser, co_await living(std::move(session)));
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await browser->turns().take(scope_));
  REPRISE_CO_CHECK(co_await browser->open(scope_));
  const auto tab = browser->tab(id);
  if (tab == nullptr || tab->page == nullptr)
    co_return fail(Code::kTabNotFound, fmt::format("there is no open tab {}", id.to_string()));
  const auto page = tab->page;
  co_return co_await page->picture(std::move(options),
                                   rt::Deadline::after(around_.loop, kPagePatience));
}

rt::Task<Result<StorageState>> BrowserService::storage_state(session::SessionRef session) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(around_.loop)) co_return fail(busy());
  auto state = co_await state_here(std::move(session));
  co_await rt::return_to(origin);
  co_return state;
}

rt::Task<Result<StorageState>> BrowserService::state_here(session::SessionRef session) {
  REPRISE_CO_TRY(Held browser, co_await living(std::move(session)));
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await browser->turns().take(scope_));
  const auto context = browser->held_context();
  if (context == nullptr) co_return co_await browser->state().stored();
  co_return co_await browser->state().read(*context);
}

void BrowserService::session_ended(SessionId id) {
  around_.loop.post([this, id] {
    if (!is_closed_) rt::spawn(background_, end_session(id));
  });
}

// A reset keeps the session, and its browser.
rt::Task<> BrowserService::end_session(SessionId id) {
  const auto view = co_await around_.sessions.get(id);
  const bool is_gone = !view && view.error().code == Code::kSessionNotFound;
  if (view ? !model::is_terminal(view->state.status) : !is_gone) co_return;
  live_.session_ended(id, is_gone
                              ? "the session was deleted"
                              : fmt::format("the session is {}", model::word(view->state.status)));
  if (const auto found = browsers_.find(id); found != browsers_.end()) {
    const Held browser = found->second;
    browsers_.erase(found);
    open_.store(browsers_.size());
    browser->retire(Error{Code::kSessionEnded, std::string(kSessionEndReason)});
    co_await put_down(browser, ContextStatus::kClosed, std::string(kSessionEndReason));
  }
  if (is_gone) co_return;
  // Also of one that slept, and was not in memory.
  const auto written = co_await close_stored_browser(around_.sessions.store_here(), id,
                                                     view->stream, around_.clock.now());
  if (!written)
    log::warning("the end of a browser could not be stored", {{"detail", written.error().detail}});
}

rt::Task<> BrowserService::close() {
  is_closed_ = true;
  live_.close();
  scope_.cancel(Error{Code::kShuttingDown, "the server is stopping"});
  const auto browsers = std::exchange(browsers_, {});
  for (const auto& [id, browser] : browsers) {
    browser->retire(Error{Code::kShuttingDown, "the server is stopping"});
    rt::spawn(background_, put_down(browser, ContextStatus::kHibernated, "the server stopped"));
  }
  co_await background_.empty();
  for (const auto& [key, pool] : pools_) co_await pool->close();
  open_.store(0);
}

// Of one that is retired. What is running fails with its page, and what waits behind it opens
// nothing; one that was just being opened is there when its turn is over, and goes then.
rt::Task<> BrowserService::put_down(Held browser, ContextStatus status, std::string reason) {
  (void)co_await browser->release(status, reason);
  rt::CancelScope patient;
  const auto turn = co_await browser->turns().take(patient);
  if (turn && browser->is_open()) (void)co_await browser->release(status, std::move(reason));
}

}  // namespace reprise::browser
