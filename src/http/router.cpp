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

// Follows the literal part first, then the captured one. A path that exists both ways is the
// literal one's, except for methods that only the captured one knows.
void Router::search(const Node& node, wire::Method wanted, std::span<const std::string> segments,
                    std::vector<std::string>& captured, Match& match) {
  if (segments.empty()) {
    for (const Route* route : node.routes) {
      if (route->method == wanted && match.route == nullptr) {
        match.route = route;
        match.captured = captured;
      }
      const std::string word = std::string(wire::word(route->method)) +
                               (route->method == wire::Method::kGet ? ", HEAD" : "");
      if (match.allow.find(word) != std::string::npos) continue;
      match.allow += (match.allow.empty() ? "" : ", ") + word;
    }
    return;
  }
  if (const auto literal = node.literal.find(segments.front()); literal != node.literal.end())
    search(*literal->second, wanted, segments.subspan(1), captured, match);
  if (node.captured && !segments.front().empty()) {
    captured.push_back(segments.front());
    search(*node.captured, wanted, segments.subspan(1), captured, match);
    captured.pop_back();
  }
}

Match Router::find(wire::Method method, const std::vector<std::string>& segments) const {
  Match match;
  std::vector<std::string> captured;
  search(*root_, method == wire::Method::kHead ? wire::Method::kGet : method, segments, captured,
         match);
  if (!match.allow.empty()) match.allow += ", OPTIONS";
  return match;
}

}  // namespace reprise::http
