// ProxyExchange: one plain request carried to its server, and the response back.
//
// Both directions run at once, since a server may answer before it has read everything. Neither
// body is held: a piece is read, passed on, and only then the next one is read. What is malformed
// is passed on neither way.
#pragma once

#include <optional>
#include <string>

#include "browser/proxy/idle_timer.h"
#include "browser/proxy/proxy_probe.h"
#include "browser/proxy/proxy_request.h"
#include "browser/proxy/tunnel.h"
#include "rt/gate.h"
#include "rt/task.h"
#include "wire/http.h"

namespace reprise::browser {

// How an exchange ended.
struct ExchangeEnd {
  bool is_answered = false;         // the client has a final head, or is gone
  bool is_client_reusable = false;  // for the next request
  bool is_server_reusable = false;
  bool is_switched = false;    // both speak WebSocket from here on
  bool is_silent = false;      // the server said nothing at all
  std::optional<Error> error;  // of the server, if it is not answered, or broke off
};

class ProxyExchange {
 public:
  struct Parts {
    ProxySide& client;
    wire::RequestParser& parser;  // where the request's body, if there is one, comes from
    ProxySide& server;
    IdleTimer& idle;
    ProxyProbe& probe;
  };
  ProxyExchange(Parts parts, const wire::Request& request, const ProxyRequest& asked,
                const NextHop& next, bool has_body);

  rt::Task<ExchangeEnd> run();
  // The client is gone: nobody needs the rest. From anywhere on the loop.
  void give_up();

 private:
  rt::Task<> send_body();
  rt::Task<> bring_response();
  rt::Task<bool> pass_on_response(wire::ResponseParser& response);
  rt::Task<bool> pass_on_interim(wire::ResponseParser& response);
  // False if the client has not taken it.
  rt::Task<bool> pass_on_head(wire::ResponseParser& response);
  rt::Task<bool> to_client(std::string_view bytes);
  void settle(const wire::ResponseParser& response, const Result<>& fed);

  Parts parts_;
  const wire::Request& request_;
  const ProxyRequest& asked_;
  const bool has_body_;
  BodyForm request_form_;
  std::string request_head_;
  bool is_body_whole_ = true;  // what the client sends was read to its end
  bool is_client_gone_ = false;
  bool is_head_passed_ = false;
  ClientForm client_form_;
  ExchangeEnd end_;
};

}  // namespace reprise::browser
