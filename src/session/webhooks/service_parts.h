// What the parts of WebhookService share (service.cpp, changes.cpp, delivery.cpp, letters.cpp,
// upkeep.cpp).
#pragma once

#include <set>

#include "session/webhooks/service.h"

namespace reprise::session {

struct WebhookService::Hook {
  Hook(rt::Loop& loop, rt::CancelScope& parent, Webhook as_stored, WebhookPosition at)
      : webhook(std::move(as_stored)),
        stored(at),
        read_to(at.cursor),
        scope(parent),
        letters_are_free(loop) {}

  Webhook webhook;         // as stored
  WebhookPosition stored;  // as stored
  Outbox* outbox = nullptr;

  // Reading the outbox: what was read and waits for its first call, and the places of all that was
  // read and is neither delivered nor kept as a letter.
  Seq read_to;
  bool has_more = true;
  bool is_reading = false;
  std::deque<Letter> unread;
  std::set<Seq> unsettled;

  // Letters that are due, with their keys, and the keys of all that are taken from the store.
  std::deque<std::pair<std::string, Letter>> due;
  std::set<std::string, std::less<>> taken;
  std::optional<TimePoint> next_due = TimePoint{};  // none: nothing is; may be too early, not late
  bool is_fetching = false;
  bool is_turn_of_due = false;  // the last call was about one of these

  std::size_t calls = 0;
  bool is_failing = false;  // the last call failed
  bool is_ready = false;    // stands in ready_
  std::string last_error;
  std::optional<TimePoint> delivered_at;
  rt::CancelScope scope;  // of its calls

  Changes changes;                   // to be written
  std::int64_t retried_written = 0;  // what the commit in flight changes stored.retried by
  bool are_letters_held = false;
  rt::Signal letters_are_free;
  bool is_settling = false;
  bool must_settle_later = false;  // the last commit failed
  bool is_removed = false;

  // The cursor that what has been done allows.
  Seq reached() const { return unsettled.empty() ? read_to : Seq{unsettled.begin()->value - 1}; }
  // Whether what was read may have its first call, though that may fail.
  bool may_call_unread(std::size_t max_retried) const {
    const auto retried =
        static_cast<std::int64_t>(stored.retried) + changes.retried + retried_written;
    return !unread.empty() && retried < static_cast<std::int64_t>(max_retried);
  }
  bool must_settle() const { return !changes.is_empty() || reached() != stored.cursor; }
};

struct WebhookService::Outbox {
  std::string app;
  StreamId stream;
  std::shared_ptr<OutboxBell> bell;
  std::map<std::string, std::shared_ptr<Hook>, std::less<>> hooks;
  Seq head;     // as last looked up
  Seq trimmed;  // everything up to it is gone
};

class WebhookService::ConfigHold {
 public:
  explicit ConfigHold(WebhookService& service) : service_(&service) {
    service.is_config_held_ = true;
  }
  ConfigHold(ConfigHold&& other) noexcept : service_(std::exchange(other.service_, nullptr)) {}
  ConfigHold& operator=(ConfigHold&&) = delete;
  ~ConfigHold() {
    if (service_ == nullptr) return;
    service_->is_config_held_ = false;
    service_->config_is_free_.notify();
  }

 private:
  WebhookService* service_;
};

class WebhookService::LetterHold {
 public:
  explicit LetterHold(std::shared_ptr<Hook> hook) : hook_(std::move(hook)) {
    hook_->are_letters_held = true;
  }
  LetterHold(LetterHold&& other) noexcept = default;
  LetterHold& operator=(LetterHold&&) = delete;
  ~LetterHold() {
    if (!hook_) return;
    hook_->are_letters_held = false;
    hook_->letters_are_free.notify();
  }

 private:
  std::shared_ptr<Hook> hook_;
};

}  // namespace reprise::session
