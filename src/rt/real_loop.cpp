#include "rt/real_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <thread>

#include "rt/asio_native.h"

namespace reprise::rt {

RealLoop::RealLoop() : native_(std::make_unique<Native>()) {
  timers_.set_on_earlier([this](Nanos due) { sleep_until(due); });
}

RealLoop::~RealLoop() {
  // What is still queued is destroyed with the context; a timer armed by that has nothing to wake.
  timers_.set_on_earlier({});
}

void RealLoop::post(Function function) { boost::asio::post(native_->context, std::move(function)); }

Nanos RealLoop::now() const { return std::chrono::steady_clock::now().time_since_epoch(); }

void RealLoop::sleep_until(Nanos due) {
  if (native_->wake_at <= due) return;  // it wakes before, and then looks again
  native_->wake_at = due;
  native_->wake.expires_at(std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(due)));
  native_->wake.async_wait([this](const boost::system::error_code& error) {
    if (error) return;  // re-armed for an earlier time
    native_->wake_at = Nanos::max();
    timers_.run_due(now());
    if (const auto next = timers_.next_due()) sleep_until(*next);
  });
}

void RealLoop::run() {
  const Turn turn(*this);
  const auto guard = boost::asio::make_work_guard(native_->context);
  native_->context.run();
}

void RealLoop::stop() { native_->context.stop(); }

struct LoopThread::Impl {
  std::thread thread;
};

LoopThread::LoopThread() : loop_(std::make_unique<RealLoop>()), impl_(std::make_unique<Impl>()) {
  impl_->thread = std::thread([loop = loop_.get()] { loop->run(); });
}

void LoopThread::stop() {
  loop_->stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

LoopThread::~LoopThread() { stop(); }

}  // namespace reprise::rt
