#include "api/mcp/revision.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/mcp/limits.h"
#include "base/bytes.h"
#include "base/json_text.h"

namespace reprise::api {
namespace {

using wire::JsonType;
using wire::JsonValue;
using wire::RpcKind;
using wire::RpcMessage;

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kClientKey = "io.modelcontextprotocol/clientInfo";

std::unexpected<McpRefusal> refuse(const RpcMessage& message, int code, std::string text,
                                   std::string data = {}) {
  return std::unexpected(McpRefusal{
      .status = 400,
      .error = {
          .code = code, .message = std::move(text), .data = std::move(data), .id = message.id}});
}

std::unexpected<McpRefusal> unsupported(const RpcMessage& message, std::string_view requested) {
  std::string data = "{\"supported\":[";
  for (const McpRevision revision : kMcpRevisions) {
    if (data.back() != '[') data += ',';
    append_json_string(data, word(revision));
  }
  data += "],\"requested\":" + json_string(requested) + '}';
  return refuse(message, kMcpUnsupportedVersion,
                fmt::format("the protocol revision '{}' is not supported", requested),
                std::move(data));
}

std::optional<JsonValue> find(const std::optional<JsonValue>& object, std::string_view name) {
  return object ? object->find(name) : std::nullopt;
}

// Values that are no plain header go as =?base64?...?=. nullopt: it looks like one and is not.
std::optional<std::string> decoded(std::string_view value) {
  constexpr std::string_view kStart = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  if (!value.starts_with(kStart) || !value.ends_with(kEnd) ||
      value.size() < kStart.size() + kEnd.size())
    return std::string(value);
  std::string text(value.substr(kStart.size(), value.size() - kStart.size() - kEnd.size()));
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return from_base64url(text);
}

// The header must be there and say what the body says.
std::optional<std::string> mismatch(const wire::Headers& headers, std::string_view name,
                                    std::string_view shown_name, std::string_view of_body) {
  const auto value = headers.get(name);
  if (!value) return fmt::format("the header {} is missing", shown_name);
  if (headers.count(name) > 1) return fmt::format("the header {} is there twice", shown_name);
  if (decoded(*value) == of_body) return std::nullopt;
  return fmt::format("the header {} is '{}', but the message says '{}'", shown_name, *value,
                     of_body);
}

// A request that says in itself which revision it speaks.
std::expected<McpTerms, McpRefusal> stateless_terms(const wire::Headers& headers,
                                                    const RpcMessage& message,
                                                    const JsonValue& meta,
                                                    const std::string& version) {
  const auto wrong = [&](std::string_view name, std::string_view shown, std::string_view of_body) {
    return mismatch(headers, name, shown, of_body);
  };
  if (const auto text = wrong("mcp-protocol-version", "MCP-Protocol-Version", version))
    return refuse(message, kMcpHeaderMismatch, *text);
  const auto revision = parse_mcp_revision(version);
  if (!revision) return unsupported(message, version);
  const auto capabilities = meta.find(kCapabilitiesKey);
  if (!capabilities || capabilities->type() != JsonType::kObject)
    return refuse(message, wire::kRpcInvalidParams,
                  fmt::format("_meta needs '{}', an object", kCapabilitiesKey));
  if (const auto text = wrong("mcp-method", "Mcp-Method", message.method))
    return refuse(message, kMcpHeaderMismatch, *text);
  const auto name = find(message.params, "name");
  const auto tool = name ? name->as_string() : std::nullopt;
  if (message.method == "tools/call" && tool)
    if (const auto text = wrong("mcp-name", "Mcp-Name", *tool))
      return refuse(message, kMcpHeaderMismatch, *text);
  return McpTerms{.revision = *revision, .client = mcp_client_of(meta.find(kClientKey))};
}

}  // namespace

std::string_view word(McpRevision revision) {
  switch (revision) {
    case McpRevision::k2025_03_26: return "2025-03-26";
    case McpRevision::k2025_06_18: return "2025-06-18";
    case McpRevision::k2025_11_25: return "2025-11-25";
    case McpRevision::k2026_07_28: return "2026-07-28";
  }
  return "";
}

std::optional<McpRevision> parse_mcp_revision(std::string_view text) {
  for (const McpRevision revision : kMcpRevisions)
    if (word(revision) == text) return revision;
  return std::nullopt;
}

McpRevision negotiated(std::string_view requested) {
  const auto known = parse_mcp_revision(requested);
  return known && !is_stateless(*known) ? *known : McpRevision::k2025_11_25;
}

std::string mcp_client_of(const std::optional<JsonValue>& info) {
  std::string client;
  for (const char* member : {"name", "version"}) {
    const auto value = find(info, member);
    const auto text = value ? value->as_string() : std::nullopt;
    if (!text || text->empty()) continue;
    if (!client.empty()) client += ' ';
    client += *text;
  }
  // It goes into logs and records, where it is nothing but a word.
  std::ranges::replace_if(
      client, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  if (client.size() <= kMaxMcpClientBytes) return client;
  std::size_t end = kMaxMcpClientBytes;
  while (end > 0 && (static_cast<unsigned char>(client[end]) & 0xc0) == 0x80) --end;
  client.resize(end);
  return client;
}

std::expected<McpTerms, McpRefusal> read_mcp_terms(const wire::Headers& headers,
                                                   const RpcMessage& message) {
  const auto meta = find(message.params, "_meta");
  const auto version = find(meta, kVersionKey);
  const auto header = headers.get("mcp-protocol-version");
  const auto revision = header ? parse_mcp_revision(*header) : McpRevision::k2025_03_26;
  McpTerms terms;
  if (message.kind == RpcKind::kRequest && version) {
    const auto text = version->as_string();
    if (!text)
      return refuse(message, wire::kRpcInvalidParams,
                    fmt::format("'{}' in _meta is a text", kVersionKey));
    auto read = stateless_terms(headers, message, *meta, *text);
    if (!read) return read;
    terms = std::move(*read);
  } else if (message.kind == RpcKind::kRequest && message.method == "initialize") {
    // What is spoken is only about to be agreed upon.
    terms.revision = McpRevision::k2025_11_25;
  } else {
    if (!revision) return unsupported(message, *header);
    if (message.kind == RpcKind::kRequest && is_stateless(*revision))
      return refuse(message, wire::kRpcInvalidParams,
                    fmt::format("_meta needs '{}' and '{}'", kVersionKey, kCapabilitiesKey));
    terms.revision = *revision;
  }
  const auto token = find(meta, "progressToken");
  if (token && (token->type() == JsonType::kString || token->as_int() || token->as_uint()))
    terms.progress_token = token->raw();
  return terms;
}

}  // namespace reprise::api
