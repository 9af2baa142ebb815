// StreamWriter: the sending side of a connection that has become a stream.
//
// push() takes shared bytes without copying them; everything pushed in one turn of the loop leaves
// in one send. A connection that does not take its bytes builds a bounded backlog; then push()
// refuses, and the caller waits for room. One that takes nothing for kStallTimeout is given up.
//
// Threads: belongs to its loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/loop.h"
#include "rt/socket.h"
#include "rt/task.h"

namespace reprise::http {

using SharedBytes = std::shared_ptr<const std::string>;

class StreamWriter;

// Sends, once per turn, what the writers of one loop have waiting.
class Flusher {
 public:
  explicit Flusher(rt::Loop& loop) : loop_(loop), queue_(std::make_shared<Queue>()) {}
  void schedule(StreamWriter& writer);
  void forget(StreamWriter& writer);
  rt::Loop& loop() { return loop_; }

 private:
  // Outlives the flusher in what is posted to the loop.
  struct Queue {
    void flush();
    std::vector<StreamWriter*> waiting;
    bool is_posted = false;
  };
  rt::Loop& loop_;
  std::shared_ptr<Queue> queue_;
};

class StreamWriter {
 public:
  StreamWriter(rt::Socket& socket, Flusher& flusher);
  ~StreamWriter();
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  // Takes the bytes from `offset` on. False, taking nothing, if the backlog is full.
  bool push(SharedBytes bytes, std::size_t offset = 0);
  bool is_full() const;
  // Takes them even if it is full: for the rest of what was begun, and for a few that cannot wait.
  void push_anyway(SharedBytes bytes, std::size_t offset = 0);
  // Suspends until the backlog is small; an error once the connection is gone.
  rt::Task<Result<>> wait_for_room(rt::CancelScope& scope);
  // Suspends until everything pushed has been handed to the kernel.
  rt::Task<Result<>> drain(rt::CancelScope& scope);
  // The connection is of no use any more.
  bool is_broken() const { return is_broken_; }
  std::size_t waiting_parts() const { return parts_.size() - first_; }
  // How many bytes the socket has taken so far, and how many it has been or will be given.
  std::uint64_t sent_bytes() const { return sent_; }
  std::uint64_t taken_bytes() const { return sent_ + backlog_; }

 private:
  friend class Flusher;
  struct Part {
    SharedBytes bytes;
    std::size_t offset;
  };
  void flush();
  void break_off();
  void watch_for_stall();
  bool has_room() const;
  rt::Task<Result<>> wait_until(bool (StreamWriter::*is_met)() const, rt::CancelScope& scope);
  bool is_empty() const { return backlog_ == 0; }

  rt::Socket& socket_;
  Flusher& flusher_;
  rt::Signal room_;
  rt::Timer stall_;
  std::vector<Part> parts_;
  std::size_t first_ = 0;  // parts before it are sent
  std::size_t backlog_ = 0;
  std::uint64_t sent_ = 0;
  std::size_t unsent_ = 0;  // what the kernel held when the reader was last seen to take some
  bool is_scheduled_ = false;
  bool is_blocked_ = false;
  bool is_broken_ = false;
  // Outlives this object in the completion of a wait on the socket.
  std::shared_ptr<StreamWriter*> self_;
};

}  // namespace reprise::http
