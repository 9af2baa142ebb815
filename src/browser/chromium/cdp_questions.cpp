// The rules that must ask the server first. Paths of a client name nothing on this machine: they
// are replaced by what the server says they stand for, or the command is refused. A new context
// gets the proxy that the server gives it.
#include "browser/chromium/cdp_client.h"

#include <utility>

#include "base/json_text.h"

namespace reprise::browser {
namespace {

std::string json_array(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ',';
    append_json_string(out, text);
  }
  return out + "]";
}

std::string words_of(const Error& error) {
  return error.detail.empty() ? std::string(error_row(error.code).title) : error.detail;
}

constexpr std::string_view kTakenOver = "A person has taken over this session's browser.";

// The files of a drag are a level deeper.
std::optional<wire::JsonValue> drag_files(const std::optional<wire::JsonValue>& data) {
  return data ? data->find("files") : std::nullopt;
}

}  // namespace

void CdpClient::Core::ask(const CommandPtr& command, CdpQuestion question, Answered then) {
  const std::uint64_t number = ++last_question_;
  start_waiting();
  is_asking_ = true;
  hooks_.ask(std::move(question),
             [self = weak_from_this(), number, command, then](Result<CdpAnswer> answer) {
               if (const auto core = self.lock())
                 core->answered(number, command, then, std::move(answer));
             });
  is_asking_ = false;
}

void CdpClient::Core::answered(std::uint64_t question, const CommandPtr& command, Answered then,
                               Result<CdpAnswer> answer) {
  if (is_closed_ || !is_waiting_ || question != last_question_) return;
  if (answer) {
    (this->*then)(command, *answer);
  } else {
    refuse(*command, -32000, words_of(answer.error()));
  }
  stop_waiting();
}

void CdpClient::Core::on_input(const CommandPtr& command) {
  if (scope_->is_taken_over()) return refuse(*command, -32000, kTakenOver);
  forward(command);
}

void CdpClient::Core::on_drag(const CommandPtr& command) {
  if (scope_->is_taken_over()) return refuse(*command, -32000, kTakenOver);
  const auto params = params_of(*command);
  if (!params) return;
  const auto files = drag_files(params->find("data"));
  if (!files) return forward(command);
  ask_files(command, CdpQuestion::Kind::kDragFiles, files);
}

void CdpClient::Core::on_input_files(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  ask_files(command, CdpQuestion::Kind::kInputFiles, params->find("files"));
}

void CdpClient::Core::ask_files(const CommandPtr& command, CdpQuestion::Kind kind,
                                const std::optional<wire::JsonValue>& files) {
  if (!files || files->type() != wire::JsonType::kArray) return refuse_params(*command);
  const Session& session = session_of(*command);
  CdpQuestion question{
      .kind = kind, .target_id = session.target_id, .context_id = session.context_id};
  for (const wire::JsonValue& file : files->elements()) {
    auto path = file.as_string();
    if (!path || question.paths.size() == kMaxCdpFiles) return refuse_params(*command);
    question.paths.push_back(std::move(*path));
  }
  if (question.paths.empty()) return forward(command);
  ask(command, std::move(question), &Core::files_answered);
}

void CdpClient::Core::files_answered(const CommandPtr& command, const CdpAnswer& answer) {
  const auto params = params_of(*command);
  if (!params) return;
  const bool is_drag = command->treatment.rule == CdpRule::kDrag;
  const auto files = is_drag ? drag_files(params->find("data")) : params->find("files");
  if (!files || files->elements().size() != answer.paths.size())
    return refuse(*command, -32000, "Not all files were found");
  CdpEdit edit(command->text);
  edit.replace(params->part(*command, *files), json_array(answer.paths));
  forward(command, edit);
}

void CdpClient::Core::on_downloads(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  CdpEdit edit(command->text);
  const bool has_context = command->treatment.rule == CdpRule::kDownloads;
  std::optional<std::string> context_id = session_of(*command).context_id;
  if (has_context) context_id = read_context(command, *params, edit);
  if (!context_id) return;
  std::optional<std::string> behavior;
  std::optional<std::string> path;
  if (!read_string(*command, *params, "behavior", behavior)) return;
  if (!read_string(*command, *params, "downloadPath", path)) return;
  if (!behavior) return refuse_params(*command);
  if (*behavior == "deny" && !path) return forward(command, edit);
  CdpQuestion question{.kind = CdpQuestion::Kind::kDownloads,
                       .target_id = session_of(*command).target_id,
                       .context_id = std::move(*context_id),
                       .behavior = std::move(*behavior)};
  if (path) question.paths.push_back(std::move(*path));
  ask(command, std::move(question), &Core::downloads_answered);
}

void CdpClient::Core::downloads_answered(const CommandPtr& command, const CdpAnswer& answer) {
  const bool is_denied = answer.behavior == "deny" && answer.paths.empty();
  if (answer.paths.size() != 1 && !is_denied)
    return refuse(*command, -32000, "There is no place for downloads");
  const auto params = params_of(*command);
  // The session may have ended meanwhile.
  if (!params || find_session(command->session_id) == nullptr) return;
  CdpEdit edit(command->text);
  const bool has_context = command->treatment.rule == CdpRule::kDownloads;
  if (has_context && !read_context(command, *params, edit)) return;
  const std::string path = json_string(is_denied ? "" : answer.paths.front());
  if (const auto old = params->find("downloadPath")) {
    edit.replace(params->part(*command, *old), path);
  } else if (!is_denied) {
    add_param(edit, command->text, command->head, "\"downloadPath\":" + path);
  }
  const auto behavior = params->find("behavior");
  if (!answer.behavior.empty() && behavior)
    edit.replace(params->part(*command, *behavior), json_string(answer.behavior));
  forward(command, edit);
}

void CdpClient::Core::on_create_context(const CommandPtr& command) {
  const auto params = params_of(*command);
  if (!params) return;
  std::optional<std::string> proxy_server;
  std::optional<std::string> bypass_list;
  if (!read_string(*command, *params, "proxyServer", proxy_server)) return;
  if (!read_string(*command, *params, "proxyBypassList", bypass_list)) return;
  ask(command,
      {.kind = CdpQuestion::Kind::kNewContext,
       .proxy_server = proxy_server.value_or(""),
       .proxy_bypass_list = bypass_list.value_or("")},
      &Core::context_answered);
}

void CdpClient::Core::context_answered(const CommandPtr& command, const CdpAnswer& answer) {
  const auto params = params_of(*command);
  if (!params) return;
  std::string members;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!members.empty()) members += ',';
    append_json_string(members, name);
    members += ':';
    members += value;
  };
  for (const wire::JsonMember& member : params->members())
    if (member.name != "proxyServer" && member.name != "proxyBypassList")
      add(member.name, member.value.raw());
  if (!answer.proxy_server.empty()) add("proxyServer", json_string(answer.proxy_server));
  if (!answer.proxy_bypass_list.empty())
    add("proxyBypassList", json_string(answer.proxy_bypass_list));
  const auto vanishes = params->find("disposeOnDetach");

  CdpEdit edit(command->text);
  if (command->head.params.empty()) {
    add_param(edit, command->text, command->head, members);
  } else {
    edit.replace(command->head.params, "{" + members + "}");
  }
  track_and_send(command, std::move(edit),
                 {.kind = Pending::Kind::kContextCreated,
                  .upstream_session = command->session_id,
                  .vanishes = vanishes && vanishes->as_bool() == true});
}

}  // namespace reprise::browser
