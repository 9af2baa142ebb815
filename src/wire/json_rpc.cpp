#include "wire/json_rpc.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "base/json_text.h"
#include "wire/limits.h"

namespace reprise::wire {
namespace {

// The id as it was spelled, if it is one.
std::optional<std::string> read_id(const JsonValue& value) {
  if (value.type() == JsonType::kString) {
    if (value.raw().size() > kMaxRpcIdBytes) return std::nullopt;
    return std::string(value.raw());
  }
  if (value.as_int() || value.as_uint()) return std::string(value.raw());
  return std::nullopt;
}

std::unexpected<RpcError> invalid_request(std::string message, const std::string& id) {
  return std::unexpected(
      RpcError{.code = kRpcInvalidRequest, .message = std::move(message), .id = id});
}

std::expected<RpcMessage, RpcError> read_response(const JsonValue& root, std::string id) {
  const auto error = root.find("error");
  if (root.find("result").has_value() == error.has_value())
    return invalid_request("a message has a method, a result or an error", id);
  if (error && (error->type() != JsonType::kObject || !error->find("code") ||
                !error->find("code")->as_int()))
    return invalid_request("an error is an object with a code", id);
  if (id.empty() && !error) return invalid_request("a result has the id of its request", id);
  return RpcMessage{.kind = RpcKind::kResponse, .id = std::move(id), .method = {}};
}

}  // namespace

std::expected<RpcMessage, RpcError> parse_json_rpc(const JsonDocument& document) {
  const JsonValue root = document.root();
  if (root.type() == JsonType::kArray)
    return invalid_request("batches are not supported: send one message at a time", "");
  if (root.type() != JsonType::kObject) return invalid_request("a message is an object", "");
  const auto given_id = root.find("id");
  const auto id = given_id ? read_id(*given_id) : std::nullopt;
  const std::string known_id = id.value_or("");
  const auto version = root.find("jsonrpc");
  if (!version || version->as_string() != "2.0")
    return invalid_request("jsonrpc must be \"2.0\"", known_id);
  const auto method = root.find("method");
  // An error that answers something unreadable may have the id null.
  const bool may_be_null = !method && given_id && given_id->is_null();
  if (given_id && !id && !may_be_null)
    return invalid_request(
        fmt::format("the id is a text of at most {} bytes or an integer", kMaxRpcIdBytes), "");
  if (!method) return read_response(root, known_id);
  const auto name = method->as_string();
  if (!name || name->empty() || name->size() > kMaxRpcMethodBytes)
    return invalid_request(fmt::format("the method is a text of 1 to {} bytes", kMaxRpcMethodBytes),
                           known_id);
  const auto params = root.find("params");
  if (params && params->type() != JsonType::kObject)
    return invalid_request("params must be an object", known_id);
  return RpcMessage{.kind = given_id ? RpcKind::kRequest : RpcKind::kNotification,
                    .id = known_id,
                    .method = *name,
                    .params = params};
}

void append_json_rpc_result(std::string& out, std::string_view id, std::string_view result_json) {
  REPRISE_ASSERT(!id.empty() && !result_json.empty());
  out += R"({"jsonrpc":"2.0","id":)";
  out += id;
  out += ",\"result\":";
  out += result_json;
  out += '}';
}

void append_json_rpc_error(std::string& out, const RpcError& error) {
  out += R"({"jsonrpc":"2.0")";
  if (!error.id.empty()) out += ",\"id\":" + error.id;
  out += ",\"error\":{\"code\":";
  append_number(out, static_cast<std::int64_t>(error.code));
  out += ",\"message\":";
  append_json_string(out, error.message);
  if (!error.data.empty()) out += ",\"data\":" + error.data;
  out += "}}";
}

void append_json_rpc_notification(std::string& out, std::string_view method,
                                  std::string_view params_json) {
  out += R"({"jsonrpc":"2.0","method":)";
  append_json_string(out, method);
  if (!params_json.empty()) {
    out += ",\"params\":";
    out += params_json;
  }
  out += '}';
}

}  // namespace reprise::wire
