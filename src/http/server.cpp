#include "http/server.h"

#include "base/log.h"
#include "http/connection.h"

namespace reprise::http {
namespace {

// The route decides whether a long body is kept or streamed.
ServerOptions with_routes_choice(ServerOptions options) {
  options.parser.stops_before_long_bodies = true;
  return options;
}

}  // namespace

Server::Server(std::vector<rt::RealLoop*> loops, const Router& router, const Gatekeeper& gatekeeper,
               ServerOptions options, Probe& probe)
    : loops_(std::move(loops)), options_(with_routes_choice(std::move(options))) {
  for (rt::RealLoop* loop : loops_)
    sets_.push_back(std::make_shared<ConnectionSet>(*loop, router, gatekeeper, options_, probe));
}

Server::~Server() = default;

Result<rt::Endpoint> Server::listen(const rt::Endpoint& endpoint) {
  REPRISE_TRY(listener_, rt::Listener::bind(*loops_.front(), endpoint));
  return listener_->local();
}

void Server::start() {
  listener_->start(loops_, [this](rt::RealLoop& home, std::unique_ptr<rt::Socket> socket) {
    for (std::size_t i = 0; i < loops_.size(); ++i)
      if (loops_[i] == &home) sets_[i]->accept(std::move(socket));
  });
}

rt::Task<> Server::drain(Millis timeout) {
  listener_->stop();
  for (std::size_t i = 0; i < loops_.size(); ++i)
    loops_[i]->post([set = sets_[i]] { set->begin_drain(); });
  const rt::Deadline deadline = rt::Deadline::after(*loops_.front(), timeout);
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    co_await rt::return_to(*loops_[i]);
    if (!co_await sets_[i]->wait_empty(deadline)) {
      sets_[i]->cut_off();
      // Everything was just closed: what remains is for coroutines to notice. One that waits for
      // the disk cannot be left behind: its answer would come to a loop that is gone.
      while (
          !co_await sets_[i]->wait_empty(rt::Deadline::after(*loops_[i], std::chrono::seconds(5))))
        log::warning("requests still wait for the disk; the stop waits for them");
    }
    co_await rt::return_to(*loops_.front());
  }
}

}  // namespace reprise::http
