// A person's terminal: keys at once and without echo while a question is open, and as it was
// otherwise.
#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <string_view>

#include "server/cli/outcome.h"

namespace reprise::server::cli {

// Whether standard input and output are both one.
bool is_terminal_attached();

class RawMode {
 public:
  RawMode() = default;
  ~RawMode() { leave(); }
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;

  // Ctrl-C still is a signal. Both may be called when nothing is to do.
  void enter();
  void leave();

 private:
  std::optional<termios> before_;
};

// Text that scrolls, and below it a few lines that are drawn anew.
class Screen {
 public:
  // Above the drawn lines. Ends with a newline, or is empty.
  Outcome<> print(std::string_view text);
  // Replaces what was drawn; empty: takes it away.
  Outcome<> draw(std::string lines);

 private:
  std::string erased() const;
  std::string drawn_;
};

}  // namespace reprise::server::cli
