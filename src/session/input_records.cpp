#include "session/input_records.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/json.h"

namespace reprise::session {
namespace {

constexpr std::size_t kKeyBytes = 2 + 16 + 16;
constexpr std::uint8_t kStates = 6;

// What the state knows of an input that is open.
std::optional<InputRecord> open_input(const model::InputQueue& inputs, model::InputId id) {
  if (inputs.active && inputs.active->id == id)
    return InputRecord{.id = id,
                       .queued = inputs.active->queued,
                       .state = model::InputState::kActive,
                       .started = inputs.active->started};
  for (const model::QueuedInput& input : inputs.queued)
    if (input.id == id) return InputRecord{.id = id, .queued = input.queued};
  return std::nullopt;
}

model::InputId id_of(const model::Event& event) {
  const auto data = wire::parse_json(event.data);
  const auto text = data ? data->root().find("id") : std::nullopt;
  const auto id = model::InputId::parse(text ? text->as_string().value_or("") : "");
  REPRISE_ASSERT(id.has_value(), event.type);  // decided just now
  return *id;
}

}  // namespace

std::string input_prefix(StreamId stream) { return "ui" + std::string(stream.view()); }
std::string input_key(StreamId stream, model::InputId id) {
  return input_prefix(stream).append(id.view());
}

std::string encode_input(const InputRecord& record) {
  std::string out;
  put_varint(out, record.queued.value);
  out.push_back(static_cast<char>(record.state));
  put_varint(out, record.started.value);
  put_varint(out, record.finished.value);
  return out;
}

Result<InputRecord> decode_input(std::string_view key, std::string_view value) {
  InputRecord record;
  ByteReader reader(value);
  std::uint8_t state = 0;
  if (key.size() != kKeyBytes || !reader.varint(record.queued.value) || record.queued.value == 0 ||
      !reader.byte(state) || state >= kStates || !reader.varint(record.started.value) ||
      !reader.varint(record.finished.value) || !reader.at_end())
    return fail(Code::kCorrupt, "an input's record does not decode");
  record.id = *model::InputId::from_bytes(key.substr(kKeyBytes - 16));
  record.state = static_cast<model::InputState>(state);
  if (model::is_over(record.state) != (record.finished.value != 0))
    return fail(Code::kCorrupt, "an input's record is both open and over");
  return record;
}

std::string input_order_prefix(StreamId stream) { return "uq" + std::string(stream.view()); }
std::string input_order_key(StreamId stream, Seq queued) {
  std::string key = input_order_prefix(stream);
  put_be64(key, queued.value);
  return key;
}

std::string void_prefix(StreamId stream) { return "uv" + std::string(stream.view()); }
std::string void_key(StreamId stream, Seq to) {
  std::string key = void_prefix(stream);
  put_be64(key, to.value);
  return key;
}
std::string encode_void(Seq from) {
  std::string out;
  put_varint(out, from.value);
  return out;
}
Result<Seq> decode_void(std::string_view value) {
  ByteReader reader(value);
  Seq from;
  if (!reader.varint(from.value) || !reader.at_end())
    return fail(Code::kCorrupt, "a record of what was rolled back does not decode");
  return from;
}

void add_input_change(store::Commit& commit, StreamId stream, const model::SessionState& before,
                      Seq seq, const model::Event& event) {
  if (!model::is_input_type(event.type)) return;
  const model::InputId id = id_of(event);
  InputRecord record{.id = id, .queued = seq};
  if (event.type == model::event_type::kInputQueued) {
    commit.puts.push_back(
        {.key = input_order_key(stream, seq), .value = std::string(id.view()), .only_if = {}});
  } else {
    const auto known = open_input(before.inputs, id);
    REPRISE_ASSERT(known.has_value(), event.type);
    record = *known;
  }
  if (event.type == model::event_type::kInputStarted) {
    record.state = model::InputState::kActive;
    record.started = seq;
  } else if (event.type == model::event_type::kInputFinished) {
    const auto end = model::decode_input_finished(event.data);
    REPRISE_ASSERT(end.has_value(), event.data);
    record.state = end->state;
    record.finished = seq;
    if (end->state == model::InputState::kRolledBack)
      commit.puts.push_back(
          {.key = void_key(stream, end->to), .value = encode_void(end->from), .only_if = {}});
  }
  commit.puts.push_back(
      {.key = input_key(stream, id), .value = encode_input(record), .only_if = {}});
}

rt::Task<Result<bool>> is_void(store::AsyncStore& store, StreamId stream,
                               const model::InputQueue& inputs, Seq seq) {
  if (seq < inputs.void_from || seq > inputs.void_to) co_return false;
  // Ranges do not overlap: the first that ends at or after the event has it, or none has.
  REPRISE_CO_TRY(const auto page, co_await store.scan({.begin = void_key(stream, seq),
                                                       .end = prefix_end(void_prefix(stream)),
                                                       .limit = 1}));
  if (page.records.empty()) co_return false;
  REPRISE_CO_TRY(const Seq from, decode_void(page.records.front().value));
  co_return from <= seq;
}

}  // namespace reprise::session
