#include "sim/network.h"

#include <algorithm>

namespace reprise::sim {

Connection::Connection(rt::Loop& loop, rt::CancelScope& server, std::size_t capacity,
                       Connections& open, Ends ends)
    : open_(open), capacity_(capacity), ends_(std::move(ends)), scope_(server), room_(loop) {
  open_.push_back(this);
}

Connection::~Connection() { std::erase(open_, this); }

bool Connection::push(const stream::SharedBytes& bytes, std::size_t offset) {
  if (is_lost_) return true;  // whoever pushes learns of it from its scope
  if (backlog_.size() >= capacity_) return false;
  std::string_view frames(*bytes);
  frames.remove_prefix(offset);
  backlog_ += frames;
  while (!frames.empty()) {
    const std::size_t end = frames.find('\n');
    ends_.on_pushed(frames.substr(0, end));
    frames.remove_prefix(end + 1);
  }
  return true;
}

rt::Task<Result<>> Connection::wait_below(std::size_t bytes, rt::CancelScope& scope) {
  while (backlog_.size() > bytes && !is_lost_) REPRISE_CO_CHECK(co_await room_.wait(scope));
  if (is_lost_) co_return fail(Code::kClosed, "the reader is gone");
  co_return Result<>{};
}

rt::Task<Result<>> Connection::wait_for_room(rt::CancelScope& scope) {
  return wait_below(capacity_ / 4, scope);
}

rt::Task<> Connection::drain() { (void)co_await wait_below(0, scope_); }

void Connection::take(std::size_t bytes) {
  if (is_lost_) return;
  bytes = std::min(bytes, backlog_.size());
  partial_.append(backlog_, 0, bytes);
  backlog_.erase(0, bytes);
  std::size_t begin = 0;
  for (std::size_t end = partial_.find('\n'); end != std::string::npos;
       end = partial_.find('\n', begin)) {
    ends_.on_received(std::string_view(partial_).substr(begin, end - begin));
    begin = end + 1;
  }
  partial_.erase(0, begin);
  room_.notify();
}

void Connection::lose() {
  if (std::exchange(is_lost_, true)) return;
  backlog_.clear();
  room_.notify();
  scope_.cancel(Error{Code::kClosed, "the connection is lost"});
}

}  // namespace reprise::sim
