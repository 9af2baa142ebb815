// StreamWatch: how a long poll learns that something has happened to a stream.
//
//     StreamWatch watch(hub, stream, home);
//     if (!co_await watch.subscribe()) ...     // before looking, so that nothing is missed
//     for (;;) {
//       watch.has_news = false;
//       ... look; answer if there is something ...
//       co_await watch.wait(exchange, deadline, is_draining);
//     }
//
// Threads: belongs to the loop of its hub.
#pragma once

#include <atomic>

#include "http/exchange.h"
#include "rt/cancel.h"
#include "stream/hub.h"

namespace reprise::api {

// Somebody who waits for anything to happen to a stream.
class StreamWatch final : public stream::Subscriber {
 public:
  StreamWatch(stream::Hub& hub, StreamId stream, std::size_t home)
      : changed_(hub.loop()), hub_(hub), stream_(stream), home_(home) {}
  ~StreamWatch() override {
    if (is_subscribed_) hub_.unsubscribe(stream_, home_, *this);
  }
  rt::Task<bool> subscribe() {
    is_subscribed_ = co_await hub_.subscribe(stream_, home_, *this);
    co_return is_subscribed_;
  }
  void on_batch(const stream::LiveBatch&) override { note(); }
  void on_ephemeral(const stream::SharedBytes&) override {}
  void on_gap() override { note(); }
  void on_end(Seq, std::string_view) override { note(); }
  void on_removed(std::string_view) override { note(); }

  // Until there is news, the deadline has passed or the server stops. The request does not count as
  // being answered meanwhile.
  rt::Task<> wait(http::Exchange& exchange, rt::Deadline deadline,
                  const std::atomic<bool>& is_draining) {
    // How often it is looked whether the server is stopping.
    constexpr std::chrono::milliseconds kStopCheck{250};
    const http::OffDuty resting(exchange);
    rt::CancelScope scope;
    rt::Loop& loop = hub_.loop();
    while (!has_news && !deadline.has_passed(loop) && !is_draining) {
      const auto look = rt::Deadline::after(loop, kStopCheck);
      (void)co_await changed_.wait(scope, look.at() < deadline.at() ? look : deadline);
    }
  }
  bool has_news = false;

 private:
  void note() {
    has_news = true;
    changed_.notify();
  }
  rt::Signal changed_;
  stream::Hub& hub_;
  const StreamId stream_;
  const std::size_t home_;
  bool is_subscribed_ = false;
};

}  // namespace reprise::api
