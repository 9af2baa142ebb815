#include "server/cli/attach_terminal.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace reprise::server::cli {

bool is_terminal_attached() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

void RawMode::enter() {
  termios mode{};
  if (before_ || ::tcgetattr(STDIN_FILENO, &mode) != 0) return;
  before_ = mode;
  mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  // Stopped with Ctrl-Z, it would leave the shell a terminal that shows nothing.
  mode.c_cc[VSUSP] = _POSIX_VDISABLE;
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
}

void RawMode::leave() {
  if (!before_) return;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
  before_.reset();
}

// Back to the first of the drawn lines, and everything from there on away.
std::string Screen::erased() const {
  if (drawn_.empty()) return {};
  const auto up = std::count(drawn_.begin(), drawn_.end(), '\n');
  return up == 0 ? "\r\x1b[J" : fmt::format("\r\x1b[{}A\x1b[J", up);
}

Outcome<> Screen::print(std::string_view text) {
  if (text.empty()) return {};
  return cli::print(fmt::format("{}{}{}", erased(), text, drawn_));
}

Outcome<> Screen::draw(std::string lines) {
  const std::string bytes = erased() + lines;
  drawn_ = std::move(lines);
  return bytes.empty() ? Outcome<>{} : cli::print(bytes);
}

}  // namespace reprise::server::cli
