// ChromiumBrowser: one Chromium process, its contexts and their pages.
//
// It attaches itself to every page as it comes, before any script of it runs, so that a popup is
// what its context asks for from its first request on.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "browser/chromium/cdp_gate.h"
#include "browser/chromium/cdp_scope.h"
#include "browser/chromium/connection.h"
#include "browser/chromium/download_table.h"
#include "browser/chromium/launcher.h"
#include "browser/chromium/page.h"
#include "browser/chromium/storage_page.h"
#include "browser/driver.h"
#include "browser/forbidden_ports.h"
#include "rt/gate.h"
#include "rt/pool.h"
#include "rt/turns.h"

namespace reprise::browser::chromium {

class ChromiumBrowser;

class ChromiumContext final : public Context, public PageOwner {
 public:
  ChromiumContext(std::shared_ptr<ChromiumBrowser> browser, std::string name,
                  ContextOptions options, ContextEvents& events);
  ~ChromiumContext() override;

  const std::string& name() const override { return name_; }
  rt::Task<Result<std::shared_ptr<Page>>> open(std::string url, rt::Deadline deadline) override;
  rt::Task<Result<>> close(rt::Deadline deadline) override;
  rt::Task<> pages_told(rt::Deadline deadline) override;
  rt::Task<Result<rt::Descriptor>> take_download(std::string id) override;
  void cancel_download(const std::string& id) override;
  std::string download_directory() const override;
  void renew_downloads() override;
  rt::Task<Result<LentFile>> lend_file(std::string name) override;
  rt::Task<Result<std::vector<Cookie>>> cookies(rt::Deadline deadline) override;
  rt::Task<Result<>> set_cookies(std::vector<Cookie> cookies, rt::Deadline deadline) override;
  rt::Task<Result<>> clear_cookies(rt::Deadline deadline) override;
  rt::Task<Result<std::vector<OriginStorage>>> local_storage(bool is_complete,
                                                             rt::Deadline deadline) override;
  rt::Task<Result<>> set_local_storage(std::vector<OriginStorage> origins,
                                       rt::Deadline deadline) override;
  std::optional<ProtocolAddress> protocol_address() const override;
  std::unique_ptr<ProtocolClient> admit(ProtocolHooks hooks) override;
  void set_taken_over(bool is_taken_over) override { scope_->set_taken_over(is_taken_over); }

  // From the browser. Pages of contexts that clients made for themselves are the session's too, and
  // are left as the clients want them.
  void page_attached(PageBirth birth);
  void page_detached(const std::string& target);
  void page_moved(const std::string& target, std::string url);
  void page_crashed(const std::string& target);
  void download(const DownloadNews& news);
  bool has_frame(const std::string& frame) const;
  void lost();

 private:
  rt::Task<> prepare(std::shared_ptr<ChromiumPage> page);
  void page_changed(Page& page) override;
  void page_asks(Page& page) override;
  void page_shows(std::string_view url) override;
  // A new target's id; its page is being prepared.
  rt::Task<Result<std::string>> create(std::string url, rt::Deadline deadline);
  rt::Task<Result<std::unique_ptr<StoragePage>>> open_storage_page(rt::Deadline deadline);
  void close_storage_page(std::unique_ptr<StoragePage> page);

  std::shared_ptr<ChromiumBrowser> browser_;
  const std::string name_;
  const ContextOptions options_;
  ContextEvents& events_;
  const std::shared_ptr<SessionScope> scope_;
  bool is_closed_ = false;
  bool has_files_ = false;                                      // of its own, to be removed with it
  std::map<std::string, std::shared_ptr<ChromiumPage>> pages_;  // by target
  std::map<std::string, std::shared_ptr<rt::Signal>> preparing_;
  rt::Turns creating_;
  std::optional<std::vector<PageBirth>> held_births_;  // while it is not known whose they are
  rt::Turns storage_turns_;
  StoragePage* storage_page_ = nullptr;   // while there is one
  std::set<std::string> unread_origins_;  // which pages have shown, and may have written to
};

class ChromiumBrowser final : public Browser,
                              private CdpListener,
                              public std::enable_shared_from_this<ChromiumBrowser> {
 public:
  // Pages are kept from its DevTools port by `hold`.
  ChromiumBrowser(rt::RealLoop& loop, rt::Pool& pool, ProfileDirs& directories, Launched launched,
                  ForbiddenPorts::Hold hold, std::shared_ptr<BrowserFiles> files,
                  std::function<void()> on_gone);
  ~ChromiumBrowser() override;

  // Ready to make contexts.
  rt::Task<Result<>> greet(rt::Deadline deadline);

  rt::Task<Result<std::shared_ptr<Context>>> new_context(ContextOptions options,
                                                         ContextEvents& events,
                                                         rt::Deadline deadline) override;
  bool is_alive() const override { return connection_.is_open(); }
  int pid() const override { return pid_; }
  const std::string& version() const override { return launched_.product; }
  rt::Task<Result<std::vector<std::string>>> context_names(rt::Deadline deadline) override;
  rt::Task<Result<std::uint64_t>> memory() override;
  rt::Task<> stop() override;

  CdpConnection& connection() { return connection_; }
  rt::Gate& gate() { return gate_; }
  void forget(const ChromiumContext& context);
  // What lets new pages run when clients are attached to them (browser/chromium/cdp_gate.h).
  CdpGate& clients() { return clients_; }
  const std::optional<DevToolsAddress>& devtools() const { return launched_.devtools; }
  // A client of that context has made one for itself, or it is gone.
  void sub_context_changed(const std::string& context, const std::string& sub, bool is_created);
  // Files are worked with on the pool.
  const std::shared_ptr<BrowserFiles>& files() { return files_; }
  rt::Pool& pool() { return pool_; }

 private:
  rt::Task<> run(std::shared_ptr<ChromiumBrowser> self);
  void on_event(const std::string& session, std::string_view method,
                wire::JsonValue params) override;
  void on_closed() override;
  void attached(wire::JsonValue params);
  void download_begins(wire::JsonValue params);
  void download_goes_on(wire::JsonValue params);
  void refuse_download(const std::string& id, const KnownDownload& download);
  ChromiumContext* context_of(const std::string& name);
  CdpGateHooks gate_hooks();
  void resume_stranded(const std::string& target);

  rt::RealLoop& loop_;
  rt::Pool& pool_;
  ProfileDirs& directories_;
  Launched launched_;  // without its pipe, which is the connection's
  const ForbiddenPorts::Hold hold_;
  const std::shared_ptr<BrowserFiles> files_;
  const int pid_;
  std::function<void()> on_gone_;
  CdpConnection connection_;
  rt::Gate gate_;
  CdpGate clients_;
  std::map<std::string, ChromiumContext*> contexts_;
  std::map<std::string, std::string> target_contexts_;
  std::map<std::string, std::string> session_targets_;
  DownloadTable downloads_;
};

// The directory of the profiles. Drivers of one server share it: what an earlier server left is
// found, whichever of its pools there are now.
struct ProfileHome {
  ProfileHome(rt::Loop& loop, std::filesystem::path path)
      : directory(std::move(path)), opening(loop) {}
  const std::filesystem::path directory;
  std::unique_ptr<ProfileDirs> dirs;  // once it has been needed
  bool is_swept = false;
  rt::Turns opening;
};

struct DriverOptions {
  LaunchOptions launch;
  std::shared_ptr<ProfileHome> home;
  ForbiddenPorts* ports = nullptr;  // outlives the driver; needed where browsers have ports
};

class ChromiumDriver final : public Driver {
 public:
  // Both outlive it.
  ChromiumDriver(rt::RealLoop& loop, rt::Pool& pool, DriverOptions options);

  rt::Task<Result<>> sweep() override;
  rt::Task<Result<std::shared_ptr<Browser>>> start(std::function<void()> on_gone) override;
  std::string_view kind() const override;

 private:
  rt::Task<Result<>> open_directory();
  rt::RealLoop& loop_;
  rt::Pool& pool_;
  const DriverOptions options_;
};

}  // namespace reprise::browser::chromium
