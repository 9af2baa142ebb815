// Holds: changes of one session that must not overlap are made one after another.
//
//     REPRISE_CO_TRY(const Holds::Held held, co_await holds.take(id));   // until it is dropped
//
// Threads: belongs to one loop; what is taken is dropped there.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/ids.h"
#include "rt/cancel.h"
#include "rt/task.h"

namespace reprise::session {

class Holds {
 public:
  explicit Holds(rt::Loop& loop) : loop_(loop) {}

  class Held {
   public:
    Held(Holds& holds, SessionId id) : holds_(&holds), id_(id) {
      holds.held_.emplace(id, std::make_shared<rt::Signal>(holds.loop_));
    }
    ~Held() {
      if (holds_ == nullptr) return;
      const auto place = holds_->held_.find(id_);
      const auto over = place->second;
      holds_->held_.erase(place);
      over->notify();
    }
    Held(Held&& other) noexcept : holds_(std::exchange(other.holds_, nullptr)), id_(other.id_) {}
    Held& operator=(Held&&) = delete;

   private:
    Holds* holds_;
    SessionId id_;
  };

  rt::Task<Result<Held>> take(SessionId id) {
    rt::CancelScope scope;
    for (auto other = held_.find(id); other != held_.end(); other = held_.find(id)) {
      const auto over = other->second;
      REPRISE_CO_CHECK(co_await over->wait(scope));
    }
    co_return Held(*this, id);
  }
  rt::Loop& loop() { return loop_; }

 private:
  rt::Loop& loop_;
  // Told when the hold is over.
  std::unordered_map<SessionId, std::shared_ptr<rt::Signal>> held_;
};

}  // namespace reprise::session
