#include "api/devtools_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/limits.h"
#include "base/json_text.h"
#include "model/event.h"
#include "wire/json.h"

namespace reprise::api {
namespace {

constexpr std::array<std::string_view, kDevtoolsTypes> kWords = {
    "session.created", "session.closed", "session.reset",    "session.resumed",
    "session.deleted", "message",        "client.connected", "client.disconnected",
    "request",         "dropped"};

constexpr std::size_t kStartIdBytes = 16;

void add_text(std::string& members, std::string_view name, std::string_view text) {
  members += fmt::format(",\"{}\":", name);
  append_json_string(members, text);
}

void add_number(std::string& members, std::string_view name, std::uint64_t number) {
  members += fmt::format(",\"{}\":{}", name, number);
}

// At most so many bytes of it, and no half of a character.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

// What a person would read of a message: the data itself or its member `text`, where that is a
// string.
std::optional<std::string> message_text(std::string_view data) {
  if (data.size() > kMaxDevtoolsParsedBytes) return std::nullopt;
  const auto document = wire::parse_json(std::string(data));
  if (!document) return std::nullopt;
  if (auto whole = document->root().as_string()) return whole;
  const auto text = document->root().find("text");
  return text ? text->as_string() : std::nullopt;
}

void add_message(Happening& happening, const model::EntryView& entry) {
  if (!entry.by.empty()) add_text(happening.members, "by", entry.by);
  add_number(happening.members, "bytes", entry.data.size());
  if (const auto text = message_text(entry.data))
    add_text(happening.members, "text", cut(*text, kMaxDevtoolsTextBytes));
}

// What a change of status is to somebody who watches.
std::optional<DevtoolsType> type_of_change(std::string_view data, std::string& to) {
  const auto document = wire::parse_json(std::string(data));
  if (!document) return std::nullopt;
  const auto from_member = document->root().find("from");
  const auto to_member = document->root().find("to");
  if (!from_member || !to_member) return std::nullopt;
  to = to_member->as_string().value_or("");
  for (const model::Status status : model::kStatuses)
    if (model::word(status) == to && model::is_terminal(status))
      return DevtoolsType::kSessionClosed;
  const bool was_paused = from_member->as_string() == model::word(model::Status::kPaused);
  if (was_paused && to == model::word(model::Status::kActive)) return DevtoolsType::kSessionResumed;
  return std::nullopt;
}

std::optional<Happening> happening_of_entry(const model::SessionState& session, Seq seq,
                                            const model::EntryView& entry) {
  std::optional<DevtoolsType> type;
  std::string status;
  if (entry.type == model::event_type::kMessage) type = DevtoolsType::kMessage;
  if (entry.type == model::event_type::kSessionReset) type = DevtoolsType::kSessionReset;
  if (entry.type == model::event_type::kStatusChange) type = type_of_change(entry.data, status);
  if (!type) return std::nullopt;
  Happening happening = happening_of(*type, entry.at, session);
  add_number(happening.members, "seq", seq.value);
  if (!status.empty()) add_text(happening.members, "status", status);
  if (*type == DevtoolsType::kMessage) add_message(happening, entry);
  return happening;
}

}  // namespace

std::string_view word(DevtoolsType type) { return kWords[static_cast<std::size_t>(type)]; }

Happening happening_of(DevtoolsType type, TimePoint at, const model::SessionState& session) {
  return {.type = type,
          .at = at,
          .session = session.id.to_string(),
          .app = session.app,
          .key = session.has_key() ? session.key().to_string() : std::string(),
          .members = {}};
}

std::vector<Happening> happenings_of(const model::SessionState& session,
                                     const stream::Batch& batch) {
  std::vector<Happening> happenings;
  Seq seq = batch.first;
  for (const std::string& bytes : batch.entries) {
    const auto entry = model::decode_entry(bytes);
    auto happening = entry ? happening_of_entry(session, seq, *entry) : std::nullopt;
    if (happening) happenings.push_back(std::move(*happening));
    seq = seq.next();
  }
  return happenings;
}

std::string devtools_json(std::uint64_t n, const Happening& happening) {
  std::string json = "{\"n\":";
  append_number(json, n);
  json += ",\"at\":\"";
  append_time(json, happening.at);
  json += '"';
  if (!happening.session.empty()) add_text(json, "session", happening.session);
  if (!happening.app.empty()) add_text(json, "app", happening.app);
  if (!happening.key.empty()) add_text(json, "key", happening.key);
  return json + happening.members + '}';
}

bool DevtoolsFilter::matches(const Happening& happening) const {
  // That something is missing concerns everybody.
  if (happening.type == DevtoolsType::kDropped) return true;
  const bool has_types = std::find(types.begin(), types.end(), true) != types.end();
  if (has_types && !types[static_cast<std::size_t>(happening.type)]) return false;
  if (app && happening.app != *app) return false;
  if (session && (session->empty() || (happening.session != *session && happening.key != *session)))
    return false;
  // What is about no session is for those who may see all.
  return !apps || (!happening.session.empty() &&
                   std::find(apps->begin(), apps->end(), happening.app) != apps->end());
}

Result<std::array<bool, kDevtoolsTypes>> parse_devtools_types(std::string_view text) {
  std::array<bool, kDevtoolsTypes> types{};
  for (;;) {
    const std::string_view name = text.substr(0, text.find(','));
    const auto found = std::find(kWords.begin(), kWords.end(), name);
    if (found == kWords.end())
      return fail(Code::kBadParameter,
                  fmt::format("types names '{}'; there are {}", name, fmt::join(kWords, ", ")));
    types[static_cast<std::size_t>(found - kWords.begin())] = true;
    if (name.size() == text.size()) return types;
    text.remove_prefix(name.size() + 1);
  }
}

std::string encode_devtools_id(std::string_view start, std::uint64_t n) {
  return fmt::format("{}-{}", start, n);
}

Result<DevtoolsId> parse_devtools_id(std::string_view text) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  DevtoolsId id;
  const std::string_view start = text.substr(0, std::min(kStartIdBytes, text.size()));
  const bool has_start = start.size() == kStartIdBytes && text.size() > kStartIdBytes + 1 &&
                         text[kStartIdBytes] == '-' &&
                         std::all_of(start.begin(), start.end(), is_hex);
  if (has_start) {
    id.start = start;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + kStartIdBytes + 1, end, id.n);
    if (read.ec == std::errc() && read.ptr == end) return id;
  }
  return fail(Code::kBadCursor, "Last-Event-ID is not an id of this feed");
}

}  // namespace reprise::api
