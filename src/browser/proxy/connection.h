// ProxyConnection: one connection of a browser to its context's proxy: plain requests, one after
// the other, or one tunnel.
//
// Threads: belongs to its proxy's loop.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "browser/proxy/exchange.h"
#include "browser/proxy/idle_timer.h"
#include "browser/proxy/proxy_options.h"
#include "browser/proxy/proxy_probe.h"
#include "browser/proxy/proxy_request.h"
#include "browser/proxy/server_route.h"
#include "browser/proxy/tunnel.h"
#include "rt/cancel.h"
#include "rt/real_loop.h"
#include "rt/task.h"
#include "wire/http.h"

namespace reprise::browser {

// What the connections of one context share.
struct ProxyCommons {
  rt::RealLoop& loop;
  ServerRoute route;
  ProxyOptions options;
  ProxyProbe& probe;
};

class ProxyConnection {
 public:
  ProxyConnection(ProxyCommons& commons, std::unique_ptr<rt::Socket> socket);
  ProxyConnection(const ProxyConnection&) = delete;
  ProxyConnection& operator=(const ProxyConnection&) = delete;

  // Until it ends.
  rt::Task<> serve();
  // Ends it, whatever it is doing.
  void cut_off();

 private:
  struct Server {
    explicit Server(Reached way)
        : reached(std::move(way)), side(std::move(reached.socket), reached.early) {}
    Reached reached;  // its socket is in `side`
    ProxySide side;
  };

  // False: the client is done.
  REPRISE_OWN_FRAME rt::Task<Result<bool>> read_head();
  REPRISE_OWN_FRAME rt::Task<> serve_tunnel(wire::Request request);
  // False: no further request can be read.
  REPRISE_OWN_FRAME rt::Task<bool> serve_request();
  // True: it is the one of an earlier request.
  rt::Task<std::expected<bool, Trouble>> find_server(ProxyRequest& asked, bool may_reuse);
  rt::Task<ExchangeEnd> carry(const wire::Request& request, const ProxyRequest& asked,
                              bool has_body);
  rt::Task<bool> finish(const ProxyRequest& asked, const ExchangeEnd& end);
  rt::Task<> tunnel();

  void report(const Trouble& trouble, const std::string& url);
  // A plain request that leads nowhere: to the browser the server did not answer, and the request
  // has failed. An answer of ours would be taken for the server's.
  rt::Task<> end_without_answer(const Trouble& trouble, std::string url);
  rt::Task<> refuse_tunnel(const Trouble& trouble, std::string url);
  rt::Task<> answer_malformed(const Error& error);
  // Answers in the proxy's own name; the connection ends with it.
  rt::Task<Result<>> answer(int status, std::string_view mark, std::string_view value,
                            std::string text);
  rt::Task<> linger();
  void keep_server();
  void client_left();

  ProxyCommons& commons_;
  ProxySide client_;
  wire::RequestParser parser_;
  IdleTimer idle_;
  rt::CancelScope scope_;
  std::unique_ptr<Server> server_;
  ProxyExchange* exchange_ = nullptr;  // the present one
  bool is_head_request_ = false;
};

}  // namespace reprise::browser
