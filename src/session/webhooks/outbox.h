// An app's outbox: the stream of what its webhooks are still to be told.
//
// A commit that adds events to a session adds those that somebody asked for to the outbox as well,
// so a webhook is promised exactly what is durable, and only that. The entry names whom it is
// promised to: what changes about webhooks later does not change what was promised before.
//
//     byte     1          the version
//     varint   promises   at least one, each: 16 bytes webhook, byte what it is told (Told)
//     bytes    session    16
//     text     name       the session's; empty: it has no key
//     varint   seq        the event's number in its session
//     bytes    entry      the event as its session stores it (model/event.h), to the end
//
// Actors look the app up in a HookTable, which is never changed but replaced on each loop
// (SessionService::set_hooks). Threads: a table may be read from any.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "model/session_state.h"
#include "session/webhooks/webhook.h"
#include "store/commit.h"

namespace reprise::session {

struct OutboxEntry {
  struct Promise {
    WebhookId webhook;
    Told told = Told::kEvent;
  };
  std::vector<Promise> promises;
  SessionId session;
  std::string name;
  Seq seq;
  std::string event;  // as stored
};
std::string encode_outbox_entry(const OutboxEntry& entry);
// kCorrupt for bytes that encode_outbox_entry cannot have written.
Result<OutboxEntry> decode_outbox_entry(std::string_view bytes);

// Tells whoever reads an outbox that there is more in it: once, until they come to look.
struct OutboxBell {
  std::atomic<bool> has_rung{false};
  std::function<void()> on_ring;  // on the loop of whoever rings
  void ring() {
    if (!has_rung.exchange(true)) on_ring();
  }
};

// The webhooks of one app that are to be told.
struct AppHooks {
  struct Hook {
    WebhookId id;
    WebhookConfig config;
  };
  StreamId outbox;
  std::vector<Hook> hooks;
  std::shared_ptr<OutboxBell> bell;
};

class HookTable {
 public:
  explicit HookTable(std::map<std::string, AppHooks, std::less<>> apps) : apps_(std::move(apps)) {}
  const AppHooks* find(std::string_view app) const {
    const auto found = apps_.find(app);
    return found == apps_.end() ? nullptr : &found->second;
  }

 private:
  const std::map<std::string, AppHooks, std::less<>> apps_;
};

// What one commit promises to the webhooks of a session's app. Without webhooks it is a null
// pointer and does nothing.
class Promises {
 public:
  Promises() = default;
  Promises(const std::shared_ptr<const HookTable>& table, std::string_view app) {
    if (table == nullptr) return;
    hooks_ = table->find(app);
    if (hooks_ != nullptr) table_ = table;
  }
  // After the event has been folded into the state. `entry` is how it is stored.
  void add(const model::SessionState& state, std::string_view type, const std::string& entry) {
    if (hooks_ != nullptr) add_for_hooks(state, type, entry);
  }
  // Into the commit that has the events.
  void move_to(store::Commit& commit);
  // Once that commit is durable.
  void announce() const {
    if (is_made_) hooks_->bell->ring();
  }

 private:
  void add_for_hooks(const model::SessionState& state, std::string_view type,
                     const std::string& entry);
  std::shared_ptr<const HookTable> table_;
  const AppHooks* hooks_ = nullptr;
  std::vector<std::string> entries_;
  bool is_made_ = false;
};

}  // namespace reprise::session
