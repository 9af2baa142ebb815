// REPRISE_ASSERT(condition, values...): for what only our own bug can break. On in release: it
// prints the condition and the values and ends the process, because restarting is a tested path and
// running on is not.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace reprise {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const std::string& values);

namespace detail {
template <typename... Values>
std::string describe(const Values&... values) {
  std::string text;
  ((text += fmt::format(" {}", values)), ...);
  return text;
}
}  // namespace detail

}  // namespace reprise

#define REPRISE_ASSERT(condition, ...)                                       \
  do {                                                                       \
    if (!(condition)) [[unlikely]]                                           \
      ::reprise::assertion_failed(#condition, __FILE__, __LINE__,            \
                                  ::reprise::detail::describe(__VA_ARGS__)); \
  } while (false)
