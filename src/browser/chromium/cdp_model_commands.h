// The commands of the model browser (browser/chromium/cdp_model.h, which includes this).
#pragma once

#include "browser/chromium/cdp_model.h"

namespace reprise::browser::testing {

inline void ModelBrowser::receive(int connection, const std::string& message) {
  const auto at = connections_.find(connection);
  if (at == connections_.end()) return;
  auto document = wire::parse_json(message);
  // Of what is passed on unread a part may be malformed; Chromium would say so.
  if (!document) return;
  const wire::JsonValue root = document->root();
  const auto id = root.find("id")->as_int();
  REPRISE_ASSERT(id.has_value(), message);
  Call call{.connection = connection,
            .session_id = {},
            .method = root.find("method")->as_string().value(),
            .params = std::nullopt,
            .is_ours = *id >= kFirstOwnCdpId};
  if (const auto session = root.find("sessionId")) call.session_id = session->as_string().value();
  if (const auto params = root.find("params"))
    call.params.emplace(wire::parse_json(std::string(params->raw())).value());
  std::string tail = "}";
  if (!call.session_id.empty()) tail = fmt::format(R"(,"sessionId":"{}"}})", call.session_id);
  if (!at->second.sessions.contains(call.session_id)) {
    at->second.out.push_back(fmt::format(R"({{"id":{},"error":{{"code":-32001}}}})", *id));
    return;
  }
  const auto result = perform(call);
  const auto still = connections_.find(connection);
  if (still == connections_.end() || !still->second.sessions.contains(call.session_id)) return;
  still->second.out.push_back(
      result ? fmt::format(R"({{"id":{},"result":{}{})", *id, *result, tail)
             : fmt::format(R"({{"id":{},"error":{{"code":-32602,"message":"no"}}{})", *id, tail));
}

inline std::optional<std::string> ModelBrowser::perform(const Call& call) {
  const Connection& connection = connections_.at(call.connection);
  const std::string target_id = connection.sessions.at(call.session_id).target_id;
  const bool is_browser = targets_.at(target_id).type == "browser";
  if (!is_browser && !owns(connection, target_id)) check_foreign_session(call);
  if (call.method.starts_with("Target.")) return perform_target(call);
  return is_browser ? perform_on_browser(call) : perform_in_target(call);
}

// Nothing of a client's goes to a session that is not its own.
inline void ModelBrowser::check_foreign_session(const Call& call) {
  const bool is_dismissal = call.method == "Runtime.runIfWaitingForDebugger" ||
                            call.method == "Target.detachFromTarget" ||
                            call.method == "Target.setAutoAttach";
  REPRISE_ASSERT(call.is_ours && is_dismissal, call.method, call.session_id);
}

inline void ModelBrowser::check_context(const Call& call) {
  const auto context = call.text("browserContextId");
  REPRISE_ASSERT(context.has_value(), call.method);
  REPRISE_ASSERT(owns_context(connections_.at(call.connection), *context), call.method, *context);
}

inline std::optional<std::string> ModelBrowser::perform_on_browser(const Call& call) {
  if (call.method == "Browser.getVersion" || call.method == "Runtime.runIfWaitingForDebugger")
    return "{}";
  const bool has_context =
      call.method.starts_with("Storage.") || call.method == "Browser.setDownloadBehavior" ||
      call.method == "Browser.cancelDownload" || call.method.ends_with("Permissions") ||
      call.method == "Browser.setPermission";
  if (has_context) {
    check_context(call);
    const auto path = call.text("downloadPath");
    REPRISE_ASSERT(!path || path->starts_with("/mapped/"), *path);
    return R"({"cookies":[]})";
  }
  // With an id that is nobody's Chromium crashes.
  if (call.method == "Browser.getWindowForTarget") {
    REPRISE_ASSERT(!call.text("targetId"), call.method);
    return std::nullopt;
  }
  if (call.method.find("Window") != std::string::npos || call.method == "Browser.setContentsSize")
    return "{}";
  REPRISE_ASSERT(false, "not for a client", call.method);
  return std::nullopt;
}

inline std::optional<std::string> ModelBrowser::perform_in_target(const Call& call) {
  const std::string target_id =
      connections_.at(call.connection).sessions.at(call.session_id).target_id;
  if (call.method == "Runtime.runIfWaitingForDebugger") {
    Target& target = targets_.at(target_id);
    target.waiting.erase({call.connection, call.session_id});
    if (target.type != "tab") resume_page(target_id);
    return "{}";
  }
  if (call.method == "Browser.getWindowForTarget") {
    REPRISE_ASSERT(!call.text("targetId"), call.method);
    return fmt::format(R"({{"windowId":{}}})", target_id.size());
  }
  if (call.method == "Page.navigate")
    REPRISE_ASSERT(!call.text("url").value_or("").starts_with("file:"), call.method);
  if (call.method == "DOM.setFileInputFiles" && call.params)
    if (const auto files = call.params->root().find("files"))
      for (const wire::JsonValue& file : files->elements())
        REPRISE_ASSERT(file.as_string().value_or("").starts_with("/mapped/"), files->raw());
  if (const auto path = call.text("downloadPath"))
    REPRISE_ASSERT(path->starts_with("/mapped/"), *path);
  const bool has_context = call.method == "Browser.setDownloadBehavior" ||
                           call.method.ends_with("Permissions") ||
                           call.method == "Browser.setPermission";
  if (has_context) check_context(call);
  REPRISE_ASSERT(!call.method.ends_with("Cookies") || !call.method.starts_with("Storage."),
                 call.method);
  REPRISE_ASSERT(!call.method.starts_with("Tracing."), call.method);
  if (call.method == "Page.getFrameTree")
    return fmt::format(R"({{"frameTree":{{"frame":{{"id":"{}"}}}}}})", target_id);
  return "{}";
}

inline std::optional<std::string> ModelBrowser::set_auto_attach(const Call& call) {
  Connection& connection = connections_.at(call.connection);
  Session& session = connection.sessions.at(call.session_id);
  const Target& target = targets_.at(session.target_id);
  REPRISE_ASSERT(!call.flag("autoAttach") || call.flag("flatten"), call.method);
  if (target.type == "tab") {
    const std::string page = target.page;
    if (call.flag("autoAttach") && targets_.contains(page))
      attach(call.connection, call.session_id, page, false);
    return "{}";
  }
  if (target.type != "browser") return "{}";
  session.attaches = call.flag("autoAttach");
  session.waits = call.flag("waitForDebuggerOnStart");
  session.takes_tabs = call.params && call.params->root().find("filter");
  const std::string type = session.takes_tabs ? "tab" : "page";
  std::vector<std::string> found;
  for (const auto& [id, other] : targets_)
    if (session.attaches && (other.type == type || other.type == "service_worker"))
      found.push_back(id);
  for (const std::string& id : found) attach(call.connection, call.session_id, id, false);
  return "{}";
}

inline std::optional<std::string> ModelBrowser::perform_target(const Call& call) {
  Connection& connection = connections_.at(call.connection);
  const std::string method = call.method.substr(7);
  const auto target_id = call.text("targetId");
  if (method == "setAutoAttach") return set_auto_attach(call);
  if (method == "setDiscoverTargets") {
    Session& session = connection.sessions.at(call.session_id);
    session.discovers = call.flag("discover");
    for (const auto& [id, target] : targets_)
      if (session.discovers)
        tell(connection, call.session_id, "Target.targetCreated",
             fmt::format(R"({{"targetInfo":{}}})", info(id)));
    return "{}";
  }
  if (method == "getTargets") {
    std::string list;
    for (const auto& [id, target] : targets_) list += (list.empty() ? "" : ",") + info(id);
    return R"({"targetInfos":[)" + list + "]}";
  }
  if (method == "getTargetInfo") {
    const std::string id = target_id.value_or(connection.sessions.at(call.session_id).target_id);
    // Only we may ask about others'.
    REPRISE_ASSERT(call.is_ours || !targets_.contains(id) || owns(connection, id) || !target_id,
                   id);
    if (!targets_.contains(id)) return std::nullopt;
    return R"({"targetInfo":)" + info(id) + "}";
  }
  if (method == "getBrowserContexts") {
    std::string list;
    for (const auto& [id, session] : contexts_) list += (list.empty() ? "" : ",") + json_string(id);
    return fmt::format(R"({{"browserContextIds":[{}],"defaultBrowserContextId":"{}"}})", list,
                       contexts_.begin()->first);
  }
  if (method == "createBrowserContext") {
    REPRISE_ASSERT(call.text("proxyServer") == "127.0.0.1:1", call.method);
    const std::string id = add_context(connection.session);
    if (call.flag("disposeOnDetach")) connection.sessions.at(call.session_id).vanishing.insert(id);
    return fmt::format(R"({{"browserContextId":"{}"}})", id);
  }
  if (method == "disposeBrowserContext") {
    check_context(call);
    // The first of a session is its own.
    const std::string own = contexts(connection.session).front();
    REPRISE_ASSERT(*call.text("browserContextId") != own, own);
    dispose(*call.text("browserContextId"));
    return "{}";
  }
  if (method == "createTarget") {
    check_context(call);
    REPRISE_ASSERT(!call.text("url").value_or("").starts_with("file:"), call.method);
    const std::string page = open_page(*call.text("browserContextId"), Opening::kNavigation);
    return fmt::format(R"({{"targetId":"{}"}})", page);
  }
  if (method == "attachToBrowserTarget") {
    const std::string id = new_target("browser", "");
    targets_[id].connection = call.connection;
    return fmt::format(R"({{"sessionId":"{}"}})",
                       attach(call.connection, call.session_id, id, false));
  }
  if (method == "detachFromTarget") {
    std::string id = call.text("sessionId").value_or("");
    for (const auto& [session_id, session] : connection.sessions)
      if (id.empty() && target_id && session.target_id == *target_id) id = session_id;
    const auto at = connection.sessions.find(id);
    if (id.empty() || at == connection.sessions.end() || at->second.parent != call.session_id)
      return std::nullopt;
    const std::string on = at->second.target_id;
    REPRISE_ASSERT(call.is_ours || targets_.at(on).type == "browser" || owns(connection, on), on);
    // A client that leaves a tab before it has seen its page has only itself to blame.
    if (!call.is_ours && targets_.at(on).type == "tab") resume_page(targets_.at(on).page);
    detach(connection, id);
    return "{}";
  }
  const bool is_known = method == "attachToTarget" || method == "closeTarget" ||
                        method == "activateTarget" || method == "autoAttachRelated";
  REPRISE_ASSERT(is_known, call.method);
  if (!target_id || !targets_.contains(*target_id)) return std::nullopt;
  REPRISE_ASSERT(owns(connection, *target_id), call.method, *target_id);
  if (method == "attachToTarget")
    return fmt::format(R"({{"sessionId":"{}"}})",
                       attach(call.connection, call.session_id, *target_id, false));
  REPRISE_ASSERT(targets_.at(*target_id).type != "browser", call.method);
  if (method == "closeTarget") close_page(*target_id);
  if (method == "autoAttachRelated") connection.sessions.at(call.session_id).attaches = false;
  return "{}";
}

inline std::vector<std::string> ModelBrowser::foreign_ids(const std::string& session) const {
  std::vector<std::string> ids;
  for (const auto& [id, owner] : contexts_)
    if (owner != session) ids.push_back(id);
  for (const auto& [id, target] : targets_) {
    const auto context = contexts_.find(target.context);
    if (context != contexts_.end() && context->second != session) ids.push_back(id);
    if (target.type == "browser" && connections_.at(target.connection).session != session)
      ids.push_back(id);
  }
  for (const auto& [number, connection] : connections_) {
    for (const auto& [id, on] : connection.sessions) {
      const bool is_own =
          connection.session == session &&
          (targets_.at(on.target_id).type == "browser" || owns(connection, on.target_id));
      if (!is_own && !id.empty()) ids.push_back(id);
    }
  }
  return ids;
}

inline std::vector<std::string> ModelBrowser::pages(const std::string& context) const {
  std::vector<std::string> ids;
  for (const auto& [id, target] : targets_)
    if (target.context == context && target.type == "page") ids.push_back(id);
  return ids;
}

inline std::vector<std::string> ModelBrowser::contexts(const std::string& session) const {
  std::vector<std::string> ids;
  for (const auto& [id, owner] : contexts_)
    if (owner == session) ids.push_back(id);
  return ids;
}

inline std::vector<std::string> ModelBrowser::sessions(int connection) const {
  std::vector<std::string> ids;
  const auto at = connections_.find(connection);
  if (at == connections_.end()) return ids;
  for (const auto& [id, session] : at->second.sessions) ids.push_back(id);
  return ids;
}

inline std::vector<std::string> ModelBrowser::held() const {
  std::vector<std::string> ids;
  for (const auto& [id, target] : targets_)
    if (target.is_held || !target.waiting.empty()) ids.push_back(id);
  return ids;
}

inline std::size_t ModelBrowser::hidden_sessions() const {
  std::size_t count = 0;
  for (const auto& [number, connection] : connections_)
    for (const auto& [id, session] : connection.sessions)
      if (targets_.at(session.target_id).type != "browser" && !owns(connection, session.target_id))
        ++count;
  return count;
}

}  // namespace reprise::browser::testing
