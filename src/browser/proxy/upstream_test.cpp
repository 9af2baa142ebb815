// The user's own proxy, chained behind a context's.
#include "base/bytes.h"
#include "browser/proxy/judged_names.h"
#include "browser/proxy/proxy_request.h"
#include "browser/proxy/testing.h"

namespace reprise::browser {
namespace {

using testing::TestProxy;
using testing::TestServer;
using testing::web;
using testing::with_policy;

// A context's proxy that goes by way of `server`, as "kind user password".
struct Chained {
  Chained(TestServer::Serve serve, const char* kind, const char* user = "",
          const char* password = "", UrlPolicyOptions policy = {})
      : upstream(upstream_loop.loop(), std::move(serve)),
        proxy(options(kind, user, password, std::move(policy))) {}

  ProxyOptions options(const char* kind, const char* user, const char* password,
                       UrlPolicyOptions policy) const {
    auto made = with_policy(std::move(policy));
    made.upstream =
        *parse_upstream_proxy({.server = fmt::format("{}://127.0.0.1:{}", kind, upstream.port()),
                               .user = user,
                               .password = password});
    return made;
  }
  rt::LoopThread upstream_loop;
  TestServer upstream;
  TestProxy proxy;
};

bool has(const std::string& head, std::string_view text) {
  return head.find(text) != std::string::npos;
}

TEST(ProxyUpstream, GetsPlainRequestsInAbsoluteForm) {
  Chained chained(web, "http", "ann", "pw:1");
  rt::RawClient client(chained.proxy.port());
  ASSERT_TRUE(client.send(TestProxy::get_text("http://Name.example/any",
                                              "Proxy-Authorization: Basic bWluZTptaW5l\r\n")));
  EXPECT_EQ(client.response().body, "hello");
  const std::string& head = chained.upstream.last_head;
  EXPECT_TRUE(head.starts_with("GET http://name.example/any HTTP/1.1\r\nhost: name.example\r\n"));
  EXPECT_TRUE(has(head, "proxy-authorization: " + basic_authorization("ann", "pw:1") + "\r\n"));
  EXPECT_FALSE(has(head, "bWluZTptaW5l"));
  // The same connection serves every host.
  ASSERT_TRUE(client.send(TestProxy::get_text("http://other.example:81/any")));
  EXPECT_EQ(client.response().body, "hello");
  EXPECT_TRUE(has(chained.upstream.last_head, "GET http://other.example:81/any HTTP/1.1\r\n"));
  EXPECT_EQ(chained.upstream.connections, 1);
}

// With no rule that an address could break, names are the other proxy's alone.
TEST(ProxyUpstream, ResolvesAloneWhereNoRuleIsByAddress) {
  Chained chained(web, "http", "", "", {.allow_link_local = true});
  EXPECT_EQ(chained.proxy.get("http://name.example/any").status, 200);
  // Only its own name was looked up.
  EXPECT_EQ(chained.proxy.resolver.asked, 1);
}

struct Name {
  const char* name;
  std::vector<const char*> addresses;
};

void know(Chained& chained, const std::vector<Name>& names) {
  rt::call_on(chained.proxy.loop(), [&] {
    for (const Name& one : names) chained.proxy.resolver.set(one.name, one.addresses);
  });
}

std::string rule_of(const rt::RawResponse& reply) {
  constexpr std::string_view kMark = "reprise-refused: ";
  const std::size_t at = reply.head.find(kMark);
  if (at == std::string::npos) return "";
  const std::size_t from = at + kMark.size();
  return reply.head.substr(from, reply.head.find('\r', from) - from);
}

// The rule by which a name is refused, asked for both ways; empty if it is not.
std::string refused_by(Chained& chained, const char* host) {
  const std::string plain = chained.proxy.outcome(fmt::format("http://{}/any", host));
  const auto tunnel = chained.proxy.ask(TestProxy::connect_text(fmt::format("{}:443", host)));
  const std::string rule = plain == "200" ? "" : plain;
  EXPECT_EQ(rule, rule_of(tunnel)) << host;
  return rule;
}

TEST(ProxyUpstream, IsGivenNoNameOfADeniedAddress) {
  Chained chained(web, "http", "", "", {.deny = {"10.0.0.0/8", "192.0.2.0/24:8080"}});
  know(chained, {{"inside.example", {"198.51.100.1", "10.1.2.3"}},
                 {"outside.example", {"198.51.100.1"}},
                 {"port.example", {"192.0.2.1"}}});
  EXPECT_EQ(refused_by(chained, "inside.example"), "deny_list");
  EXPECT_EQ(refused_by(chained, "unknown.example"), "deny_list");
  EXPECT_EQ(chained.upstream.connections, 0);
  EXPECT_EQ(refused_by(chained, "outside.example"), "");
  EXPECT_TRUE(chained.upstream.last_head.starts_with("CONNECT outside.example:443 "));
  EXPECT_EQ(refused_by(chained, "port.example"), "");
  EXPECT_EQ(chained.proxy.outcome("http://port.example:8080/any"), "deny_list");
}

TEST(ProxyUpstream, IsGivenNamesOfAnAllowListOfRangesOnlyIfAllTheirAddressesAreInThem) {
  Chained chained(web, "http", "", "", {.allow = {"192.0.2.0/24", "127.0.0.1", "named.example"}});
  know(chained, {{"in.example", {"192.0.2.1"}},
                 {"half.example", {"192.0.2.1", "198.51.100.1"}},
                 {"out.example", {"198.51.100.1"}}});
  for (const char* host : {"half.example", "out.example", "unknown.example"})
    EXPECT_EQ(refused_by(chained, host), "allow_list") << host;
  EXPECT_EQ(chained.upstream.connections, 0);
  EXPECT_EQ(refused_by(chained, "in.example"), "");
  // A line by name allows it, wherever it leads.
  EXPECT_EQ(refused_by(chained, "named.example"), "");
}

TEST(ProxyUpstream, IsGivenNoNameOfAKindOfAddressThatIsRefused) {
  const std::vector<Name> names = {{"private.example", {"10.1.2.3"}},
                                   {"public.example", {"93.184.215.14"}},
                                   {"here.example", {"127.0.0.1"}},
                                   {"cloud.example", {"169.254.169.254"}}};
  Chained shut(web, "http", "", "", {.allow_private = false});
  know(shut, names);
  EXPECT_EQ(refused_by(shut, "private.example"), "private");
  EXPECT_EQ(refused_by(shut, "unknown.example"), "private");
  EXPECT_EQ(refused_by(shut, "cloud.example"), "link_local");
  EXPECT_EQ(refused_by(shut, "public.example"), "");
  // By default link-local addresses are refused and nothing else; a name that only the other proxy
  // can resolve is its own to judge, unless it is known for what it is.
  Chained open(web, "http");
  know(open, names);
  EXPECT_EQ(refused_by(open, "cloud.example"), "link_local");
  EXPECT_EQ(refused_by(open, "metadata.google.internal"), "link_local");
  EXPECT_EQ(open.upstream.connections, 0);
  for (const char* host : {"private.example", "here.example", "unknown.example"})
    EXPECT_EQ(refused_by(open, host), "") << host;
}

// A kept connection to the other proxy serves every host, but no name that was not judged.
TEST(ProxyUpstream, JudgesEveryNameOnAKeptConnection) {
  Chained chained(web, "http");
  know(chained, {{"a.example", {"198.51.100.1"}},
                 {"b.example", {"198.51.100.2"}},
                 {"cloud.example", {"169.254.169.254"}}});
  rt::RawClient client(chained.proxy.port());
  const auto get = [&](rt::RawClient& by, const char* host) {
    return chained.proxy.outcome(by, TestProxy::get_text(fmt::format("http://{}/any", host)));
  };
  EXPECT_EQ(get(client, "a.example"), "200");
  EXPECT_EQ(get(client, "b.example"), "200");
  EXPECT_EQ(chained.upstream.connections, 1);
  EXPECT_EQ(get(client, "cloud.example"), "link_local");
  // What it was told of a name holds for a moment, and for the policy that it was judged by.
  const int asked = chained.proxy.resolver.asked;
  know(chained, {{"a.example", {"169.254.169.254"}}});
  rt::RawClient second(chained.proxy.port());
  EXPECT_EQ(get(second, "a.example"), "200");
  EXPECT_EQ(chained.proxy.resolver.asked, asked + 1) << "for the other proxy itself";
  rt::call_on(chained.proxy.loop(), [&] { (*chained.proxy).set_policy(with_policy({}).policy); });
  EXPECT_EQ(get(second, "a.example"), "link_local");
}

// Where only the rule that nobody wrote could refuse a name, no request waits long for a lookup
// that is not needed to go on.
TEST(ProxyUpstream, DoesNotWaitLongForALookupThatItCanDoWithout) {
  Chained plain(web, "http");
  rt::RawClient client(plain.proxy.port());
  ASSERT_TRUE(client.send(TestProxy::get_text("http://first.example/any")));
  EXPECT_EQ(client.response().status, 200);
  // On the kept connection this name was the last to be looked up.
  ASSERT_TRUE(client.send(TestProxy::get_text("http://unknown.example/any")));
  EXPECT_EQ(client.response().status, 200);
  EXPECT_LE(plain.proxy.resolver.last_patience, kMaxSecondaryLookup);
  Chained strict(web, "http", "", "", {.allow_private = false});
  EXPECT_EQ(strict.proxy.outcome("http://unknown.example/any"), "private");
  EXPECT_GT(strict.proxy.resolver.last_patience, kMaxSecondaryLookup);
}

TEST(JudgedNames, AreForgottenInTimeAndBeyondTheirLimit) {
  JudgedNames names;
  const rt::Nanos now{0};
  names.add("a", now);
  EXPECT_TRUE(names.has("a", now + kJudgedNameTime - rt::Nanos(1)));
  EXPECT_FALSE(names.has("a", now + kJudgedNameTime));
  for (std::size_t i = 0; i < 2 * kMaxJudgedNames; ++i) names.add(std::to_string(i), now);
  EXPECT_LE(names.size(), kMaxJudgedNames);
  EXPECT_TRUE(names.has(std::to_string(2 * kMaxJudgedNames - 1), now));
}

TEST(ProxyUpstream, GetsTunnelsByConnect) {
  Chained chained(web, "http", "ann", "pw");
  rt::RawClient client(chained.proxy.port());
  ASSERT_TRUE(client.send(TestProxy::connect_text("name.example:443")));
  ASSERT_TRUE(client.read_until("\r\n\r\n"));
  ASSERT_TRUE(client.send("through both"));
  EXPECT_TRUE(client.read_until("through both"));
  const std::string& head = chained.upstream.last_head;
  EXPECT_TRUE(head.starts_with("CONNECT name.example:443 HTTP/1.1\r\n"));
  EXPECT_TRUE(has(head, "proxy-authorization: " + basic_authorization("ann", "pw") + "\r\n"));
}

rt::Task<> refuses(TestServer&, rt::Socket& socket) {
  std::array<char, 1024> buffer;
  (void)co_await socket.read_some(buffer);
  (void)co_await socket.write(
      "HTTP/1.1 407 Who Are You\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n");
}

TEST(ProxyUpstream, ThatRefusesIsNotTheBrowsersBusiness) {
  Chained chained(refuses, "http");
  EXPECT_EQ(chained.proxy.outcome("http://name.example/"), "io");
  const auto reply = chained.proxy.ask(TestProxy::connect_text("name.example:443"));
  EXPECT_EQ(reply.status, 502);
  EXPECT_FALSE(reply.has("proxy-authenticate"));
  EXPECT_EQ(chained.proxy.failures.size(), 2U);
}

TEST(ProxyUpstream, ChangesNothingAboutWhatCanBeJudgedHere) {
  Chained chained(web, "http", "", "", {.deny = {"denied.example", "10.0.0.0/8"}});
  const auto hold = chained.proxy.ports.forbid(7450);
  for (const char* host : {"denied.example:80", "10.1.2.3:80", "169.254.169.254:80", "[fe80::1]:80",
                           "127.0.0.1:7450", "localhost:7450", "[::1]:7450", "192.0.2.7:7450"}) {
    EXPECT_EQ(chained.proxy.get(fmt::format("http://{}/", host)).status, 0) << host;
    EXPECT_EQ(chained.proxy.ask(TestProxy::connect_text(host)).status, 403) << host;
  }
  EXPECT_EQ(chained.upstream.connections, 0);
  EXPECT_EQ(chained.proxy.refusals.size(), 16U);
}

// A proxy on this machine could be told that any name is this machine. So where the port is one of
// ours it is given an address, and that one was judged.
TEST(ProxyUpstream, IsGivenTheAddressWhereThePortIsOneOfOurs) {
  Chained chained(web, "http");
  const auto hold = chained.proxy.ports.forbid(7450);
  rt::call_on(chained.proxy.loop(),
              [&] { chained.proxy.resolver.set("other.example", {"192.0.2.99"}); });
  rt::call_on(chained.proxy.loop(),
              [&] { chained.proxy.resolver.set("here.example", {"192.0.2.99", "127.0.0.1"}); });
  EXPECT_EQ(chained.proxy.get("http://other.example:7450/any").status, 200);
  EXPECT_TRUE(chained.upstream.last_head.starts_with("GET http://192.0.2.99:7450/any "));
  EXPECT_EQ(chained.proxy.outcome("http://here.example:7450/any"), "own_port");
  EXPECT_EQ(chained.proxy.outcome("http://unknown.example:7450/any"), "own_port");
  rt::RawClient client(chained.proxy.port());
  ASSERT_TRUE(client.send(TestProxy::connect_text("other.example:7450")));
  EXPECT_TRUE(client.read_until("\r\n\r\n"));
  EXPECT_TRUE(chained.upstream.last_head.starts_with("CONNECT 192.0.2.99:7450 "));
}

TEST(ProxyUpstream, IsJudgedItself) {
  Chained chained(web, "http");
  const auto hold = chained.proxy.ports.forbid(chained.upstream.port());
  EXPECT_EQ(chained.proxy.outcome("http://name.example/"), "own_port");
  EXPECT_EQ(chained.proxy.refusals, std::vector<std::string>{"http://name.example/ own_port"});
}

TEST(ProxyUpstream, MayBeAnotherOfOurs) {
  TestProxy second;
  TestServer origin(second.loop(), web);
  ProxyOptions options;
  options.upstream = *parse_upstream_proxy({.server = fmt::format("127.0.0.1:{}", second.port())});
  TestProxy first(std::move(options));
  const std::string at = fmt::format("127.0.0.1:{}", origin.port());
  EXPECT_EQ(first.get(fmt::format("http://{}/any", at)).body, "hello");
  rt::RawClient client(first.port());
  ASSERT_TRUE(client.send(TestProxy::connect_text(at)));
  ASSERT_TRUE(client.read_until("\r\n\r\n"));
  client.forget();
  ASSERT_TRUE(client.send("GET /any HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client.response(true).status, 200);
  EXPECT_EQ(second.probe.requests, 1U);
  EXPECT_EQ(second.probe.tunnels, 1U);
}

rt::Task<std::string> take(rt::Socket& socket, std::size_t count) {
  const auto bytes = co_await rt::read_exactly(socket, count);
  co_return bytes ? to_hex(*bytes) : std::string("error");
}

// Takes one name and password, keeps what it was asked for, and is the server itself.
rt::Task<> socks(TestServer& server, rt::Socket& socket) {
  if (co_await take(socket, 4) != "05020002") co_return;
  (void)co_await socket.write(std::string_view("\x05\x02", 2));
  if (co_await take(socket, 9) != "0103616e6e03707721") co_return;
  (void)co_await socket.write(std::string_view("\x01\x00", 2));
  const std::string asked = co_await take(socket, 5);
  const auto rest = from_hex(asked.substr(8, 2));
  const std::size_t length = static_cast<unsigned char>(rest->front());
  server.last_head = asked + co_await take(socket, length + 2);
  (void)co_await socket.write(std::string_view("\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x01", 10));
  co_await web(server, socket);
}

TEST(ProxyUpstream, MaySpeakSocks5) {
  Chained chained(socks, "socks5", "ann", "pw!");
  rt::RawClient client(chained.proxy.port());
  ASSERT_TRUE(client.send(TestProxy::connect_text("a.example:443")));
  ASSERT_TRUE(client.read_until("\r\n\r\n"));
  client.forget();
  EXPECT_EQ(chained.upstream.last_head, "0501000309612e6578616d706c6501bb");
  ASSERT_TRUE(client.send("GET /any HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client.response(true).status, 200);
  // A plain request goes to the server itself, in origin form.
  EXPECT_EQ(chained.proxy.get("http://a.example/any").body, "hello");
  EXPECT_TRUE(chained.upstream.last_head.starts_with("GET /any HTTP/1.1\r\nhost: a.example\r\n"));
}

TEST(ProxyUpstream, ThatSpeaksSomethingElseIsGivenUp) {
  Chained chained(refuses, "socks5");
  EXPECT_EQ(chained.proxy.ask(TestProxy::connect_text("a.example:443")).status, 502);
}

TEST(UpstreamProxyText, IsReadAsPeopleWriteIt) {
  const auto read = [](UpstreamProxyText text) {
    const auto proxy = parse_upstream_proxy(text);
    if (!proxy) return std::string(error_row(proxy.error().code).name);
    return fmt::format("{} {} {} {}", proxy->kind == UpstreamProxy::Kind::kHttp ? "http" : "socks5",
                       proxy->at.to_string(), proxy->user, proxy->password);
  };
  EXPECT_EQ(read({.server = "http://Proxy.example:3128"}), "http proxy.example:3128  ");
  EXPECT_EQ(read({.server = "proxy.example:3128"}), "http proxy.example:3128  ");
  EXPECT_EQ(read({.server = "http://proxy.example/"}), "http proxy.example:80  ");
  EXPECT_EQ(read({.server = "socks5://[::1]"}), "socks5 [::1]:1080  ");
  EXPECT_EQ(read({.server = "http://a%40b:c%3Ad@proxy.example:1"}), "http proxy.example:1 a@b c:d");
  EXPECT_EQ(read({.server = "http://x@p:1", .user = "u", .password = "w"}), "http p:1 u w");
  for (const char* server : {"", "http://", "https://p:1", "socks4://p:1", "p:0", "http://p:1/path",
                             "http://p q:1", "://p"})
    EXPECT_EQ(read({.server = server}), "invalid") << server;
  EXPECT_EQ(read({.server = "p:1", .user = "a:b"}), "invalid");
  EXPECT_EQ(read({.server = "p:1", .password = "b"}), "invalid");
}

TEST(UpstreamProxyText, NamesHostsThatItIsNotAskedFor) {
  const auto proxy = parse_upstream_proxy({.server = "socks5://[::1]:1080",
                                           .user = "a",
                                           .password = "b",
                                           .bypass = " example.com, *.internal,.local ,127.0.0.1,"})
                         .value();
  for (const char* host :
       {"example.com", "www.example.com", "internal", "a.b.internal", "x.local", "127.0.0.1"})
    EXPECT_TRUE(is_bypassed(proxy, host)) << host;
  for (const char* host : {"notexample.com", "example.com.evil", "", "127.0.0.11", "com"})
    EXPECT_FALSE(is_bypassed(proxy, host)) << host;
  EXPECT_EQ(proxy.to_string(), "socks5://[::1]:1080");
  EXPECT_FALSE(
      parse_upstream_proxy({.server = "a:1", .user = {}, .password = {}, .bypass = "a/b"}));
  EXPECT_FALSE(parse_upstream_proxy({.server = "a:1",
                                     .user = {},
                                     .password = {},
                                     .bypass = std::string(kMaxUpstreamTextBytes + 1, 'a')}));
}

TEST(UpstreamProxyText, HasLimits) {
  const std::string longest(kMaxUpstreamNameBytes, 'u');
  EXPECT_TRUE(parse_upstream_proxy({.server = "p:1", .user = longest, .password = longest}));
  EXPECT_FALSE(parse_upstream_proxy({.server = "p:1", .user = longest + "u"}));
  EXPECT_FALSE(parse_upstream_proxy({.server = "p:1", .user = "u", .password = longest + "u"}));
  const std::string wide = fmt::format("http://{}@p:1", std::string(kMaxUpstreamTextBytes, 'a'));
  EXPECT_FALSE(parse_upstream_proxy({.server = wide}));
}

}  // namespace
}  // namespace reprise::browser
