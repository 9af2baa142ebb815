// One client connection: reads requests, has them answered, sends the replies in order; and the set
// of connections that live on one loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "http/exchange.h"
#include "http/gatekeeper.h"
#include "http/probe.h"
#include "http/read_buffer.h"
#include "http/router.h"
#include "http/server.h"
#include "http/stream_writer.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/real_loop.h"
#include "rt/socket.h"
#include "rt/task.h"
#include "wire/http.h"

namespace reprise::http {

class Connection;

class ConnectionSet {
 public:
  ConnectionSet(rt::RealLoop& loop, const Router& router, const Gatekeeper& gatekeeper,
                const ServerOptions& options, Probe& probe);
  ~ConnectionSet();

  void accept(std::unique_ptr<rt::Socket> socket);
  // No new requests; streams, idle connections and handshakes end now.
  void begin_drain();
  rt::Task<bool> wait_empty(rt::Deadline deadline);
  void cut_off();

 private:
  friend class Connection;
  rt::Task<> serve(std::unique_ptr<rt::Socket> socket);
  rt::Task<> refuse(std::unique_ptr<rt::Socket> socket);
  // The encrypted socket, or nullptr if the handshake failed.
  REPRISE_OWN_FRAME rt::Task<std::unique_ptr<rt::Socket>> secure(std::unique_ptr<rt::Socket> plain);

  rt::RealLoop& loop_;
  const Router& router_;
  const Gatekeeper& gatekeeper_;
  const ServerOptions& options_;
  Probe& probe_;
  Flusher flusher_;
  rt::Gate gate_;
  rt::Signal changed_;
  std::list<Connection*> connections_;
  rt::CancelScope handshakes_;
  std::size_t in_flight_ = 0;
  std::size_t refusing_ = 0;
  bool is_draining_ = false;
};

class Connection final : private BodyReader {
 public:
  Connection(ConnectionSet& set, std::unique_ptr<rt::Socket> socket);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // What a connection becomes that answers no more requests; nothing if it has ended.
  struct Sequel {
    Reply::Stream stream;
    std::shared_ptr<WebSocketUpgrade> websocket;
  };
  // Until the connection ends or has become something else: then the rest is stream()'s or
  // converse()'s.
  REPRISE_OWN_FRAME rt::Task<Sequel> serve();
  REPRISE_OWN_FRAME rt::Task<> stream(Reply::Stream run);
  REPRISE_OWN_FRAME rt::Task<> converse(std::shared_ptr<WebSocketUpgrade> upgrade);
  void begin_drain();
  void cut_off();
  void close();

 private:
  enum class Phase : std::uint8_t { kIdle, kReading, kAnswering, kSending, kStreaming, kLingering };
  // On the loop that the flusher and the scope belong to.
  rt::Task<> converse_here(WebSocketUpgrade& upgrade, Flusher& flusher, rt::CancelScope& scope);
  struct Away;
  rt::Task<> converse_at(rt::RealLoop& home, WebSocketUpgrade& upgrade);
  // nullopt: the request was refused by its head alone, and the answer is sent. With
  // is_body_streamed_, the request's body is still to come.
  REPRISE_OWN_FRAME rt::Task<Result<std::optional<wire::Request>>> read_request();
  REPRISE_OWN_FRAME rt::Task<bool> refuse_by_head(const Route*& route);
  Result<> choose_body(const Route& route);
  // The body of a route that streams it, and what becomes of it when the handler has had enough:
  // false if there is more.
  rt::Task<Result<std::string>> read() override;
  bool end_streamed_body();
  REPRISE_OWN_FRAME rt::Task<Reply> answer(Exchange& exchange);
  Reply finish(const Exchange& exchange, Result<Reply> outcome);
  bool is_observed() const;
  void note(const Exchange& exchange, int status, std::uint64_t micros);
  Result<Reply> refuse_early(Exchange& exchange, const Route*& route);
  REPRISE_OWN_FRAME rt::Task<Result<>> send(Reply& reply, bool keep_alive);
  REPRISE_OWN_FRAME rt::Task<Result<>> send_source(BodySource& source, std::uint64_t bytes);
  REPRISE_OWN_FRAME rt::Task<Result<>> send_all(std::string_view first, std::string_view second);
  // The last answer is on its way: waits for the client to see it.
  REPRISE_OWN_FRAME rt::Task<> linger();
  REPRISE_OWN_FRAME rt::Task<> send_error(const Error& error);
  void enter(Phase phase);
  void check_time();
  void say_too_late();

  ConnectionSet& set_;
  std::unique_ptr<rt::Socket> socket_;
  std::list<Connection*>::iterator place_;
  std::unique_ptr<wire::RequestParser> parser_;
  ReadBuffer input_;
  rt::Timer watchdog_;
  rt::Nanos deadline_{rt::Nanos::max()};
  std::size_t unsent_ = 0;  // what the kernel held when the client was last seen to take some
  rt::CancelScope scope_;
  std::shared_ptr<Away> away_;
  Phase phase_ = Phase::kIdle;
  bool is_head_request_ = false;
  bool is_body_streamed_ = false;
};

}  // namespace reprise::http
