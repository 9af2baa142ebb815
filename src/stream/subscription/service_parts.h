// What the parts of SubscriptionService share (service.cpp, loading.cpp, news.cpp and wakes.cpp).
#pragma once

#include "stream/subscription/service.h"

namespace reprise::stream {

struct SubscriptionService::Entry {
  Entry(rt::Loop& loop, Subscription as_stored)
      : subscription(std::move(as_stored)), is_free(loop) {}

  Subscription subscription;  // as stored
  LinkTable links;            // as stored, and the tails as far as known
  rt::Signal is_free;
  bool is_busy = false;
  bool is_stored = false;
  bool is_removed = false;
  bool is_being_told = false;  // by a webhook's call, or waits for one
  // The last wake that was announced. Not stored: after a restart it is announced again.
  std::uint64_t announced = 0;
  // The last wake whose webhook was called, and when it may be called again at the earliest, also
  // if what came of it could not be stored.
  std::uint64_t called = 0;
  TimePoint not_before;
};

// A subscription while one caller changes it.
class SubscriptionService::Held {
 public:
  explicit Held(std::shared_ptr<Entry> entry) : entry_(std::move(entry)) { entry_->is_busy = true; }
  Held(Held&& other) noexcept = default;
  Held& operator=(Held&&) = delete;
  ~Held() {
    if (!entry_) return;
    entry_->is_busy = false;
    entry_->is_free.notify();
  }
  Entry* operator->() const { return entry_.get(); }
  Entry& operator*() const { return *entry_; }
  const std::shared_ptr<Entry>& entry() const { return entry_; }

 private:
  std::shared_ptr<Entry> entry_;
};

// Links in the making, with the tails of their streams.
struct SubscriptionService::NewLinks {
  LinkChanges changes;
  std::map<std::string, Seq> tails;
};

}  // namespace reprise::stream
