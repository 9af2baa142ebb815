// A tunnel: the bytes of two connections, copied both ways.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "browser/proxy/idle_timer.h"
#include "browser/proxy/proxy_probe.h"
#include "browser/proxy/read_ahead.h"
#include "rt/socket.h"
#include "rt/task.h"

namespace reprise::browser {

// One of the two connections of a proxy: to its client, or to a server.
struct ProxySide {
  explicit ProxySide(std::unique_ptr<rt::Socket> of_socket, std::string_view early = {})
      : socket(std::move(of_socket)), input(*socket, early) {}
  // It lives, and nothing has come that nobody has read.
  bool is_quiet() const { return !input.has_ended() && input.bytes().empty(); }
  std::unique_ptr<rt::Socket> socket;
  ReadAhead input;
};

struct TunnelTimeouts {
  std::chrono::milliseconds idle;
  std::chrono::milliseconds half_closed;  // once one side has ended
};

// Until both sides have ended, or one has failed; then both are closed. The end of one side is
// passed on as such: the other may go on. One buffer is held per direction, so that a slow reader
// slows its writer.
rt::Task<> run_tunnel(ProxySide& client, ProxySide& server, IdleTimer& idle,
                      TunnelTimeouts timeouts, ProxyProbe& probe);

}  // namespace reprise::browser
