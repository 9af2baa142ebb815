// Router: which handler answers a method and path.
//
//     router.add(Method::kGet, "/v1/sessions/{s}/events", Scope::kRead, handler);
//
// A `{name}` part matches one non-empty segment, handed to the handler decoded; `{name...}` at the
// end matches all that are left, one or more, of which the first is not empty; `{name*}` matches
// all that are left. Literal parts win over captured ones, and those over the rest. Built once,
// then read from any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/exchange.h"

namespace reprise::http {

using Handler = std::function<rt::Task<Result<Reply>>(Exchange&)>;

struct Route {
  wire::Method method;
  std::string pattern;
  Scope scope = Scope::kRead;  // kNone: open to everybody
  Handler handler;
  // Media types a client must accept one of; else 406. None: whatever the handler says.
  std::vector<std::string_view> produces;
  bool is_never_shed = false;  // answered also when too much is going on
  // Bodies are not kept but handed to the handler as they come (Exchange::read_body), up to so many
  // bytes; the handler runs before the body is there.
  std::optional<std::uint64_t> max_streamed_bytes = std::nullopt;
};

struct Match {
  const Route* route = nullptr;  // nullptr: no such path, or no such method there
  std::vector<std::string> captured;
};

class Router {
 public:
  Router();
  ~Router();
  Route& add(wire::Method method, std::string pattern, Scope scope, Handler handler,
             std::vector<std::string_view> produces = {"application/json"});
  // HEAD is answered by the GET route.
  Match find(wire::Method method, const std::vector<std::string>& segments) const;
  // The methods a path knows, as the Allow header says them; empty if there is no such path.
  std::string allow(const std::vector<std::string>& segments) const;
  const std::vector<std::unique_ptr<Route>>& routes() const { return routes_; }

 private:
  struct Node;
  static const Route* search(const Node& node, wire::Method wanted,
                             std::span<const std::string> segments,
                             std::vector<std::string>& captured);
  std::vector<std::unique_ptr<Route>> routes_;
  std::unique_ptr<Node> root_;
};

}  // namespace reprise::http
