// What a request to /v1/stream says, checked (inside src/api).
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "http/exchange.h"
#include "stream/log/commands.h"
#include "stream/log/offset.h"

namespace reprise::api {

inline constexpr std::string_view kLogPrefix = "/v1/stream/";
// Paths below it show sessions, and are for reading.
inline constexpr std::string_view kSessionLogs = "sessions/";

// The path behind /v1/stream/, decoded. kBadRequest for one that no stream may have: "." and ".."
// parts, control characters, more than kMaxLogPathBytes.
Result<std::string> log_path(const http::Exchange& exchange);

bool says_closed(const http::Exchange& exchange);  // Stream-Closed: true, in any case

Result<stream::CreateLog> read_create(http::Exchange& exchange);
Result<stream::AppendLog> read_append_log(http::Exchange& exchange);

enum class LiveMode : std::uint8_t { kNone, kLongPoll, kSse };
struct ReadLog {
  stream::ReadFrom from;
  LiveMode live = LiveMode::kNone;
  std::optional<std::uint64_t> cursor;
};
Result<ReadLog> read_read(const http::Exchange& exchange);

// Names an interval of time, so that caches may answer many waiting clients with one answer; above
// the one a client brought.
std::uint64_t live_cursor(TimePoint now, std::optional<std::uint64_t> brought);

}  // namespace reprise::api
