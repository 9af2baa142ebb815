#include "server/cli/replay_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/json_text.h"
#include "model/redact.h"
#include "server/cli/replay_protocol.h"

namespace reprise::server::cli {
namespace {

// e12, f3e12
bool is_ref(std::string_view text) {
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::size_t e = text.find('e');
  if (e == std::string_view::npos || !digits(text.substr(e + 1))) return false;
  return e == 0 || (text.front() == 'f' && digits(text.substr(1, e - 1)));
}

bool is_redacted(wire::JsonValue value) {
  const auto mark = value.find("redacted");
  if (mark && mark->as_bool().value_or(false)) return true;
  const auto text = value.as_string();
  return text && text->find(model::kRedactedMark) != std::string::npos;
}

// How an element is named anew: by its role and name in the frame that has the role and name that
// its frame had, or in whichever frame it is now, or in the frame of that selector; or by its own.
enum class Naming : std::uint8_t { kRole, kRoleAnywhere, kRoleBySelectors, kSelector };
constexpr std::array kNamings{Naming::kRole, Naming::kRoleAnywhere, Naming::kRoleBySelectors,
                              Naming::kSelector};

std::optional<std::string> role_and_name(wire::JsonValue element) {
  const std::string role = text_member(element, "role");
  const std::string name = text_member(element, "name");
  const auto nth = element.find("nth");
  const auto number = nth ? nth->as_uint() : std::nullopt;
  if (role.empty() || role == "generic" || name.empty() || !number) return std::nullopt;
  return fmt::format("role={}[name={}] >> nth={}", role, json_string(name), *number);
}

// What leads to it (browser/frame_path.h); empty: it was in no frame.
std::string frames_of(wire::JsonValue element, bool is_by_role) {
  std::string path;
  if (const auto frames = element.find("frames"))
    for (const wire::JsonValue frame : frames->elements()) {
      const auto role = is_by_role ? role_and_name(frame) : std::nullopt;
      path +=
          fmt::format("frame={} >> ", json_string(role ? *role : text_member(frame, "selector")));
    }
  return path;
}

std::optional<std::string> named(wire::JsonValue element, Naming naming) {
  const std::string frames = frames_of(element, naming == Naming::kRole);
  if (naming == Naming::kSelector) {
    const std::string selector = text_member(element, "selector");
    return selector.empty() ? std::nullopt : std::optional(frames + selector);
  }
  // Without frames there is one way to name it by role and name.
  if (naming != Naming::kRole && frames.empty()) return std::nullopt;
  auto role = role_and_name(element);
  if (!role) return std::nullopt;
  return (naming == Naming::kRoleAnywhere ? "frame=* >> " : frames) + *role;
}

// All of them, the best first.
std::vector<std::string> names_of(const std::string& target) {
  std::vector<std::string> names;
  if (const auto element = wire::parse_json(target))
    for (const Naming naming : kNamings)
      if (auto name = named(element->root(), naming);
          name && std::ranges::find(names, *name) == names.end())
        names.push_back(std::move(*name));
  return names;
}

// Writes arguments anew.
class Writer {
 public:
  Writer(const RecordedCommand& command, const Secrets& secrets, Naming naming)
      : command_(command), secrets_(secrets), naming_(naming) {}

  // `place` is where the object's own target was recorded.
  std::string object(wire::JsonValue value, const std::string& place) {
    std::string json = "{";
    for (const wire::JsonMember& member : value.members()) {
      if (json.size() > 1) json += ',';
      append_json_string(json, member.name);
      json += ':';
      json += this->member(value, member, place);
    }
    return json + '}';
  }

  std::optional<std::string> missing;
  bool is_renamed = false;  // an element has another name than it had

 private:
  // The element that an argument names, as it was recorded; `{}` if it was not.
  std::string element_of(const std::string& place) const {
    const auto all = wire::parse_json(command_.targets);
    if (all)
      if (const auto found = all->root().find(place)) return found->minified();
    return place == "target" ? command_.target : "{}";
  }

  std::string secret_name(wire::JsonValue object, const std::string& member,
                          const std::string& place) const {
    const auto element = wire::parse_json(element_of(place));
    std::string name = element ? text_member(element->root(), "name") : "";
    if (name.empty()) name = text_member(object, "name");
    if (name.empty()) name = text_member(object, "key");
    return name.empty() ? member : name;
  }

  std::string member(wire::JsonValue whole, const wire::JsonMember& member,
                     const std::string& place) {
    if (is_redacted(member.value)) {
      const std::string name = secret_name(whole, member.name, place);
      if (const std::string* found = find_secret(secrets_, name, command_.seq))
        return json_string(*found);
      if (!missing) missing = name;
      return "\"\"";
    }
    if (member.name == "fields") {
      std::string list = "[";
      std::size_t index = 0;
      for (const wire::JsonValue field : member.value.elements()) {
        if (list.size() > 1) list += ',';
        list += object(field, fmt::format("fields/{}", index++));
      }
      return list + ']';
    }
    const bool is_target =
        member.name == "target" || member.name == "startTarget" || member.name == "endTarget";
    const auto text = member.value.as_string();
    if (!is_target || !text || !is_ref(*text)) return member.value.minified();
    const auto element =
        wire::parse_json(element_of(member.name == "target" ? place : member.name));
    const auto again = element ? named(element->root(), naming_) : std::nullopt;
    if (!again) return member.value.minified();
    is_renamed = true;
    return json_string(*again);
  }

  const RecordedCommand& command_;
  const Secrets& secrets_;
  const Naming naming_;
};

// An object with one more member.
std::string with_member(std::string object, std::string_view name, std::string_view value) {
  object.pop_back();
  if (object.size() > 1) object += ',';
  append_json_string(object, name);
  return object + ':' + std::string(value) + '}';
}

std::optional<double> number_of(wire::JsonValue object, std::string_view name) {
  const auto value = object.find(name);
  return value ? value->as_double() : std::nullopt;
}

// Where a click on the element is the same wherever it hits.
bool is_pressed_as_one(const std::string& role) {
  constexpr auto kRoles = std::to_array<std::string_view>(
      {"button", "checkbox", "combobox", "link", "menuitem", "menuitemcheckbox", "menuitemradio",
       "option", "radio", "searchbox", "switch", "tab", "textbox", "treeitem"});
  return std::ranges::find(kRoles, role) != kRoles.end();
}

void plan_click_at(Plan& plan, const RecordedCommand& command, wire::JsonValue args) {
  const auto element = wire::parse_json(command.target);
  const double clicks = number_of(args, "clickCount").value_or(1);
  if (!element || clicks > 2 || !is_pressed_as_one(text_member(element->root(), "role"))) return;
  std::vector<Attempt> better;
  for (const std::string& name : names_of(command.target)) {
    std::string arguments = fmt::format(R"({{"target":{},"doubleClick":{}}})", json_string(name),
                                        clicks == 2 ? "true" : "false");
    if (const std::string button = text_member(args, "button"); !button.empty())
      arguments = with_member(std::move(arguments), "button", json_string(button));
    better.push_back({{.tool = "browser_click", .arguments = std::move(arguments)}});
  }
  plan.attempts.insert(plan.attempts.begin(), better.begin(), better.end());
}

// A text goes where the focus is, as it did; else into the field that it went into.
void plan_typing(Plan& plan, const RecordedCommand& command) {
  const ToolCall plain = plan.attempts.front().front();
  for (const std::string& name : names_of(command.target))
    plan.attempts.push_back(
        {{.tool = plain.tool,
          .arguments = with_member(with_member(plain.arguments, "target", json_string(name)),
                                   "slowly", "true")}});
}

void plan_choosing(Plan& plan, const RecordedCommand& command) {
  const ToolCall plain = plan.attempts.front().front();
  const auto names = names_of(command.target);
  if (names.empty()) return;
  plan.attempts.clear();
  for (const std::string& name : names)
    plan.attempts.push_back(
        {{.tool = plain.tool,
          .arguments = with_member(plain.arguments, "target", json_string(name))}});
}

// A key that was held is pressed as often as it was seen.
void plan_keys(Plan& plan, wire::JsonValue args) {
  constexpr double kMaxPresses = 500;
  const auto count = number_of(args, "count");
  if (!count) return;
  const ToolCall once{
      .tool = "browser_press_key",
      .arguments = fmt::format(R"({{"key":{}}})", json_string(text_member(args, "key")))};
  plan.attempts = {Attempt(static_cast<std::size_t>(std::clamp(*count, 1.0, kMaxPresses)), once)};
}

void plan_wheel(Plan& plan, wire::JsonValue args) {
  if (!number_of(args, "x")) return;
  plan.attempts = {wheel_at(args)};
}

bool has_target(wire::JsonValue args) { return args.find("target").has_value(); }

}  // namespace

const std::string* find_secret(const Secrets& secrets, const std::string& name, std::uint64_t seq) {
  auto found = secrets.find(name);
  if (found == secrets.end()) found = secrets.find(fmt::to_string(seq));
  return found == secrets.end() ? nullptr : &found->second;
}

Result<Secrets> parse_secrets(const std::vector<std::string>& given) {
  Secrets secrets;
  for (const std::string& one : given) {
    const std::size_t equals = one.find('=');
    // Not repeated: it may be the secret.
    if (equals == std::string::npos || equals == 0)
      return fail(Code::kBadParameter, "--secret: write it as NAME=value");
    secrets[one.substr(0, equals)] = one.substr(equals + 1);
  }
  return secrets;
}

Plan plan_tool(const RecordedCommand& command, const Secrets& secrets) {
  const auto call = [&](std::string arguments) {
    return Attempt{{.tool = command.tool, .arguments = std::move(arguments)}};
  };
  Plan plan;
  const auto document = wire::parse_json(command.args);
  if (!document) return {.attempts = {call("{}")}};
  const wire::JsonValue args = document->root();
  for (const Naming naming : kNamings) {
    Writer writer(command, secrets, naming);
    Attempt attempt = call(writer.object(args, "target"));
    if (writer.missing) return {.missing = writer.missing};
    const bool is_new = std::ranges::find(plan.attempts, attempt) == plan.attempts.end();
    if (is_new && (writer.is_renamed || plan.attempts.empty()))
      plan.attempts.push_back(std::move(attempt));
  }
  // One whose role and name say nothing: its selector first, and alone.
  if (plan.attempts.size() > 1 && plan.attempts.front() == call(args.minified()))
    plan.attempts.erase(plan.attempts.begin());
  if (command.tool == "browser_mouse_click_xy") plan_click_at(plan, command, args);
  if (command.tool == "browser_type" && !has_target(args)) plan_typing(plan, command);
  if (command.tool == "browser_select_option" && !has_target(args)) plan_choosing(plan, command);
  if (command.tool == "browser_press_key") plan_keys(plan, args);
  if (command.tool == "browser_mouse_wheel") plan_wheel(plan, args);
  return plan;
}

std::vector<Plan> plan_commands(const std::vector<RecordedCommand>& commands,
                                const Secrets& secrets) {
  std::vector<Plan> plans;
  plans.reserve(commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const RecordedCommand& command = commands[i];
    if (command.source == "cdp")
      plans.push_back(plan_protocol(commands, i, secrets));
    else if (command.tool.starts_with("browser_"))
      plans.push_back(plan_tool(command, secrets));
    else
      plans.push_back({.skipped = "it was no tool of a browser's"});
  }
  return plans;
}

}  // namespace reprise::server::cli
