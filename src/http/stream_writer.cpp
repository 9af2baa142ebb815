#include "http/stream_writer.h"

#include <algorithm>
#include <array>

#include "http/limits.h"

namespace reprise::http {

void Flusher::schedule(StreamWriter& writer) {
  writer.is_scheduled_ = true;
  queue_->waiting.push_back(&writer);
  if (std::exchange(queue_->is_posted, true)) return;
  loop_.post([queue = queue_] { queue->flush(); });
}

void Flusher::forget(StreamWriter& writer) {
  auto& waiting = queue_->waiting;
  std::replace(waiting.begin(), waiting.end(), &writer, static_cast<StreamWriter*>(nullptr));
}

void Flusher::Queue::flush() {
  is_posted = false;
  // A flush resumes nobody at once, so the list does not change meanwhile.
  for (StreamWriter* writer : waiting) {
    if (writer == nullptr) continue;
    writer->is_scheduled_ = false;
    writer->flush();
  }
  waiting.clear();
}

StreamWriter::StreamWriter(rt::Socket& socket, Flusher& flusher)
    : socket_(socket),
      flusher_(flusher),
      room_(flusher.loop()),
      stall_(flusher.loop().timers()),
      self_(std::make_shared<StreamWriter*>(this)) {}

StreamWriter::~StreamWriter() {
  *self_ = nullptr;
  if (is_scheduled_) flusher_.forget(*this);
}

bool StreamWriter::push(SharedBytes bytes, std::size_t offset) {
  // Whoever pushes to a broken one learns of it from its scope.
  if (is_full() && !is_broken_ && bytes->size() > offset) return false;
  push_anyway(std::move(bytes), offset);
  return true;
}

bool StreamWriter::is_full() const {
  return backlog_ >= kMaxBacklogBytes || waiting_parts() >= kMaxBacklogParts;
}

void StreamWriter::push_anyway(SharedBytes bytes, std::size_t offset) {
  const std::size_t size = bytes->size() - offset;
  if (is_broken_ || size == 0) return;
  parts_.push_back({std::move(bytes), offset});
  backlog_ += size;
  if (!is_blocked_ && !is_scheduled_) flusher_.schedule(*this);
}

void StreamWriter::flush() {
  while (backlog_ > 0 && !is_broken_) {
    std::array<iovec, 64> vector;
    std::size_t count = 0;
    std::size_t offered = 0;
    for (std::size_t i = first_; i < parts_.size() && count < vector.size(); ++i, ++count) {
      const Part& part = parts_[i];
      const std::size_t size = part.bytes->size() - part.offset;
      // writev only reads; its type does not say so.
      vector[count] = {const_cast<char*>(part.bytes->data()) + part.offset, size};
      offered += size;
    }
    const auto sent = socket_.try_write({vector.data(), count});
    if (!sent) return break_off();
    backlog_ -= *sent;
    sent_ += *sent;
    for (std::size_t rest = *sent; rest > 0;) {
      Part& part = parts_[first_];
      const std::size_t size = part.bytes->size() - part.offset;
      if (rest < size) {
        part.offset += rest;
        break;
      }
      rest -= size;
      part.bytes.reset();
      ++first_;
    }
    // A reader that is always a little behind never empties the list: what was sent leaves it.
    if (first_ >= kMaxBacklogParts / 4) {
      parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    if (*sent == offered) continue;
    // The kernel's buffer is full: go on when the reader has taken some.
    if (*sent > 0 || !stall_.is_armed()) watch_for_stall();
    if (std::exchange(is_blocked_, true)) return;
    socket_.start_wait_writable([self = self_](Result<> ready) {
      StreamWriter* writer = *self;
      if (writer == nullptr) return;
      writer->is_blocked_ = false;
      if (!ready) return writer->break_off();
      writer->flush();
    });
    if (has_room()) room_.notify();
    return;
  }
  stall_.cancel();
  parts_.clear();
  first_ = 0;
  if (parts_.capacity() > 16) parts_.shrink_to_fit();
  room_.notify();
}

// The kernel asks for more only when much of its buffer, which may be megabytes, is free again: a
// slow reader is one that takes something from there, a stalled one takes nothing.
void StreamWriter::watch_for_stall() {
  unsent_ = socket_.unsent_bytes();
  stall_.arm(flusher_.loop().now() + kStallTimeout, [this] {
    if (socket_.unsent_bytes() < unsent_) return watch_for_stall();
    break_off();
  });
}

void StreamWriter::break_off() {
  if (std::exchange(is_broken_, true)) return;
  stall_.cancel();
  parts_.clear();
  first_ = backlog_ = 0;
  // The peer watch of the connection sees the close and cancels whoever streams.
  socket_.close();
  room_.notify();
}

// Room for bytes alone is not enough: many small parts fill the list first.
bool StreamWriter::has_room() const {
  return backlog_ <= kLowBacklogBytes && waiting_parts() <= kMaxBacklogParts / 8;
}

rt::Task<Result<>> StreamWriter::wait_until(bool (StreamWriter::*is_met)() const,
                                            rt::CancelScope& scope) {
  while (!(this->*is_met)() && !is_broken_) REPRISE_CO_CHECK(co_await room_.wait(scope));
  if (is_broken_) co_return fail(Code::kClosed, "the reader is gone");
  co_return Result<>{};
}

rt::Task<Result<>> StreamWriter::wait_for_room(rt::CancelScope& scope) {
  return wait_until(&StreamWriter::has_room, scope);
}

rt::Task<Result<>> StreamWriter::drain(rt::CancelScope& scope) {
  return wait_until(&StreamWriter::is_empty, scope);
}

}  // namespace reprise::http
