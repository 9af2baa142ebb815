// Which revision of the Model Context Protocol a message speaks, and whether it keeps that
// revision's rules of the envelope.
//
// Up to 2025-11-25 a client says `initialize` first and then shows its MCP-Protocol-Version and its
// Mcp-Session-Id. Since 2026-07-28 there is no first message and no session: every request carries
// its revision and the client's capabilities in `_meta`, and mirrors revision, method and name in
// headers, which must agree. One endpoint serves both; each message is judged by itself.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "wire/headers.h"
#include "wire/json_rpc.h"

namespace reprise::api {

enum class McpRevision : std::uint8_t { k2025_03_26, k2025_06_18, k2025_11_25, k2026_07_28 };

// Newest first, as clients are told.
inline constexpr std::array kMcpRevisions = {McpRevision::k2026_07_28, McpRevision::k2025_11_25,
                                             McpRevision::k2025_06_18, McpRevision::k2025_03_26};

std::string_view word(McpRevision revision);
std::optional<McpRevision> parse_mcp_revision(std::string_view word);
constexpr bool is_stateless(McpRevision revision) { return revision == McpRevision::k2026_07_28; }
// What a client that says `initialize` gets: what it asks for, or else the newest that has it.
McpRevision negotiated(std::string_view requested);

// Codes of the protocol's own.
inline constexpr int kMcpHeaderMismatch = -32020;
inline constexpr int kMcpUnsupportedVersion = -32022;
// Not the protocol's, but what clients of the older revisions know.
inline constexpr int kMcpSessionNotFound = -32001;
inline constexpr int kMcpCancelled = -32800;

// An answer that is an error, and the HTTP status it goes with.
struct McpRefusal {
  int status = 400;
  wire::RpcError error;
};

// What a message says of itself and of its sender.
struct McpTerms {
  McpRevision revision = McpRevision::k2025_03_26;
  std::string client = {};          // "name version", as far as it says
  std::string progress_token = {};  // JSON text; empty: none is wanted
};

std::expected<McpTerms, McpRefusal> read_mcp_terms(const wire::Headers& headers,
                                                   const wire::RpcMessage& message);

// "name version" of a clientInfo; cut where it is long.
std::string mcp_client_of(const std::optional<wire::JsonValue>& info);

}  // namespace reprise::api
