// RequestObserver: somebody who watches which requests are answered.
//
// Connections look at is_watching() and say nothing while it is false: an observer with no audience
// costs one relaxed load for each request.
//
// Threads: on_request() is called on the connections' loops, so from several threads at once;
// is_watching() may be called from any.
#pragma once

#include <atomic>
#include <cstdint>

#include "http/exchange.h"

namespace reprise::http {

class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  bool is_watching() const { return is_watching_.load(std::memory_order_relaxed); }

  // The answer is made and about to be sent. The exchange's route is nullptr if there was none.
  virtual void on_request(const Exchange& exchange, int status, std::uint64_t micros) = 0;

 protected:
  void set_watching(bool is_watching) {
    is_watching_.store(is_watching, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> is_watching_{false};
};

}  // namespace reprise::http
