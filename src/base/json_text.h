// Writing JSON by hand: envelopes are small and fixed, so they are appended as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise {

// A JSON string with its quotes. Text that is not UTF-8 has its bad bytes replaced by U+FFFD: what
// we write is always valid JSON.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

void append_number(std::string& out, std::uint64_t value);
void append_number(std::string& out, std::int64_t value);

}  // namespace reprise
