// Server: connections on several loops, from accept to drain. Knows no resource: the router does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "http/gatekeeper.h"
#include "http/limits.h"
#include "http/observer.h"
#include "http/probe.h"
#include "http/router.h"
#include "rt/real_loop.h"
#include "rt/socket.h"
#include "rt/task.h"
#include "rt/tls.h"
#include "wire/http.h"

namespace reprise::http {

struct ServerOptions {
  std::size_t max_connections = 20'000;
  std::size_t max_requests_per_connection = kMaxRequestsPerConnection;
  std::size_t max_in_flight_per_loop = kMaxInFlightPerLoop;
  Millis idle_timeout{75'000};
  Millis request_timeout{30'000};
  wire::ParserLimits parser;
  std::shared_ptr<rt::TlsContext> tls;  // nullptr: plain
  RequestObserver* observer = nullptr;  // outlives the server
};

// What the connections of one loop share.
class ConnectionSet;

class Server {
 public:
  Server(std::vector<rt::RealLoop*> loops, const Router& router, const Gatekeeper& gatekeeper,
         ServerOptions options, Probe& probe);
  ~Server();

  // On the first loop.
  Result<rt::Endpoint> listen(const rt::Endpoint& endpoint);
  void start();
  // Stops accepting, tells streams, lets requests in flight finish, then closes; what is left after
  // `timeout` is cut off. On the first loop.
  rt::Task<> drain(Millis timeout);

 private:
  std::vector<rt::RealLoop*> loops_;
  const ServerOptions options_;
  std::vector<std::shared_ptr<ConnectionSet>> sets_;
  std::unique_ptr<rt::Listener> listener_;
};

}  // namespace reprise::http
