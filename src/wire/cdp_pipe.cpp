#include "wire/cdp_pipe.h"

#include "base/assert.h"

namespace reprise::wire {

std::vector<std::string> CdpPipeDecoder::feed(std::string_view bytes) {
  std::vector<std::string> messages;
  while (!bytes.empty() && !has_overflowed_) {
    const std::size_t end = bytes.find('\0');
    const std::string_view piece = bytes.substr(0, end);
    if (partial_.size() + piece.size() > max_message_bytes_) {
      has_overflowed_ = true;
      // Swapped, because assigning an empty string keeps the memory.
      std::string().swap(partial_);
      break;
    }
    partial_.append(piece);
    if (end == std::string_view::npos) break;
    messages.push_back(std::move(partial_));
    partial_ = std::string();
    bytes.remove_prefix(end + 1);
  }
  return messages;
}

void append_cdp_pipe_message(std::string& out, std::string_view message) {
  REPRISE_ASSERT(message.find('\0') == std::string_view::npos);
  out += message;
  out += '\0';
}

}  // namespace reprise::wire
