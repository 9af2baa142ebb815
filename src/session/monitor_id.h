// A position in the monitor's feeds: one sequence number per feed, as one opaque text.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "session/keys.h"

namespace reprise::session {

struct MonitorId {
  std::array<Seq, kFeeds> heads{};
  friend bool operator==(const MonitorId&, const MonitorId&) = default;
};

std::string encode_monitor_id(const MonitorId& id);
Result<MonitorId> decode_monitor_id(std::string_view text);  // kBadCursor

}  // namespace reprise::session
