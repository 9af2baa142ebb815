// Arbitrary headers and bodies at /mcp: every answer is a problem, a JSON-RPC message, frames of
// such, or nothing where nothing is due; and no call reaches a host that the catalogue would
// refuse.
#include <cstddef>
#include <cstdint>

#include "api/mcp/testing.h"
#include "wire/sse.h"

namespace reprise::api {
namespace {

using testing::Asking;
using testing::McpHeaders;
using testing::McpWorld;

void check_message(const std::string& text) {
  const auto document = wire::parse_json(text);
  REPRISE_ASSERT(document.has_value(), text);
  REPRISE_ASSERT(wire::parse_json_rpc(*document).has_value(), text);
}

void check_answer(Asking& asking) {
  REPRISE_ASSERT(asking.is_answered());
  const int status = asking.status();
  const bool is_known = status == 200 || status == 202 || (status >= 400 && status < 500);
  REPRISE_ASSERT(is_known, status);
  const std::string text = asking.text();
  const std::string type(asking.reply().headers.get("content-type").value_or(""));
  if (type == "application/json") {
    check_message(text);
  } else if (type == "application/problem+json") {
    REPRISE_ASSERT(wire::parse_json(text).has_value(), text);
  } else if (type == "text/event-stream") {
    wire::SseDecoder decoder;
    for (const auto& event : decoder.feed(text)) check_message(event.data);
  } else {
    REPRISE_ASSERT(status == 202 && text.empty(), status, text);
  }
}

void check_call(const testing::FakeHost::Seen& seen) {
  const browser::Tool* tool = browser::find_tool(seen.tool);
  REPRISE_ASSERT(tool != nullptr, seen.tool);
  const auto arguments = wire::parse_json(seen.arguments);
  REPRISE_ASSERT(arguments && browser::check_arguments(*tool, arguments->root()), seen.arguments);
  const bool has_session = seen.caller.session || !seen.caller.transport_session.empty();
  REPRISE_ASSERT(has_session || tool->session_use != browser::SessionUse::kNeeded, seen.tool);
}

void send(const std::string& version, const std::string& name, const std::string& body) {
  // A few hundred inputs share a server.
  static std::unique_ptr<McpWorld> world;
  static std::string session;
  static int inputs = 0;
  if (inputs++ % 256 == 0) {
    world = std::make_unique<McpWorld>();
    session = world->initialize();
  }
  // The method that the header should name, where there is one.
  std::string method = name;
  if (const auto document = wire::parse_json(body))
    if (const auto message = wire::parse_json_rpc(*document)) method = message->method;
  const McpHeaders plain = {{"MCP-Protocol-Version", version},
                            {"Mcp-Name", name},
                            {"Mcp-Method", method},
                            {"Accept", "application/json, text/event-stream"}};
  check_answer(world->post(body, plain));
  check_answer(world->post(body, {{"Accept", "text/event-stream"}, {"Mcp-Session-Id", session}}));
  check_answer(world->post(body, {{"Mcp-Session-Id", name}}));
  for (const auto& seen : world->host.seen) check_call(seen);
  world->host.seen.clear();
}

// What no header can have.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) line += c;
  return line;
}

}  // namespace
}  // namespace reprise::api

// The first line is the revision, the second a name, the rest the body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t first = input.find('\n');
  if (first == std::string_view::npos) return 0;
  const std::size_t second = input.find('\n', first + 1);
  if (second == std::string_view::npos) return 0;
  reprise::api::send(reprise::api::one_line(input.substr(0, first)),
                     reprise::api::one_line(input.substr(first + 1, second - first - 1)),
                     std::string(input.substr(second + 1)));
  return 0;
}
