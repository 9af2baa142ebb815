// Mailbox<T>: a bounded queue from any thread to one loop, emptied in batches.
//
// However many messages arrive between two turns of the loop, it is woken once and gets all of them
// in order. A full mailbox refuses: the sender decides what that means (an error to a client, a
// reader that falls back to the store).
//
// Threads: try_send() from any; it must not race with the destructor, so an owner whose senders
// still run closes first and destroys when they have stopped.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "rt/loop.h"

namespace reprise::rt {

template <typename T>
class Mailbox {
 public:
  using OnBatch = std::function<void(std::vector<T>)>;

  // `on_batch` runs on the loop. The mailbox must be destroyed on the loop, or after it has
  // stopped.
  Mailbox(Loop& loop, std::size_t capacity, OnBatch on_batch)
      : shared_(std::make_shared<Shared>(loop, capacity, std::move(on_batch))) {}
  ~Mailbox() { close(); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Nothing is delivered from now on, and what waits is dropped. On the loop, or after it has
  // stopped. Idempotent.
  void close() {
    std::vector<T> dropped;  // destroyed without the lock: messages may have destructors that send
    const std::lock_guard lock(shared_->mutex);
    shared_->is_open = false;
    dropped.swap(shared_->waiting);
  }

  // False, and the message is untouched, if the mailbox is full or closed. Any thread.
  bool try_send(T&& message) {
    {
      const std::lock_guard lock(shared_->mutex);
      if (!shared_->is_open || shared_->waiting.size() >= shared_->capacity) return false;
      shared_->waiting.push_back(std::move(message));
      if (std::exchange(shared_->is_scheduled, true)) return true;
    }
    shared_->loop.post([shared = shared_] { shared->deliver(); });
    return true;
  }

 private:
  // Outlives the mailbox for as long as a delivery is queued on the loop.
  struct Shared {
    Shared(Loop& to, std::size_t limit, OnBatch deliver_to)
        : loop(to), capacity(limit), on_batch(std::move(deliver_to)) {}
    void deliver() {
      std::vector<T> batch;
      {
        const std::lock_guard lock(mutex);
        is_scheduled = false;
        if (!is_open) return;
        batch.swap(waiting);
      }
      on_batch(std::move(batch));
    }
    Loop& loop;
    const std::size_t capacity;
    const OnBatch on_batch;
    std::mutex mutex;
    std::vector<T> waiting;
    bool is_scheduled = false;
    bool is_open = true;
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace reprise::rt
