// SessionBrowser: one session's context and tabs while they are in memory.
//
// It keeps the tabs that the pages of its context are, tells of every change by an event of the
// session (model/browsing.h), and lets one command at a time work on it, in the order in which they
// came. The context may go while the session lives: its browser crashed, or it was put to sleep.
// Then tabs have no page until revive() opens them again, under the ids they had.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "browser/command_log.h"
#include "browser/download_keeper.h"
#include "browser/driver.h"
#include "browser/file_lender.h"
#include "browser/options.h"
#include "browser/pool.h"
#include "browser/proxy/context_proxy.h"
#include "browser/proxy/trouble_log.h"
#include "browser/state_keeper.h"
#include "browser/state_vault.h"
#include "model/browsing.h"
#include "rt/gate.h"
#include "rt/turns.h"
#include "session/artifacts.h"
#include "session/service.h"

namespace reprise::browser {

class AttachedClient;

// Why a context is closed for good when its session is over.
inline constexpr std::string_view kSessionEndReason = "the session ended";
// A snapshot that was handed out, for whoever asks what has changed since.
struct SeenSnapshot {
  std::string asked;  // how: one of another part of the page says nothing
  std::string text;
};

struct Tab {
  model::TabFacts facts;
  std::shared_ptr<Page> page;  // none while the context is away
  TimePoint last_seen_at;
  std::optional<SeenSnapshot> seen = std::nullopt;
};

// The world that pages see, and what they may see of it. Outlives all contexts.
struct Outside {
  rt::RealLoop& loop;
  rt::Resolver& resolver;
  ForbiddenPorts& ports;
  ProxyProbe& probe;
  std::shared_ptr<const UrlPolicy> policy = std::make_shared<const UrlPolicy>();
};

class SessionBrowser;

// Told, on the browsers' loop, that what a session's browser shows may have changed; never to do
// anything to it from within.
class BrowserWatcher {
 public:
  virtual ~BrowserWatcher() = default;
  virtual void browser_changed(SessionBrowser& browser) = 0;
};

// What a session's browser needs of its surroundings.
struct Surroundings {
  rt::Loop& loop;
  Outside& outside;
  const Clock& clock;
  Random& random;
  session::SessionService& sessions;
  session::ArtifactService& artifacts;
  StateVault& vault;
  BrowserWatcher* watcher = nullptr;
};

class SessionBrowser final : private ContextEvents,
                             public std::enable_shared_from_this<SessionBrowser> {
 public:
  SessionBrowser(Surroundings& around, Pool& pool, SessionId id, StreamId stream,
                 BrowserOptions options);
  ~SessionBrowser() override;

  // What was there before the server started, from the session's rows: it sleeps.
  void restore(model::ContextFacts context, std::vector<model::TabFacts> tabs,
               std::optional<model::TabId> active);
  // Opens a context and its first tab, or the tabs it had; durable when it returns.
  rt::Task<Result<>> open(rt::CancelScope& scope);
  // Gives the context back. `status` says what becomes of it: closed for good, or hibernated.
  rt::Task<Result<>> release(model::ContextStatus status, std::string reason);

  // Nothing is opened any more, for this reason: whoever still waits for a turn is told.
  void retire(Error why) { retired_ = std::move(why); }

  bool is_open() const { return context_ != nullptr; }
  const std::optional<model::ContextFacts>& facts() const { return facts_; }
  const BrowserOptions& options() const { return options_; }
  SessionId session() const { return id_; }
  StreamId stream() const { return stream_; }
  Surroundings& around() { return around_; }
  Pool& pool() { return pool_; }
  Context* context() { return context_.get(); }
  // What pages may reach: what the session's app says, as it was when the context was opened.
  const UrlPolicy& policy() const { return *policy_; }
  // Why what its pages ask for fails.
  const TroubleLog& troubles() const { return *troubles_; }
  // The context, to be held on to; nullptr unless it is open.
  std::shared_ptr<Context> held_context() const {
    return facts_ && facts_->status == model::ContextStatus::kOpen ? context_ : nullptr;
  }
  // One command at a time.
  rt::Turns& turns() { return turns_; }

  // In the order of their index; closed ones are gone.
  const std::vector<std::shared_ptr<Tab>>& tabs() const { return tabs_; }
  std::shared_ptr<Tab> tab(model::TabId id) const;
  // How much the pages of all tabs have said and asked for so far.
  JournalMarks journal_marks() const;
  // The one that tools work on; nullptr without any.
  std::shared_ptr<Tab> active() const;
  // The page of the active tab; a new tab if there is none, or a fresh page if it has crashed.
  rt::Task<Result<std::shared_ptr<Tab>>> need_active(rt::CancelScope& scope);
  rt::Task<Result<std::shared_ptr<Tab>>> open_tab(std::string url);
  rt::Task<Result<>> close_tab(std::shared_ptr<Tab> tab);
  rt::Task<Result<>> activate(std::shared_ptr<Tab> tab);

  // Puts an event into the session's stream, behind everything that was to be told before it;
  // durable when it returns, with its number.
  rt::Task<Result<Seq>> record(model::Event event, std::optional<Generation> lease);
  // The same for what was to be told and nothing more.
  rt::Task<Result<>> flush();
  // Keeps a file of the session as an artifact; its bytes, whole.
  rt::Task<Result<>> keep(std::string path, std::string type, std::string bytes);

  // The bytes of an artifact of the session. kArtifactNotFound, kBodyTooLarge.
  rt::Task<Result<std::string>> fetch(std::string path, std::size_t max_bytes);
  // Programs that speak the browser's own protocol (browser/attached_client.h). The context is not
  // put to sleep while there are some, and they are told when it goes.
  void add_client(AttachedClient& client);
  void remove_client(AttachedClient& client);
  bool has_clients() const { return !clients_.empty(); }
  // Now or ever.
  bool had_clients() const { return had_clients_; }
  // A place for one; kTooManyRequests, kNoBrowser.
  Result<Pool::Seat> seat();
  // Input of theirs is refused while a person has taken over; also in contexts that come later.
  void set_taken_over(bool is_taken_over);
  bool is_taken_over() const { return is_taken_over_; }
  // Tells of what one of them did; stored soon, in the order of the calls.
  void record_later(model::Event event) { tell(std::move(event)); }
  // Tries again to store what could not be.
  void flush_soon();
  // What was told and is not stored yet.
  std::size_t untold() const { return told_.size() + writing_count_; }
  // The session was worked with: it does not expire.
  void touch();
  // The tab of a page by its name in the browser, also for a while after it was closed.
  std::optional<model::TabId> tab_of_target(std::string_view target) const;

  // Artifacts that its pages may read.
  FileLender& lender() { return lender_; }
  // The same for a client, which is told when they are there.
  void lend_later(std::vector<std::string> artifacts, FilesFound found);
  // What its pages download.
  DownloadKeeper& downloads() { return downloads_; }

  // Whether a page has opened a file chooser that is the tools' to answer: while a program is
  // attached or a person has taken over, it is theirs.
  bool waits_for_files(const Page& page) const {
    return page.file_chooser().has_value() && !has_clients() && !is_taken_over();
  }

  // Where the mouse was last put by coordinates.
  Point pointer;

  // Its cookies and local storage.
  StateKeeper& state() { return state_; }
  // A command has worked with it, or time has passed: what sites keep may have changed.
  void note_state(bool is_by_command);

  // When the session was last worked with.
  rt::Nanos last_used() const { return last_used_; }
  void note_use();

 private:
  void on_page_opened(const std::shared_ptr<Page>& page) override;
  void on_page_changed(Page& page) override;
  void on_page_closed(Page& page) override;
  void on_dialog(Page& page) override;
  void on_download(const DownloadNews& news) override { downloads_.on_news(context_, news); }
  void on_lost() override;

  std::shared_ptr<Tab> tab_of(const Page& page) const;
  void tell_tab(std::string_view type, const Tab& tab);
  void tell_context(std::string_view type);
  void close_facts(Tab& tab);
  void tell(model::Event event);
  void note_change();
  rt::Task<Result<Seq>> write(std::optional<model::Event> last, std::optional<Generation> lease);
  rt::Task<> flush_later();
  // Keeps the browser in memory until `work` is done and its gate was left.
  rt::Task<> hold(std::shared_ptr<SessionBrowser> self, rt::Task<> work);
  rt::Task<> abandon_context();
  rt::Task<> lend_now(std::vector<std::string> artifacts, FilesFound found);
  rt::Task<Result<>> open_context(rt::CancelScope& scope);
  rt::Task<> close_proxy();
  rt::Task<Result<>> reopen_tabs();
  rt::Task<> drop_lost();
  void end_clients(std::uint16_t code, std::string_view reason);
  rt::Task<> touch_session();

  Surroundings& around_;
  Pool& pool_;
  const SessionId id_;
  const StreamId stream_;
  BrowserOptions options_;
  std::optional<model::ContextFacts> facts_;
  std::shared_ptr<const UrlPolicy> policy_;
  std::unique_ptr<ContextProxy> proxy_;  // which all traffic of the context goes through
  const std::shared_ptr<TroubleLog> troubles_ = std::make_shared<TroubleLog>();  // the proxy's
  std::shared_ptr<Context> context_;
  std::optional<Pool::Place> place_;
  std::vector<std::shared_ptr<Tab>> tabs_;
  std::deque<std::pair<std::string, model::TabId>> closed_targets_;  // the latest ones
  std::optional<model::TabId> active_;
  std::uint64_t next_index_ = 0;
  std::shared_ptr<Tab> reopening_;  // the next page is this tab's
  rt::Turns turns_;
  rt::Turns writing_;
  std::vector<model::Event> told_;
  std::size_t writing_count_ = 0;  // told, and on their way to the store
  std::vector<AttachedClient*> clients_;
  bool had_clients_ = false;
  bool is_taken_over_ = false;
  bool is_flush_scheduled_ = false;
  rt::Gate flushing_;
  std::optional<Error> retired_;
  rt::Nanos last_used_{0};
  StateKeeper state_;
  FileLender lender_;
  DownloadKeeper downloads_;
  std::string state_note_;  // what the present context could not be given back
};

}  // namespace reprise::browser
