// Input: bytes from a descriptor such as a terminal or a pipe, as they come.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "rt/real_loop.h"

namespace reprise::rt {

// Calls `on_bytes` on the loop for what can be read, with empty bytes once at the end, for as long
// as it lives; it may be destroyed from within the call. The descriptor stays as it is: others who
// share it (the shell has the same terminal) do not notice that it is waited for.
class Input {
 public:
  Input(RealLoop& loop, int descriptor, std::function<void(std::string_view)> on_bytes);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace reprise::rt
