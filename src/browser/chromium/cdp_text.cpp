#include "browser/chromium/cdp_text.h"

#include <algorithm>

#include "base/assert.h"
#include "base/json_text.h"

namespace reprise::browser {
namespace {

void append_session(std::string& out, std::string_view session_id) {
  if (session_id.empty()) return;
  out += R"(,"sessionId":)";
  append_json_string(out, session_id);
}

// `{"id":7` or, where no id is known, `{` with what follows it.
std::string reply_start(std::string_view id, std::string_view member) {
  std::string out = "{";
  if (!id.empty()) {
    out += R"("id":)";
    out += id;
    out += ',';
  }
  out += member;
  return out;
}

// Before the brace that ends the message.
std::size_t last_brace(std::string_view message) {
  const std::size_t at = message.rfind('}');
  REPRISE_ASSERT(at != std::string_view::npos, message);
  return at;
}

}  // namespace

CdpEdit& CdpEdit::replace(std::string_view part, std::string_view with) {
  add({wire::offset_in(text_, part), part.size(), std::string(with)});
  return *this;
}

CdpEdit& CdpEdit::insert(std::size_t at, std::string with) {
  add({at, 0, std::move(with)});
  return *this;
}

void CdpEdit::add(Change change) {
  const auto place = std::ranges::upper_bound(changes_, change.at, {}, &Change::at);
  changes_.insert(place, std::move(change));
}

std::string CdpEdit::text() const {
  std::string out;
  std::size_t bytes = text_.size();
  for (const Change& change : changes_) bytes += change.with.size();
  out.reserve(bytes);
  std::size_t at = 0;
  for (const Change& change : changes_) {
    REPRISE_ASSERT(change.at >= at && change.at + change.bytes <= text_.size(), change.at);
    out += text_.substr(at, change.at - at);
    out += change.with;
    at = change.at + change.bytes;
  }
  out += text_.substr(at);
  return out;
}

void add_param(CdpEdit& edit, std::string_view command, const wire::CdpHead& head,
               std::string_view member) {
  if (head.params.empty()) {
    edit.insert(last_brace(command), R"(,"params":{)" + std::string(member) + "}");
  } else if (!head.params.starts_with('{')) {
    edit.replace(head.params, "{" + std::string(member) + "}");
  } else {
    const std::size_t first = head.params.find_first_not_of(" \n\r\t", 1);
    const bool is_empty = head.params[first] == '}';
    edit.insert(wire::offset_in(command, head.params) + 1,
                std::string(member) + (is_empty ? "" : ","));
  }
}

void set_session(CdpEdit& edit, std::string_view command, const wire::CdpHead& head,
                 std::string_view session_id) {
  if (head.session_id.data() != nullptr) {
    edit.replace(head.session_id, session_id);
  } else if (!session_id.empty()) {
    std::string member;
    append_session(member, session_id);
    edit.insert(last_brace(command), std::move(member));
  }
}

std::string cdp_result(std::string_view id, std::string_view session_id, std::string_view result) {
  std::string out = reply_start(id, R"("result":)");
  out += result;
  append_session(out, session_id);
  out += '}';
  return out;
}

std::string cdp_error(std::string_view id, std::string_view session_id, int code,
                      std::string_view message) {
  std::string out = reply_start(id, R"("error":{"code":)");
  append_number(out, std::int64_t{code});
  out += R"(,"message":)";
  append_json_string(out, message);
  out += '}';
  append_session(out, session_id);
  out += '}';
  return out;
}

std::string relayed_reply(const wire::CdpHead& reply, std::string_view id,
                          std::string_view session_id) {
  std::string out;
  const std::string_view value = reply.error.empty() ? reply.result : reply.error;
  out.reserve(value.size() + id.size() + session_id.size() + 48);
  out = reply_start(id, reply.error.empty() ? R"("result":)" : R"("error":)");
  out += value.empty() ? std::string_view("{}") : value;
  append_session(out, session_id);
  out += '}';
  return out;
}

std::string cdp_command(std::int32_t id, std::string_view session_id, std::string_view method,
                        std::string_view params) {
  std::string out = R"({"id":)";
  append_number(out, std::int64_t{id});
  out += R"(,"method":")";
  out += method;
  out += '"';
  if (!params.empty()) {
    out += R"(,"params":)";
    out += params;
  }
  append_session(out, session_id);
  out += '}';
  return out;
}

}  // namespace reprise::browser
