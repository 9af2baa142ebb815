// Gate: what detached tasks belong to, so that a shutdown can wait for all of them.
//
//     spawn(connections_gate_, serve(std::move(socket)));
//     ...
//     connections_gate_.close();           // nobody enters any more
//     co_await connections_gate_.empty();  // everybody has left
//
// Threads: a gate belongs to one loop; spawn and the end of each task happen on it.
#pragma once

#include <coroutine>
#include <cstddef>
#include <vector>

#include "rt/task.h"

namespace reprise::rt {

class Gate {
 public:
  Gate() = default;
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  bool try_enter();
  void leave();
  void close() { is_closed_ = true; }
  bool is_closed() const { return is_closed_; }
  std::size_t inside() const { return inside_; }

  auto empty() {
    struct Awaiter {
      Gate& gate;
      bool await_ready() const { return gate.inside_ == 0; }
      void await_suspend(std::coroutine_handle<> handle) { gate.waiting_.push_back(handle); }
      void await_resume() const {}
    };
    return Awaiter{*this};
  }

 private:
  std::size_t inside_ = 0;
  bool is_closed_ = false;
  std::vector<std::coroutine_handle<>> waiting_;
};

// Starts a task at once, on this thread, and lets it run on its own. False (and the task never
// starts) if the gate is closed.
bool spawn(Gate& gate, Task<> task);

}  // namespace reprise::rt
