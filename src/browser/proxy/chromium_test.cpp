// A real Chromium behind a context's proxy: a page and what it needs comes through, and none of the
// ways that a page knows leads to a port that is forbidden.
#include <fcntl.h>
#include <openssl/evp.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/bytes.h"
#include "browser/proxy/testing.h"
#include "rt/test_certificate.h"
#include "rt/tls.h"

extern "C" char** environ;

namespace reprise::browser {
namespace {

using testing::serve_http;
using testing::TestProxy;
using testing::TestServer;

constexpr const char* kChromium = "/usr/lib/chromium/chromium-headless-shell";

// Tries everything, writes what came of it into itself, tells the server, and is only then loaded:
// an image of it is held back until the server has been told.
constexpr std::string_view kPage = R"(<!doctype html><title>page</title><pre id=out></pre>
<img src="/held"><img src="http://localhost:FORBIDDEN/img">
<iframe src="http://0.0.0.0:FORBIDDEN/frame"></iframe>
<script>
const said = [];
async function attempt(name, action) {
  try { said.push(name + ':' + await action()); } catch (error) { said.push(name + ':failed'); }
}
const text = (url, options) => fetch(url, options).then((reply) => reply.text());
const socket = (url) => new Promise((resolve, reject) => {
  const opened = new WebSocket(url);
  opened.onmessage = (event) => resolve(event.data);
  opened.onerror = reject;
});
const worker = (script) => new Promise((resolve) => {
  new Worker(script).onmessage = (event) => resolve(event.data);
});
const gather = () => new Promise((resolve) => {
  const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:UDP'}]});
  peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve('over');
  peer.createDataChannel('any');
  peer.createOffer().then((offer) => peer.setLocalDescription(offer));
});
(async () => {
  await attempt('fetch', () => text('/data'));
  await attempt('post', () => text('/echo', {method: 'POST', body: 'posted'}));
  await attempt('moved', () => text('/moved-here'));
  await attempt('tls', () => text('https://127.0.0.1:TLS/data'));
  await attempt('socket', () => socket('ws://127.0.0.1:OWN/ws'));
  await attempt('worker', () => worker('/worker.js'));
  await attempt('fetch-no', () => text('http://127.0.0.1:FORBIDDEN/fetch'));
  await attempt('moved-no', () => text('/moved-there'));
  await attempt('tls-no', () => text('https://127.0.0.1:FORBIDDEN/'));
  await attempt('socket-no', () => socket('ws://127.0.0.1:FORBIDDEN/'));
  await attempt('worker-no', () => worker('/worker-no.js'));
  await attempt('name-no', () => text('http://rebinding.example:FORBIDDEN/name'));
  await attempt('metadata-no', () => text('http://169.254.169.254/latest'));
  await attempt('gather', gather);
  navigator.sendBeacon('http://127.0.0.1:FORBIDDEN/beacon', 'x');
  document.getElementById('out').textContent = said.join(' ');
  await fetch('/done', {method: 'POST', body: said.join(' ')});
})();
</script>)";

constexpr std::string_view kWorker = R"(fetch('URL')
  .then((reply) => reply.text(), () => 'failed').then((text) => postMessage(text));)";

struct Site {
  explicit Site(rt::RealLoop& loop) : told(loop) {}
  std::string fill(std::string_view text) const {
    std::string filled(text);
    for (const auto& [word, port] :
         {std::pair("FORBIDDEN", forbidden_port), std::pair("TLS", tls_port),
          std::pair("OWN", own_port), std::pair("UDP", udp_port)})
      for (std::size_t at = 0; (at = filled.find(word)) != std::string::npos;)
        filled.replace(at, std::string_view(word).size(), std::to_string(port));
    return filled;
  }
  std::uint16_t own_port = 0;
  std::uint16_t tls_port = 0;
  std::uint16_t forbidden_port = 0;
  std::uint16_t udp_port = 0;
  std::string report;
  bool is_told = false;
  rt::Signal told;
};

// RFC 6455, section 4.2.2, and one unmasked text frame.
std::string accept_websocket(std::string_view key) {
  const std::string salted = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(salted.data(), salted.size(), digest.data(), &size, EVP_sha1(), nullptr);
  const std::string accept = to_base64({reinterpret_cast<const char*>(digest.data()), size});
  return fmt::format(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Accept: {}\r\n\r\n\x81\x02hi",
      accept);
}

std::string typed(std::string_view type, std::string_view body) {
  return testing::ok(body, fmt::format("Content-Type: {}\r\n", type));
}

std::string moved(std::string_view to) {
  return fmt::format("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", to);
}

std::string reply_to(const Site& site, const wire::Request& request) {
  const std::string_view path = request.target;
  const std::string forbidden = fmt::format("http://127.0.0.1:{}", site.forbidden_port);
  if (path == "/page") return typed("text/html", site.fill(kPage));
  if (path == "/data")
    return testing::ok("data", "Access-Control-Allow-Origin: *\r\nCache-Control: no-store\r\n");
  if (path == "/echo") return testing::ok(request.body);
  if (path == "/moved-here") return moved("/data");
  if (path == "/moved-there") return moved(forbidden + "/moved");
  if (path == "/worker.js" || path == "/worker-no.js") {
    std::string script(kWorker);
    const std::string url = path == "/worker.js" ? "/data" : forbidden + "/worker";
    return typed("text/javascript", script.replace(script.find("URL"), 3, url));
  }
  return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
}

rt::Task<bool> answer_page(Site& site, rt::Socket& socket, const wire::Request& request) {
  std::string reply;
  if (request.target == "/ws") {
    reply = accept_websocket(request.headers.get("sec-websocket-key").value_or(""));
    if (!co_await socket.write(reply)) co_return false;
    co_await testing::until_gone(socket);
    co_return false;
  }
  if (request.target == "/done") {
    site.report = request.body;
    site.is_told = true;
    site.told.notify();
  }
  rt::CancelScope scope;
  if (request.target == "/held" && !site.is_told)
    (void)co_await site.told.wait(scope, rt::Deadline::after(*rt::Loop::current(), rt::kPatience));
  reply = reply_to(site, request);
  co_return (co_await socket.write(reply)).has_value();
}

TestServer::Serve pages(Site& site) {
  return [&site](TestServer& server, rt::Socket& socket) {
    return serve_http(server, socket,
                      [&site](TestServer&, rt::Socket& to, const wire::Request& request, int) {
                        return answer_page(site, to, request);
                      });
  };
}

// A socket for datagrams that should not come.
class UdpSocket {
 public:
  UdpSocket() : descriptor_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof where;
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<sockaddr*>(&where), length), 0);
    EXPECT_EQ(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&where), &length), 0);
    port_ = ntohs(where.sin_port);
  }
  ~UdpSocket() { ::close(descriptor_); }
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;
  std::uint16_t port() const { return port_; }
  bool has_received() const {
    char byte = 0;
    return ::recv(descriptor_, &byte, 1, MSG_DONTWAIT) >= 0;
  }

 private:
  int descriptor_;
  std::uint16_t port_ = 0;
};

// Runs it to its end and gives what it wrote.
std::string dump_dom(std::uint16_t proxy_port, const std::string& url) {
  std::string profile = (std::filesystem::temp_directory_path() / "reprise-proxy-XXXXXX").string();
  EXPECT_NE(::mkdtemp(profile.data()), nullptr);
  std::vector<std::string> arguments = {
      kChromium,
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--ignore-certificate-errors",
      "--user-data-dir=" + profile,
      fmt::format("--proxy-server=http://127.0.0.1:{}", proxy_port),
      fmt::format("--proxy-bypass-list={}", kProxyBypassList),
  };
  arguments.insert(arguments.end(), kProxyBrowserFlags.begin(), kProxyBrowserFlags.end());
  arguments.insert(arguments.end(), {"--dump-dom", url});
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  EXPECT_EQ(::posix_spawn(&process, kChromium, &actions, nullptr, pointers.data(), environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string output;
  std::array<char, 4096> piece{};
  for (ssize_t count = 0; (count = ::read(ends[0], piece.data(), piece.size())) > 0;)
    output.append(piece.data(), static_cast<std::size_t>(count));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(process, &status, 0);
  EXPECT_EQ(status, 0);
  std::filesystem::remove_all(profile);
  return output;
}

TEST(Chromium, ReachesWhatItMayAndNothingElse) {
  TestProxy proxy;
  Site site(proxy.loop());
  const rt::Certificate certificate;
  const auto tls = rt::TlsContext::server(certificate.certificate_file(), certificate.key_file());
  ASSERT_TRUE(tls.has_value());
  TestServer origin(proxy.loop(), pages(site));
  TestServer secure(proxy.loop(), pages(site), *tls);
  TestServer forbidden(proxy.loop(), pages(site));
  site.own_port = origin.port();
  site.tls_port = secure.port();
  site.forbidden_port = forbidden.port();
  const UdpSocket datagrams;
  site.udp_port = datagrams.port();
  const auto hold = proxy.ports.forbid(forbidden.port());
  rt::call_on(proxy.loop(), [&] { proxy.resolver.set("rebinding.example", {"127.0.0.1"}); });

  const std::string dom =
      dump_dom(proxy.port(), fmt::format("http://127.0.0.1:{}/page", origin.port()));
  const std::string expected =
      "fetch:data post:posted moved:data tls:data socket:hi worker:data fetch-no:failed "
      "moved-no:failed tls-no:failed socket-no:failed worker-no:failed name-no:failed "
      "metadata-no:failed gather:over";
  std::string report;
  rt::call_on(proxy.loop(), [&] { report = site.report; });
  EXPECT_EQ(report, expected);
  EXPECT_NE(dom.find(expected), std::string::npos) << dom;
  EXPECT_EQ(forbidden.connections, 0);
  EXPECT_FALSE(datagrams.has_received());
  EXPECT_GE(proxy.probe.tunnels, 3U);
  const std::string at = fmt::format("127.0.0.1:{}", forbidden.port());
  for (const std::string& refusal :
       {"http://" + at + "/fetch own_port", "http://" + at + "/moved own_port",
        "http://" + at + "/worker own_port", "http://" + at + "/beacon own_port", at + " own_port",
        fmt::format("http://localhost:{}/img own_port", forbidden.port()),
        fmt::format("http://rebinding.example:{}/name own_port", forbidden.port()),
        std::string("http://169.254.169.254/latest link_local")})
    EXPECT_TRUE(proxy.eventually([&] { return std::ranges::count(proxy.refusals, refusal) > 0; }))
        << refusal;
}

}  // namespace
}  // namespace reprise::browser
