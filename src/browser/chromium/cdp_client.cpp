#include "browser/chromium/cdp_client.h"

#include <utility>

#include "base/assert.h"
#include "base/json_text.h"

namespace reprise::browser {

using wire::CdpFault;
using wire::CdpHead;

CdpClient::CdpClient(CdpGate& gate, std::shared_ptr<SessionScope> scope, CdpHooks hooks)
    : core_(std::make_shared<Core>(gate, std::move(scope), std::move(hooks))) {}
CdpClient::~CdpClient() { closed(); }

void CdpClient::from_client(std::string message) { core_->from_client(std::move(message)); }
void CdpClient::from_browser(std::string message) { core_->from_browser(std::move(message)); }
void CdpClient::leave() { core_->leave(); }
void CdpClient::closed() { core_->close(); }
bool CdpClient::is_waiting() const { return core_->is_waiting(); }
CdpClient::Holdings CdpClient::holdings() const { return core_->holdings(); }

CdpClient::Core::Core(CdpGate& gate, std::shared_ptr<SessionScope> scope, CdpHooks hooks)
    : gate_(gate), scope_(std::move(scope)), hooks_(std::move(hooks)) {
  sessions_[""] = Session{.kind = Session::Kind::kBrowser, .type = "browser"};
}

CdpClient::Core::Command::Command(std::string message, CdpTreatment how)
    : text(std::move(message)),
      head(wire::scan_cdp(text)),
      session_id(head.session_id),
      treatment(how) {}

void CdpClient::Core::from_client(std::string message) {
  if (is_closed_ || is_closing_ || is_leaving_) return;
  if (!std::exchange(has_asked_own_browser_, true))
    send_tracked("", "Target.getTargetInfo", "", {.kind = Pending::Kind::kOwnBrowser});
  if (!is_waiting_) return process(std::move(message));
  if (waiting_.size() < kMaxWaitingCdpMessages) {
    waiting_.push_back(std::move(message));
    return;
  }
  const CdpHead head = wire::scan_cdp(message);
  tell_client(cdp_error(head.id ? head.id_text : "", "", -32000, "Too many commands wait"));
}

void CdpClient::Core::from_browser(std::string message) {
  if (is_closed_) return;
  const CdpHead head = wire::scan_browser_cdp(message);
  if (!head.is_ok()) return;
  if (!head.id) return on_event(head, std::move(message));
  // What the client has asked is answered to it. Its commands went to sessions of its own, and none
  // of those that must be looked at has an id of the client's.
  if (*head.id < kFirstOwnCdpId) return tell_client(std::move(message));
  on_reply(head);
}

void CdpClient::Core::close() {
  if (std::exchange(is_closed_, true)) return;
  if (!is_leaving_) resume_all();
  gate_.forget(*this);
  for (const auto& [id, session] : sessions_) drop_contexts(session);
  for (const auto& [id, pending] : std::exchange(pending_, {}))
    end_note(pending.note, false, "Connection closed", "");
  sessions_.clear();
  waiting_.clear();
  is_waiting_ = false;
}

CdpClient::Holdings CdpClient::Core::holdings() const {
  Holdings holdings{.tracked_commands = pending_.size(), .waiting_messages = waiting_.size()};
  for (const auto& [id, session] : sessions_)
    ++(session.kind == Session::Kind::kHidden ? holdings.hidden_sessions : holdings.sessions);
  return holdings;
}

// Chromium's answers, word by word, where it has one.
bool CdpClient::Core::refuse_malformed(const CdpHead& head) {
  const std::string_view id = head.id ? head.id_text : "";
  const auto answer = [&](int code, std::string_view text) {
    tell_client(cdp_error(id, "", code, text));
    return true;
  };
  if (head.fault == CdpFault::kNotJson) return answer(-32700, "JSON: invalid token");
  if (head.fault == CdpFault::kNotObject) return answer(-32600, "Message must be an object");
  if (head.fault == CdpFault::kDuplicate) return answer(-32700, "CBOR: duplicate map key");
  if (head.fault == CdpFault::kEscaped)
    return answer(-32600, "Message must not escape its names and its method");
  if (!head.id) return answer(-32600, "Message must have integer 'id' property");
  if (*head.id >= kFirstOwnCdpId) return answer(-32600, "Message has a reserved 'id'");
  if (head.fault == CdpFault::kBadMethod || head.method.empty())
    return answer(-32600, "Message must have string 'method' property");
  if (head.fault == CdpFault::kBadSession)
    return answer(-32600, "Message may have string 'sessionId' property");
  if (head.has_other_member || !head.result.empty() || !head.error.empty())
    return answer(-32600, "Message has property other than 'id', 'method', 'sessionId', 'params'");
  if (!head.params.empty() && !head.params.starts_with('{') && head.params != "null")
    return answer(-32600, "Message may have object 'params' property");
  return false;
}

void CdpClient::Core::process(std::string message) {
  CdpHead head = wire::scan_cdp(message);
  if (!wire::is_utf8(message)) head.fault = CdpFault::kNotJson;
  if (refuse_malformed(head)) return;
  const Session* session = head.has_escaped_session ? nullptr : find_session(head.session_id);
  if (session == nullptr || session->kind == Session::Kind::kHidden)
    return tell_client(cdp_error(head.id_text, "", -32001, "Session with given id not found."));
  const CdpTreatment treatment =
      treatment_of(head.method, session->kind == Session::Kind::kBrowser);
  if (treatment.rule == CdpRule::kPass && treatment.audit == AuditKind::kNone)
    return hooks_.to_browser(std::move(message));
  dispatch(std::make_shared<Command>(std::move(message), treatment));
}

void CdpClient::Core::dispatch(const CommandPtr& command) {
  note(*command);
  switch (command->treatment.rule) {
    case CdpRule::kPass: return forward(command);
    case CdpRule::kDeny:
      return refuse(*command, -32601, "'" + std::string(command->head.method) + "' wasn't found");
    case CdpRule::kNotAllowed: return refuse(*command, -32000, "Not allowed");
    case CdpRule::kCloseBrowser: return on_close_browser(command);
    case CdpRule::kContext: return on_context(command);
    case CdpRule::kCookies: return on_cookies(command);
    case CdpRule::kDownloads:
    case CdpRule::kPageDownloads: return on_downloads(command);
    case CdpRule::kTarget:
    case CdpRule::kTargetInfo:
    case CdpRule::kAttach: return on_target(command);
    case CdpRule::kWindowForTarget: return on_window_for_target(command);
    case CdpRule::kWindow: return on_window(command);
    case CdpRule::kAutoAttach: return on_auto_attach(command);
    case CdpRule::kAttachToBrowser:
      ++browser_attaches_;
      return forward(command, CdpEdit(command->text), Pending::Kind::kBrowserAttach);
    case CdpRule::kDetach: return on_detach(command);
    case CdpRule::kGetTargets:
      return forward(command, CdpEdit(command->text), Pending::Kind::kTargets);
    case CdpRule::kGetContexts:
      return forward(command, CdpEdit(command->text), Pending::Kind::kContexts);
    case CdpRule::kCreateContext: return on_create_context(command);
    case CdpRule::kDisposeContext: return on_dispose_context(command);
    case CdpRule::kCreateTarget: return on_create_target(command);
    case CdpRule::kResume: return on_resume(command);
    case CdpRule::kNavigate: return on_navigate(command);
    case CdpRule::kInput: return on_input(command);
    case CdpRule::kDrag: return on_drag(command);
    case CdpRule::kInputFiles: return on_input_files(command);
  }
}

void CdpClient::Core::refuse(const Command& command, int code, std::string_view message) {
  tell_client(cdp_error(command.head.id_text, command.session_id, code, message));
  end_note(command.note, false, message, "");
}

void CdpClient::Core::refuse_params(const Command& command) {
  refuse(command, -32602, "Invalid parameters");
}

std::optional<wire::JsonValue> CdpClient::Core::Params::find(std::string_view name) const {
  return document_ ? document_->root().find(name) : std::nullopt;
}

std::string_view CdpClient::Core::Params::part(const Command& command,
                                               const wire::JsonValue& value) const {
  const std::size_t at = wire::offset_in(document_->root().raw(), value.raw());
  return command.head.params.substr(at, value.raw().size());
}

std::vector<wire::JsonMember> CdpClient::Core::Params::members() const {
  return document_ ? document_->root().members() : std::vector<wire::JsonMember>();
}

std::optional<CdpClient::Core::Params> CdpClient::Core::params_of(const Command& command) {
  if (!command.head.params.starts_with('{')) return Params();
  auto document = wire::parse_json(std::string(command.head.params));
  if (document) return Params(std::move(*document));
  refuse_params(command);
  return std::nullopt;
}

bool CdpClient::Core::read_string(const Command& command, const Params& params,
                                  std::string_view name, std::optional<std::string>& value) {
  const auto found = params.find(name);
  if (!found) return true;
  value = found->as_string();
  if (!value) refuse_params(command);
  return value.has_value();
}

void CdpClient::Core::note(Command& command) {
  if (command.treatment.audit == AuditKind::kNone) return;
  command.note = ++last_note_;
  hooks_.audit({.number = command.note,
                .kind = command.treatment.audit,
                .method = command.head.method,
                .target_id = page_of(command.session_id),
                .params = command.head.params});
}

void CdpClient::Core::forward(const CommandPtr& command) {
  const bool has_outcome = command->note != 0 && command->treatment.audit != AuditKind::kInput;
  if (has_outcome) return forward(command, CdpEdit(command->text), Pending::Kind::kRelay);
  hooks_.to_browser(std::move(command->text));
}

void CdpClient::Core::forward(const CommandPtr& command, CdpEdit edit, Pending::Kind kind) {
  const bool has_outcome = command->note != 0 && command->treatment.audit != AuditKind::kInput;
  if (kind == Pending::Kind::kRelay && !has_outcome) return hooks_.to_browser(edit.text());
  track_and_send(command, std::move(edit), {.kind = kind, .upstream_session = command->session_id});
}

void CdpClient::Core::track_and_send(const CommandPtr& command, CdpEdit edit, Pending pending) {
  pending.id = command->head.id_text;
  pending.session_id = command->session_id;
  pending.note = command->note;
  const auto id = track(std::move(pending));
  if (!id) return refuse(*command, -32000, "Too many commands at once");
  edit.replace(command->head.id_text, std::to_string(*id));
  hooks_.to_browser(edit.text());
}

std::optional<std::int32_t> CdpClient::Core::track(Pending pending) {
  if (pending_.size() >= kMaxTrackedCdpCommands) return std::nullopt;
  const std::int32_t id = next_own_id();
  pending_.emplace(id, std::move(pending));
  return id;
}

std::int32_t CdpClient::Core::next_own_id() {
  do {
    last_own_id_ = last_own_id_ == INT32_MAX ? kFirstOwnCdpId : last_own_id_ + 1;
  } while (pending_.contains(last_own_id_));
  return last_own_id_;
}

void CdpClient::Core::send_own(std::string_view session_id, std::string_view method,
                               std::string_view params) {
  hooks_.to_browser(cdp_command(next_own_id(), session_id, method, params));
}

void CdpClient::Core::send_tracked(std::string_view session_id, std::string_view method,
                                   std::string_view params, Pending pending) {
  pending.upstream_session = session_id;
  if (pending.kind == Pending::Kind::kHiddenDone) ++unquiet_;
  const std::int32_t id = next_own_id();
  pending_.emplace(id, std::move(pending));
  hooks_.to_browser(cdp_command(id, session_id, method, params));
}

void CdpClient::Core::stop_waiting() {
  is_waiting_ = false;
  // What is answered at once while the queue is gone through is no reason to begin again.
  if (std::exchange(is_draining_, true)) return;
  while (!is_waiting_ && !waiting_.empty() && !is_closing_ && !is_leaving_ && !is_closed_) {
    std::string message = std::move(waiting_.front());
    waiting_.pop_front();
    process(std::move(message));
  }
  is_draining_ = false;
  if (!is_waiting_ && !is_asking_ && !is_closing_ && !is_leaving_ && !is_closed_) hooks_.readable();
}

CdpClient::Core::Session* CdpClient::Core::find_session(std::string_view id) {
  const auto at = sessions_.find(id);
  return at == sessions_.end() ? nullptr : &at->second;
}

// The page that a session belongs to: its own target, or the one it hangs on.
std::string_view CdpClient::Core::page_of(std::string_view session_id) {
  const Session* const first = find_session(session_id);
  for (const Session* session = first; session != nullptr; session = find_session(session->parent))
    if (session->type == "page" || session->kind != Session::Kind::kTarget)
      return session->type == "page" ? session->target_id : first->target_id;
  return {};
}

CdpClient::Core::Session& CdpClient::Core::session_of(const Command& command) {
  Session* session = find_session(command.session_id);
  REPRISE_ASSERT(session != nullptr, command.session_id);
  return *session;
}

// The browser session under which a session was attached.
CdpGate::Unit CdpClient::Core::unit_of(std::string_view session_id) {
  std::string id(session_id);
  for (const Session* session = find_session(id);
       session != nullptr && session->kind != Session::Kind::kBrowser; session = find_session(id))
    id = session->parent;
  return {.owner = this, .browser_session = std::move(id)};
}

void CdpClient::Core::resume_all() {
  for (auto& [id, session] : sessions_) {
    if (session.kind != Session::Kind::kTarget || !std::exchange(session.is_paused, false))
      continue;
    send_own(id, "Runtime.runIfWaitingForDebugger", "");
  }
}

}  // namespace reprise::browser
