// Between a stream's reader and an HTTP connection.
#pragma once

#include <string_view>

#include "http/exchange.h"
#include "http/stream_writer.h"
#include "rt/cancel.h"
#include "stream/tail.h"

namespace reprise::api {

class WriterOutlet final : public stream::Outlet {
 public:
  explicit WriterOutlet(http::StreamWriter& writer) : writer_(writer) {}
  bool push(const stream::SharedBytes& bytes, std::size_t offset) override {
    return writer_.push(bytes, offset);
  }
  rt::Task<Result<>> wait_for_room(rt::CancelScope& scope) override {
    return writer_.wait_for_room(scope);
  }

 private:
  http::StreamWriter& writer_;
};

// A reply that is a stream of server-sent events.
http::Reply event_stream(http::Reply::Stream run);

// The last words of a stream, given how its reader ended: a server that stops says so in a comment,
// so that the client knows to come back; then everything pushed is sent.
REPRISE_OWN_FRAME rt::Task<> say_goodbye(http::StreamWriter& writer, const Result<>& outcome);

}  // namespace reprise::api
