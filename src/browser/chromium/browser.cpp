#include "browser/chromium/browser.h"
#include "browser/timing.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/json_text.h"
#include "base/log.h"
#include "browser/chromium/cdp_limits.h"
#include "browser/chromium/json_access.h"
#include "browser/memory.h"

namespace reprise::browser::chromium {

ChromiumBrowser::ChromiumBrowser(rt::RealLoop& loop, rt::Pool& pool, ProfileDirs& directories,
                                 Launched launched, ForbiddenPorts::Hold hold,
                                 std::shared_ptr<BrowserFiles> files, std::function<void()> on_gone)
    : loop_(loop),
      pool_(pool),
      directories_(directories),
      launched_(std::move(launched)),
      hold_(std::move(hold)),
      files_(std::move(files)),
      pid_(launched_.process->pid()),
      on_gone_(std::move(on_gone)),
      connection_(loop, std::move(launched_.pipe)),
      clients_(gate_hooks()) {
  connection_.listen("", this);
}

ChromiumBrowser::~ChromiumBrowser() = default;

rt::Task<Result<>> ChromiumBrowser::greet(rt::Deadline deadline) {
  rt::spawn(gate_, run(shared_from_this()));
  connection_.send("", "Target.setDiscoverTargets", R"({"discover":true})");
  REPRISE_CO_CHECK(co_await connection_.call(
      "", "Target.setAutoAttach",
      R"({"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true})", deadline));
  co_return Result<>{};
}

// The browser stays in memory until its pipe has ended and all that was asked of it is over.
rt::Task<> ChromiumBrowser::run(std::shared_ptr<ChromiumBrowser> self) {
  co_await connection_.run();
}

void ChromiumBrowser::on_closed() {
  const auto contexts = contexts_;
  for (const auto& [name, context] : contexts)
    if (name == context->name()) context->lost();
  if (on_gone_) std::exchange(on_gone_, {})();
}

rt::Task<> ChromiumBrowser::stop() {
  const auto self = shared_from_this();
  on_gone_ = {};
  // The pipe is the browser's life line.
  connection_.close();
  co_await gate_.empty();
  const auto retired = co_await retire(loop_, pool_, directories_, std::move(launched_));
  if (!retired)
    log::warning("what a browser left could not be removed", {{"detail", retired.error().detail}});
  const auto removed = co_await pool_.run(loop_, [files = files_] { return files->remove(); });
  if (!removed)
    log::warning("a browser's files could not be removed", {{"detail", removed.error().detail}});
}

rt::Task<Result<std::uint64_t>> ChromiumBrowser::memory() {
  co_return co_await pool_.run(
      loop_, [pid = pid_]() -> Result<std::uint64_t> { return memory_of_tree(pid).pss_bytes; });
}

rt::Task<Result<std::shared_ptr<Context>>> ChromiumBrowser::new_context(ContextOptions options,
                                                                        ContextEvents& events,
                                                                        rt::Deadline deadline) {
  std::string params = R"({"disposeOnDetach":true)";
  if (!options.proxy_server.empty())
    params += fmt::format(R"(,"proxyServer":{},"proxyBypassList":"<-loopback>")",
                          json_string(options.proxy_server));
  REPRISE_CO_TRY(const CdpReply reply, co_await connection_.call("", "Target.createBrowserContext",
                                                                 params + '}', deadline));
  const std::string name = reply.text("browserContextId");
  const std::string scope = fmt::format(R"("browserContextId":"{}")", name);
  if (!options.permissions.empty()) {
    std::string wanted;
    for (const std::string& permission : options.permissions) {
      if (!wanted.empty()) wanted += ',';
      wanted += json_string(permission);
    }
    auto granted = co_await connection_.call(
        "", "Browser.grantPermissions", fmt::format(R"({{"permissions":[{}],{}}})", wanted, scope),
        deadline);
    if (!granted) {
      connection_.send("", "Target.disposeBrowserContext", fmt::format("{{{}}}", scope));
      co_return invalid("/permissions", granted.error().detail);
    }
  }
  auto context =
      std::make_shared<ChromiumContext>(shared_from_this(), name, std::move(options), events);
  contexts_.emplace(name, context.get());
  context->renew_downloads();
  co_return std::shared_ptr<Context>(std::move(context));
}

void ChromiumBrowser::forget(const ChromiumContext& context) {
  for (const auto& [name, known] : contexts_)
    if (known == &context) downloads_.forget_context(name);
  std::erase_if(contexts_, [&](const auto& entry) { return entry.second == &context; });
}

void ChromiumBrowser::sub_context_changed(const std::string& context, const std::string& sub,
                                          bool is_created) {
  if (!is_created) {
    contexts_.erase(sub);
    downloads_.forget_context(sub);
  } else if (ChromiumContext* owner = context_of(context)) {
    contexts_.emplace(sub, owner);
  }
}

CdpGateHooks ChromiumBrowser::gate_hooks() {
  return {.start_timer =
              [&loop = loop_](std::chrono::milliseconds delay, std::function<void()> fire) {
                // It holds itself until it is due, or the loop is gone.
                const auto timer = std::make_shared<rt::Timer>(loop.timers());
                timer->arm(loop.now() + delay, [timer, fire = std::move(fire)] { fire(); });
              },
          .stranded = [this](std::string target) { resume_stranded(target); }};
}

// Nobody else is left who could let it run.
void ChromiumBrowser::resume_stranded(const std::string& target) {
  for (const auto& [session, known] : session_targets_)
    if (known == target) return connection_.send(session, "Runtime.runIfWaitingForDebugger");
  connection_.ask("", "Target.attachToTarget",
                  fmt::format(R"({{"targetId":{},"flatten":true}})", json_string(target)),
                  [weak = weak_from_this()](wire::JsonValue result) {
                    const auto browser = weak.lock();
                    if (!browser) return;
                    const std::string session = text_of(result, "sessionId");
                    browser->connection_.send(session, "Runtime.runIfWaitingForDebugger");
                    browser->connection_.send(
                        "", "Target.detachFromTarget",
                        fmt::format(R"({{"sessionId":{}}})", json_string(session)));
                  });
}

ChromiumContext* ChromiumBrowser::context_of(const std::string& name) {
  const auto found = contexts_.find(name);
  return found == contexts_.end() ? nullptr : found->second;
}

void ChromiumBrowser::attached(wire::JsonValue params) {
  const auto info = params.find("targetInfo");
  const std::string session = text_of(params, "sessionId");
  if (!info) return;
  const std::string target = text_of(*info, "targetId");
  const std::string context_name = text_of(*info, "browserContextId");
  ChromiumContext* context = context_of(context_name);
  const bool is_page = text_of(*info, "type") == "page";
  // Popups and workers run at the first resume: if clients are attached to them, it is theirs.
  const bool is_held_in_process = !is_page || is_set(*info, "canAccessOpener");
  const bool has_owner =
      is_set(params, "waitingForDebugger") && is_held_in_process &&
      clients_.paused(target, context_name,
                      is_page ? CdpGate::Pause::kOpener : CdpGate::Pause::kWorker, false);
  if (context == nullptr || !is_page) {
    if (!has_owner) connection_.send(session, "Runtime.runIfWaitingForDebugger");
    connection_.send("", "Target.detachFromTarget",
                     fmt::format(R"({{"sessionId":"{}"}})", session));
    return;
  }
  target_contexts_[target] = context->name();
  session_targets_[session] = target;
  context->page_attached({.target = target,
                          .session = session,
                          .opener = text_of(*info, "openerId"),
                          .url = text_of(*info, "url"),
                          .is_plain = context_name != context->name(),
                          .is_resumed_by_others = has_owner});
}

void ChromiumBrowser::on_event(const std::string&, std::string_view method,
                               wire::JsonValue params) {
  const auto known = [&](const std::string& target) -> ChromiumContext* {
    const auto found = target_contexts_.find(target);
    return found == target_contexts_.end() ? nullptr : context_of(found->second);
  };
  if (method == "Target.attachedToTarget") {
    attached(params);
  } else if (method == "Target.detachedFromTarget") {
    const auto found = session_targets_.find(text_of(params, "sessionId"));
    if (found == session_targets_.end()) return;
    const std::string target = found->second;
    session_targets_.erase(found);
    if (ChromiumContext* context = known(target)) context->page_detached(target);
    target_contexts_.erase(target);
  } else if (method == "Target.targetInfoChanged") {
    const auto info = params.find("targetInfo");
    const std::string target = info ? text_of(*info, "targetId") : "";
    if (ChromiumContext* context = known(target))
      context->page_moved(target, text_of(*info, "url"));
  } else if (method == "Target.targetCrashed") {
    const std::string target = text_of(params, "targetId");
    if (ChromiumContext* context = known(target)) context->page_crashed(target);
  } else if (method == "Browser.downloadWillBegin") {
    download_begins(params);
  } else if (method == "Browser.downloadProgress") {
    download_goes_on(params);
  }
}

// It names the frame, which may be any of a page, or one of a page that is gone already: then its
// directory tells whose it was, when it is done.
void ChromiumBrowser::download_begins(wire::JsonValue params) {
  const std::string id = text_of(params, "guid");
  const std::string frame = text_of(params, "frameId");
  if (!is_plain_name(id)) return;
  KnownDownload download{.context = {}, .name = text_of(params, "suggestedFilename")};
  for (const auto& [name, context] : contexts_)
    if (context->has_frame(frame)) download.context = name;
  if (!downloads_.add(id, download)) return refuse_download(id, download);
  if (ChromiumContext* context = context_of(download.context))
    context->download({.id = id, .state = DownloadState::kBegun, .suggested_name = download.name});
}

void ChromiumBrowser::refuse_download(const std::string& id, const KnownDownload& download) {
  ChromiumContext* owner = context_of(download.context);
  // It is found in its own context alone; where that is not known, each is asked.
  for (const auto& [name, context] : contexts_)
    if (owner == nullptr || context == owner)
      connection_.send(
          "", "Browser.cancelDownload",
          fmt::format(R"({{"guid":{},"browserContextId":"{}"}})", json_string(id), name));
  if (owner != nullptr)
    owner->download({.id = id, .state = DownloadState::kRefused, .suggested_name = download.name});
}

void ChromiumBrowser::download_goes_on(wire::JsonValue params) {
  const std::string id = text_of(params, "guid");
  KnownDownload* const known = downloads_.find(id);
  if (known == nullptr) return;
  const std::string state = text_of(params, "state");
  const auto bytes = [&](std::string_view name) {
    const auto value = params.find(name);
    const double number = value ? value->as_double().value_or(0) : 0;
    return number > 0 ? static_cast<std::uint64_t>(number) : 0;
  };
  DownloadNews news{.id = id,
                    .state = state == "completed"  ? DownloadState::kDone
                             : state == "canceled" ? DownloadState::kCancelled
                                                   : DownloadState::kGoing,
                    .suggested_name = {},
                    .received_bytes = bytes("receivedBytes"),
                    .total_bytes = bytes("totalBytes")};
  if (known->context.empty() && news.state == DownloadState::kDone) {
    const std::filesystem::path file = text_of(params, "filePath");
    const std::string owner = file.parent_path().filename().string();
    ChromiumContext* context = context_of(owner);
    if (context != nullptr && file.parent_path() == files_->downloads_of(owner)) {
      known->context = owner;
      context->download({.id = id, .state = DownloadState::kBegun, .suggested_name = known->name});
    }
  }
  if (ChromiumContext* context = context_of(known->context)) context->download(news);
  if (news.state != DownloadState::kGoing) downloads_.erase(id);
}

rt::Task<Result<std::vector<std::string>>> ChromiumBrowser::context_names(rt::Deadline deadline) {
  REPRISE_CO_TRY(const CdpReply reply,
                 co_await connection_.call("", "Target.getBrowserContexts", "{}", deadline));
  std::vector<std::string> names;
  if (const auto all = reply.result().find("browserContextIds"))
    for (const wire::JsonValue name : all->elements())
      names.push_back(name.as_string().value_or(""));
  co_return names;
}

ChromiumDriver::ChromiumDriver(rt::RealLoop& loop, rt::Pool& pool, DriverOptions options)
    : loop_(loop), pool_(pool), options_(std::move(options)) {}

std::string_view ChromiumDriver::kind() const {
  return options_.launch.kind == BinaryKind::kChromium ? "chromium" : "headless-shell";
}

rt::Task<Result<>> ChromiumDriver::open_directory() {
  ProfileHome& home = *options_.home;
  rt::CancelScope scope;
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await home.opening.take(scope));
  if (home.dirs != nullptr) co_return Result<>{};
  REPRISE_CO_TRY(home.dirs, co_await pool_.run(loop_, [path = home.directory] {
    return ProfileDirs::open(path);
  }));
  co_return Result<>{};
}

rt::Task<Result<>> ChromiumDriver::sweep() {
  // A server that never needed a browser leaves nothing, and makes nothing.
  ProfileHome& home = *options_.home;
  std::error_code ignored;
  if (home.is_swept || !std::filesystem::exists(home.directory, ignored)) co_return Result<>{};
  REPRISE_CO_CHECK(co_await open_directory());
  home.is_swept = true;
  REPRISE_CO_TRY(const auto swept,
                 co_await pool_.run(loop_, [&home] { return home.dirs->sweep(); }));
  if (swept.killed + swept.removed > 0)
    log::info("what an earlier server left was removed",
              {{"browsers", swept.killed}, {"profiles", swept.removed}});
  co_return Result<>{};
}

rt::Task<Result<std::shared_ptr<Browser>>> ChromiumDriver::start(std::function<void()> on_gone) {
  REPRISE_CO_CHECK(co_await open_directory());
  rt::CancelScope scope;
  const rt::Deadline deadline = rt::Deadline::after(loop_, kPagePatience);
  ProfileDirs& directories = *options_.home->dirs;
  auto launched = co_await launch(loop_, pool_, directories, options_.launch, scope, deadline);
  if (!launched)
    co_return fail(
        launched.error().code == Code::kNotFound ? Code::kUnsupportedBrowser : Code::kBrowserError,
        launched.error().detail);
  auto files = co_await pool_.run(loop_, [&directories, &launched] {
    return BrowserFiles::make(directories, launched->profile);
  });
  if (!files) {
    (void)co_await retire(loop_, pool_, directories, std::move(*launched));
    co_return fail(Code::kBrowserError, files.error().detail);
  }
  ForbiddenPorts::Hold hold;
  if (launched->devtools && options_.ports != nullptr)
    hold = options_.ports->forbid(launched->devtools->port);
  const auto browser = std::make_shared<ChromiumBrowser>(
      loop_, pool_, directories, std::move(*launched), std::move(hold),
      std::shared_ptr<BrowserFiles>(std::move(*files)), std::move(on_gone));
  auto greeted = co_await browser->greet(deadline);
  if (!greeted) {
    co_await browser->stop();
    co_return fail(std::move(greeted).error());
  }
  co_return std::shared_ptr<Browser>(browser);
}

}  // namespace reprise::browser::chromium
