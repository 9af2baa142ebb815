#include "http/router.h"

#include <map>

#include "base/assert.h"

namespace reprise::http {

struct Router::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literal;
  std::unique_ptr<Node> captured;
  std::vector<const Route*> routes;
};

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;

void Router::add(wire::Method method, std::string pattern, Scope scope, Handler handler,
                 std::vector<std::string_view> produces) {
  REPRISE_ASSERT(pattern.starts_with('/'), pattern);
  Node* node = root_.get();
  for (std::size_t at = 1; at <= pattern.size();) {
    const std::size_t slash = std::min(pattern.find('/', at), pattern.size());
    const std::string part = pattern.substr(at, slash - at);
    at = slash + 1;
    auto& next = part.starts_with('{') ? node->captured : node->literal[part];
    if (!next) next = std::make_unique<Node>();
    node = next.get();
  }
  routes_.push_back(std::make_unique<Route>(
      Route{method, std::move(pattern), scope, std::move(handler), std::move(produces)}));
  node->routes.push_back(routes_.back().get());
}

Match Router::find(wire::Method method, const std::vector<std::string>& segments) const {
  Match match;
  const Node* node = root_.get();
  for (const std::string& segment : segments) {
    if (const auto literal = node->literal.find(segment); literal != node->literal.end()) {
      node = literal->second.get();
    } else if (node->captured && !segment.empty()) {
      match.captured.push_back(segment);
      node = node->captured.get();
    } else {
      return {};
    }
  }
  const wire::Method wanted = method == wire::Method::kHead ? wire::Method::kGet : method;
  for (const Route* route : node->routes) {
    if (route->method == wanted) match.route = route;
    if (!match.allow.empty()) match.allow += ", ";
    match.allow += wire::word(route->method);
    if (route->method == wire::Method::kGet) match.allow += ", HEAD";
  }
  if (!match.allow.empty()) match.allow += ", OPTIONS";
  return match;
}

}  // namespace reprise::http
