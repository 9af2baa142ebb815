#include "api/mcp/plan.h"

#include <fmt/format.h>

#include "api/parameters.h"
#include "base/assert.h"
#include "browser/tools/run.h"

namespace reprise::api {
namespace {

using browser::SessionUse;
using browser::Tool;

constexpr std::string_view kCallTool = "playwright_session_call";

std::unexpected<Error> wrong(const Tool& tool, Error error, std::string_view below = {}) {
  std::string names;
  for (const browser::Parameter& parameter : mcp_parameters(tool))
    names += (names.empty() ? "" : ", ") + parameter.name + (parameter.is_needed ? "" : "?");
  error.detail =
      fmt::format("{} was not called: its arguments are wrong. It takes ({}).", tool.name, names);
  for (FieldError& field : error.fields) field.pointer.insert(0, below);
  return fail(std::move(error));
}

std::unexpected<Error> wrong_session(const Tool& tool, std::string detail) {
  return wrong(tool, invalid("/session", std::move(detail)).error());
}

// The handle that the client gave, if any, checked for its form.
Result<std::optional<std::string>> session_of(const Tool& tool, const AskedCall& asked) {
  if (tool.session_use == SessionUse::kNone) return std::nullopt;
  std::optional<std::string> session = asked.default_session;
  const auto named = asked.arguments ? asked.arguments->find(kMcpSessionArgument) : std::nullopt;
  if (named && !named->is_null()) {
    session = named->as_string();
    if (!session) return wrong_session(tool, "must be \"string\"");
  }
  if (session) {
    const auto ref = parse_session_ref(*session);
    if (!ref) return wrong_session(tool, ref.error().detail);
  } else if (tool.session_use == SessionUse::kNeeded && !asked.has_transport_session) {
    return wrong_session(tool,
                         "is needed: a key of your choice, such as research-1, and the same one "
                         "in every later call");
  }
  return session;
}

Result<std::string> arguments_of(const Tool& tool, const AskedCall& asked) {
  if (!asked.arguments || asked.arguments->is_null()) {
    REPRISE_TRY(const auto none, wire::parse_json("{}"));
    return browser::read_arguments(tool, none.root());
  }
  const bool has_session = tool.session_use != SessionUse::kNone;
  return browser::read_arguments(tool, *asked.arguments,
                                 has_session ? kMcpSessionArgument : std::string_view());
}

// The call inside playwright_session_call.
Result<PlannedCall> unwrap(const Tool& outer, PlannedCall planned) {
  REPRISE_TRY(const auto document, wire::parse_json(std::move(planned.arguments)));
  const std::string name = document.root().find("tool")->as_string().value_or("");
  const Tool* tool = browser::find_tool(name);
  if (tool == nullptr || !tool->is_page_tool || !browser::can_run(*tool))
    return wrong(outer, invalid("/tool", fmt::format("'{}' is no tool of a page", name)).error());
  // The session is the outer call's to name: a second one in here would be overlooked.
  REPRISE_TRY(const auto none, wire::parse_json("{}"));
  auto arguments =
      browser::read_arguments(*tool, document.root().find("arguments").value_or(none.root()));
  if (!arguments) return wrong(*tool, arguments.error(), "/arguments");
  return PlannedCall{
      .tool = name, .arguments = std::move(*arguments), .session = std::move(planned.session)};
}

}  // namespace

std::vector<browser::Parameter> mcp_parameters(const Tool& tool) {
  std::vector<browser::Parameter> parameters = tool.parameters;
  if (tool.session_use != SessionUse::kNone)
    parameters.push_back(
        browser::text(kMcpSessionArgument, "A session's key (made on first use) or id."));
  return parameters;
}

Result<PlannedCall> plan_tool_call(const AskedCall& asked) {
  const Tool* tool = browser::find_tool(asked.tool);
  REPRISE_ASSERT(tool != nullptr, asked.tool);
  auto arguments = arguments_of(*tool, asked);
  if (!arguments) return wrong(*tool, arguments.error());
  REPRISE_TRY(auto session, session_of(*tool, asked));
  PlannedCall planned{
      .tool = asked.tool, .arguments = std::move(*arguments), .session = std::move(session)};
  if (asked.tool == kCallTool) return unwrap(*tool, std::move(planned));
  return planned;
}

}  // namespace reprise::api
