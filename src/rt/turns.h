// Turns: who asks first goes first, one at a time.
//
//     REPRISE_CO_TRY(const Turns::Turn turn, co_await turns.take(scope));  // until it goes
//
// Threads: belongs to one loop; turns are dropped there.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/task.h"

namespace reprise::rt {

class Turns {
 public:
  explicit Turns(Loop& loop) : loop_(loop) {}

  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(&turns) {}
    ~Turn() {
      if (turns_ != nullptr) turns_->next();
    }
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;

   private:
    Turns* turns_;
  };

  // The scope's reason, or kDeadline, for one that has waited long enough.
  Task<Result<Turn>> take(CancelScope& scope, Deadline deadline = Deadline::never()) {
    if (!is_taken_) {
      is_taken_ = true;
      co_return Turn(*this);
    }
    const auto mine = std::make_shared<Waiter>(loop_);
    waiting_.push_back(mine);
    auto waited = co_await mine->called.wait(scope, deadline);
    if (!waited && !mine->is_called) {
      std::erase(waiting_, mine);
      co_return fail(std::move(waited).error());
    }
    // One that was called and gave up in the same moment has the turn all the same, and passes it
    // on by dropping it.
    Turn turn(*this);
    if (!waited) co_return fail(std::move(waited).error());
    co_return turn;
  }
  std::size_t waiting() const { return waiting_.size(); }
  bool is_taken() const { return is_taken_; }

 private:
  struct Waiter {
    explicit Waiter(Loop& loop) : called(loop) {}
    Signal called;
    bool is_called = false;
  };
  void next() {
    if (waiting_.empty()) {
      is_taken_ = false;
      return;
    }
    const auto first = waiting_.front();
    waiting_.pop_front();
    first->is_called = true;
    first->called.notify();
  }
  Loop& loop_;
  bool is_taken_ = false;
  std::deque<std::shared_ptr<Waiter>> waiting_;
};

}  // namespace reprise::rt
