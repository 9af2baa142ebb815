// The framing of Chromium's --remote-debugging-pipe: each message ends with a NUL.
//
//     CdpPipeDecoder decoder;
//     for (std::string& message : decoder.feed(bytes)) …
//
// Every byte is looked at once and copied once, whatever the pieces it arrives in. Threads: one at
// a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "wire/limits.h"

namespace reprise::wire {

class CdpPipeDecoder {
 public:
  explicit CdpPipeDecoder(std::size_t max_message_bytes = kMaxCdpMessageBytes)
      : max_message_bytes_(max_message_bytes) {}

  // The messages that these bytes complete, in their order. After a message that is too long
  // nothing is read any more: the browser must be given up.
  std::vector<std::string> feed(std::string_view bytes);
  bool has_overflowed() const { return has_overflowed_; }
  // What is held of a message that has not ended.
  std::size_t buffered_bytes() const { return partial_.size(); }

 private:
  std::size_t max_message_bytes_;
  std::string partial_;
  bool has_overflowed_ = false;
};

// Appends the message and its NUL. A message that holds a NUL is no JSON (REPRISE_ASSERT).
void append_cdp_pipe_message(std::string& out, std::string_view message);

}  // namespace reprise::wire
