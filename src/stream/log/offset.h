// Offsets: where a reader of a log stands, as clients see and send it.
//
// An offset is the number of the last append before it, sixteen digits, and sixteen zeros: opaque
// to clients, and their byte order is their order in the log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"

namespace reprise::stream {

// The largest number that has sixteen digits.
inline constexpr std::uint64_t kMaxOffset = 9'999'999'999'999'999;

std::string offset_text(Seq after);
void append_offset(std::string& out, Seq after);

// What a client may ask for: an offset, "-1" (the start) or "now" (the tail).
struct ReadFrom {
  Seq after;
  bool is_tail = false;
};
// kBadParameter for anything else.
Result<ReadFrom> parse_read_from(std::string_view text);
// An offset alone.
Result<Seq> parse_offset(std::string_view text);

}  // namespace reprise::stream
