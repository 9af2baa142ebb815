// Events: what the client may see of them, the sessions they begin and end, and the sessions that
// Chromium gave us on targets that are not ours.
#include "browser/chromium/cdp_client.h"

#include <algorithm>
#include <utility>

#include "base/json_text.h"

namespace reprise::browser {

using wire::cdp_member;
using wire::cdp_plain_string;
using wire::CdpHead;

namespace {

constexpr std::string_view kResume = "Runtime.runIfWaitingForDebugger";

std::string_view string_member(std::string_view object, std::string_view name) {
  return cdp_plain_string(cdp_member(object, name)).value_or(std::string_view());
}

CdpGate::Pause pause_of(std::string_view type, bool can_access_opener) {
  if (type != "page") return CdpGate::Pause::kWorker;
  return can_access_opener ? CdpGate::Pause::kOpener : CdpGate::Pause::kNavigation;
}

}  // namespace

void CdpClient::Core::on_event(const CdpHead& head, std::string message) {
  Session* session = find_session(head.session_id);
  if (session == nullptr) return;
  if (session->kind == Session::Kind::kHidden) return on_hidden_event(head.session_id, head);
  if (head.method.starts_with("Target."))
    return on_target_event(head.session_id, head, std::move(message));
  if (head.method.starts_with("Browser.")) return on_download_event(head, std::move(message));
  // Nothing else that the browser itself tells is known to be about one session.
  if (session->kind == Session::Kind::kBrowser) return;
  if (head.method == "Page.downloadWillBegin") downloads_.own(string_member(head.params, "guid"));
  tell_client(std::move(message));
}

CdpClient::Core::TargetInfo CdpClient::Core::read_info(std::string_view info) {
  return {.target_id = string_member(info, "targetId"),
          .type = string_member(info, "type"),
          .context_id = string_member(info, "browserContextId"),
          .can_access_opener = cdp_member(info, "canAccessOpener") == "true"};
}

// Every connection is a target of type browser; clients see their own. What has no context is the
// browser's own, unless it hangs on something that is the session's.
bool CdpClient::Core::is_visible(const TargetInfo& info, const Session& seen_by) const {
  if (info.type == "browser") return !info.target_id.empty() && info.target_id == own_browser_id_;
  if (info.type == "browser_ui") return false;
  if (info.context_id.empty()) return seen_by.kind == Session::Kind::kTarget;
  return scope_->owns(info.context_id);
}

void CdpClient::Core::on_target_event(std::string_view session_id, const CdpHead& head,
                                      std::string message) {
  if (head.method == "Target.attachedToTarget")
    return on_attached(session_id, head, std::move(message));
  if (head.method == "Target.detachedFromTarget") return on_detached(head, std::move(message));
  Session& session = *find_session(session_id);
  if (head.method == "Target.targetCreated" || head.method == "Target.targetInfoChanged") {
    const TargetInfo info = read_info(cdp_member(head.params, "targetInfo"));
    const bool is_full = session.announced.size() >= kMaxAnnouncedTargets;
    if (!is_visible(info, session) || (is_full && !session.announced.contains(info.target_id)))
      return;
    session.announced.emplace(info.target_id);
    return tell_client(std::move(message));
  }
  if (head.method != "Target.targetDestroyed" && head.method != "Target.targetCrashed") return;
  const auto known = session.announced.find(string_member(head.params, "targetId"));
  if (known == session.announced.end()) return;
  if (head.method == "Target.targetDestroyed") session.announced.erase(known);
  tell_client(std::move(message));
}

void CdpClient::Core::on_attached(std::string_view session_id, const CdpHead& head,
                                  std::string message) {
  const TargetInfo info = read_info(cdp_member(head.params, "targetInfo"));
  const std::string_view attached = string_member(head.params, "sessionId");
  const bool is_waiting = cdp_member(head.params, "waitingForDebugger") == "true";
  if (attached.empty() || sessions_.contains(attached) || sessions_.size() >= kMaxCdpSessions)
    return;
  const bool is_asked_for = info.type == "browser" && browser_attaches_ > 0;
  const bool is_for_client =
      !is_leaving_ && (is_asked_for || is_visible(info, *find_session(session_id)));
  if (is_for_client) {
    add_visible(attached, session_id, info, is_waiting);
    return tell_client(std::move(message));
  }
  // What hangs on a page is its own, unless its process makes something up.
  if (is_leaving_ || find_session(session_id)->kind == Session::Kind::kBrowser)
    dismiss(attached, session_id, info, is_waiting);
}

void CdpClient::Core::add_visible(std::string_view session_id, std::string_view parent,
                                  const TargetInfo& info, bool is_waiting) {
  const bool is_browser = info.type == "browser";
  sessions_.emplace(session_id,
                    Session{.kind = is_browser ? Session::Kind::kBrowser : Session::Kind::kTarget,
                            .type = std::string(info.type),
                            .target_id = std::string(info.target_id),
                            .context_id = std::string(info.context_id),
                            .parent = std::string(parent)});
  if (!is_browser) note_pause(session_id, is_waiting, info);
}

// Pages, and the workers that the browser itself attaches to. Those of a page are its own matter.
bool CdpClient::Core::is_gated(const Session& session) {
  if (session.type == "page") return true;
  const Session* const parent = find_session(session.parent);
  return session.type != "tab" && parent != nullptr && parent->kind == Session::Kind::kBrowser;
}

// Whether the client will have to resume it. A page under a tab that waited waits as well, though
// Chromium does not say so.
void CdpClient::Core::note_pause(std::string_view session_id, bool is_waiting,
                                 const TargetInfo& info) {
  Session& session = *find_session(session_id);
  session.is_paused = is_waiting;
  session.was_paused = is_waiting;
  if (!is_gated(session)) return;
  Session* parent = find_session(session.parent);
  if (parent != nullptr && parent->type == "tab") {
    const bool is_first = !std::exchange(parent->has_page, true);
    session.is_paused = is_waiting || (is_first && parent->was_paused);
  }
  if (session.is_paused) {
    session.pause = pause_of(info.type, info.can_access_opener);
    gate_.paused(info.target_id, info.context_id, session.pause, true);
    return;
  }
  const bool has_paused_one = std::ranges::any_of(sessions_, [&](const auto& entry) {
    return entry.second.is_paused && entry.second.target_id == info.target_id;
  });
  if (has_paused_one) return;
  gate_.missed(unit_of(session_id), info.target_id, info.context_id,
               pause_of(info.type, info.can_access_opener));
}

// A target of somebody else, to which Chromium has attached this connection. See cdp_gate.h for who
// resumes what.
void CdpClient::Core::dismiss(std::string_view session_id, std::string_view parent,
                              const TargetInfo& info, bool is_waiting) {
  sessions_.emplace(session_id, Session{.kind = Session::Kind::kHidden,
                                        .type = std::string(info.type),
                                        .target_id = std::string(info.target_id),
                                        .context_id = std::string(info.context_id),
                                        .parent = std::string(parent)});
  if (!is_waiting) return detach_hidden(session_id, parent);
  if (info.type == "tab") {
    // Its page is what a popup waits for. Unless an owner is sure to, we must go and find it.
    send_own(session_id, kResume, "");
    if (gate_.has_settled_owner(info.context_id)) return detach_hidden(session_id, parent);
    return look_under_tab(session_id);
  }
  if (info.type == "page" && !info.can_access_opener) {
    // The browser itself holds the navigation, and has let go of it before it detaches.
    send_own(session_id, kResume, "");
    return detach_hidden(session_id, parent);
  }
  // Popups and workers are held in their process: the first resume counts, once it was heard.
  const auto pause = pause_of(info.type, info.can_access_opener);
  const bool has_owner = gate_.paused(info.target_id, info.context_id, pause, false);
  if (has_owner) return detach_hidden(session_id, parent);
  resume_hidden(session_id, session_id);
}

void CdpClient::Core::look_under_tab(std::string_view session_id) {
  send_tracked(session_id, "Target.setAutoAttach",
               R"({"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true})",
               {.kind = Pending::Kind::kHiddenDone, .subject = std::string(session_id)});
}

void CdpClient::Core::resume_hidden(std::string_view session_id, std::string_view done) {
  send_tracked(session_id, kResume, "",
               {.kind = Pending::Kind::kHiddenDone, .subject = std::string(done)});
}

void CdpClient::Core::detach_hidden(std::string_view session_id, std::string_view parent) {
  send_own(parent, "Target.detachFromTarget", R"({"sessionId":)" + json_string(session_id) + "}");
}

void CdpClient::Core::on_hidden_event(std::string_view session_id, const CdpHead& head) {
  // Only the page under a tab that nobody owns is of interest (dismiss()).
  if (head.method != "Target.attachedToTarget") return;
  Session& tab = *find_session(session_id);
  const TargetInfo info = read_info(cdp_member(head.params, "targetInfo"));
  if (tab.type != "tab" || info.type != "page" || !info.can_access_opener) return;
  if (gate_.paused(info.target_id, info.context_id, CdpGate::Pause::kOpener, false)) return;
  tab.has_page = true;
  resume_hidden(string_member(head.params, "sessionId"), session_id);
}

void CdpClient::Core::on_detached(const CdpHead& head, std::string message) {
  const std::string id(string_member(head.params, "sessionId"));
  const Session* session = find_session(id);
  if (id.empty() || session == nullptr) return;
  const bool is_hidden = session->kind == Session::Kind::kHidden;
  remove_session(id);
  if (!is_hidden) tell_client(std::move(message));
}

// With it go the sessions that were attached in it.
void CdpClient::Core::remove_session(const std::string& id) {
  std::vector<std::string> children;
  for (const auto& [child, session] : sessions_)
    if (session.parent == id && !child.empty() && child != id) children.push_back(child);
  for (const std::string& child : children) remove_session(child);

  const auto at = sessions_.find(id);
  if (at == sessions_.end()) return;
  const CdpGate::Unit unit = unit_of(id);
  const bool is_awaited = at->second.is_paused && is_gated(at->second);
  const auto node = sessions_.extract(at);
  const Session& session = node.mapped();
  if (session.kind == Session::Kind::kBrowser) gate_.unwatch(unit);
  if (is_awaited) gate_.left(unit, session.target_id);
  drop_contexts(session);
  give_up_on(id);
}

// Of what was sent to a session that is gone nothing more will be heard.
void CdpClient::Core::give_up_on(std::string_view session_id) {
  std::vector<std::int32_t> unanswered;
  for (const auto& [id, pending] : pending_) {
    const bool is_for_it =
        pending.kind == Pending::Kind::kHiddenDone && pending.subject == session_id;
    if (pending.upstream_session == session_id || is_for_it) unanswered.push_back(id);
  }
  for (const std::int32_t id : unanswered)
    if (const auto node = pending_.extract(id); !node.empty()) give_up(node.mapped());
}

void CdpClient::Core::drop_contexts(const Session& session) {
  for (const std::string& context_id : session.vanishing_contexts) {
    if (!scope_->sub_contexts().contains(context_id)) continue;  // disposed before
    scope_->remove_sub_context(context_id);
    hooks_.context_changed(context_id, false);
  }
}

void CdpClient::Core::on_download_event(const CdpHead& head, std::string message) {
  const bool is_start = head.method == "Browser.downloadWillBegin";
  if (!is_start && head.method != "Browser.downloadProgress") return;
  const std::string guid(string_member(head.params, "guid"));
  const std::string_view frame_id = string_member(head.params, "frameId");
  if (is_start && downloads_.place(guid) == CdpDownloads::Place::kForeign && !guid.empty()) {
    if (knows_target(frame_id)) {
      downloads_.own(guid);
    } else if (downloads_.wait(guid, frame_id)) {
      send_tracked("", "Target.getTargetInfo", R"({"targetId":)" + json_string(frame_id) + "}",
                   {.kind = Pending::Kind::kFrameTarget, .subject = guid});
    }
  }
  switch (downloads_.place(guid)) {
    case CdpDownloads::Place::kOwn: return tell_client(std::move(message));
    case CdpDownloads::Place::kUndecided: return downloads_.keep(guid, std::move(message));
    case CdpDownloads::Place::kForeign: return;
  }
}

void CdpClient::Core::look_for_frame(const std::string& guid, std::string_view frame_id) {
  std::vector<std::string> trees;
  for (const auto& [id, session] : sessions_)
    if (session.kind == Session::Kind::kTarget &&
        (session.type == "page" || session.type == "iframe"))
      trees.push_back(id);
  if (trees.empty() || frame_id.empty()) return decide_download(guid, false);
  downloads_.expect(guid, trees.size());
  for (const std::string& id : trees)
    send_tracked(id, "Page.getFrameTree", "", {.kind = Pending::Kind::kFrameTree, .subject = guid});
}

void CdpClient::Core::decide_download(const std::string& guid, bool is_own) {
  const std::vector<std::string> messages = downloads_.decide(guid);
  if (!is_own) return;
  downloads_.own(guid);
  for (const std::string& message : messages)
    on_download_event(wire::scan_browser_cdp(message), message);
}

}  // namespace reprise::browser
