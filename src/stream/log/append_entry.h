// One append to a log, as it is stored: its messages with their boundaries, or plain bytes.
//
//     varint   count     of messages; 0: plain bytes follow
//     varint   length    of each message
//     bytes              the messages with commas between them, or the plain bytes
//
// The commas make an append to a JSON log ready to stand between the brackets of an array.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace reprise::stream {

std::string encode_messages(const std::vector<std::string_view>& messages);
std::string encode_bytes(std::string_view bytes);

struct AppendView {
  std::vector<std::size_t> lengths;  // of the messages; empty: plain bytes
  std::string_view content;
};
// kCorrupt if it is not what the functions above made.
Result<AppendView> decode_append(std::string_view entry);
// The content alone.
Result<std::string_view> append_content(std::string_view entry);

// The first `count` messages, or bytes, of an append as an entry of its own. kBadParameter if it
// has fewer.
Result<std::string> first_part(std::string_view entry, std::uint64_t count);

}  // namespace reprise::stream
