#include "store/commit_thread.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace reprise::store {
namespace {
constexpr std::chrono::microseconds kGatherStep{50};
}  // namespace

struct CommitThread::Impl {
  Impl(Committer& the_committer, CommitThreadOptions the_options)
      : committer(the_committer), options(the_options) {}

  void run();
  void wake();
  bool spin() const;
  void gather() const;
  bool drain();

  Committer& committer;
  const CommitThreadOptions options;
  std::mutex mutex;
  std::condition_variable woken_condition;
  bool is_woken = false;
  bool is_stopping = false;
  // Of the last batch, for gather(): how long it took, when it ended, who was under way then.
  std::chrono::nanoseconds last_write{0};
  std::chrono::steady_clock::time_point last_end;
  std::size_t expected = 0;
  std::thread thread;
};

CommitThread::CommitThread(Committer& committer, CommitThreadOptions options)
    : impl_(std::make_unique<Impl>(committer, options)) {
  committer.set_wakeup([impl = impl_.get()] { impl->wake(); });
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

CommitThread::~CommitThread() { stop(); }

void CommitThread::stop() {
  if (!impl_->thread.joinable()) return;
  impl_->committer.close();
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->is_stopping = true;
  }
  impl_->woken_condition.notify_one();
  impl_->thread.join();
}

void CommitThread::Impl::wake() {
  {
    const std::lock_guard lock(mutex);
    is_woken = true;
  }
  woken_condition.notify_one();
}

bool CommitThread::Impl::spin() const {
  if (options.spin.count() == 0) return false;
  const auto until = std::chrono::steady_clock::now() + options.spin;
  while (std::chrono::steady_clock::now() < until) {
    if (committer.has_work()) return true;
    std::this_thread::yield();
  }
  return false;
}

void CommitThread::Impl::gather() const {
  using Clock = std::chrono::steady_clock;
  // Whoever takes longer than a write to come back is not waited for.
  const auto until = std::min(Clock::now() + last_write / 4, last_end + last_write);
  while (committer.queued() < expected && Clock::now() < until)
    std::this_thread::sleep_for(kGatherStep);
}

bool CommitThread::Impl::drain() {
  if (!committer.has_work()) return false;
  if (last_write >= options.slow_write) gather();
  const auto started = std::chrono::steady_clock::now();
  if (!committer.drain()) return false;
  last_end = std::chrono::steady_clock::now();
  last_write = last_end - started;
  expected = committer.last_batch() + committer.queued();
  return true;
}

void CommitThread::Impl::run() {
  auto next_tick = std::chrono::steady_clock::now() + options.tick_interval;
  for (;;) {
    if (drain() || spin()) continue;
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_tick) {
      committer.tick();
      next_tick = now + options.tick_interval;
    }
    std::unique_lock lock(mutex);
    woken_condition.wait_until(lock, next_tick, [this] { return is_woken || is_stopping; });
    // The committer was closed before is_stopping was set, and what came before that was queued
    // before: when nothing is left now, nothing follows.
    if (is_stopping && !is_woken && !committer.has_work()) return;
    is_woken = false;
  }
}

}  // namespace reprise::store
