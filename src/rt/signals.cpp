#include "rt/signals.h"

#include <boost/asio/signal_set.hpp>

#include "rt/asio_native.h"

namespace reprise::rt {

struct Signals::Impl : std::enable_shared_from_this<Impl> {
  boost::asio::signal_set set;
  std::function<void(int)> on_signal;
  bool is_wanted = true;
  explicit Impl(RealLoop& loop) : set(loop.native().context) {}
  void wait() {
    set.async_wait([self = shared_from_this()](const boost::system::error_code& error, int number) {
      // A delivery may have been queued before its owner went away.
      if (error || !self->is_wanted) return;
      self->wait();
      self->on_signal(number);
    });
  }
};

Signals::Signals(RealLoop& loop, std::vector<int> numbers, std::function<void(int)> on_signal)
    : impl_(std::make_shared<Impl>(loop)) {
  impl_->on_signal = std::move(on_signal);
  for (const int number : numbers) {
    boost::system::error_code ignored;
    impl_->set.add(number, ignored);
  }
  impl_->wait();
}

Signals::~Signals() {
  impl_->is_wanted = false;
  boost::system::error_code ignored;
  impl_->set.clear(ignored);
  impl_->set.cancel(ignored);
}

}  // namespace reprise::rt
