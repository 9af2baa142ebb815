// The simulated network: a connection in front of a reader, with a small backlog. The far end takes
// bytes when the simulation lets it, stalls, and may vanish at any byte.
//
// Frames are lines. `on_pushed` sees each when the server hands it over (nobody may be told what is
// not durable yet), `on_received` when it has crossed the network whole.
//
// Threads: one.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rt/cancel.h"
#include "stream/tail.h"

namespace reprise::sim {

class Connection;
// In the order in which they were opened, so that a seed finds them in the same order again.
using Connections = std::vector<Connection*>;

class Connection final : public stream::Outlet {
 public:
  using OnFrame = std::function<void(std::string_view)>;
  struct Ends {
    OnFrame on_pushed;
    OnFrame on_received;
  };
  Connection(rt::Loop& loop, rt::CancelScope& server, std::size_t capacity, Connections& open,
             Ends ends);
  ~Connection() override;

  bool push(const stream::SharedBytes& bytes, std::size_t offset) override;
  rt::Task<Result<>> wait_for_room(rt::CancelScope& scope) override;
  // Until everything has crossed, or the connection or the server is gone.
  rt::Task<> drain();

  rt::CancelScope& scope() { return scope_; }
  std::size_t backlog() const { return backlog_.size(); }

  // The far end takes up to so many bytes.
  void take(std::size_t bytes);
  // The far end is gone; what has not crossed is lost.
  void lose();

 private:
  rt::Task<Result<>> wait_below(std::size_t bytes, rt::CancelScope& scope);

  Connections& open_;
  const std::size_t capacity_;
  Ends ends_;
  rt::CancelScope scope_;
  rt::Signal room_;
  std::string backlog_;
  std::string partial_;
  bool is_lost_ = false;
};

}  // namespace reprise::sim
