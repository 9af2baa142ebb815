#include "browser/proxy/read_ahead.h"

#include <optional>
#include <utility>

#include "base/assert.h"
#include "browser/proxy/limits.h"

namespace reprise::browser {

struct ReadAhead::State : std::enable_shared_from_this<State> {
  explicit State(rt::Socket& of_socket) : socket(&of_socket) {}

  bool empty() const { return from == until; }
  void read();
  void finish_read(Result<std::size_t> count);

  rt::Socket* socket;
  std::unique_ptr<char[]> buffer;
  std::size_t capacity = 0;
  std::size_t next_capacity = kIdleProxyBufferBytes;
  std::size_t from = 0;
  std::size_t until = 0;
  bool is_reading = false;
  bool is_end = false;
  std::optional<Error> error;
  std::coroutine_handle<> waiting;
  std::function<void()> on_end;
};

void ReadAhead::State::read() {
  REPRISE_ASSERT(empty() && !is_reading);
  if (capacity != next_capacity) {
    buffer = std::make_unique_for_overwrite<char[]>(next_capacity);
    capacity = next_capacity;
  }
  from = until = 0;
  is_reading = true;
  socket->start_read({buffer.get(), capacity},
                     [self = shared_from_this()](Result<std::size_t> count) {
                       self->finish_read(std::move(count));
                     });
}

void ReadAhead::State::finish_read(Result<std::size_t> count) {
  is_reading = false;
  if (!count)
    error = std::move(count).error();
  else if (*count == 0)
    is_end = true;
  else
    until = *count;
  // A full buffer promises more; a connection that has little to say gives the large one back.
  if (until == capacity) next_capacity = kProxyBufferBytes;
  if (until < kIdleProxyBufferBytes) next_capacity = kIdleProxyBufferBytes;
  if (waiting) return std::exchange(waiting, nullptr).resume();
  if ((is_end || error) && on_end) std::exchange(on_end, nullptr)();
}

ReadAhead::ReadAhead(rt::Socket& socket) : state_(std::make_shared<State>(socket)) {}

ReadAhead::ReadAhead(rt::Socket& socket, std::string_view early) : ReadAhead(socket) {
  if (early.empty()) return;
  state_->buffer = std::make_unique_for_overwrite<char[]>(early.size());
  state_->capacity = state_->until = early.size();
  early.copy(state_->buffer.get(), early.size());
}

ReadAhead::~ReadAhead() {
  REPRISE_ASSERT(!state_->waiting);
  state_->on_end = nullptr;
}

std::string_view ReadAhead::bytes() const {
  return {state_->buffer.get() + state_->from, state_->until - state_->from};
}

void ReadAhead::skip(std::size_t count) {
  REPRISE_ASSERT(count <= bytes().size(), count, bytes().size());
  state_->from += count;
}

bool ReadAhead::has_ended() const { return state_->is_end || state_->error; }

bool ReadAhead::is_ready() const { return !state_->empty() || has_ended(); }

void ReadAhead::start_waiting(std::coroutine_handle<> handle) {
  REPRISE_ASSERT(!state_->waiting);
  state_->waiting = handle;
  if (!state_->is_reading) state_->read();
}

Result<bool> ReadAhead::outcome() const {
  if (!state_->empty()) return true;
  if (state_->error) return fail(*state_->error);
  return false;
}

void ReadAhead::watch(std::function<void()> on_end) {
  if (has_ended()) return on_end();
  state_->on_end = std::move(on_end);
  if (state_->empty() && !state_->is_reading) state_->read();
}

void ReadAhead::keep_watching() {
  if (state_->on_end && !is_ready() && !state_->is_reading) state_->read();
}

void ReadAhead::stop_watching() { state_->on_end = nullptr; }

}  // namespace reprise::browser
