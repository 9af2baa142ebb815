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
  // No new requests; streams and idle connections end now.
  void begin_drain();
  rt::Task<bool> wait_empty(rt::Deadline deadline);
  void cut_off();

 private:
  friend class Connection;
  rt::Task<> serve(std::unique_ptr<rt::Socket> socket);
  rt::Task<> refuse(std::unique_ptr<rt::Socket> socket);

  rt::RealLoop& loop_;
  const Router& router_;
  const Gatekeeper& gatekeeper_;
  const ServerOptions& options_;
  Probe& probe_;
  Flusher flusher_;
  rt::Gate gate_;
  rt::Signal changed_;
  std::list<Connection*> connections_;
  std::size_t in_flight_ = 0;
  bool is_draining_ = false;
};

class Connection {
 public:
  Connection(ConnectionSet& set, std::unique_ptr<rt::Socket> socket);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  rt::Task<> serve();
  void begin_drain();
  void cut_off();

 private:
  enum class Phase : std::uint8_t { kIdle, kReading, kAnswering, kStreaming };
  rt::Task<Result<wire::Request>> read_request();
  rt::Task<Reply> answer(Exchange& exchange);
  Result<Reply> refuse_early(Exchange& exchange, const Route*& route);
  rt::Task<Result<>> send(const Exchange& exchange, Reply& reply, bool keep_alive);
  rt::Task<> stream(Reply reply);
  rt::Task<> send_error(const Error& error);
  void enter(Phase phase);
  void check_time();

  ConnectionSet& set_;
  std::unique_ptr<rt::Socket> socket_;
  std::list<Connection*>::iterator place_;
  std::unique_ptr<wire::RequestParser> parser_;
  std::string input_;  // bytes read and not parsed yet: from input_from_ on
  std::size_t input_from_ = 0;
  rt::Timer watchdog_;
  rt::Nanos deadline_{rt::Nanos::max()};
  rt::CancelScope scope_;
  Phase phase_ = Phase::kIdle;
  bool is_head_request_ = false;
};

}  // namespace reprise::http
