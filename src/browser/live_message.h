// What is said on the socket of a live view (docs/live.md): messages of viewers, read; pictures,
// states and answers, written.
//
// A picture is one binary message: the length of its description as four bytes, big-endian; the
// description, a JSON object; then the JPEG. Everything else is JSON text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "browser/driver.h"
#include "model/browsing.h"
#include "wire/json.h"

namespace reprise::browser {

// --- what viewers say ------------------------------------------------------------------------

// One more picture has been shown.
struct LiveAck {};
// This socket is the one of the person who has taken over.
struct LiveClaim {
  std::optional<std::uint64_t> id;
  std::string lease;
};

struct MouseInput {
  MouseAction action = MouseAction::kMove;
  Point at;
  std::string button = "left";
  unsigned click_count = 1;
  unsigned modifiers = 0;
  Point wheel;
};
struct KeyInput {
  std::string key;  // as KeyboardEvent.key has it
  unsigned modifiers = 0;
  bool is_down = true;
  bool is_up = true;  // both: pressed and let go
};
struct TextInput {
  std::string text;
};
struct NavigateInput {
  std::string url;
};
enum class HistoryMove : std::uint8_t { kBack, kForward, kReload };
struct HistoryInput {
  HistoryMove move = HistoryMove::kBack;
};
enum class TabAction : std::uint8_t { kNew, kActivate, kClose };
struct TabInput {
  TabAction action = TabAction::kNew;
  std::optional<model::TabId> tab;  // of the last two
  std::string url;                  // of a new one
};
struct DialogInput {
  bool is_accepted = false;
  std::optional<std::string> text;
};
// No values: the list is put away.
struct SelectInput {
  std::vector<std::string> values;
};
// No paths: the page gets no files.
struct FilesInput {
  std::vector<std::string> paths;
};

using InputAction = std::variant<MouseInput, KeyInput, TextInput, NavigateInput, HistoryInput,
                                 TabInput, DialogInput, SelectInput, FilesInput>;

struct LiveInput {
  std::optional<std::uint64_t> id;  // it is answered under this number
  InputAction action;
};

using LiveMessage = std::variant<LiveAck, LiveClaim, LiveInput>;

// kMalformedJson, or kInvalid with a pointer to what is wrong.
Result<LiveMessage> parse_live_message(std::string text);

// --- what viewers are told -------------------------------------------------------------------

struct LivePicture {
  std::uint64_t number = 0;
  std::string tab;
  std::string url;
  std::string title;
  ScreencastFrame frame;
};
std::string encode_live_picture(const LivePicture& picture);

// `error` is null for what was done.
struct LiveAnswer {
  std::optional<std::uint64_t> id;
  std::optional<Error> error;
};
std::string live_answer_json(const LiveAnswer& answer);

}  // namespace reprise::browser
