// decode_entry and evolve on arbitrary bytes: they may refuse, never crash, and what they take they
// give back. The input is entries, each after its length in one byte (kLong for the rest of the
// input).
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "model/event.h"
#include "model/session_state.h"
#include "wire/json.h"

namespace {

using namespace reprise;
using namespace reprise::model;

constexpr std::size_t kLong = 255;

void check_round_trip(const EntryView& entry) {
  const Event event{.type = std::string(entry.type),
                    .at = entry.at,
                    .data = std::string(entry.data),
                    .by = std::string(entry.by)};
  const std::string bytes = encode_entry(event, entry.counters);
  const auto again = decode_entry(bytes);
  REPRISE_ASSERT(again.has_value());
  REPRISE_ASSERT(again->type == entry.type && again->at == entry.at && again->data == entry.data &&
                 again->by == entry.by &&
                 again->counters.message_count == entry.counters.message_count);
  std::string json;
  append_event_json(json, Seq{1}, entry);
  // One JSON value stays JSON inside its envelope. In an array, because the envelope is a level
  // too.
  const auto alone = wire::parse_json("[" + event.data + "]");
  if (alone && alone->root().elements().size() == 1)
    REPRISE_ASSERT(wire::parse_json(json).has_value(), json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  SessionState state;
  while (!rest.empty()) {
    const std::size_t length = static_cast<unsigned char>(rest[0]);
    rest.remove_prefix(1);
    const std::string_view bytes = length == kLong ? rest : rest.substr(0, length);
    rest.remove_prefix(bytes.size());
    const auto entry = decode_entry(bytes);
    if (!entry) {
      REPRISE_ASSERT(entry.error().code == Code::kCorrupt);
      continue;
    }
    check_round_trip(*entry);
    const SessionState before = state;
    EntryView counted = *entry;
    // Half of the inputs have their counter made right, or hardly any would get past it.
    if (entry->at.ms % 2 == 0)
      counted.counters.message_count = entry->type == "message"         ? state.message_count + 1
                                       : entry->type == "session_reset" ? 0
                                                                        : state.message_count;
    if (const auto folded = evolve(state, state.head.next(), counted); !folded) {
      REPRISE_ASSERT(folded.error().code == Code::kCorrupt);
      REPRISE_ASSERT(state == before);
    } else {
      const auto stored = decode_state(encode_state(state));
      REPRISE_ASSERT(stored.has_value() && *stored == state);
    }
  }
  return 0;
}
