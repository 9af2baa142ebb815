// The Range header (RFC 9110 section 14): which bytes of a representation are asked for; and entity
// tags (section 8.8.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise::wire {

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  // inclusive
  std::uint64_t length() const { return last - first + 1; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct RangeAnswer {
  enum class Kind : std::uint8_t {
    kWhole,          // no range, one that does not parse, or several: they are ignored
    kPart,           // 206
    kUnsatisfiable,  // 416
  };
  Kind kind = Kind::kWhole;
  ByteRange range;
};

// What a header asks of `size` bytes.
RangeAnswer parse_range(std::string_view header, std::uint64_t size);

// Whether a list of entity tags (`"a", W/"b"`, or `*`) names this one, which is given with its
// quotes. Weak ones match only if `is_weak_comparison`.
bool names_etag(std::string_view list, std::string_view etag, bool is_weak_comparison);

}  // namespace reprise::wire
