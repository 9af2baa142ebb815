#include "browser/proxy/context_proxy.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/assert.h"
#include "browser/proxy/connection.h"
#include "rt/gate.h"

namespace reprise::browser {
namespace {

constexpr std::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nreprise-failed: overloaded\r\ncontent-length: 0\r\n"
    "connection: close\r\n\r\n";

}  // namespace

// Shared with the listener's callback, which may come once more after the listener was stopped.
struct ContextProxy::Core {
  Core(rt::RealLoop& loop, rt::Resolver& resolver, ForbiddenPorts& ports, ProxyProbe& of_probe,
       ProxyOptions options)
      : commons{.loop = loop,
                .route = ServerRoute(loop, resolver, ports, options.policy, options.upstream),
                .options = std::move(options),
                .probe = of_probe} {}

  void accept(std::unique_ptr<rt::Socket> socket);
  rt::Task<> serve(std::unique_ptr<rt::Socket> socket);

  ProxyCommons commons;
  std::unique_ptr<rt::Listener> listener;
  ForbiddenPorts::Hold hold;
  std::vector<ProxyConnection*> connections;
  rt::Gate gate;
};

void ContextProxy::Core::accept(std::unique_ptr<rt::Socket> socket) {
  commons.probe.accepted.fetch_add(1, std::memory_order_relaxed);
  if (connections.size() < commons.options.limits.connections) {
    rt::spawn(gate, serve(std::move(socket)));
    return;
  }
  commons.probe.turned_away.fetch_add(1, std::memory_order_relaxed);
  const iovec part{const_cast<char*>(kTooMany.data()), kTooMany.size()};
  (void)socket->try_write({&part, 1});
  socket->shutdown_write();
}

rt::Task<> ContextProxy::Core::serve(std::unique_ptr<rt::Socket> socket) {
  commons.probe.connections.fetch_add(1, std::memory_order_relaxed);
  ProxyConnection connection(commons, std::move(socket));
  connections.push_back(&connection);
  co_await connection.serve();
  std::erase(connections, &connection);
  commons.probe.connections.fetch_sub(1, std::memory_order_relaxed);
}

ContextProxy::ContextProxy(std::shared_ptr<Core> core) : core_(std::move(core)) {}

ContextProxy::~ContextProxy() {
  core_->commons.probe.proxies.fetch_sub(1, std::memory_order_relaxed);
}

Result<std::unique_ptr<ContextProxy>> ContextProxy::start(rt::RealLoop& loop,
                                                          rt::Resolver& resolver,
                                                          ForbiddenPorts& ports, ProxyProbe& probe,
                                                          ProxyOptions options) {
  REPRISE_ASSERT(options.policy != nullptr);
  auto core = std::make_shared<Core>(loop, resolver, ports, probe, std::move(options));
  REPRISE_TRY(core->listener, rt::Listener::bind(loop, {"127.0.0.1", 0}));
  core->hold = ports.forbid(core->listener->local().port);
  core->listener->start(
      {&loop}, [weak = std::weak_ptr(core)](rt::RealLoop&, std::unique_ptr<rt::Socket> socket) {
        if (const auto alive = weak.lock(); alive && !alive->gate.is_closed())
          alive->accept(std::move(socket));
      });
  probe.proxies.fetch_add(1, std::memory_order_relaxed);
  return std::unique_ptr<ContextProxy>(new ContextProxy(std::move(core)));
}

rt::Endpoint ContextProxy::local() const { return core_->listener->local(); }

std::string ContextProxy::server() const {
  return fmt::format("http://127.0.0.1:{}", local().port);
}

std::size_t ContextProxy::connections() const { return core_->connections.size(); }

void ContextProxy::set_policy(std::shared_ptr<const UrlPolicy> policy) {
  REPRISE_ASSERT(policy != nullptr);
  core_->commons.route.set_policy(std::move(policy));
}

rt::Task<> ContextProxy::close() {
  core_->listener->stop();
  core_->gate.close();
  // Each may leave the list while it is told.
  for (ProxyConnection* connection : std::vector(core_->connections)) connection->cut_off();
  co_await core_->gate.empty();
  core_->hold.release();
}

}  // namespace reprise::browser
