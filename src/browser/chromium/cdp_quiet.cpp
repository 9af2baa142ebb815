// Ceasing to hold what is new, before a connection or a browser session ends or stops attaching.
//
// Chromium may have attached it to a popup or a worker that waits, of any session, and not have
// told us yet. If the session ended now nobody would resume that: it and its opener would stand
// still for ever. So Chromium is first asked to hold nothing more. When it has answered, all it had
// attached is known; when that is resumed, the end may come.
#include "browser/chromium/cdp_client.h"

#include <utility>

#include "base/assert.h"

namespace reprise::browser {

// Whether one browser session is the other or was attached in it.
bool CdpClient::Core::is_within(std::string_view session_id, std::string_view ancestor) {
  for (const Session* session = find_session(session_id); session != nullptr;
       session = find_session(session_id)) {
    if (session_id == ancestor) return true;
    if (session_id.empty()) return false;
    session_id = session->parent;
  }
  return false;
}

bool CdpClient::Core::stop_holding(std::string_view browser_session, Reach reach) {
  std::vector<std::string> holding;
  for (const auto& [id, session] : sessions_) {
    const bool is_meant =
        reach == Reach::kAlone ? id == browser_session : is_within(id, browser_session);
    if (session.holds_new && is_meant) holding.push_back(id);
  }
  for (const std::string& id : holding) {
    Session& session = *find_session(id);
    session.holds_new = false;
    std::string params = R"({"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true)";
    if (!session.filter.empty()) params += R"(,"filter":)" + session.filter;
    ++unquiet_;
    send_tracked(id, "Target.setAutoAttach", params + "}", {.kind = Pending::Kind::kQuiet});
  }
  return !holding.empty();
}

void CdpClient::Core::forward_when_quiet(const CommandPtr& command) {
  start_waiting();
  after_quiet_ = command;
}

void CdpClient::Core::leave() {
  if (is_closed_ || std::exchange(is_leaving_, true)) return;
  resume_all();
  gate_.forget(*this);
  // A popup under a tab waits for its page's session, and the client has not come to that yet.
  std::vector<std::string> tabs;
  for (const auto& [id, session] : sessions_)
    if (session.type == "tab" && session.was_paused && !session.has_page) tabs.push_back(id);
  for (const std::string& id : tabs) {
    find_session(id)->kind = Session::Kind::kHidden;
    look_under_tab(id);
  }
  stop_holding("", Reach::kNested);
  if (unquiet_ == 0) hooks_.finished();
}

// Counts both answers to stop_holding() and what hidden sessions still have to do.
void CdpClient::Core::one_less_unquiet() {
  REPRISE_ASSERT(unquiet_ > 0);
  if (--unquiet_ > 0 || is_closed_) return;
  if (is_leaving_) return hooks_.finished();
  if (const CommandPtr command = std::exchange(after_quiet_, nullptr)) {
    forward(command);
    stop_waiting();
  }
}

}  // namespace reprise::browser
