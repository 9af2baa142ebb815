#include "server/cli/replay_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_text.h"

namespace reprise::server::cli {
namespace {

constexpr std::string_view kMouse = "Input.dispatchMouseEvent";
// What a person means as one point.
constexpr double kNear = 4;

Plan skipped(std::string why) { return {.skipped = std::move(why)}; }
Plan one_call(std::string tool, std::string arguments) {
  return {.attempts = {{{.tool = std::move(tool), .arguments = std::move(arguments)}}}};
}

struct MouseCommand {
  std::string type;
  double x = 0;
  double y = 0;
  std::string button;
  double clicks = 1;
};
std::optional<MouseCommand> mouse_of(const RecordedCommand& command) {
  if (command.tool != kMouse || command.source != "cdp") return std::nullopt;
  const auto args = wire::parse_json(command.args);
  if (!args) return std::nullopt;
  const auto number = [&](std::string_view name, double otherwise) {
    const auto value = args->root().find(name);
    return value ? value->as_double().value_or(otherwise) : otherwise;
  };
  return MouseCommand{.type = text_member(args->root(), "type"),
                      .x = number("x", 0),
                      .y = number("y", 0),
                      .button = text_member(args->root(), "button"),
                      .clicks = number("clickCount", 1)};
}

bool is_near(const MouseCommand& one, const MouseCommand& other) {
  return std::abs(one.x - other.x) <= kNear && std::abs(one.y - other.y) <= kNear;
}

// The mouse's command on the same page right before or after.
std::optional<MouseCommand> neighbour(const std::vector<RecordedCommand>& commands,
                                      std::size_t index, bool is_next) {
  if (is_next ? index + 1 >= commands.size() : index == 0) return std::nullopt;
  const RecordedCommand& other = commands[is_next ? index + 1 : index - 1];
  if (other.tab != commands[index].tab) return std::nullopt;
  return mouse_of(other);
}

Plan plan_mouse(const std::vector<RecordedCommand>& commands, std::size_t index,
                wire::JsonValue args) {
  const auto mouse = mouse_of(commands[index]);
  if (!mouse) return skipped("what the mouse did is not on record");
  if (mouse->type == "mouseWheel") {
    if (!args.find("x")) return skipped("where the wheel was turned is not on record");
    return {.attempts = {wheel_at(args)}};
  }
  if (mouse->type == "mouseReleased") {
    const auto before = neighbour(commands, index, false);
    if (before && before->type == "mousePressed" && before->button == "left")
      return {.merged_into = commands[index - 1].seq};
    return skipped("the press that it belongs to is not the command before it");
  }
  if (mouse->type != "mousePressed") return skipped("no tool does the same");
  const auto next = neighbour(commands, index, true);
  if (next && next->type == "mousePressed" && next->clicks == mouse->clicks + 1 &&
      next->button == mouse->button && is_near(*next, *mouse))
    return {.merged_into = commands[index + 1].seq};
  if (next && next->type == "mouseReleased" && mouse->button == "left")
    return one_call("browser_mouse_drag_xy",
                    fmt::format(R"({{"startX":{},"startY":{},"endX":{},"endY":{}}})", mouse->x,
                                mouse->y, next->x, next->y));
  const bool is_known =
      mouse->button == "left" || mouse->button == "right" || mouse->button == "middle";
  if (!is_known) return skipped("which button was pressed is not on record");
  return one_call("browser_mouse_click_xy",
                  fmt::format(R"({{"x":{},"y":{},"button":"{}","clickCount":{}}})", mouse->x,
                              mouse->y, mouse->button, std::clamp(mouse->clicks, 1.0, 3.0)));
}

// What was typed, in the order of its parts: so many characters, a key, and so on.
Plan plan_keys(const RecordedCommand& command, wire::JsonValue args, const Secrets& secrets) {
  const auto order = args.find("order");
  if (!order || order->type() != wire::JsonType::kArray)
    return skipped("not all of its keys are on record");
  const auto parts = order->elements();
  std::size_t typed = 0;
  std::size_t runs = 0;
  for (const wire::JsonValue part : parts) {
    typed += part.as_uint().value_or(0);
    if (part.as_uint()) ++runs;
  }
  std::string secret;
  if (runs > 0) {
    const std::string* found = find_secret(secrets, "text", command.seq);
    if (found == nullptr) return {.missing = "text"};
    if (runs > 1 && found->size() != typed)
      return skipped(fmt::format("its secret has {} bytes, where {} were typed in {} parts",
                                 found->size(), typed, runs));
    secret = *found;
  }
  Attempt calls;
  std::size_t at = 0;
  for (const wire::JsonValue part : parts) {
    if (const auto key = part.as_string()) {
      calls.push_back({.tool = "browser_press_key",
                       .arguments = fmt::format(R"({{"key":{}}})", json_string(*key))});
      continue;
    }
    const std::size_t length = runs > 1 ? part.as_uint().value_or(0) : secret.size();
    calls.push_back(
        {.tool = "browser_type",
         .arguments = fmt::format(R"({{"text":{}}})", json_string(secret.substr(at, length)))});
    at += length;
  }
  if (calls.empty()) return skipped("no key of it is on record");
  return {.attempts = {std::move(calls)}};
}

Plan plan_dialog(const RecordedCommand& command, wire::JsonValue args, const Secrets& secrets) {
  const auto accept = args.find("accept");
  std::string arguments = fmt::format(
      R"({{"accept":{}}})", accept && accept->as_bool().value_or(false) ? "true" : "false");
  if (const auto text = args.find("promptText")) {
    const auto length = text->find("length");
    const bool is_empty = length && length->as_uint() == 0U;
    const std::string* found = is_empty ? nullptr : find_secret(secrets, "promptText", command.seq);
    if (!is_empty && found == nullptr) return {.missing = "promptText"};
    if (found != nullptr) {
      arguments.pop_back();
      arguments += fmt::format(R"(,"promptText":{}}})", json_string(*found));
    }
  }
  return one_call("browser_handle_dialog", std::move(arguments));
}

Plan plan_navigation(wire::JsonValue args) {
  const std::string url = text_member(args, "url");
  if (args.find("frameId")) return skipped("it sent a frame of the page elsewhere");
  if (url.empty()) return skipped("where it went is not on record");
  return one_call("browser_navigate", fmt::format(R"({{"url":{}}})", json_string(url)));
}

Plan plan_new_tab(wire::JsonValue args) {
  if (args.find("browserContextId")) return skipped("it was in a context of the program's own");
  const std::string url = text_member(args, "url");
  if (url.empty() || url == "about:blank") return one_call("browser_tabs", R"({"action":"new"})");
  return one_call("browser_tabs", fmt::format(R"({{"action":"new","url":{}}})", json_string(url)));
}

}  // namespace

Attempt wheel_at(wire::JsonValue args) {
  const auto value = [&](std::string_view name) {
    const auto member = args.find(name);
    return member ? member->as_double().value_or(0) : 0;
  };
  return {{.tool = "browser_mouse_move_xy",
           .arguments = fmt::format(R"({{"x":{},"y":{}}})", value("x"), value("y"))},
          {.tool = "browser_mouse_wheel",
           .arguments =
               fmt::format(R"({{"deltaX":{},"deltaY":{}}})", value("deltaX"), value("deltaY"))}};
}

Plan plan_protocol(const std::vector<RecordedCommand>& commands, std::size_t index,
                   const Secrets& secrets) {
  const RecordedCommand& command = commands[index];
  const auto document = wire::parse_json(command.args);
  if (!document) return skipped("its arguments are not on record");
  const wire::JsonValue args = document->root();
  const std::string& method = command.tool;
  if (method == "Page.navigate") return plan_navigation(args);
  if (method == "Page.reload") return one_call("browser_reload", "{}");
  if (method == "Page.navigateToHistoryEntry")
    return skipped("which page of the history it was is not on record");
  if (method == "Page.handleJavaScriptDialog") return plan_dialog(command, args, secrets);
  if (method == "Target.createTarget") return plan_new_tab(args);
  if (method == "Target.closeTarget" || method == "Page.close")
    return command.tab.empty() ? skipped("which tab it was is not on record")
                               : one_call("browser_tabs", R"({"action":"close"})");
  if (method == kMouse) return plan_mouse(commands, index, args);
  if (method == "Input.dispatchKeyEvent" || method == "Input.insertText")
    return plan_keys(command, args, secrets);
  if (method == "DOM.setFileInputFiles")
    return skipped("which field the files went into is not on record");
  return skipped("no tool does the same");
}

}  // namespace reprise::server::cli
