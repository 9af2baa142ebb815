// Lines from a descriptor, in batches: all that are there, but no waiting once there is one.
//
//     LineReader reader(STDIN_FILENO);
//     while (!reader.is_at_end()) { REPRISE_TRY(auto lines, reader.next(limits)); ... }
//
// So a file goes up in few large calls, and a program that prints a line now and then has each one
// delivered at once.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace reprise::server::cli {

struct LineBatchLimits {
  std::size_t lines = 500;
  std::size_t bytes = 1024 * 1024;           // a batch ends at the line that reaches it
  std::size_t line_bytes = 8 * 1024 * 1024;  // a longer line is an error
};

class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_(descriptor) {}

  // Waits for at least one line; empty at the end. Empty lines are left out, and so is the CR of a
  // CRLF. The last line needs no newline.
  Result<std::vector<std::string>> next(const LineBatchLimits& limits);
  bool is_at_end() const { return is_at_end_ && rest_.empty(); }
  // The number of the last line given, from 1 and with empty lines counted, for messages.
  std::size_t line_number() const { return line_number_; }

 private:
  Result<> fill();
  bool has_input() const;
  int descriptor_;
  std::string rest_;
  std::size_t searched_ = 0;  // no newline in rest_ before this
  bool is_at_end_ = false;
  std::size_t line_number_ = 0;
};

// Everything up to the end; kBodyTooLarge beyond `max_bytes`.
Result<std::string> read_to_end(int descriptor, std::size_t max_bytes);

}  // namespace reprise::server::cli
