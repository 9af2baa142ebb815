// RealLoop: an event loop over Asio (epoll), and LoopThread: one that runs on a thread of its own.
//
// Sockets, listeners and signals hold on to their loop's context: they are destroyed before the
// loop. A coroutine that is suspended when its loop stops never runs on and its frame is lost, so a
// shutdown first waits for its gates (rt/gate.h) and stops the loops last.
#pragma once

#include <memory>

#include "rt/loop.h"

namespace reprise::rt {

class RealLoop final : public Loop {
 public:
  RealLoop();
  ~RealLoop() override;

  void post(Function function) override;
  Nanos now() const override;

  // Runs until stop(). One thread.
  void run();
  // Any thread. What is still queued does not run.
  void stop();

  // The Asio context, for the sockets of this folder.
  struct Native;
  Native& native() { return *native_; }

 private:
  void sleep_until(Nanos due);
  std::unique_ptr<Native> native_;
};

class LoopThread {
 public:
  LoopThread();
  ~LoopThread();  // stops the loop and joins
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  RealLoop& loop() { return *loop_; }
  void stop();

 private:
  struct Impl;
  std::unique_ptr<RealLoop> loop_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reprise::rt
