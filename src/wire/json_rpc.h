// JSON-RPC 2.0 as the Model Context Protocol has it: one message at a time, ids that are texts or
// integers, parameters that are objects.
//
//     const auto message = parse_json_rpc(document);
//     if (!message) ... append_json_rpc_error(out, message.error()) ...
//     append_json_rpc_result(out, message->id, R"({"tools":[]})");
//
// Members that are not known are ignored, as the protocol wants it.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace reprise::wire {

// The codes of JSON-RPC itself; protocols on top of it have further ones.
inline constexpr int kRpcParseError = -32700;
inline constexpr int kRpcInvalidRequest = -32600;
inline constexpr int kRpcMethodNotFound = -32601;
inline constexpr int kRpcInvalidParams = -32602;
inline constexpr int kRpcInternalError = -32603;

enum class RpcKind : std::uint8_t { kRequest, kNotification, kResponse };

// Valid while its document lives.
struct RpcMessage {
  RpcKind kind = RpcKind::kRequest;
  std::string id;      // JSON text, as it was spelled; empty for a notification
  std::string method;  // empty for a response
  std::optional<JsonValue> params = std::nullopt;
};

// What goes back instead of a result.
struct RpcError {
  int code = kRpcInternalError;
  std::string message;
  std::string data = {};  // JSON text, or empty
  std::string id = {};    // JSON text; empty if it could not be read
};

// kRpcInvalidRequest, with the id where there is a good one. A batch is refused: the protocol has
// none since its revision 2025-06-18.
std::expected<RpcMessage, RpcError> parse_json_rpc(const JsonDocument& document);

// Each appends one message; what is given as JSON must be JSON.
void append_json_rpc_result(std::string& out, std::string_view id, std::string_view result_json);
void append_json_rpc_error(std::string& out, const RpcError& error);
void append_json_rpc_notification(std::string& out, std::string_view method,
                                  std::string_view params_json);

}  // namespace reprise::wire
