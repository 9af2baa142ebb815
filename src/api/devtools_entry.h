// What the devtools feed tells: one thing that happened, who may see it, and how sessions' stored
// entries become such things. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "http/auth.h"
#include "model/session_state.h"
#include "stream/hub.h"

namespace reprise::api {

enum class DevtoolsType : std::uint8_t {
  kSessionCreated,
  kSessionClosed,
  kSessionReset,
  kSessionResumed,
  kSessionDeleted,
  kMessage,
  kClientConnected,
  kClientDisconnected,
  kRequest,
  kDropped,
};
inline constexpr std::size_t kDevtoolsTypes = 10;
std::string_view word(DevtoolsType type);

struct Happening {
  DevtoolsType type = DevtoolsType::kRequest;
  TimePoint at;
  // What it is about; empty: none.
  std::string session;
  std::string app;
  std::string key;
  std::string members;  // further members of the JSON object, each with a comma before it
};

// The members every happening about a session has.
Happening happening_of(DevtoolsType type, TimePoint at, const model::SessionState& session);
// What entries of a session that have become durable tell: most of them nothing.
std::vector<Happening> happenings_of(const model::SessionState& session,
                                     const stream::Batch& batch);
// {"n":7,"at":"…","session":"…","app":"…","key":"…",…}
std::string devtools_json(std::uint64_t n, const Happening& happening);

// What a listener wants and may see.
struct DevtoolsFilter {
  std::array<bool, kDevtoolsTypes> types{};  // none set: all
  std::optional<std::string> app;
  std::optional<std::string> session;            // an id or a key
  std::optional<std::vector<std::string>> apps;  // a token's limit

  bool matches(const Happening& happening) const;
};

// "message,session.closed"; kBadParameter for a type that is not told.
Result<std::array<bool, kDevtoolsTypes>> parse_devtools_types(std::string_view text);

// The id of a frame: which start of the server, and the number since then.
struct DevtoolsId {
  std::string start;
  std::uint64_t n = 0;
};
std::string encode_devtools_id(std::string_view start, std::uint64_t n);
// kBadCursor.
Result<DevtoolsId> parse_devtools_id(std::string_view text);

}  // namespace reprise::api
