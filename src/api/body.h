// Body: a JSON object from a client, read member by member.
//
//     REPRISE_TRY(Body body, Body::parse(exchange));
//     auto app = body.text("app", model::kMaxAppBytes);
//     auto ttl = body.number("ttlSeconds", 1, model::kMaxTtlSeconds);
//     REPRISE_CHECK(body.done());   // every wrong or unknown member at once, with its pointer: 422
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/exchange.h"
#include "wire/json.h"

namespace reprise::api {

class Body {
 public:
  // An empty body is an empty object. kUnsupportedMediaType unless it is JSON; 400 if malformed;
  // 422 if no object.
  static Result<Body> parse(const http::Exchange& exchange);
  // A member of a body; `pointer` is where it stands.
  static Body of(wire::JsonValue object, std::string pointer);

  // Each notes an error, and gives nullopt, where the member has another type or breaks its limits.
  // A member that is null is as if it were not there, except for value().
  std::optional<std::string> text(std::string_view name, std::size_t max_bytes);
  std::optional<std::uint64_t> number(std::string_view name, std::uint64_t least,
                                      std::uint64_t most);
  std::optional<bool> boolean(std::string_view name);
  // Minified text of an object or array.
  std::optional<std::string> object(std::string_view name, std::size_t max_bytes);
  std::optional<std::string> array(std::string_view name, std::size_t max_bytes);
  std::optional<wire::JsonValue> value(std::string_view name);
  // Whether the member is there and null.
  bool is_null(std::string_view name);

  void wrong(std::string_view name, std::string detail);
  Result<> done();

 private:
  explicit Body(wire::JsonDocument document);
  explicit Body(wire::JsonValue root, std::string pointer);
  std::optional<wire::JsonValue> take(std::string_view name);
  std::optional<std::string> structured(std::string_view name, wire::JsonType type,
                                        std::string_view what, std::size_t max_bytes);

  std::optional<wire::JsonDocument> document_;
  std::vector<wire::JsonMember> members_;
  std::vector<bool> is_taken_;
  std::string pointer_;
  std::vector<FieldError> errors_;
};

// A JSON pointer's reference token (RFC 6901): ~ and / escaped.
std::string pointer_token(std::string_view name);

}  // namespace reprise::api
