// What the parts of AgentService share (agents.cpp and agent_losses.cpp).
#pragma once

#include "session/agents.h"

namespace reprise::session {

struct AgentService::UnseenPage {
  std::vector<SessionId> sessions;
  std::optional<SessionId> last;  // none: there is no further page
};

struct AgentService::Entry {
  Entry(rt::Loop& loop, std::string with_id) : id(std::move(with_id)), changed(loop) {}

  const std::string id;
  model::Agent agent;          // as stored
  store::Version version = 0;  // of its record
  Table table = kUnstoredTable;
  rt::Nanos heard_at{0};  // by the awake clock
  std::optional<TimePoint> last_heartbeat_at;
  std::optional<rt::Nanos> filed_at;
  rt::Signal changed;  // no longer busy, or its loss is dealt with
  bool is_busy = false;
  bool is_removed = false;
  bool is_doubtful = false;
  // Of the page of its sessions that is being seen to after a loss: those that are left, and where
  // the next page begins.
  std::optional<UnseenPage> unseen;

  bool is_being_seen_to() const { return agent.loss && !agent.loss->is_done; }
};

// An agent while one caller changes it.
class AgentService::Held {
 public:
  explicit Held(EntryPtr entry) : entry_(std::move(entry)) { entry_->is_busy = true; }
  Held(Held&& other) noexcept = default;
  Held& operator=(Held&&) = delete;
  ~Held() {
    if (!entry_) return;
    entry_->is_busy = false;
    entry_->changed.notify();
  }
  const EntryPtr& entry() const { return entry_; }

 private:
  EntryPtr entry_;
};

// A page of sessions that are being seen to.
struct AgentService::SeenTo {
  std::size_t left = 0;
  std::optional<Error> failure;
  std::vector<SessionId> failed;
};

}  // namespace reprise::session
