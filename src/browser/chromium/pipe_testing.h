// The browser's end of the pipe, played by a test. Included by tests only.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "rt/socket.h"
#include "rt/task.h"

namespace reprise::browser::chromium::testing {

struct Peer {
  explicit Peer(rt::Socket& end) : socket(end) {}
  // What it was told next; empty: nothing any more.
  rt::Task<std::string> next() {
    for (;;) {
      if (const auto end = bytes.find('\0'); end != std::string::npos) {
        std::string message = bytes.substr(0, end);
        bytes.erase(0, end + 1);
        co_return message;
      }
      std::array<char, 4096> buffer;
      const auto count = co_await socket.read_some(buffer);
      if (!count || *count == 0) co_return std::string();
      bytes.append(buffer.data(), *count);
    }
  }
  rt::Task<> say(std::string message) {
    message += '\0';
    (void)co_await socket.write(message);
  }
  rt::Socket& socket;
  std::string bytes;
};

}  // namespace reprise::browser::chromium::testing
