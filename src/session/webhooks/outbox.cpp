#include "session/webhooks/outbox.h"

#include "base/bytes.h"
#include "session/webhooks/limits.h"

namespace reprise::session {
namespace {

constexpr std::uint8_t kOutboxFormat = 1;

bool get_promises(ByteReader& reader, std::vector<OutboxEntry::Promise>& promises) {
  std::uint64_t count = 0;
  if (!reader.varint(count) || count == 0 || count > kMaxWebhooksPerApp) return false;
  for (; count > 0; --count) {
    std::string_view id;
    std::uint8_t told = 0;
    if (!reader.take(16, id) || !reader.byte(told)) return false;
    if (told != static_cast<std::uint8_t>(Told::kEvent) &&
        told != static_cast<std::uint8_t>(Told::kStatus))
      return false;
    promises.push_back({*WebhookId::from_bytes(id), static_cast<Told>(told)});
  }
  return true;
}

}  // namespace

std::string encode_outbox_entry(const OutboxEntry& entry) {
  std::string out(1, static_cast<char>(kOutboxFormat));
  put_varint(out, entry.promises.size());
  for (const auto& promise : entry.promises) {
    out += promise.webhook.view();
    out.push_back(static_cast<char>(promise.told));
  }
  out += entry.session.view();
  put_text(out, entry.name);
  put_varint(out, entry.seq.value);
  out += entry.event;
  return out;
}

Result<OutboxEntry> decode_outbox_entry(std::string_view bytes) {
  ByteReader reader(bytes);
  std::uint8_t format = 0;
  std::string_view session;
  OutboxEntry entry;
  if (!reader.byte(format) || format != kOutboxFormat || !get_promises(reader, entry.promises) ||
      !reader.take(16, session) || !reader.text(entry.name) || !reader.varint(entry.seq.value))
    return fail(Code::kCorrupt, "an entry of an outbox does not decode");
  entry.session = *SessionId::from_bytes(session);
  entry.event = reader.rest();
  return entry;
}

void Promises::add_for_hooks(const model::SessionState& state, std::string_view type,
                             const std::string& entry) {
  OutboxEntry promised;
  for (const AppHooks::Hook& hook : hooks_->hooks) {
    const Told told = told_of(hook.config, type, state.status);
    if (told != Told::kNothing) promised.promises.push_back({hook.id, told});
  }
  if (promised.promises.empty()) return;
  promised.session = state.id;
  promised.name = state.name;
  promised.seq = state.head;
  promised.event = entry;
  entries_.push_back(encode_outbox_entry(promised));
}

void Promises::move_to(store::Commit& commit) {
  if (entries_.empty()) return;
  is_made_ = true;
  commit.appends.push_back(
      {.stream = hooks_->outbox, .expected_head = std::nullopt, .entries = std::move(entries_)});
  entries_.clear();
}

}  // namespace reprise::session
