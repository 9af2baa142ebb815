// ReadAhead: a connection's bytes, read one buffer ahead.
//
// A proxy must notice the end of a connection while it waits for something else: a client that
// leaves while the server thinks, a server that closes a connection kept for the next request. So
// one read is under way even when nobody waits for its bytes; what it brings is kept for whoever
// comes next, and more than one buffer is never held.
//
//     REPRISE_CO_TRY(const bool has_bytes, co_await input.wait());
//     if (has_bytes) input.skip(use(input.bytes()));
//
// Threads: belongs to its socket's loop. The socket is closed or destroyed with it.
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "rt/socket.h"

namespace reprise::browser {

class ReadAhead {
 public:
  explicit ReadAhead(rt::Socket& socket);
  // With what was read before.
  ReadAhead(rt::Socket& socket, std::string_view early);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // What has come and was not skipped; valid until the next wait() or watch().
  std::string_view bytes() const;
  void skip(std::size_t count);
  // The end has come, or an error; what came before may still be there.
  bool has_ended() const;

  // True: there are bytes. False: the connection has ended. kClosed, kIo. One waits at a time.
  auto wait() {
    struct Awaiter {
      ReadAhead& input;
      bool await_ready() const { return input.is_ready(); }
      void await_suspend(std::coroutine_handle<> handle) { input.start_waiting(handle); }
      Result<bool> await_resume() const { return input.outcome(); }
    };
    return Awaiter{*this};
  }

  // Reads ahead, unless there are bytes already. `on_end` is called once if the connection ends, by
  // whichever read, and at once if it has; not while somebody waits: they are told.
  void watch(std::function<void()> on_end);
  // Reads ahead again, if it is watched, after its bytes were skipped.
  void keep_watching();
  void stop_watching();

 private:
  struct State;
  bool is_ready() const;
  void start_waiting(std::coroutine_handle<> handle);
  Result<bool> outcome() const;
  std::shared_ptr<State> state_;  // a read under way shares it
};

}  // namespace reprise::browser
