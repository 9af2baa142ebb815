// For tests and fuzzers: a model of a browser that many connections share, as Chromium 156 behaves.
// It does what it is told, whoever it is told by, shows everything to everybody, and complains
// (REPRISE_ASSERT) when a client's command reaches beyond the client's session, or when a session's
// file names, URLs or proxies got through as the client wrote them.
//
//     ModelBrowser browser;
//     browser.connect(0, "A"); …            a connection for each client, by number and session
//     browser.receive(0, message);          what the client's CdpClient sends to the browser
//     browser.take(0)                       the next message of that connection, if there is one
//     browser.open_page("A", …)             something happens in the world
#pragma once

#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/json_text.h"
#include "browser/chromium/cdp_limits.h"
#include "wire/cdp.h"
#include "wire/json.h"

namespace reprise::browser::testing {

class ModelBrowser {
 public:
  // Who opens a page, and so what holds it until it is resumed (cdp_gate.h).
  enum class Opening : std::uint8_t { kNavigation, kPopup };

  ModelBrowser() { contexts_["C" + padded(0)] = "the browser"; }

  std::string add_context(const std::string& session) {
    const std::string id = "C" + padded(++last_id_);
    contexts_[id] = session;
    return id;
  }
  void connect(int connection, const std::string& session) {
    Connection& made = connections_[connection];
    made.session = session;
    made.target_id = new_target("browser", "");
    targets_[made.target_id].connection = connection;
    made.sessions[""] = Session{.target_id = made.target_id};
  }
  void disconnect(int connection) {
    Connection& gone = connections_.at(connection);
    std::vector<std::string> vanishing;
    for (const auto& [id, session] : gone.sessions)
      for (const std::string& context : session.vanishing) vanishing.push_back(context);
    std::erase_if(targets_, [&](const auto& entry) {
      return entry.second.type == "browser" && entry.second.connection == connection;
    });
    connections_.erase(connection);
    for (const std::string& context : vanishing) dispose(context);
  }

  void receive(int connection, const std::string& message);
  std::optional<std::string> take(int connection) {
    const auto at = connections_.find(connection);
    if (at == connections_.end() || at->second.out.empty()) return std::nullopt;
    std::string message = std::move(at->second.out.front());
    at->second.out.pop_front();
    return message;
  }

  // A page and its tab. Its id.
  std::string open_page(const std::string& context, Opening opening);
  void close_page(const std::string& page_id);
  void start_download(const std::string& page_id);
  void start_worker(const std::string& context);
  // As the server's own connection would.
  void resume_for_server(const std::string& page_id) { resume_page(page_id); }

  // Ids that are not of that session: of targets, contexts, and sessions of other connections.
  std::vector<std::string> foreign_ids(const std::string& session) const;
  std::vector<std::string> pages(const std::string& context) const;
  std::vector<std::string> contexts(const std::string& session) const;
  std::vector<std::string> sessions(int connection) const;
  const std::string& session_of(int connection) { return connections_.at(connection).session; }
  // Pages and workers that do not run.
  std::vector<std::string> held() const;
  // Sessions on targets that are not the connection's own.
  std::size_t hidden_sessions() const;

 private:
  struct Target {
    std::string type;
    std::string context;
    std::string tab;      // of a page
    std::string page;     // of a tab
    int connection = -1;  // of a browser's: every connection has one
    bool has_opener = false;
    bool is_held = false;  // by its opener, or as a worker: the first resume is enough
    // Sessions that hold its navigation: all must resume, and detaching is no resume.
    std::set<std::pair<int, std::string>> waiting;
  };
  struct Session {
    std::string target_id;
    std::string parent;
    bool attaches = false;
    bool waits = false;
    bool takes_tabs = false;
    bool discovers = false;
    std::set<std::string> vanishing;
  };
  struct Connection {
    std::string session;
    std::string target_id;
    std::map<std::string, Session> sessions;
    std::deque<std::string> out;
  };
  struct Call {
    int connection;
    std::string session_id;
    std::string method;
    std::optional<wire::JsonDocument> params;
    bool is_ours;  // its id is none of a client's
    std::optional<std::string> text(std::string_view name) const {
      const auto value = params ? params->root().find(name) : std::nullopt;
      return value ? value->as_string() : std::nullopt;
    }
    bool flag(std::string_view name) const {
      const auto value = params ? params->root().find(name) : std::nullopt;
      return value && value->as_bool() == true;
    }
  };

  static std::string padded(std::uint64_t number) { return fmt::format("{:031X}", number); }
  std::string new_target(std::string type, std::string context) {
    const std::string id = "A" + padded(++last_id_);
    targets_[id] = Target{.type = std::move(type), .context = std::move(context)};
    return id;
  }
  std::string info(const std::string& id) const {
    const Target& target = targets_.at(id);
    const std::string of =
        target.context.empty() ? "" : fmt::format(R"(,"browserContextId":"{}")", target.context);
    return fmt::format(R"({{"targetId":"{}","type":"{}","canAccessOpener":{}{}}})", id, target.type,
                       target.has_opener, of);
  }
  // Whether the target is one that the connection's session owns.
  bool owns(const Connection& connection, const std::string& target_id) const {
    const auto target = targets_.find(target_id);
    if (target == targets_.end()) return false;
    if (target->second.type == "browser")
      return &connections_.at(target->second.connection) == &connection;
    return owns_context(connection, target->second.context);
  }
  bool owns_context(const Connection& connection, const std::string& context) const {
    const auto at = contexts_.find(context);
    return at != contexts_.end() && at->second == connection.session;
  }
  void tell(Connection& connection, const std::string& session, std::string_view method,
            const std::string& params) {
    const std::string tail = session.empty() ? "" : fmt::format(R"(,"sessionId":"{}")", session);
    connection.out.push_back(
        fmt::format(R"({{"method":"{}","params":{}{}}})", method, params, tail));
  }
  std::string attach(int number, const std::string& parent, const std::string& target_id,
                     bool is_waiting);
  void detach(Connection& connection, const std::string& id);
  void announce(const std::string& target_id, std::string_view method);
  void destroy(const std::string& target_id);
  void dispose(const std::string& context);
  void resume_page(const std::string& id) {
    if (const auto at = targets_.find(id); at != targets_.end()) at->second.is_held = false;
  }
  void attach_everybody(const std::string& target_id);

  // The result, or nothing for an error.
  std::optional<std::string> perform(const Call& call);
  std::optional<std::string> perform_on_browser(const Call& call);
  std::optional<std::string> perform_in_target(const Call& call);
  std::optional<std::string> perform_target(const Call& call);
  std::optional<std::string> set_auto_attach(const Call& call);
  void check_context(const Call& call);
  void check_foreign_session(const Call& call);

  std::uint64_t last_id_ = 0;
  std::map<std::string, std::string> contexts_;  // and whose they are
  std::map<std::string, Target> targets_;
  std::map<int, Connection> connections_;
};

inline std::string ModelBrowser::attach(int number, const std::string& parent,
                                        const std::string& target_id, bool is_waiting) {
  Connection& connection = connections_.at(number);
  const std::string id = "5" + padded(++last_id_);
  connection.sessions[id] = Session{.target_id = target_id, .parent = parent};
  Target& target = targets_.at(target_id);
  if (is_waiting && !target.is_held) target.waiting.emplace(number, id);
  tell(connection, parent, "Target.attachedToTarget",
       fmt::format(R"({{"sessionId":"{}","targetInfo":{},"waitingForDebugger":{}}})", id,
                   info(target_id), is_waiting));
  return id;
}

inline void ModelBrowser::detach(Connection& connection, const std::string& id) {
  const auto at = connection.sessions.find(id);
  if (at == connection.sessions.end()) return;
  std::vector<std::string> children;
  for (const auto& [child, session] : connection.sessions)
    if (!child.empty() && child != id && session.parent == id) children.push_back(child);
  const Session session = at->second;
  connection.sessions.erase(at);
  // Children go without a word.
  for (const std::string& child : children) connection.sessions.erase(child);
  tell(connection, session.parent, "Target.detachedFromTarget",
       fmt::format(R"({{"sessionId":"{}","targetId":"{}"}})", id, session.target_id));
  for (const std::string& context : session.vanishing) dispose(context);
}

inline void ModelBrowser::announce(const std::string& target_id, std::string_view method) {
  const std::string params = method == "Target.targetDestroyed"
                                 ? fmt::format(R"({{"targetId":"{}"}})", target_id)
                                 : fmt::format(R"({{"targetInfo":{}}})", info(target_id));
  for (auto& [number, connection] : connections_)
    for (const auto& [id, session] : connection.sessions)
      if (session.discovers) tell(connection, id, method, params);
}

inline void ModelBrowser::attach_everybody(const std::string& target_id) {
  const std::string type = targets_.at(target_id).type;
  for (auto& [number, connection] : connections_) {
    std::vector<std::string> parents;
    for (const auto& [id, session] : connection.sessions) {
      const bool is_browser = targets_.at(session.target_id).type == "browser";
      const bool is_meant =
          type == "tab" ? session.takes_tabs : type != "page" || !session.takes_tabs;
      if (is_browser && session.attaches && is_meant) parents.push_back(id);
    }
    for (const std::string& parent : parents)
      attach(number, parent, target_id, connection.sessions[parent].waits);
  }
}

inline std::string ModelBrowser::open_page(const std::string& context, Opening opening) {
  const std::string tab = new_target("tab", context);
  const std::string page = new_target("page", context);
  targets_[tab].page = page;
  targets_[page].tab = tab;
  bool is_waited_for = false;
  for (const auto& [number, connection] : connections_)
    for (const auto& [id, session] : connection.sessions)
      is_waited_for |= session.attaches && session.waits;
  targets_[page].has_opener = opening == Opening::kPopup;
  targets_[page].is_held = opening == Opening::kPopup && is_waited_for;
  announce(tab, "Target.targetCreated");
  attach_everybody(tab);
  announce(page, "Target.targetCreated");
  attach_everybody(page);
  return page;
}

inline void ModelBrowser::start_worker(const std::string& context) {
  const std::string worker = new_target("service_worker", context);
  announce(worker, "Target.targetCreated");
  bool is_waited_for = false;
  for (const auto& [number, connection] : connections_)
    for (const auto& [id, session] : connection.sessions)
      is_waited_for |= session.attaches && session.waits;
  targets_[worker].is_held = is_waited_for;
  attach_everybody(worker);
}

inline void ModelBrowser::destroy(const std::string& target_id) {
  for (auto& [number, connection] : connections_) {
    std::vector<std::string> its;
    for (const auto& [id, session] : connection.sessions)
      if (session.target_id == target_id) its.push_back(id);
    for (const std::string& id : its) detach(connection, id);
  }
  if (!targets_.contains(target_id)) return;
  announce(target_id, "Target.targetDestroyed");
  targets_.erase(target_id);
}

inline void ModelBrowser::close_page(const std::string& page_id) {
  const auto page = targets_.find(page_id);
  if (page == targets_.end()) return;
  const std::string tab = page->second.tab;
  destroy(page_id);
  if (!tab.empty()) destroy(tab);
}

inline void ModelBrowser::dispose(const std::string& context) {
  contexts_.erase(context);
  std::vector<std::string> its;
  for (const auto& [id, target] : targets_)
    if (target.context == context) its.push_back(id);
  for (const std::string& id : its) destroy(id);
}

inline void ModelBrowser::start_download(const std::string& page_id) {
  const std::string guid = fmt::format("guid-{}-{}", ++last_id_, page_id);
  for (auto& [number, connection] : connections_) {
    tell(connection, "", "Browser.downloadWillBegin",
         fmt::format(R"({{"frameId":"{}","guid":"{}"}})", page_id, guid));
    tell(connection, "", "Browser.downloadProgress",
         fmt::format(R"({{"guid":"{}","state":"completed"}})", guid));
  }
}

}  // namespace reprise::browser::testing

#include "browser/chromium/cdp_model_commands.h"
