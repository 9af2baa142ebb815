#include "browser/live_message.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/bytes.h"
#include "base/json_text.h"
#include "browser/command.h"
#include "browser/keyboard.h"
#include "browser/limits.h"

namespace reprise::browser {
namespace {

// The members of a message, each asked for once; whatever is left over, or wrong, is a problem.
class Members {
 public:
  explicit Members(wire::JsonValue object) : members_(object.members()) {}

  std::optional<std::string> text(std::string_view name, std::size_t max_bytes) {
    const auto value = take(name);
    if (!value) return std::nullopt;
    auto text = value->as_string();
    if (!text) return refuse<std::string>(name, "must be a text");
    if (text->size() > max_bytes)
      return refuse<std::string>(name, fmt::format("is longer than {} bytes", max_bytes));
    return text;
  }
  std::string required_text(std::string_view name, std::size_t max_bytes) {
    auto found = text(name, max_bytes);
    if (!found && problems_.empty()) (void)refuse<bool>(name, "is missing");
    return found.value_or("");
  }
  double number(std::string_view name, double otherwise, double least, double most) {
    const auto value = take(name);
    if (!value) return otherwise;
    const auto number = value->as_double();
    if (!number || !std::isfinite(*number) || *number < least || *number > most)
      return refuse<double>(name, fmt::format("must be a number from {} to {}", least, most))
          .value_or(otherwise);
    return *number;
  }
  std::optional<std::uint64_t> whole(std::string_view name) {
    const auto value = take(name);
    if (!value) return std::nullopt;
    const auto number = value->as_uint();
    if (!number) return refuse<std::uint64_t>(name, "must be a whole number");
    return number;
  }
  std::optional<bool> flag(std::string_view name) {
    const auto value = take(name);
    if (!value) return std::nullopt;
    const auto flag = value->as_bool();
    if (!flag) return refuse<bool>(name, "must be true or false");
    return flag;
  }
  std::vector<std::string> texts(std::string_view name, std::size_t max_count) {
    std::vector<std::string> texts;
    const auto value = take(name);
    if (!value) return texts;
    const auto elements = value->elements();
    if (value->type() != wire::JsonType::kArray || elements.size() > max_count) {
      (void)refuse<bool>(name, fmt::format("must be a list of at most {} texts", max_count));
      return texts;
    }
    for (const wire::JsonValue element : elements) {
      auto text = element.as_string();
      if (!text || text->size() > kMaxKeptUrlBytes) {
        (void)refuse<bool>(name, "must be a list of texts");
        return {};
      }
      texts.push_back(std::move(*text));
    }
    return texts;
  }
  // One of these words; the first if it is not there.
  std::string word(std::string_view name, std::initializer_list<std::string_view> words) {
    const auto value = take(name);
    if (!value) return std::string(*words.begin());
    const auto text = value->as_string();
    for (const std::string_view word : words)
      if (text == word) return std::string(word);
    (void)refuse<bool>(name, fmt::format("must be one of {}", fmt::join(words, ", ")));
    return std::string(*words.begin());
  }
  unsigned modifiers() {
    unsigned bits = 0;
    for (const std::string& name : texts("modifiers", 4)) {
      const unsigned bit = modifier_bit(name);
      if (bit == 0) (void)refuse<bool>("modifiers", "are Alt, Control, Meta and Shift");
      bits |= bit;
    }
    return bits;
  }
  std::optional<model::TabId> tab() {
    const std::string name = required_text("tabId", 64);
    const auto id = model::TabId::parse(name);
    if (!id && problems_.empty()) (void)refuse<bool>("tabId", "is no tab's id");
    return id;
  }
  Result<> done() {
    for (const wire::JsonMember& member : members_)
      (void)refuse<bool>(member.name, "is not known here");
    if (problems_.empty()) return {};
    Error error{Code::kInvalid, fmt::format("{} {}", problems_.front().pointer.substr(1),
                                            problems_.front().detail)};
    error.fields = std::move(problems_);
    return fail(std::move(error));
  }

 private:
  std::optional<wire::JsonValue> take(std::string_view name) {
    for (auto member = members_.begin(); member != members_.end(); ++member) {
      if (member->name != name) continue;
      const wire::JsonValue value = member->value;
      members_.erase(member);
      return value;
    }
    return std::nullopt;
  }
  template <typename T>
  std::optional<T> refuse(std::string_view name, std::string what) {
    problems_.push_back({fmt::format("/{}", name), std::move(what)});
    return std::nullopt;
  }
  std::vector<wire::JsonMember> members_;
  std::vector<FieldError> problems_;
};

MouseInput mouse_input(Members& members) {
  MouseInput input;
  const std::string action = members.word("action", {"move", "down", "up", "wheel"});
  input.action = action == "down"    ? MouseAction::kDown
                 : action == "up"    ? MouseAction::kUp
                 : action == "wheel" ? MouseAction::kWheel
                                     : MouseAction::kMove;
  input.at = {members.number("x", 0, -kMaxViewport, kMaxViewport),
              members.number("y", 0, -kMaxViewport, kMaxViewport)};
  input.modifiers = members.modifiers();
  if (input.action == MouseAction::kDown || input.action == MouseAction::kUp) {
    input.button = members.word("button", {"left", "right", "middle"});
    input.click_count = static_cast<unsigned>(members.number("clickCount", 1, 1, 3));
  }
  if (input.action == MouseAction::kWheel)
    input.wheel = {members.number("deltaX", 0, -kMaxViewport, kMaxViewport),
                   members.number("deltaY", 0, -kMaxViewport, kMaxViewport)};
  return input;
}

KeyInput key_input(Members& members) {
  KeyInput input;
  const std::string action = members.word("action", {"press", "down", "up"});
  input.is_down = action != "up";
  input.is_up = action != "down";
  input.key = members.required_text("key", 64);
  input.modifiers = members.modifiers();
  return input;
}

TabInput tab_input(Members& members) {
  TabInput input;
  const std::string action = members.word("action", {"new", "activate", "close"});
  if (action == "new") {
    input.url = members.text("url", kMaxKeptUrlBytes).value_or("");
  } else {
    input.action = action == "close" ? TabAction::kClose : TabAction::kActivate;
    input.tab = members.tab();
  }
  return input;
}

std::optional<InputAction> input_of(std::string_view type, Members& members) {
  if (type == "mouse") return mouse_input(members);
  if (type == "key") return key_input(members);
  if (type == "text") return TextInput{members.required_text("text", kMaxLiveTextBytes)};
  if (type == "navigate") return NavigateInput{members.required_text("url", kMaxKeptUrlBytes)};
  if (type == "back") return HistoryInput{HistoryMove::kBack};
  if (type == "forward") return HistoryInput{HistoryMove::kForward};
  if (type == "reload") return HistoryInput{HistoryMove::kReload};
  if (type == "tab") return tab_input(members);
  if (type == "dialog") {
    DialogInput input{.is_accepted = members.flag("accept").value_or(false), .text = {}};
    input.text = members.text("text", kMaxLiveTextBytes);
    return input;
  }
  if (type == "select") return SelectInput{members.texts("values", kMaxLiveValues)};
  if (type == "files") return FilesInput{members.texts("paths", kMaxLiveValues)};
  return std::nullopt;
}

}  // namespace

Result<LiveMessage> parse_live_message(std::string text) {
  REPRISE_TRY(const wire::JsonDocument document, wire::parse_json(std::move(text)));
  if (document.root().type() != wire::JsonType::kObject)
    return invalid("", "a message is an object");
  Members members(document.root());
  const std::string type = members.required_text("type", 32);
  if (type == "ack") {
    REPRISE_CHECK(members.done());
    return LiveAck{};
  }
  const auto id = members.whole("id");
  if (type == "claim") {
    LiveClaim claim{.id = id, .lease = members.required_text("leaseId", 64)};
    REPRISE_CHECK(members.done());
    return claim;
  }
  auto action = input_of(type, members);
  if (!action) return invalid("/type", fmt::format("'{}' is no type of message", type));
  REPRISE_CHECK(members.done());
  return LiveInput{.id = id, .action = std::move(*action)};
}

std::string encode_live_picture(const LivePicture& picture) {
  const ScreencastFrame& frame = picture.frame;
  const std::string description = fmt::format(
      R"({{"type":"frame","frame":{},"tabId":"{}","url":{},"title":{},"format":"jpeg",)"
      R"("width":{},"height":{},"offsetTop":{},"pageScale":{},"scrollX":{},"scrollY":{}}})",
      picture.number, picture.tab, json_string(picture.url), json_string(picture.title),
      frame.width, frame.height, frame.offset_top, frame.scale, frame.scroll_x, frame.scroll_y);
  std::string message;
  message.reserve(4 + description.size() + frame.picture.size());
  put_be32(message, static_cast<std::uint32_t>(description.size()));
  message += description;
  message += frame.picture;
  return message;
}

std::string live_answer_json(const LiveAnswer& answer) {
  const std::string id = answer.id ? fmt::to_string(*answer.id) : "null";
  if (!answer.error) return fmt::format(R"({{"type":"answer","id":{},"ok":true}})", id);
  const ToolError told = tool_error(*answer.error);
  return fmt::format(R"({{"type":"answer","id":{},"ok":false,"error":{{"code":{},"message":{}}}}})",
                     id, json_string(told.code), json_string(told.message));
}

}  // namespace reprise::browser
