// WebSocket: a connection that carries whole messages both ways (RFC 6455), on a server's side
// (http/websocket_upgrade.h) or a client's (http/websocket_client.h).
//
//     rt::Task<> echo(WebSocket& socket, rt::CancelScope& scope) {
//       for (;;) {
//         auto message = co_await socket.read(scope);
//         if (!message || !*message) co_return;  // an error; or the peer has closed
//         if (!co_await socket.send(std::move(**message), scope)) co_return;
//       }
//     }
//
// It reads one message ahead of whoever takes them, whether anybody does or not: so pings are
// answered, and a peer that closes or is gone is noticed, also while nobody reads. The message
// after that stays in the peer's hands. What is pushed in one turn of the loop leaves in one send;
// a peer that does not take it builds a backlog, and then push() refuses (http/stream_writer.h).
//
// A close of the peer is answered when the socket is closed on this side too, so that what belongs
// before it can still be sent.
//
// Threads: belongs to its loop. One reader at a time; nobody may be waiting when it is destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "http/limits.h"
#include "http/read_buffer.h"
#include "http/stream_writer.h"
#include "rt/cancel.h"
#include "rt/loop.h"
#include "rt/socket.h"
#include "rt/task.h"
#include "wire/websocket.h"

namespace reprise::http {

struct WebSocketOptions {
  std::size_t max_message_bytes = kMaxWebSocketMessageBytes;  // of the peer; 0: no limit
  rt::Nanos ping_interval = kPingInterval;                    // 0: the peer is never asked
  std::vector<std::string_view> subprotocols;                 // those that are known here
};

class WebSocket {
 public:
  struct Message {
    bool is_text = true;
    std::string data;
  };
  struct Close {
    std::uint16_t code = wire::kCloseNoCode;
    std::string reason;
  };

  // The server's side of a socket whose owner outlives this object.
  WebSocket(rt::Socket& socket, Flusher& flusher, const WebSocketOptions& options);
  // The client's side. It masks what it sends by `random`, which outlives it.
  WebSocket(std::unique_ptr<rt::Socket> socket, rt::Loop& loop, Random& random,
            const WebSocketOptions& options);
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  // Begins to read, once; `input` came behind the handshake. The scope, where there is one,
  // outlives this object, and is cancelled when the peer has closed, broken the protocol or gone.
  void start(ReadBuffer input, rt::CancelScope* while_there);

  // The next message; nullopt once the peer, or this side, has closed. After kMalformedFrame,
  // kMalformedText or kBodyTooLarge the peer has been told why. kClosed: it is gone without a word.
  rt::Task<Result<std::optional<Message>>> read(rt::CancelScope& scope);

  // Takes a message; a text is UTF-8. False, taking nothing, while the backlog is full and after a
  // close.
  bool push(Message&& message);
  // The same for bytes that others have too; a server does not copy them.
  bool push(bool is_text, SharedBytes data);
  // Takes it also while the backlog is full, for those who look at is_full() before they go on.
  void push_anyway(Message&& message);
  bool is_full() const { return writer_.is_full(); }
  // What has been pushed and not been taken by the system.
  std::uint64_t waiting_bytes() const { return writer_.taken_bytes() - writer_.sent_bytes(); }
  // Suspends until the backlog is small; an error once nothing can be sent any more.
  rt::Task<Result<>> wait_for_room(rt::CancelScope& scope);
  // Waits for room, and pushes.
  rt::Task<Result<>> send(Message message, rt::CancelScope& scope);

  // The closing handshake: after what was pushed, says why, waits a while for the peer's answer and
  // for its end of the connection, and closes the socket. Messages that still come are dropped.
  // If the peer closed first, it is its own code that it is told.
  rt::Task<> close(std::uint16_t code, std::string reason);

  // What the peer said, once it has closed.
  const std::optional<Close>& peer_close() const { return peer_close_; }
  // The one agreed on; empty if none was.
  const std::string& subprotocol() const { return subprotocol_; }
  void set_subprotocol(std::string_view name) { subprotocol_ = name; }

 private:
  struct Owned;
  struct Inbox;
  bool is_client() const { return random_ != nullptr; }
  bool can_send() const { return !has_said_close_ && !writer_.is_broken(); }
  void advance();
  void read_on();
  void on_read(Result<std::size_t> count, bool is_payload);
  void decode();
  void take_event();
  void refuse(Error error);
  void end(Error error);
  void stop_serving(Error reason);
  void drop(std::size_t count);

  void push_frame(wire::WebSocketOpcode opcode, std::string&& payload);
  void push_control(wire::WebSocketOpcode opcode, std::string&& payload);
  std::optional<wire::WebSocketMask> next_mask();
  void say_close(std::uint16_t code, std::string_view reason);
  void ask_whether_there();
  bool is_answered() const { return peer_close_ || failure_ || is_ended_; }
  bool is_ended() const { return is_ended_; }
  rt::Task<bool> wait_until(bool (WebSocket::*is_met)() const, rt::Nanos patience);

  std::unique_ptr<Owned> owned_;  // a client's
  rt::Socket& socket_;
  rt::Loop& loop_;
  Random* random_ = nullptr;  // a client's
  StreamWriter writer_;
  std::shared_ptr<Inbox> inbox_;  // kept alive by a read that is under way, too
  rt::CancelScope* while_there_ = nullptr;
  rt::Signal changed_;
  rt::Timer ping_;
  rt::Nanos ping_interval_;
  std::string subprotocol_;
  std::optional<Message> message_;  // read, and not taken
  std::optional<Close> peer_close_;
  std::unique_ptr<Error> failure_;   // why nothing more can be read
  std::uint64_t ping_position_ = 0;  // where in the bytes of this side the last ping ended
  std::uint64_t acknowledged_ = 0;   // bytes the peer's system had taken at the last ping
  std::size_t dropped_ = 0;
  int missed_pings_ = 0;
  bool is_busy_ = false;  // there was more than one read took: the next one has a large buffer
  bool is_reading_ = false;
  bool is_dropping_ = false;  // what comes is of no interest any more
  bool is_closing_ = false;
  bool has_said_close_ = false;
  bool is_ended_ = false;  // the connection is
};

}  // namespace reprise::http
