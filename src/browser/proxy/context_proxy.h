// ContextProxy: the forward proxy that every byte of one browser context goes through, and by which
// the app's rules hold for whatever a page does: redirects, subresources, workers, WebSockets, and
// names that change their address.
//
//     REPRISE_TRY(auto proxy, ContextProxy::start(loop, resolver, ports, probe, options));
//     Target.createBrowserContext {proxyServer: proxy->server(), proxyBypassList: kProxyBypassList}
//     ...
//     co_await proxy->close();
//
// It listens on a port of its own on 127.0.0.1: by that port, contexts are told apart, since a
// browser sends a proxy no credentials unasked. Any process of this machine can connect to it too,
// so that it must not be able to do more than a page: the same rules hold for everybody, and the
// port itself is forbidden to every proxy, this one included (browser/forbidden_ports.h).
//
// What it speaks: CONNECT for https, wss and ws, which browsers tunnel, and requests in absolute
// form for http, with WebSocket by Upgrade. Bodies stream both ways, connections are kept on both
// sides. A tunnel that is refused is answered 403 with "Reprise-Refused: <rule>", one to a server
// that cannot be reached 502 or 504 with "Reprise-Failed: <code>" (Chromium says
// ERR_TUNNEL_CONNECTION_FAILED). A plain request is then not answered at all and its connection
// ends (ERR_EMPTY_RESPONSE): what we said would be a page of the server's, and to scripts a
// response. Both are told to the callbacks of ProxyOptions, from where tools learn the reason.
//
// For nothing to go around it (seen with Chromium 156, and tested):
//   - contexts are made with kProxyBypassList: without it, Chromium goes to this machine and to
//     link-local addresses directly;
//   - the browser is started with kProxyBrowserFlags. WebRTC would send UDP past the proxy
//     (--webrtc-ip-handling-policy without "force" changes nothing); what it sends over TCP, and
//     WebTransport, then come as tunnels. QUIC is off. Names are the proxy's to resolve, so that
//     the browser's own resolver, which a page can set to work by a hint, knows none.
//
// Threads: belongs to its loop.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "browser/forbidden_ports.h"
#include "browser/proxy/proxy_options.h"
#include "browser/proxy/proxy_probe.h"
#include "rt/real_loop.h"
#include "rt/resolver.h"
#include "rt/socket.h"
#include "rt/task.h"

namespace reprise::browser {

inline constexpr std::string_view kProxyBypassList = "<-loopback>";
inline constexpr std::array<std::string_view, 3> kProxyBrowserFlags = {
    "--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"};

class ContextProxy {
 public:
  // Listens. The resolver, the ports and the probe outlive it. kIo.
  static Result<std::unique_ptr<ContextProxy>> start(rt::RealLoop& loop, rt::Resolver& resolver,
                                                     ForbiddenPorts& ports, ProxyProbe& probe,
                                                     ProxyOptions options);
  ~ContextProxy();  // after close(), or when its loop has stopped
  ContextProxy(const ContextProxy&) = delete;
  ContextProxy& operator=(const ContextProxy&) = delete;

  rt::Endpoint local() const;
  // "http://127.0.0.1:40123", as browsers want it.
  std::string server() const;
  std::size_t connections() const;
  // For what is opened from now on, and for further requests on what is open; tunnels stay.
  void set_policy(std::shared_ptr<const UrlPolicy> policy);
  // Ends all connections at once.
  rt::Task<> close();

 private:
  struct Core;
  explicit ContextProxy(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
};

}  // namespace reprise::browser
