#include "api/session_json.h"

#include "api/interactions.h"
#include "base/json_text.h"

namespace reprise::api {
namespace {

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) { out_ += '{'; }
  void text(std::string_view name, std::string_view value) {
    begin(name);
    append_json_string(out_, value);
  }
  void text_or_null(std::string_view name, std::string_view value) {
    if (value.empty()) return raw(name, "null");
    text(name, value);
  }
  void time(std::string_view name, TimePoint at) {
    begin(name);
    out_ += '"';
    append_time(out_, at);
    out_ += '"';
  }
  void number(std::string_view name, std::uint64_t value) {
    begin(name);
    append_number(out_, value);
  }
  void number_or_null(std::string_view name, std::optional<std::uint64_t> value) {
    if (!value) return raw(name, "null");
    number(name, *value);
  }
  void raw(std::string_view name, std::string_view json) {
    begin(name);
    out_ += json;
  }
  void end() { out_ += '}'; }

 private:
  void begin(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    out_ += '"';
    out_ += name;
    out_ += "\":";
  }
  std::string& out_;
};

}  // namespace

std::string etag_of(std::uint64_t revision) { return '"' + std::to_string(revision) + '"'; }

session::SessionView view_of(const session::StoredSession& stored, std::size_t subscribers) {
  return {stored.state, stored.revision, subscribers, stored.stream};
}

void append_session_json(std::string& out, const session::SessionView& view,
                         model::Vocabulary vocabulary) {
  const model::SessionState& state = view.state;
  Writer writer(out);
  writer.text("id", state.id.to_string());
  writer.text_or_null("key", state.has_key() ? state.key().to_string() : std::string());
  writer.text("app", state.app);
  writer.text_or_null("name", state.name);
  writer.text("graphId", state.graph_id);
  writer.text_or_null("ownerAgent", state.owner_agent);
  writer.text("status", model::word(state.status, vocabulary));
  const auto first_reason = state.pause_reasons.first();
  writer.text_or_null("pauseReason",
                      first_reason ? model::word(*first_reason) : std::string_view());
  std::string reasons = "[";
  for (const model::PauseReason reason : model::kPauseReasons) {
    if (!state.pause_reasons.contains(reason)) continue;
    if (reasons.size() > 1) reasons += ',';
    append_json_string(reasons, model::word(reason));
  }
  writer.raw("pauseReasons", reasons + ']');
  writer.time("createdAt", state.created_at);
  writer.time("updatedAt", state.updated_at);
  writer.time("lastActivityAt", state.last_activity_at);
  if (const auto expires = state.expires_at())
    writer.time("expiresAt", *expires);
  else
    writer.raw("expiresAt", "null");
  writer.number_or_null("ttlSeconds", state.ttl_seconds);
  writer.number_or_null("maxLifetimeSeconds", state.max_lifetime_seconds);
  writer.text("onWorkerLost", model::word(state.on_worker_lost));
  writer.number("messageCount", state.message_count);
  writer.raw("isActive", model::is_living(state.status) ? "true" : "false");
  writer.number("subscriberCount", view.subscribers);
  writer.number("lastSeq", state.head.value);
  writer.text_or_null("lastError", state.last_error);
  writer.text_or_null("activeTabId",
                      state.active_tab ? state.active_tab->to_string() : std::string());
  writer.raw("pendingInteractions", open_interactions_json(state));
  writer.raw("metadata", state.metadata);
  writer.raw("steps", state.steps.empty() ? std::string_view("null") : state.steps);
  writer.text("etag", etag_of(view.revision));
  writer.end();
}

std::string session_json(const session::SessionView& view, model::Vocabulary vocabulary) {
  std::string out;
  out.reserve(1024);
  append_session_json(out, view, vocabulary);
  return out;
}

}  // namespace reprise::api
