#include "rt/loop.h"

#include "rt/limits.h"

namespace reprise::rt {
namespace {
thread_local Loop* current_loop = nullptr;
}  // namespace

Loop* Loop::current() { return current_loop; }

Loop::Turn::Turn(Loop& loop) : previous_(current_loop) { current_loop = &loop; }
Loop::Turn::~Turn() { current_loop = previous_; }

bool Loop::try_post(Function function) {
  if (pending_posts_.fetch_add(1, std::memory_order_relaxed) >= kMaxPendingPosts) {
    pending_posts_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  post([this, function = std::move(function)]() mutable {
    pending_posts_.fetch_sub(1, std::memory_order_relaxed);
    function();
  });
  return true;
}

}  // namespace reprise::rt
