#include "browser/chromium/page.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "browser/chromium/json_access.h"
#include "browser/limits.h"
#include "browser/storage_state.h"

namespace reprise::browser::chromium {

ChromiumPage::ChromiumPage(CdpConnection& connection, PageOwner& owner,
                           const ContextOptions& options, PageBirth birth)
    : connection_(connection),
      owner_(owner),
      options_(options),
      target_(std::move(birth.target)),
      session_(std::move(birth.session)),
      opener_(std::move(birth.opener)),
      is_plain_(birth.is_plain),
      is_resumed_by_others_(birth.is_resumed_by_others),
      url_(std::move(birth.url)),
      screencast_(connection, session_),
      changed_(connection.loop()),
      viewport_(options.viewport) {
  connection_.listen(session_, this);
  frames_.attach(session_, target_, "");
}

ChromiumPage::~ChromiumPage() { gone(); }

void ChromiumPage::gone() {
  if (std::exchange(is_closed_, true)) return;
  connection_.forget(session_);
  for (const auto& [session, frame] : children_) connection_.forget(session);
  children_.clear();
  traffic_.give_up();
  screencast_.gone();
  dialog_.reset();
  file_chooser_.reset();
  scope_.cancel(Error{Code::kBrowserError, "the page was closed"});
  changed_.notify();
}

void ChromiumPage::on_closed() { gone(); }

void ChromiumPage::crashed() {
  if (is_crashed_ || is_closed_) return;
  is_crashed_ = true;
  traffic_.give_up();
  dialog_.reset();
  file_chooser_.reset();
  is_navigating_ = false;
  note_change();
  owner_.page_changed(*this);
}

void ChromiumPage::moved_to(std::string url) {
  if (url == url_) return;
  url_ = std::move(url);
  ask_title();
  owner_.page_changed(*this);
}

void ChromiumPage::ask_title() {
  if (is_closed_ || is_crashed_ || dialog_) return;
  connection_.ask(session_, "Runtime.evaluate",
                  R"({"expression":"document.title","returnByValue":true,"silent":true})",
                  [weak = weak_from_this()](wire::JsonValue result) {
                    const auto page = weak.lock();
                    const auto told = result.find("result");
                    const auto value = told ? told->find("value") : std::nullopt;
                    if (page && value) page->note_title(*value);
                  });
}

void ChromiumPage::note_title(wire::JsonValue title) {
  auto text = title.as_string();
  if (is_closed_ || !text || *text == title_) return;
  if (text->size() > kMaxKeptUrlBytes) return;  // no title for people
  title_ = std::move(*text);
  owner_.page_changed(*this);
}

void ChromiumPage::enable(const std::string& session) {
  connection_.send(session, "Page.enable");
  connection_.send(session, "Page.setLifecycleEventsEnabled", R"({"enabled":true})");
  connection_.send(session, "Runtime.enable");
  connection_.send(session, "Network.enable", R"({"maxPostDataSize":16384})");
  connection_.send(session, "Log.enable");
  connection_.send(session, "Page.setInterceptFileChooserDialog", R"({"enabled":true})");
  connection_.send(session, "Target.setAutoAttach",
                   R"({"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true})");
}

void ChromiumPage::send_options() {
  const auto send = [&](std::string_view method, const std::string& params) {
    connection_.send(session_, method, params);
  };
  send("Emulation.setFocusEmulationEnabled", R"({"enabled":true})");
  send("Emulation.setDeviceMetricsOverride",
       fmt::format(R"({{"width":{},"height":{},"deviceScaleFactor":{},"mobile":false}})",
                   viewport_.width, viewport_.height, viewport_.scale));
  if (!options_.user_agent.empty() || !options_.locale.empty())
    send("Emulation.setUserAgentOverride",
         fmt::format(R"({{"userAgent":{},"acceptLanguage":{}}})", json_string(options_.user_agent),
                     json_string(options_.locale)));
  if (!options_.locale.empty())
    send("Emulation.setLocaleOverride",
         fmt::format(R"({{"locale":{}}})", json_string(options_.locale)));
  if (!options_.timezone.empty())
    send("Emulation.setTimezoneOverride",
         fmt::format(R"({{"timezoneId":{}}})", json_string(options_.timezone)));
  if (options_.geolocation)
    send("Emulation.setGeolocationOverride",
         fmt::format(R"({{"latitude":{},"longitude":{},"accuracy":{}}})",
                     options_.geolocation->latitude, options_.geolocation->longitude,
                     options_.geolocation->accuracy));
  if (options_.extra_headers != "{}")
    send("Network.setExtraHTTPHeaders", fmt::format(R"({{"headers":{}}})", options_.extra_headers));
  if (options_.is_offline)
    send("Network.emulateNetworkConditions",
         R"({"offline":true,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1})");
}

rt::Task<Result<>> ChromiumPage::prepare(rt::Deadline deadline) {
  enable(session_);
  if (!is_plain_) send_options();
  if (!is_resumed_by_others_) connection_.send(session_, "Runtime.runIfWaitingForDebugger");
  REPRISE_CO_TRY(const CdpReply reply,
                 co_await connection_.call(session_, "Page.getFrameTree", "{}", deadline));
  if (const auto tree = reply.result().find("frameTree")) adopt_tree(session_, *tree, "");
  co_return Result<>{};
}

void ChromiumPage::adopt_tree(const std::string& session, wire::JsonValue tree,
                              const std::string& parent) {
  const auto frame = tree.find("frame");
  if (!frame) return;
  const std::string id = text_of(*frame, "id");
  const Frame* known = frames_.find(id);
  // What events have told meanwhile is newer.
  if (known == nullptr || known->loader.empty())
    frames_.navigated(session, id, parent, text_of(*frame, "loaderId"), text_of(*frame, "url"));
  if (const auto children = tree.find("childFrames"))
    for (const wire::JsonValue child : children->elements()) adopt_tree(session, child, id);
}

void ChromiumPage::note_change() { changed_.notify(); }

void ChromiumPage::on_event(const std::string& session, std::string_view method,
                            wire::JsonValue params) {
  if (is_closed_) return;
  if (frame_event(session, method, params)) return;
  if (traffic_.take(method, params)) {
    note_change();
  } else if (method == "Target.attachedToTarget") {
    child_attached(params);
  } else if (method == "Target.detachedFromTarget") {
    child_detached(params);
  } else if (method == "Page.javascriptDialogOpening") {
    dialog_ = Dialog{.kind = text_of(params, "type"),
                     .message = text_of(params, "message"),
                     .default_text = text_of(params, "defaultPrompt")};
    for (rt::CancelScope* scope : std::exchange(ended_by_dialog_, {})) scope->cancel();
    note_change();
    owner_.page_asks(*this);
  } else if (method == "Page.javascriptDialogClosed") {
    dialog_.reset();
    note_change();
    owner_.page_asks(*this);
  } else if (method == "Page.screencastFrame") {
    screencast_.take(params);
  } else if (method == "Page.fileChooserOpened") {
    file_chooser_opened(session, params);
  } else if (method == "Inspector.targetCrashed") {
    crashed();
  }
}

bool ChromiumPage::frame_event(const std::string& session, std::string_view method,
                               wire::JsonValue params) {
  const bool is_own = text_of(params, "frameId") == target_;
  if (method == "Page.frameNavigated") {
    const auto frame = params.find("frame");
    if (!frame) return true;
    const std::string id = text_of(*frame, "id");
    if (id == target_ && !is_crashed_) traffic_.begin_document();
    if (id == target_) is_crashed_ = false;
    if (id == target_) dismiss_file_chooser();
    frames_.navigated(session, id, text_of(*frame, "parentId"), text_of(*frame, "loaderId"),
                      text_of(*frame, "url"));
    if (id == target_) owner_.page_shows(text_of(*frame, "url"));
  } else if (method == "Page.frameAttached") {
    frames_.attach(session, text_of(params, "frameId"), text_of(params, "parentFrameId"));
  } else if (method == "Page.frameDetached") {
    frames_.detach(text_of(params, "frameId"), text_of(params, "reason") == "swap");
  } else if (method == "Page.lifecycleEvent") {
    const std::string name = text_of(params, "name");
    frames_.lifecycle(text_of(params, "frameId"), text_of(params, "loaderId"), name);
    if (is_own && (name == "DOMContentLoaded" || name == "load")) ask_title();
  } else if (method == "Runtime.executionContextsCleared") {
    frames_.scripts_gone(session);
  } else if (method == "Page.frameStartedLoading" || method == "Page.frameRequestedNavigation" ||
             method == "Page.frameStartedNavigating") {
    if (is_own && !std::exchange(is_navigating_, true)) ++navigations_;
  } else if (method == "Page.frameStoppedLoading" ||
             method == "Page.frameClearedScheduledNavigation") {
    if (is_own) is_navigating_ = false;
  } else {
    return false;
  }
  note_change();
  return true;
}

void ChromiumPage::child_attached(wire::JsonValue params) {
  const auto info = params.find("targetInfo");
  const std::string session = text_of(params, "sessionId");
  if (!info || session.empty()) return;
  if (text_of(*info, "type") != "iframe" || children_.size() >= kMaxFramesPerPage) {
    // Workers run on their own.
    connection_.send(session, "Runtime.runIfWaitingForDebugger");
    connection_.send(session_, "Target.detachFromTarget",
                     fmt::format(R"({{"sessionId":"{}"}})", session));
    return;
  }
  const std::string frame = text_of(*info, "targetId");
  connection_.listen(session, this);
  children_.emplace(session, frame);
  frames_.moved(frame, session);
  enable(session);
  if (!is_plain_ && options_.extra_headers != "{}")
    connection_.send(session, "Network.setExtraHTTPHeaders",
                     fmt::format(R"({{"headers":{}}})", options_.extra_headers));
  connection_.send(session, "Runtime.runIfWaitingForDebugger");
}

void ChromiumPage::child_detached(wire::JsonValue params) {
  const std::string session = text_of(params, "sessionId");
  if (children_.erase(session) == 0) return;
  connection_.forget(session);
  frames_.session_ended(session);
  if (file_chooser_ && file_chooser_->frame == session) dismiss_file_chooser();
  note_change();
}

void ChromiumPage::file_chooser_opened(const std::string& session, wire::JsonValue params) {
  const auto node = params.find("backendNodeId");
  const auto number = node ? node->as_uint() : std::nullopt;
  if (!number) return;
  // The node's number stands for the element: nobody calls it, files are set on it.
  file_chooser_ = Element{.frame = session, .handle = fmt::format("node:{}", *number)};
  note_change();
  owner_.page_asks(*this);
}

// Those who look on are told in a later turn: whoever dismisses it is in the middle of something.
void ChromiumPage::dismiss_file_chooser() {
  if (!std::exchange(file_chooser_, std::nullopt)) return;
  note_change();
  connection_.loop().post([weak = weak_from_this()] {
    const auto page = weak.lock();
    if (page && !page->is_closed_) page->owner_.page_asks(*page);
  });
}

std::map<std::string, std::string> ChromiumPage::shown_origins() const {
  std::map<std::string, std::string> shown;
  for (const FrameInfo& info : frames_.list()) {
    const Frame* frame = frames_.find(info.id);
    std::string origin = frame == nullptr ? "" : origin_of_url(frame->url);
    if (!origin.empty()) shown.try_emplace(std::move(origin), frame->session);
  }
  return shown;
}

PageActivity ChromiumPage::activity() const {
  return {
      .requests = traffic_.started(), .navigations = navigations_, .is_navigating = is_navigating_};
}

}  // namespace reprise::browser::chromium
