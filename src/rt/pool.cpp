#include "rt/pool.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/assert.h"
#include "rt/limits.h"

namespace reprise::rt {

std::size_t core_count() { return std::max(std::thread::hardware_concurrency(), 1U); }

struct ThreadPool::Impl {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Function> queue;
  bool is_stopping = false;
  std::vector<std::thread> threads;

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return is_stopping || !queue.empty(); });
      if (queue.empty()) return;
      Function next = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      next();
      next = nullptr;  // not under the lock: what it holds may submit more when destroyed
      lock.lock();
    }
  }
};

ThreadPool::ThreadPool(std::size_t threads) : impl_(std::make_unique<Impl>()) {
  REPRISE_ASSERT(threads > 0);
  for (std::size_t i = 0; i < threads; ++i)
    impl_->threads.emplace_back([impl = impl_.get()] { impl->work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->is_stopping = true;
  }
  impl_->wake.notify_all();
  for (auto& thread : impl_->threads) thread.join();
}

bool ThreadPool::submit(Function work) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->is_stopping || impl_->queue.size() >= kMaxPoolQueue) return false;
    impl_->queue.push_back(std::move(work));
  }
  impl_->wake.notify_one();
  return true;
}

}  // namespace reprise::rt
