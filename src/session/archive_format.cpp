#include "session/archive_format.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/json_text.h"
#include "session/limits.h"
#include "wire/json.h"

namespace reprise::session {
namespace {

constexpr std::string_view kFormat = "reprise-session";
constexpr std::uint64_t kFormatVersion = 1;

std::unexpected<Error> bad(std::string detail) {
  return fail(Code::kBadArchive, std::move(detail));
}

std::unexpected<Error> misspelt(std::string_view what) {
  return bad(fmt::format("{} is not as an export writes it", what));
}

// The members of one object; what is missing or of another kind is remembered.
class Reader {
 public:
  explicit Reader(const wire::JsonDocument& document) : root_(document.root()) {}

  std::string text(std::string_view name) { return needed(optional_text(name)); }
  std::uint64_t number(std::string_view name) { return needed(optional_number(name)); }
  TimePoint time(std::string_view name) { return needed(optional_time(name)); }
  std::string hash(std::string_view name) {
    auto bytes = from_hex(text(name));
    constexpr std::size_t kHashBytes = 32;
    if (!bytes || bytes->size() != kHashBytes) is_sound_ = false;
    return std::move(bytes).value_or("");
  }
  std::string json(std::string_view name) {
    const auto member = root_.find(name);
    return needed(member ? std::optional(member->minified()) : std::nullopt);
  }
  std::optional<std::string> optional_text(std::string_view name) {
    const auto member = root_.find(name);
    return member ? sound(member->as_string()) : std::nullopt;
  }
  std::optional<std::uint64_t> optional_number(std::string_view name) {
    const auto member = root_.find(name);
    return member ? sound(member->as_uint()) : std::nullopt;
  }
  std::optional<TimePoint> optional_time(std::string_view name) {
    const auto text = optional_text(name);
    if (!text) return std::nullopt;
    const auto at = parse_time(*text);
    if (at && at->ms >= 0) return *at;
    is_sound_ = false;
    return std::nullopt;
  }
  bool is_sound() const { return is_sound_; }

 private:
  template <typename T>
  std::optional<T> sound(std::optional<T> value) {
    if (!value) is_sound_ = false;
    return value;
  }
  template <typename T>
  T needed(std::optional<T> value) {
    if (!value) is_sound_ = false;
    return std::move(value).value_or(T{});
  }

  wire::JsonValue root_;
  bool is_sound_ = true;
};

Result<wire::JsonDocument> parse(std::string_view what, std::string text) {
  auto document = wire::parse_json(std::move(text));
  if (document) return document;
  return bad(fmt::format("{} is not JSON: {}", what, document.error().detail));
}

// Writes an object, member by member.
class Writer {
 public:
  void json(std::string_view name, std::string_view text) {
    out_ += out_.empty() ? '{' : ',';
    append_json_string(out_, name);
    out_ += ':';
    out_ += text;
  }
  void text(std::string_view name, std::string_view text) { json(name, json_string(text)); }
  void text_if(std::string_view name, std::string_view value) {
    if (!value.empty()) text(name, value);
  }
  void number(std::string_view name, std::uint64_t value) { json(name, fmt::to_string(value)); }
  void number_if(std::string_view name, std::optional<std::uint64_t> value) {
    if (value) number(name, *value);
  }
  void time(std::string_view name, TimePoint at) { text(name, format_time(at)); }
  void time_if(std::string_view name, std::optional<TimePoint> at) {
    if (at) time(name, *at);
  }
  std::string line() && { return std::move(out_) + "}\n"; }

 private:
  std::string out_;
};

template <typename List, typename Word>
std::string list_of(const List& list, Word word) {
  std::string json = "[";
  for (const auto& one : list) {
    if (json.size() > 1) json += ',';
    append_json_string(json, word(one));
  }
  return json + ']';
}

std::string pause_reasons(const model::PauseReasons& reasons) {
  std::vector<model::PauseReason> list;
  for (const model::PauseReason reason : model::kPauseReasons)
    if (reasons.contains(reason)) list.push_back(reason);
  return list_of(list, [](model::PauseReason reason) { return model::word(reason); });
}

}  // namespace

std::string artifacts_name(std::uint64_t number) {
  return fmt::format("artifacts-{:06}.ndjson", number);
}
std::string checkpoints_name(std::uint64_t number) {
  return fmt::format("checkpoints-{:06}.ndjson", number);
}
std::string events_name(std::uint64_t number) { return fmt::format("events-{:06}.ndjson", number); }
std::string content_name(std::string_view hash) { return "contents/" + to_hex(hash); }

std::string encode_manifest(const ArchiveManifest& manifest) {
  Writer writer;
  writer.text("format", kFormat);
  writer.number("version", kFormatVersion);
  writer.text("sessionId", manifest.session.to_string());
  writer.text("app", manifest.app);
  writer.number("lastSeq", manifest.last_seq.value);
  writer.number("artifactVersions", manifest.versions);
  writer.number("contents", manifest.contents);
  writer.number("contentBytes", manifest.content_bytes);
  writer.number("checkpointVersions", manifest.checkpoints);
  return std::move(writer).line();
}

Result<ArchiveManifest> parse_manifest(std::string text) {
  REPRISE_TRY(const auto document, parse(kManifestName, text));
  Reader reader(document);
  const std::string format = reader.text("format");
  const std::uint64_t version = reader.number("version");
  if (!reader.is_sound() || format != kFormat)
    return bad("reprise.json does not say that this is an archive of a session");
  if (version != kFormatVersion)
    return bad(fmt::format("the archive's format has version {}, this server knows {}", version,
                           kFormatVersion));
  const auto id = SessionId::parse(reader.text("sessionId"));
  ArchiveManifest manifest{.session = id.value_or(SessionId{}),
                           .app = reader.text("app"),
                           .last_seq = Seq{reader.number("lastSeq")},
                           .versions = reader.number("artifactVersions"),
                           .contents = reader.number("contents"),
                           .content_bytes = reader.number("contentBytes"),
                           .checkpoints = reader.number("checkpointVersions")};
  if (!reader.is_sound() || !id || encode_manifest(manifest) != text)
    return misspelt(kManifestName);
  return manifest;
}

std::string encode_record(const model::SessionState& state, const BesidesEvents& besides) {
  Writer writer;
  writer.text("id", state.id.to_string());
  writer.text("app", state.app);
  writer.text_if("name", state.name);
  writer.text("graphId", state.graph_id);
  writer.text_if("ownerAgent", state.owner_agent);
  writer.text("status", model::word(state.status));
  writer.json("pauseReasons", pause_reasons(state.pause_reasons));
  writer.time("createdAt", state.created_at);
  writer.time("updatedAt", state.updated_at);
  writer.time_if("endedAt", state.ended_at);
  writer.number_if("ttlSeconds", state.ttl_seconds);
  writer.number_if("maxLifetimeSeconds", state.max_lifetime_seconds);
  writer.text("onWorkerLost", model::word(state.on_worker_lost));
  writer.text_if("lastError", state.last_error);
  writer.number("messageCount", state.message_count);
  writer.number("lastSeq", state.head.value);
  writer.number("hiddenSeq", state.visible_after.value);
  writer.json("pendingInteractions",
              list_of(state.interactions, [](const auto& open) { return open.id.to_string(); }));
  writer.json("openToolCalls",
              list_of(state.open_tool_calls, [](const auto& open) { return open.id.to_string(); }));
  writer.number("auditEntries", state.audit.entries);
  writer.text("auditHead", model::to_hex(state.audit.head));
  writer.json("metadata", state.metadata);
  if (!state.steps.empty()) writer.json("steps", state.steps);
  writer.number("revision", besides.revision);
  writer.time_if("touchedAt", besides.touched_at);
  return std::move(writer).line();
}

Result<BesidesEvents> parse_besides(std::string text) {
  REPRISE_TRY(const auto document, parse(kRecordName, std::move(text)));
  Reader reader(document);
  BesidesEvents besides{.revision = reader.number("revision"),
                        .touched_at = reader.optional_time("touchedAt")};
  if (!reader.is_sound() || besides.revision == 0) return misspelt(kRecordName);
  return besides;
}

void append_version_line(std::string& out, const ArchivedVersion& archived) {
  const StoredVersion& version = archived.version;
  const model::ArtifactVersion& artifact = version.artifact;
  Writer writer;
  writer.text("path", artifact.path);
  writer.number("version", artifact.version);
  writer.text("kind", model::word(artifact.kind));
  writer.text("contentType", artifact.content_type);
  writer.number("size", artifact.size);
  writer.text("sha256", to_hex(artifact.sha256));
  writer.number("seq", version.seq.value);
  writer.time("createdAt", version.at);
  writer.text_if("by", version.by);
  writer.number_if("lastVersion", archived.last_number);
  out += std::move(writer).line();
}

Result<ArchivedVersion> parse_version_line(std::string line) {
  constexpr std::string_view kWhat = "a line about an artifact";
  REPRISE_TRY(const auto document, parse(kWhat, line));
  Reader reader(document);
  const auto kind = model::parse_artifact_kind(reader.text("kind"));
  ArchivedVersion archived{
      .version = {.artifact = {.path = reader.text("path"),
                               .version = reader.number("version"),
                               .kind = kind.value_or(model::ArtifactKind::kOther),
                               .content_type = reader.text("contentType"),
                               .size = reader.number("size"),
                               .sha256 = reader.hash("sha256")},
                  .seq = Seq{reader.number("seq")},
                  .at = reader.time("createdAt"),
                  .by = reader.optional_text("by").value_or("")},
      .last_number = reader.optional_number("lastVersion")};
  std::string again;
  if (reader.is_sound() && kind) append_version_line(again, archived);
  if (again != line + '\n') return misspelt(kWhat);
  return archived;
}

void append_checkpoint_line(std::string& out, const ArchivedCheckpoint& checkpoint,
                            std::string_view data) {
  Writer writer;
  writer.text("name", checkpoint.name);
  writer.number("version", checkpoint.version.version);
  writer.number("seq", checkpoint.version.seq.value);
  writer.time("at", checkpoint.version.at);
  writer.number_if("lastVersion", checkpoint.last_number);
  writer.json("data", data);
  out += std::move(writer).line();
}

Result<CheckpointLine> parse_checkpoint_line(std::string line) {
  constexpr std::string_view kWhat = "a line about a checkpoint";
  REPRISE_TRY(const auto document, parse(kWhat, line));
  Reader reader(document);
  CheckpointLine parsed{.checkpoint = {.name = reader.text("name"),
                                       .version = {.version = reader.number("version"),
                                                   .seq = Seq{reader.number("seq")},
                                                   .at = reader.time("at")},
                                       .last_number = reader.optional_number("lastVersion")},
                        .data = reader.json("data")};
  parsed.checkpoint.version.size = parsed.data.size();
  std::string again;
  if (reader.is_sound()) append_checkpoint_line(again, parsed.checkpoint, parsed.data);
  if (again != line + '\n') return misspelt(kWhat);
  return parsed;
}

void append_event_line(std::string& out, Seq seq, const model::EntryView& entry) {
  model::append_event_json(out, seq, entry);
  if (model::is_audited_type(entry.type)) {
    if (const auto hash = model::hash_in_extra(entry.extra)) {
      out.pop_back();
      out += ",\"hash\":\"" + model::to_hex(*hash) + "\"}";
    }
  }
  out += '\n';
}

Result<ArchivedEvent> parse_event_line(std::string line) {
  constexpr std::string_view kWhat = "an event's line";
  REPRISE_TRY(const auto document, parse(kWhat, line));
  Reader reader(document);
  ArchivedEvent archived{.seq = Seq{reader.number("seq")},
                         .event = {.type = reader.text("type"),
                                   .at = reader.time("at"),
                                   .data = reader.json("data"),
                                   .by = reader.optional_text("by").value_or("")}};
  if (const auto hash = reader.optional_text("hash")) {
    archived.hash = model::parse_audit_hash(*hash);
    if (!archived.hash) return misspelt(kWhat);
  }
  if (!reader.is_sound() || !model::is_well_formed_type(archived.event.type))
    return misspelt(kWhat);
  const std::string extra = archived.hash ? model::audit_extra(*archived.hash) : std::string();
  std::string again;
  append_event_line(again, archived.seq,
                    {.type = archived.event.type,
                     .at = archived.event.at,
                     .data = archived.event.data,
                     .by = archived.event.by,
                     .counters = {},
                     .extra = extra});
  if (again != line + '\n') return misspelt(kWhat);
  return archived;
}

std::string sum_line(std::string_view hash, std::string_view name) {
  return fmt::format("{}  {}\n", to_hex(hash), name);
}

}  // namespace reprise::session
