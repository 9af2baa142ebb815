#include "api/cdp.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "api/access.h"
#include "api/cdp_conversation.h"
#include "api/limits.h"
#include "base/json_text.h"
#include "browser/attached_client.h"
#include "http/websocket_client.h"
#include "http/websocket_upgrade.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

// How long a browser may take to let us in, and how often it is asked.
constexpr std::chrono::seconds kConnectPatience{5};
constexpr std::chrono::milliseconds kConnectPause{100};
constexpr int kConnectTries = 3;

// Made and dropped on the browsers' loop, whichever loop the request came to.
using Conversation = std::shared_ptr<CdpConversation>;

rt::Task<Result<Conversation>> connect_here(const CdpRoutes& routes,
                                            std::shared_ptr<browser::AttachedClient> client) {
  rt::RealLoop& loop = routes.browsers.network_loop();
  rt::CancelScope scope;
  auto socket = co_await http::connect_websocket(loop, {"127.0.0.1", client->address().port},
                                                 client->address().path, routes.random, scope,
                                                 rt::Deadline::after(loop, kConnectPatience));
  if (!socket) co_return fail(Code::kBrowserGone, socket.error().detail);
  co_return Conversation(new CdpConversation(loop, std::move(client), std::move(*socket)),
                         [&loop](CdpConversation* conversation) {
                           if (loop.is_current())
                             delete conversation;
                           else
                             loop.post([conversation] { delete conversation; });
                         });
}

// A browser that has just died may not have been missed yet: a moment later there is another one.
rt::Task<Result<Conversation>> attach(const CdpRoutes& routes, session::SessionRef session,
                                      browser::ClientCall call) {
  rt::Loop& origin = *rt::Loop::current();
  rt::CancelScope scope;
  for (int tries = 1;; ++tries) {
    REPRISE_CO_TRY(auto client, co_await routes.browsers.attach(session, call));
    if (!co_await rt::switch_to(routes.browsers.loop()))
      co_return fail(Code::kOverloaded, "the browsers' loop has too much waiting");
    auto conversation = co_await connect_here(routes, std::move(client));
    co_await rt::return_to(origin);
    if (conversation || tries == kConnectTries) co_return conversation;
    REPRISE_CO_CHECK(co_await rt::sleep_for(origin, kConnectPause, scope));
  }
}

rt::Task<> converse(Conversation conversation, http::WebSocket& socket, rt::CancelScope& scope) {
  co_await conversation->run(socket, scope);
}

rt::Task<Result<Reply>> open(const CdpRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  // Nothing is opened for a request that asks for no WebSocket.
  REPRISE_CO_CHECK(http::accept_websocket(exchange, {}));
  browser::ClientCall call{.by = exchange.principal.name == "anonymous" ? std::string()
                                                                        : exchange.principal.name};
  REPRISE_CO_TRY(call.lease, lease_of(exchange));
  REPRISE_CO_TRY(Conversation conversation,
                 co_await attach(routes, std::move(ref), std::move(call)));
  http::WebSocketOptions options;
  options.max_message_bytes = kMaxCdpClientMessageBytes;
  co_return http::accept_websocket_at(
      routes.browsers.network_loop(), exchange,
      [conversation = std::move(conversation)](http::WebSocket& socket,
                                               rt::CancelScope& scope) mutable {
        return converse(std::move(conversation), socket, scope);
      },
      std::move(options));
}

// The version of a browser that runs, if one does.
rt::Task<Result<std::string>> version(const CdpRoutes& routes) {
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(routes.browsers.loop()))
    co_return fail(Code::kOverloaded, "the browsers' loop has too much waiting");
  std::string product = "Chrome";
  for (const auto& [key, pool] : routes.browsers.pools())
    for (const auto& browser : pool->browsers()) product = browser.version;
  co_await rt::return_to(origin);
  co_return product;
}

rt::Task<Result<Reply>> show_version(const CdpRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_TRY(const auto view, co_await routes.browsers.sessions().get(std::move(ref)));
  if (model::is_terminal(view.state.status))
    co_return fail(Code::kSessionEnded,
                   fmt::format("the session is {}", model::word(view.state.status)));
  REPRISE_CO_TRY(const std::string product, co_await version(routes));
  const std::string url = fmt::format("{}://{}/v1/sessions/{}/cdp", routes.is_tls ? "wss" : "ws",
                                      exchange.request.headers.get("host").value_or("localhost"),
                                      view.state.id.to_string());
  co_return Reply::json(
      200, fmt::format(R"({{"Browser":{},"Protocol-Version":"1.3","webSocketDebuggerUrl":{}}})",
                       json_string(product), json_string(url)));
}

}  // namespace

void add_cdp_routes(http::Router& router, const CdpRoutes& routes) {
  using enum wire::Method;
  using http::Scope;
  router.add(kGet, "/v1/sessions/{s}/cdp", Scope::kWrite,
             [&routes](Exchange& exchange) { return open(routes, exchange); });
  // Playwright asks with a slash at the end, others without.
  for (const char* path :
       {"/v1/sessions/{s}/cdp/json/version", "/v1/sessions/{s}/cdp/json/version/"})
    router.add(kGet, path, Scope::kRead,
               [&routes](Exchange& exchange) { return show_version(routes, exchange); },
               {"application/json"});
}

}  // namespace reprise::api
