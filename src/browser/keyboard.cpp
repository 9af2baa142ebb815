#include "browser/keyboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace reprise::browser {
namespace {

struct NamedKey {
  std::string_view name;
  std::string_view code;
  unsigned key_code;
  std::string_view text;
};

// UI Events KeyboardEvent key and code values, with the Windows virtual key codes that browsers
// still report.
constexpr auto kKeys = std::to_array<NamedKey>({
    {"Backspace", "Backspace", 8, ""},
    {"Tab", "Tab", 9, ""},
    {"Enter", "Enter", 13, "\r"},
    {"Escape", "Escape", 27, ""},
    {"Space", "Space", 32, " "},
    {"PageUp", "PageUp", 33, ""},
    {"PageDown", "PageDown", 34, ""},
    {"End", "End", 35, ""},
    {"Home", "Home", 36, ""},
    {"ArrowLeft", "ArrowLeft", 37, ""},
    {"ArrowUp", "ArrowUp", 38, ""},
    {"ArrowRight", "ArrowRight", 39, ""},
    {"ArrowDown", "ArrowDown", 40, ""},
    {"Insert", "Insert", 45, ""},
    {"Delete", "Delete", 46, ""},
    {"Shift", "ShiftLeft", 16, ""},
    {"Control", "ControlLeft", 17, ""},
    {"Alt", "AltLeft", 18, ""},
    {"Meta", "MetaLeft", 91, ""},
    {"CapsLock", "CapsLock", 20, ""},
    {"ContextMenu", "ContextMenu", 93, ""},
    {"F1", "F1", 112, ""},
    {"F2", "F2", 113, ""},
    {"F3", "F3", 114, ""},
    {"F4", "F4", 115, ""},
    {"F5", "F5", 116, ""},
    {"F6", "F6", 117, ""},
    {"F7", "F7", 118, ""},
    {"F8", "F8", 119, ""},
    {"F9", "F9", 120, ""},
    {"F10", "F10", 121, ""},
    {"F11", "F11", 122, ""},
    {"F12", "F12", 123, ""},
});

struct SignKey {
  char plain;
  char shifted;
  std::string_view code;
  unsigned key_code;
};

constexpr auto kSigns = std::to_array<SignKey>({
    {'1', '!', "Digit1", 49},       {'2', '@', "Digit2", 50},        {'3', '#', "Digit3", 51},
    {'4', '$', "Digit4", 52},       {'5', '%', "Digit5", 53},        {'6', '^', "Digit6", 54},
    {'7', '&', "Digit7", 55},       {'8', '*', "Digit8", 56},        {'9', '(', "Digit9", 57},
    {'0', ')', "Digit0", 48},       {'-', '_', "Minus", 189},        {'=', '+', "Equal", 187},
    {'[', '{', "BracketLeft", 219}, {']', '}', "BracketRight", 221}, {'\\', '|', "Backslash", 220},
    {';', ':', "Semicolon", 186},   {'\'', '"', "Quote", 222},       {',', '<', "Comma", 188},
    {'.', '>', "Period", 190},      {'/', '?', "Slash", 191},        {'`', '~', "Backquote", 192},
    {' ', ' ', "Space", 32},
});

constexpr unsigned kShift = 8;

}  // namespace

unsigned modifier_bit(std::string_view name) {
  if (name == "Alt") return 1;
  if (name == "Control" || name == "ControlOrMeta") return 2;
  if (name == "Meta") return 4;
  if (name == "Shift") return kShift;
  return 0;
}

std::optional<KeyStroke> stroke_of(char character) {
  const std::string text(1, character);
  const bool is_upper = character >= 'A' && character <= 'Z';
  if (is_upper || (character >= 'a' && character <= 'z')) {
    const char upper = is_upper ? character : static_cast<char>(character - 'a' + 'A');
    return KeyStroke{.key = text,
                     .code = fmt::format("Key{}", upper),
                     .text = text,
                     .key_code = static_cast<unsigned>(upper),
                     .modifiers = is_upper ? kShift : 0};
  }
  for (const SignKey& sign : kSigns)
    if (character == sign.plain || character == sign.shifted)
      return KeyStroke{.key = text,
                       .code = std::string(sign.code),
                       .text = text,
                       .key_code = sign.key_code,
                       .modifiers = character == sign.plain ? 0 : kShift};
  if (character == '\n' || character == '\r')
    return KeyStroke{.key = "Enter", .code = "Enter", .text = "\r", .key_code = 13};
  if (character == '\t') return KeyStroke{.key = "Tab", .code = "Tab", .text = {}, .key_code = 9};
  return std::nullopt;
}

Result<std::vector<KeyStroke>> parse_keys(std::string_view text) {
  std::vector<KeyStroke> strokes;
  unsigned modifiers = 0;
  const std::string whole(text);
  const auto unknown = [&] {
    return fail(Code::kToolFailed,
                fmt::format("'{}' is no key: give a character or a name such as Enter, ArrowLeft "
                            "or Control+A",
                            whole));
  };
  while (!text.empty()) {
    // A plus sign is a key itself where no name stands before it.
    const std::size_t plus = text.find('+', 1);
    const std::string_view name = text.substr(0, plus);
    text.remove_prefix(plus == std::string_view::npos ? text.size() : plus + 1);
    if (plus != std::string_view::npos && text.empty()) return unknown();
    const std::string_view plain = name == "ControlOrMeta" ? "Control" : name;
    const auto known =
        std::ranges::find_if(kKeys, [&](const NamedKey& key) { return key.name == plain; });
    if (known != kKeys.end()) {
      modifiers |= modifier_bit(plain);
      strokes.push_back({.key = known->name == "Space" ? " " : std::string(known->name),
                         .code = std::string(known->code),
                         .text = std::string(known->text),
                         .key_code = known->key_code,
                         .modifiers = modifiers});
    } else if (const auto typed = name.size() == 1 ? stroke_of(name.front()) : std::nullopt) {
      strokes.push_back(*typed);
      strokes.back().modifiers |= modifiers;
    } else {
      return unknown();
    }
  }
  if (strokes.empty()) return unknown();
  // A chord types nothing: Control+A selects.
  constexpr unsigned kChord = 1 | 2 | 4;
  for (KeyStroke& stroke : strokes)
    if ((stroke.modifiers & kChord) != 0) stroke.text.clear();
  return strokes;
}

}  // namespace reprise::browser
