#include "browser/proxy/tunnel.h"

#include "rt/gate.h"

namespace reprise::browser {
namespace {

struct Tunnel {
  ProxySide& client;
  ProxySide& server;
  IdleTimer& idle;
  TunnelTimeouts timeouts;

  void close() {
    client.socket->close();
    server.socket->close();
  }
};

rt::Task<> copy(Tunnel& tunnel, ProxySide& from, ProxySide& to,
                std::atomic<std::uint64_t>& counted) {
  for (;;) {
    const Result<bool> has_bytes = co_await from.input.wait();
    if (!has_bytes) break;
    if (!*has_bytes) {
      to.socket->shutdown_write();
      tunnel.idle.allow(tunnel.timeouts.half_closed);
      co_return;
    }
    const std::string_view bytes = from.input.bytes();
    if (!co_await to.socket->write(bytes)) break;
    counted.fetch_add(bytes.size(), std::memory_order_relaxed);
    from.input.skip(bytes.size());
    tunnel.idle.touch();
  }
  tunnel.close();
}

}  // namespace

rt::Task<> run_tunnel(ProxySide& client, ProxySide& server, IdleTimer& idle,
                      TunnelTimeouts timeouts, ProxyProbe& probe) {
  Tunnel tunnel{client, server, idle, timeouts};
  client.input.stop_watching();
  idle.allow(timeouts.idle);
  rt::Gate upwards;
  rt::spawn(upwards, copy(tunnel, client, server, probe.bytes_up));
  co_await copy(tunnel, server, client, probe.bytes_down);
  co_await upwards.empty();
  tunnel.close();
}

}  // namespace reprise::browser
