// Operating-system signals, delivered to a loop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "rt/real_loop.h"

namespace reprise::rt {

// Calls `on_signal` on the loop for each delivery, for as long as it lives.
class Signals {
 public:
  Signals(RealLoop& loop, std::vector<int> numbers, std::function<void(int)> on_signal);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace reprise::rt
