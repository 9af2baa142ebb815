#include "session/keys.h"

#include "base/assert.h"
#include "base/bytes.h"

namespace reprise::session {
namespace {

std::string text_prefix(char table, std::string_view text) {
  std::string key(1, table);
  key += text;
  key.push_back('\0');
  return key;
}

std::string timed_key(char table, TimePoint at) {
  std::string key(1, table);
  put_be64(key, static_cast<std::uint64_t>(std::max<std::int64_t>(at.ms, 0)));
  return key;
}

}  // namespace

std::string session_key(SessionId id) {
  std::string key(1, 's');
  key += id.view();
  return key;
}

std::string name_key(const model::SessionKey& key) { return text_prefix('k', key.app) + key.name; }

std::string all_prefix() { return "s"; }
std::string app_prefix(std::string_view app) { return text_prefix('a', app); }
std::string graph_prefix(std::string_view graph_id) { return text_prefix('g', graph_id); }
std::string owner_prefix(std::string_view owner) { return text_prefix('o', owner); }

std::string status_prefix(model::Status status) {
  std::string key(1, 't');
  key.push_back(static_cast<char>(status));
  return key;
}

std::string name_prefix(std::string_view start_of_name) {
  std::string key(1, 'n');
  key += start_of_name;
  return key;
}

std::string waiting_prefix() { return "w"; }

std::string expiry_key(TimePoint at, SessionId id) {
  return timed_key('x', at) + std::string(id.view());
}
std::string expiry_range_begin() { return "x"; }
std::string expiry_range_end(TimePoint now) { return timed_key('x', now + Millis{1}); }
std::string ended_key(TimePoint at, SessionId id) {
  return timed_key('e', at) + std::string(id.view());
}
std::string ended_range_begin() { return "e"; }
std::string ended_range_end(TimePoint until) { return timed_key('e', until + Millis{1}); }

std::string app_ended_prefix(std::string_view app) { return text_prefix('E', app); }
std::string app_ended_range_end(std::string_view app, TimePoint until) {
  return app_ended_prefix(app) + ended_range_end(until).substr(1);
}

std::string deleted_key(StreamId stream) {
  std::string key(1, 'd');
  key += stream.view();
  return key;
}
std::string deleted_prefix() { return "d"; }
std::optional<StreamId> stream_of_deleted_key(std::string_view key) {
  if (key.size() != 17 || key[0] != 'd') return std::nullopt;
  return StreamId::from_bytes(key.substr(1));
}

std::string import_key(StreamId stream) { return import_prefix().append(stream.view()); }
std::string import_prefix() { return "I"; }
std::optional<StreamId> stream_of_import_key(std::string_view key) {
  if (key.size() != 17 || key[0] != 'I') return std::nullopt;
  return StreamId::from_bytes(key.substr(1));
}

// An id holds no control characters, so the counter's key is no agent's.
std::string agent_key(std::string_view id) { return "A" + std::string(id); }
std::string agent_range_begin() { return "A\1"; }
std::string agent_range_end() { return "B"; }
std::string_view id_of_agent_key(std::string_view key) { return key.substr(1); }
std::string last_generation_key() { return std::string("A\0", 2); }

std::optional<SessionId> id_of_index_key(std::string_view key) {
  if (key.size() < 17) return std::nullopt;
  return SessionId::from_bytes(key.substr(key.size() - 16));
}

std::vector<std::string> index_keys(const model::SessionState& state) {
  const std::string_view id = state.id.view();
  std::vector<std::string> keys;
  keys.reserve(7);
  const auto add = [&](std::string key) {
    key += id;
    keys.push_back(std::move(key));
  };
  add(app_prefix(state.app));
  add(graph_prefix(state.graph_id));
  if (!state.owner_agent.empty()) add(owner_prefix(state.owner_agent));
  add(status_prefix(state.status));
  if (state.has_key()) add(text_prefix('n', state.name));
  if (state.pause_reasons.contains(model::PauseReason::kInput)) add(waiting_prefix());
  if (state.ended_at) {
    keys.push_back(ended_key(*state.ended_at, state.id));
    keys.push_back(app_ended_prefix(state.app) + ended_key(*state.ended_at, state.id).substr(1));
  }
  return keys;
}

std::string counter_key(std::string_view app, std::string_view graph_id, model::Status status) {
  std::string key = text_prefix('n', app);
  key += graph_id;
  key.push_back('\0');
  key.push_back(static_cast<char>(status));
  return key;
}

std::vector<std::string> counter_keys(const model::SessionState& state) {
  return {counter_key("", "", state.status), counter_key(state.app, "", state.status),
          counter_key("", state.graph_id, state.status),
          counter_key(state.app, state.graph_id, state.status)};
}

std::size_t feed_of(SessionId id) { return std::hash<SessionId>{}(id) % kFeeds; }

StreamId feed_stream(std::size_t feed) {
  REPRISE_ASSERT(feed < kFeeds, feed);
  StreamId id;
  constexpr std::string_view kName = "reprise.feed.";
  for (std::size_t i = 0; i < kName.size(); ++i) id.bytes[i] = static_cast<unsigned char>(kName[i]);
  id.bytes[15] = static_cast<unsigned char>(feed);
  return id;
}

}  // namespace reprise::session
