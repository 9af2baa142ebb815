#include "http/router.h"

#include <map>

#include "base/assert.h"

namespace reprise::http {

struct Router::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literal;
  std::unique_ptr<Node> captured;
  std::unique_ptr<Node> rest;  // one or more parts, to the end
  bool takes_empty = false;    // the first of them may be empty
  std::vector<const Route*> routes;
};

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;

Route& Router::add(wire::Method method, std::string pattern, Scope scope, Handler handler,
                   std::vector<std::string_view> produces) {
  REPRISE_ASSERT(pattern.starts_with('/'), pattern);
  Node* node = root_.get();
  for (std::size_t at = 1; at <= pattern.size();) {
    const std::size_t slash = std::min(pattern.find('/', at), pattern.size());
    const std::string part = pattern.substr(at, slash - at);
    at = slash + 1;
    const bool takes_empty = part.ends_with("*}");
    const bool is_rest = takes_empty || part.ends_with("...}");
    node->takes_empty = node->takes_empty || takes_empty;
    REPRISE_ASSERT(!is_rest || slash == pattern.size(), pattern);
    auto& next = is_rest                 ? node->rest
                 : part.starts_with('{') ? node->captured
                                         : node->literal[part];
    if (!next) next = std::make_unique<Node>();
    node = next.get();
  }
  routes_.push_back(std::make_unique<Route>(
      Route{method, std::move(pattern), scope, std::move(handler), std::move(produces)}));
  node->routes.push_back(routes_.back().get());
  return *routes_.back();
}

// Follows the literal part first, then the captured one. A path that exists both ways is the
// literal one's, except for methods that only the captured one knows.
const Route* Router::search(const Node& node, wire::Method wanted,
                            std::span<const std::string> segments,
                            std::vector<std::string>& captured) {
  if (segments.empty()) {
    for (const Route* route : node.routes)
      if (route->method == wanted) return route;
    return nullptr;
  }
  if (const auto literal = node.literal.find(segments.front()); literal != node.literal.end())
    if (const Route* found = search(*literal->second, wanted, segments.subspan(1), captured))
      return found;
  const bool is_empty = segments.front().empty();
  if (is_empty && !node.takes_empty) return nullptr;
  if (node.captured && !is_empty) {
    captured.push_back(segments.front());
    if (const Route* found = search(*node.captured, wanted, segments.subspan(1), captured))
      return found;
    captured.pop_back();
  }
  if (!node.rest) return nullptr;
  const std::size_t known = captured.size();
  captured.insert(captured.end(), segments.begin(), segments.end());
  if (const Route* found = search(*node.rest, wanted, {}, captured)) return found;
  captured.resize(known);
  return nullptr;
}

Match Router::find(wire::Method method, const std::vector<std::string>& segments) const {
  Match match;
  match.route = search(*root_, method == wire::Method::kHead ? wire::Method::kGet : method,
                       segments, match.captured);
  return match;
}

std::string Router::allow(const std::vector<std::string>& segments) const {
  using enum wire::Method;
  std::string methods;
  for (const wire::Method method : {kGet, kPost, kPut, kPatch, kDelete}) {
    std::vector<std::string> captured;
    if (search(*root_, method, segments, captured) == nullptr) continue;
    if (!methods.empty()) methods += ", ";
    methods += wire::word(method);
    if (method == kGet) methods += ", HEAD";
  }
  if (!methods.empty()) methods += ", OPTIONS";
  return methods;
}

}  // namespace reprise::http
