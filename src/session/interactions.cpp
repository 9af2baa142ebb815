#include "session/interactions.h"

#include <algorithm>

#include "base/bytes.h"
#include "session/service.h"
#include "wire/json.h"

namespace reprise::session {
namespace {

constexpr std::size_t kIdBytes = 16;

std::optional<std::string> member_text(const wire::JsonValue& object, std::string_view name) {
  const auto member = object.find(name);
  return member ? member->as_string() : std::nullopt;
}

// One entry of a stream.
class OneEntry final : public store::EntryVisitor {
 public:
  bool visit(Seq, std::string_view entry) override {
    bytes = entry;
    return false;
  }
  std::string bytes;
};

}  // namespace

std::string interaction_prefix(StreamId stream) { return "q" + std::string(stream.view()); }

std::string interaction_key(StreamId stream, model::InteractionId id) {
  return interaction_prefix(stream).append(id.view());
}

std::string encode_interaction(const InteractionRecord& record) {
  std::string out;
  put_varint(out, record.asked_seq.value);
  out.push_back(static_cast<char>(record.state));
  put_varint(out, record.resolved_seq.value);
  return out;
}

Result<InteractionRecord> decode_interaction(std::string_view key, std::string_view value) {
  InteractionRecord record;
  ByteReader reader(value);
  std::uint8_t state = 0;
  const auto id =
      model::InteractionId::from_bytes(key.substr(key.size() - std::min(key.size(), kIdBytes)));
  if (!id || !reader.varint(record.asked_seq.value) || !reader.byte(state) || state > 3 ||
      !reader.varint(record.resolved_seq.value) || !reader.at_end())
    return fail(Code::kCorrupt, "an interaction's record does not decode");
  record.id = *id;
  record.state = static_cast<model::InteractionState>(state);
  return record;
}

void add_interaction_change(store::Commit& commit, StreamId stream,
                            const model::SessionState& before, Seq seq, const model::Event& event) {
  const bool is_question = event.type == model::event_type::kInputRequired;
  if (!is_question && event.type != model::event_type::kInputReceived) return;
  const auto data = wire::parse_json(event.data);
  const auto id_text = data ? member_text(data->root(), "id") : std::nullopt;
  const auto id = id_text ? model::InteractionId::parse(*id_text) : std::nullopt;
  if (!id) return;
  InteractionRecord record{.id = *id, .asked_seq = seq};
  if (!is_question) {
    const auto open =
        std::find_if(before.interactions.begin(), before.interactions.end(),
                     [&](const model::OpenInteraction& one) { return one.id == *id; });
    if (open != before.interactions.end()) record.asked_seq = open->asked_at_seq;
    record.state = model::parse_interaction_state(member_text(data->root(), "state").value_or(""))
                       .value_or(model::InteractionState::kCancelled);
    record.resolved_seq = seq;
  }
  commit.puts.push_back(
      {.key = interaction_key(stream, *id), .value = encode_interaction(record), .only_if = {}});
}

rt::Task<Result<InteractionView>> SessionService::read_interaction(StreamId stream,
                                                                   InteractionRecord record) {
  InteractionView view{.record = record};
  OneEntry asked;
  REPRISE_CO_CHECK(co_await store_here().read(
      {.stream = stream, .after = Seq{record.asked_seq.value - 1}, .limit = 1}, asked));
  REPRISE_CO_TRY(const auto question, model::decode_entry(asked.bytes));
  view.asked_at = question.at;
  view.question = std::string(question.data);
  view.asked_by = std::string(question.by);
  if (record.resolved_seq.value == 0) co_return view;
  OneEntry resolved;
  REPRISE_CO_CHECK(co_await store_here().read(
      {.stream = stream, .after = Seq{record.resolved_seq.value - 1}, .limit = 1}, resolved));
  REPRISE_CO_TRY(const auto answer, model::decode_entry(resolved.bytes));
  view.resolved_at = answer.at;
  view.resolved_by = std::string(answer.by);
  REPRISE_CO_TRY(const auto data, wire::parse_json(std::string(answer.data)));
  const auto response = data.root().find("response");
  if (response && !response->is_null()) view.response = response->minified();
  co_return view;
}

rt::Task<Result<InteractionView>> SessionService::interaction(SessionRef session,
                                                              model::InteractionId id) {
  REPRISE_CO_TRY(const SessionView view, co_await get(std::move(session)));
  std::string key = interaction_key(view.stream, id);
  REPRISE_CO_TRY(const auto found, co_await store_here().get(key));
  const auto not_found = [&] {
    return fail(Code::kInteractionNotFound,
                fmt::format("there is no interaction {}", id.to_string()));
  };
  if (!found) co_return not_found();
  REPRISE_CO_TRY(const auto record, decode_interaction(key, found->value));
  // A reset hides what was before it.
  if (record.asked_seq <= view.state.visible_after) co_return not_found();
  co_return co_await read_interaction(view.stream, record);
}

rt::Task<Result<InteractionPage>> SessionService::interactions(
    SessionRef session, std::optional<model::InteractionState> state,
    std::optional<model::InteractionId> after, std::size_t limit) {
  REPRISE_CO_TRY(const SessionView view, co_await get(std::move(session)));
  const std::string prefix = interaction_prefix(view.stream);
  std::string begin = after ? interaction_key(view.stream, *after) + '\0' : prefix;
  const std::string end = prefix_end(prefix);
  InteractionPage page;
  for (;;) {
    REPRISE_CO_TRY(const auto rows, co_await store_here().scan(
                                        {.begin = begin, .end = end, .limit = kMaxEventPageLimit}));
    for (const auto& row : rows.records) {
      REPRISE_CO_TRY(const auto record, decode_interaction(row.key, row.value));
      const bool is_wanted =
          record.asked_seq > view.state.visible_after && (!state || record.state == *state);
      if (!is_wanted) continue;
      if (page.interactions.size() == limit) {
        page.next = page.interactions.back().record.id;
        co_return page;
      }
      REPRISE_CO_TRY(auto one, co_await read_interaction(view.stream, record));
      page.interactions.push_back(std::move(one));
    }
    if (!rows.has_more) co_return page;
    begin = rows.records.back().key + '\0';
    co_await rt::yield(*loops_[here()]);
  }
}

}  // namespace reprise::session
