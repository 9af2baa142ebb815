// Replies to commands that are tracked: given back their ids, filtered, or kept for ourselves.
#include "browser/chromium/cdp_client.h"

#include <charconv>
#include <utility>

#include "base/json_text.h"

namespace reprise::browser {

using wire::cdp_elements;
using wire::cdp_member;
using wire::cdp_plain_string;
using wire::CdpHead;

void CdpClient::Core::on_reply(const CdpHead& head) {
  const auto at = pending_.find(*head.id);
  if (at == pending_.end()) return;  // a command of ours whose reply says nothing
  const Pending pending = std::move(at->second);
  pending_.erase(at);
  switch (pending.kind) {
    case Pending::Kind::kOwnBrowser:
      own_browser_id_ = read_info(cdp_member(head.result, "targetInfo")).target_id;
      return;
    case Pending::Kind::kRelay: return relay(pending, head, head.result);
    case Pending::Kind::kTargets: return on_targets_reply(pending, head);
    case Pending::Kind::kContexts: return on_contexts_reply(pending, head);
    case Pending::Kind::kContextCreated: return on_context_created(pending, head);
    case Pending::Kind::kContextDisposed: return on_context_disposed(pending, head);
    case Pending::Kind::kWindow: return on_window_reply(pending, head);
    case Pending::Kind::kBrowserAttach:
      --browser_attaches_;
      return relay(pending, head, head.result);
    case Pending::Kind::kLookup: return on_lookup_reply(pending, head);
    case Pending::Kind::kHiddenDone:
      if (const Session* hidden = find_session(pending.subject)) {
        // A tab whose page is being resumed is needed until that is done.
        const bool is_needed = hidden->has_page && pending.upstream_session == pending.subject;
        if (!is_needed) detach_hidden(pending.subject, hidden->parent);
      }
      return one_less_unquiet();
    case Pending::Kind::kQuiet: return one_less_unquiet();
    case Pending::Kind::kFrameTarget:
    case Pending::Kind::kFrameTree: return on_frame_reply(pending, head);
  }
}

void CdpClient::Core::relay(const Pending& pending, const CdpHead& head, std::string_view result) {
  CdpHead reply = head;
  reply.result = result;
  tell_client(relayed_reply(reply, pending.id, pending.session_id));
  const std::string_view message = cdp_member(head.error, "message");
  end_note(pending.note, head.error.empty(), cdp_plain_string(message).value_or(message), result);
}

void CdpClient::Core::on_targets_reply(const Pending& pending, const CdpHead& head) {
  std::string result = R"({"targetInfos":[)";
  const std::size_t start = result.size();
  const Session root;  // nothing is visible for being seen by it
  for (const std::string_view info : cdp_elements(cdp_member(head.result, "targetInfos"))) {
    if (!is_visible(read_info(info), root)) continue;
    if (result.size() > start) result += ',';
    result += info;
  }
  relay(pending, head, result + "]}");
}

void CdpClient::Core::on_contexts_reply(const Pending& pending, const CdpHead& head) {
  std::string result = R"({"browserContextIds":[)";
  const std::size_t start = result.size();
  for (const std::string_view id : cdp_elements(cdp_member(head.result, "browserContextIds"))) {
    const auto context_id = cdp_plain_string(id);
    if (!context_id || !scope_->sub_contexts().contains(*context_id)) continue;
    if (result.size() > start) result += ',';
    result += id;
  }
  relay(pending, head,
        result + R"(],"defaultBrowserContextId":)" + json_string(scope_->context_id()) + "}");
}

void CdpClient::Core::on_context_created(const Pending& pending, const CdpHead& head) {
  if (const auto id = cdp_plain_string(cdp_member(head.result, "browserContextId"))) {
    const std::string context_id(*id);
    scope_->add_sub_context(context_id);
    Session* session = find_session(pending.upstream_session);
    if (pending.vanishes && session != nullptr) session->vanishing_contexts.insert(context_id);
    hooks_.context_changed(context_id, true);
  }
  relay(pending, head, head.result);
}

void CdpClient::Core::on_context_disposed(const Pending& pending, const CdpHead& head) {
  if (head.error.empty()) {
    scope_->remove_sub_context(pending.subject);
    hooks_.context_changed(pending.subject, false);
  }
  relay(pending, head, head.result);
}

void CdpClient::Core::on_window_reply(const Pending& pending, const CdpHead& head) {
  const std::string_view window = cdp_member(head.result, "windowId");
  std::int64_t id = 0;
  const char* const end = window.data() + window.size();
  const auto [stop, error] = std::from_chars(window.data(), end, id);
  if (!window.empty() && error == std::errc() && stop == end) windows_.insert(id);
  relay(pending, head, head.result);
}

void CdpClient::Core::on_lookup_reply(const Pending& pending, const CdpHead& head) {
  const TargetInfo info = read_info(cdp_member(head.result, "targetInfo"));
  const bool is_own =
      head.error.empty() && info.target_id == pending.subject && is_visible(info, Session());
  if (is_own) {
    target_is_own(pending.command);
  } else {
    target_is_foreign(*pending.command);
  }
  stop_waiting();
}

// First whether the frame is a target by itself; if it is none, whether it is in the tree of one
// that the client is attached to.
void CdpClient::Core::on_frame_reply(const Pending& pending, const CdpHead& head) {
  const std::string& guid = pending.subject;
  const std::string_view frame_id = downloads_.frame_of(guid);
  if (frame_id.empty()) return;
  if (pending.kind == Pending::Kind::kFrameTarget) {
    if (!head.error.empty()) return look_for_frame(guid, frame_id);
    const TargetInfo info = read_info(cdp_member(head.result, "targetInfo"));
    return decide_download(guid, is_visible(info, Session()));
  }
  const bool is_here = head.result.find(json_string(frame_id)) != std::string_view::npos;
  if (downloads_.take_answer(guid) || is_here) decide_download(guid, is_here);
}

void CdpClient::Core::give_up(const Pending& pending) {
  end_note(pending.note, false, "Session closed", "");
  if (pending.kind == Pending::Kind::kBrowserAttach) --browser_attaches_;
  if (pending.kind == Pending::Kind::kHiddenDone || pending.kind == Pending::Kind::kQuiet)
    one_less_unquiet();
  if (pending.kind == Pending::Kind::kFrameTree && downloads_.take_answer(pending.subject))
    decide_download(pending.subject, false);
}

void CdpClient::Core::end_note(std::uint64_t note, bool is_ok, std::string_view error,
                               std::string_view result) {
  if (note == 0) return;
  hooks_.audit_outcome({.number = note,
                        .is_ok = is_ok,
                        .error = is_ok ? std::string_view() : error,
                        .result = is_ok ? result : std::string_view()});
}

}  // namespace reprise::browser
