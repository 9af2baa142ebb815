#include "api/mcp/answers.h"

#include <fmt/format.h>

#include "api/mcp/limits.h"
#include "api/mcp/plan.h"
#include "base/json_text.h"
#include "browser/tools/run.h"

namespace reprise::api {
namespace {

using browser::Effect;
using browser::Tool;

constexpr std::string_view kInstructions =
    "Browsers for agents. Every session has a browser context of its own, which shares nothing "
    "with others and lives on when a connection is lost. Name yours with the argument `session`, a "
    "key of your choice, in every call. Take browser_snapshot to see a page, and use the refs in "
    "it (e12) as `target`. File arguments name artifacts of the session.";

// There is nothing in the catalogue that a client would have to be told of later.
constexpr std::string_view kCapabilities = R"({"tools":{}})";

void append_tool(std::string& json, const Tool& tool) {
  json += "{\"name\":" + json_string(tool.name);
  json += ",\"title\":" + json_string(tool.title);
  json += ",\"description\":" + json_string(tool.description);
  json += ",\"inputSchema\":" + browser::object_schema(mcp_parameters(tool));
  json += fmt::format(R"(,"annotations":{{"title":{},"readOnlyHint":{},)"
                      R"("destructiveHint":{},"openWorldHint":true}}}})",
                      json_string(tool.title), tool.effect == Effect::kReads,
                      tool.effect == Effect::kDestroys);
}

std::string all_tools() {
  std::string json = "[";
  for (const Tool& tool : browser::tools()) {
    if (!browser::can_run(tool)) continue;
    if (json.back() != '[') json += ',';
    append_tool(json, tool);
  }
  return json + ']';
}

std::string text_block(std::string_view text) {
  return "{\"type\":\"text\",\"text\":" + json_string(text) + '}';
}

std::string caching() {
  return fmt::format(R"(,"ttlMs":{},"cacheScope":"public")", kMcpListFresh.count());
}

std::string revisions() {
  std::string json = "[";
  for (const McpRevision revision : kMcpRevisions) {
    if (json.back() != '[') json += ',';
    append_json_string(json, word(revision));
  }
  return json + ']';
}

constexpr std::string_view kSubscriptionKey = "\"io.modelcontextprotocol/subscriptionId\":";

}  // namespace

McpAnswers::McpAnswers(std::string_view server_version)
    : server_info_(fmt::format(R"({{"name":"reprise","title":"Reprise","version":{}}})",
                               json_string(server_version))),
      tools_(all_tools()) {}

std::string McpAnswers::ending(McpRevision revision, std::string_view meta) const {
  if (!is_stateless(revision)) return meta.empty() ? "}" : fmt::format(",\"_meta\":{{{}}}}}", meta);
  return fmt::format(
      R"(,"resultType":"complete","_meta":{{{}{}"io.modelcontextprotocol/serverInfo":{}}}}})", meta,
      meta.empty() ? "" : ",", server_info_);
}

std::string McpAnswers::initialize(McpRevision revision) const {
  return fmt::format(
      R"({{"protocolVersion":"{}","capabilities":{},"serverInfo":{},"instructions":{}}})",
      word(revision), kCapabilities, server_info_, json_string(kInstructions));
}

std::string McpAnswers::discover() const {
  return fmt::format(R"({{"supportedVersions":{},"capabilities":{},"instructions":{}{})",
                     revisions(), kCapabilities, json_string(kInstructions), caching()) +
         ending(McpRevision::k2026_07_28);
}

std::string McpAnswers::tools_list(McpRevision revision) const {
  std::string json = "{\"tools\":" + tools_;
  if (is_stateless(revision)) json += caching();
  return json + ending(revision);
}

std::string McpAnswers::tool_result(const ToolHost::Outcome& outcome, McpRevision revision) const {
  std::string json = "{\"content\":[";
  if (!outcome.text.empty() || outcome.images.empty()) json += text_block(outcome.text);
  for (const ToolHost::Image& image : outcome.images) {
    if (json.back() != '[') json += ',';
    json += R"({"type":"image","data":)";
    append_json_string(json, image.base64);
    json += ",\"mimeType\":" + json_string(image.mime_type) + '}';
  }
  json += outcome.is_error ? "],\"isError\":true" : "],\"isError\":false";
  if (!outcome.structured.empty()) json += ",\"structuredContent\":" + outcome.structured;
  return json + ending(revision);
}

std::string McpAnswers::tool_error(const Error& error, McpRevision revision) const {
  const ErrorRow& row = error_row(error.code);
  std::string text = "### Error\n";
  text += error.detail.empty() ? std::string(row.title) : error.detail;
  for (const FieldError& field : error.fields)
    text += fmt::format("\n- {}: {}", field.pointer.empty() ? "/" : field.pointer, field.detail);
  if (error.retry_after_seconds > 0)
    text += fmt::format("\nTry again in {} s.", error.retry_after_seconds);
  const std::string meta = fmt::format(R"("reprise/error":{{"code":"{}","retryable":{}}})",
                                       row.name, is_retryable(error.code));
  return fmt::format(R"({{"content":[{}],"isError":true)", text_block(text)) +
         ending(revision, meta);
}

std::string McpAnswers::empty(McpRevision revision) const {
  if (!is_stateless(revision)) return "{}";
  return '{' + ending(revision).substr(1);
}

std::string McpAnswers::subscription_begun(std::string_view request_id) const {
  std::string message;
  wire::append_json_rpc_notification(
      message, "notifications/subscriptions/acknowledged",
      fmt::format(R"({{"_meta":{{{}{}}},"notifications":{{}}}})", kSubscriptionKey, request_id));
  return message;
}

std::string McpAnswers::subscription_ended(std::string_view request_id) const {
  std::string message;
  const std::string meta = std::string(kSubscriptionKey) + std::string(request_id);
  wire::append_json_rpc_result(message, request_id,
                               '{' + ending(McpRevision::k2026_07_28, meta).substr(1));
  return message;
}

}  // namespace reprise::api
