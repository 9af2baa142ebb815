// The rules for targets, contexts and windows: what is the session's passes, for the rest
// Chromium's own words for what it cannot find.
#include "browser/chromium/cdp_client.h"

#include <algorithm>
#include <utility>

#include "base/json_text.h"

namespace reprise::browser {
namespace {

std::string quoted_member(std::string_view name, std::string_view value) {
  std::string member = '"' + std::string(name) + "\":";
  append_json_string(member, value);
  return member;
}

std::string unknown_context(std::string_view context_id) {
  return "Failed to find browser context for id " + std::string(context_id);
}

// Whether a filter of Target.setAutoAttach takes targets of that type: its first entry for the type
// decides. Nothing where it is malformed.
std::optional<bool> takes(const wire::JsonValue& filter, std::string_view type) {
  if (filter.type() != wire::JsonType::kArray) return std::nullopt;
  std::optional<bool> verdict;
  for (const wire::JsonValue& entry : filter.elements()) {
    if (entry.type() != wire::JsonType::kObject) return std::nullopt;
    const auto entry_type = entry.find("type");
    const auto exclude = entry.find("exclude");
    if (entry_type && !entry_type->as_string()) return std::nullopt;
    if (exclude && !exclude->as_bool()) return std::nullopt;
    const bool is_meant = !entry_type || *entry_type->as_string() == type;
    if (is_meant && !verdict) verdict = !exclude || !*exclude->as_bool();
  }
  return verdict.value_or(false);
}

}  // namespace

void CdpClient::Core::on_close_browser(const CommandPtr& command) {
  tell_client(cdp_result(command->head.id_text, command->session_id, "{}"));
  is_closing_ = true;
  hooks_.close_asked();
}

std::optional<std::string> CdpClient::Core::read_context(const CommandPtr& command,
                                                         const Params& params, CdpEdit& edit) {
  std::optional<std::string> context_id;
  if (!read_string(*command, params, "browserContextId", context_id)) return std::nullopt;
  if (!context_id) {
    const Session& session = session_of(*command);
    context_id = session.context_id.empty() ? scope_->context_id() : session.context_id;
    add_param(edit, command->text, command->head, quoted_member("browserContextId", *context_id));
  } else if (!scope_->owns(*context_id)) {
    // Chromium answers this one with nothing but the parameter's name.
    const bool is_create = command->treatment.rule == CdpRule::kCreateTarget;
    refuse(*command, -32602, is_create ? "browserContextId" : unknown_context(*context_id));
    return std::nullopt;
  }
  return context_id;
}

void CdpClient::Core::on_context(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  CdpEdit edit(command->text);
  if (read_context(command, *params, edit)) forward(command, edit);
}

// In a page Storage.getCookies and its like answer from the browser's default context, which is
// nobody's (Chromium 156), and do not take a context. They are sent to the browser instead.
void CdpClient::Core::on_cookies(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  if (params->find("browserContextId"))
    return refuse(*command, -32602, "browserContextId is only allowed for Browser target");
  CdpEdit edit(command->text);
  if (!read_context(command, *params, edit)) return;
  set_session(edit, command->text, command->head, "");
  track_and_send(command, std::move(edit), {.kind = Pending::Kind::kRelay});
}

void CdpClient::Core::on_target(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  std::optional<std::string> target_id;
  if (!read_string(*command, *params, "targetId", target_id)) return;
  if (command->treatment.rule == CdpRule::kAttach) {
    // Without it messages would come wrapped in others, where nobody looks.
    const auto flatten = params->find("flatten");
    if (!flatten || flatten->as_bool() != true)
      return refuse(*command, -32602, "Only flatten protocol is supported");
  }
  if (target_id) return with_target(command, std::move(*target_id));
  if (command->treatment.rule == CdpRule::kTargetInfo) return forward(command);
  refuse_params(*command);
}

bool CdpClient::Core::knows_target(std::string_view target_id) const {
  return std::ranges::any_of(sessions_, [&](const auto& entry) {
    const Session& session = entry.second;
    const bool is_its = session.kind == Session::Kind::kTarget && session.target_id == target_id;
    return is_its || session.announced.contains(target_id);
  });
}

void CdpClient::Core::with_target(const CommandPtr& command, std::string target_id) {
  if (target_id == own_browser_id_ && !target_id.empty()) {
    // Its connection: it may look at it and attach to it, and nothing else.
    const bool is_harmless = command->treatment.rule != CdpRule::kTarget;
    return is_harmless ? forward(command) : target_is_foreign(*command);
  }
  if (knows_target(target_id)) return target_is_own(command);
  start_waiting();
  send_tracked("", "Target.getTargetInfo", "{" + quoted_member("targetId", target_id) + "}",
               {.kind = Pending::Kind::kLookup, .subject = target_id, .command = command});
}

void CdpClient::Core::target_is_own(const CommandPtr& command) {
  // It ends what Target.setAutoAttach had begun.
  if (command->head.method == "Target.autoAttachRelated") {
    gate_.unwatch({.owner = this, .browser_session = command->session_id});
    if (stop_holding(command->session_id, Reach::kAlone)) return forward_when_quiet(command);
  }
  forward(command);
}

void CdpClient::Core::target_is_foreign(const Command& command) {
  const bool is_close = command.head.method == "Target.closeTarget";
  refuse(command, -32602,
         is_close ? "No target found for targetId" : "No target with given id found");
}

// With the id of a target that is gone Chromium's headless shell crashes here, and all sessions
// with it. So it is asked in the page itself, which cannot go wrong, by a client that is there.
void CdpClient::Core::on_window_for_target(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  std::optional<std::string> target_id;
  if (!read_string(*command, *params, "targetId", target_id)) return;
  if (!target_id) return forward(command, CdpEdit(command->text), Pending::Kind::kWindow);
  const auto page = std::ranges::find_if(sessions_, [&](const auto& entry) {
    const Session& session = entry.second;
    return session.kind == Session::Kind::kTarget && session.type == "page" &&
           session.target_id == *target_id;
  });
  if (page == sessions_.end())
    return refuse(*command, -32000, "No web contents for the given target id");
  send_tracked(page->first, command->head.method, "",
               {.kind = Pending::Kind::kWindow,
                .id = std::string(command->head.id_text),
                .session_id = command->session_id});
}

void CdpClient::Core::on_window(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  const auto window = params->find("windowId");
  const auto id = window ? window->as_int() : std::nullopt;
  if (!id) return refuse_params(*command);
  if (!windows_.contains(*id)) return refuse(*command, -32000, "Browser window not found");
  forward(command);
}

void CdpClient::Core::on_auto_attach(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  const auto flag = [&](std::string_view name) {
    const auto value = params->find(name);
    return value ? value->as_bool() : std::nullopt;
  };
  const auto attaches = flag("autoAttach");
  const auto waits = flag("waitForDebuggerOnStart");
  if (!attaches || !waits) return refuse_params(*command);
  if (*attaches && flag("flatten") != true)
    return refuse(*command, -32602,
                  "Only flatten protocol is supported with browser level auto-attach");
  if (session_of(*command).kind != Session::Kind::kBrowser) return forward(command);
  const auto filter = params->find("filter");
  const auto pages = filter ? takes(*filter, "page") : true;
  const auto tabs = filter ? takes(*filter, "tab") : false;
  const auto workers = filter ? takes(*filter, "service_worker") : true;
  if (!pages || !tabs || !workers) return refuse_params(*command);
  if (*pages && *tabs)
    return refuse(*command, -32602,
                  "Filter should not simultaneously allow \"tab\" and \"page\", page targets are "
                  "attached via tab targets");
  const CdpGate::Taste taste{.pages = *pages || *tabs, .workers = *workers};
  set_holding(command, *attaches && *waits, taste, filter ? std::string(filter->raw()) : "");
}

// Goes from what a browser session holds to what it shall hold.
void CdpClient::Core::set_holding(const CommandPtr& command, bool holds, CdpGate::Taste taste,
                                  std::string filter) {
  const CdpGate::Unit unit{.owner = this, .browser_session = command->session_id};
  const bool is_same =
      session_of(*command).holds_new && holds && session_of(*command).filter == filter;
  const bool must_wait = !is_same && stop_holding(command->session_id, Reach::kAlone);
  holds ? gate_.watch(unit, taste) : gate_.unwatch(unit);
  Session& session = session_of(*command);
  session.holds_new = holds;
  session.filter = std::move(filter);
  must_wait ? forward_when_quiet(command) : forward(command);
}

void CdpClient::Core::on_detach(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  std::optional<std::string> session_id;
  std::optional<std::string> target_id;
  if (!read_string(*command, *params, "sessionId", session_id)) return;
  if (!read_string(*command, *params, "targetId", target_id)) return;
  const auto is_meant = [&](const auto& entry) {
    const Session& session = entry.second;
    if (entry.first.empty() || session.kind == Session::Kind::kHidden) return false;
    if (session.parent != command->session_id) return false;
    return session_id ? entry.first == *session_id : session.target_id == target_id;
  };
  if (!session_id && !target_id) return refuse(*command, -32602, "Session id must be specified");
  if (std::ranges::none_of(sessions_, is_meant))
    return refuse(*command, -32602,
                  session_id ? "No session with given id" : "No session for given target id");
  // A navigation would wait for ever for one that has left without resuming it.
  const auto& [id, leaving] = *std::ranges::find_if(sessions_, is_meant);
  if (leaving.is_paused && leaving.pause == CdpGate::Pause::kNavigation)
    send_own(id, "Runtime.runIfWaitingForDebugger", "");
  if (leaving.kind == Session::Kind::kBrowser && stop_holding(id, Reach::kNested))
    return forward_when_quiet(command);
  forward(command);
}

void CdpClient::Core::on_dispose_context(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  std::optional<std::string> context_id;
  if (!read_string(*command, *params, "browserContextId", context_id)) return;
  if (!context_id) return refuse_params(*command);
  // To its clients the session's context is the browser's default one.
  if (*context_id == scope_->context_id())
    return refuse(*command, -32000, "Cannot dispose default browser context.");
  if (!scope_->owns(*context_id))
    return refuse(*command, -32000, "Failed to find context with id " + *context_id);
  track_and_send(command, CdpEdit(command->text),
                 {.kind = Pending::Kind::kContextDisposed,
                  .upstream_session = command->session_id,
                  .subject = *context_id});
}

void CdpClient::Core::on_create_target(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  std::optional<std::string> url;
  if (!read_string(*command, *params, "url", url)) return;
  if (!url) return refuse_params(*command);
  CdpEdit edit(command->text);
  if (!read_context(command, *params, edit)) return;
  if (!url->empty() && !may_navigate(*command, *url)) return;
  forward(command, edit);
}

bool CdpClient::Core::may_navigate(const Command& command, const std::string& url) {
  const auto refusal = hooks_.check_url(url);
  if (refusal) refuse(command, -32000, *refusal);
  return !refusal;
}

void CdpClient::Core::on_navigate(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  std::optional<std::string> url;
  if (!read_string(*command, *params, "url", url)) return;
  if (!url) return refuse_params(*command);
  if (may_navigate(*command, *url)) forward(command);
}

void CdpClient::Core::on_resume(const CommandPtr& command) {
  Session& session = session_of(*command);
  session.is_paused = false;
  if (!is_gated(session)) return forward(command);
  gate_.resume(unit_of(command->session_id), session.target_id, std::move(command->text));
}

}  // namespace reprise::browser
