// The log facade: structured lines on standard error, as text or JSON.
//
//     log::info("session created", {{"session", id.to_string()}, {"app", app}});
//
// Values must not hold secrets: what a client sent is never logged, only names, ids, counts and
// codes. Threads: every function may be called from any thread after configure().
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace reprise::log {

enum class Level { kDebug, kInfo, kWarning, kError, kOff };
enum class Format { kText, kJson };

struct Field {
  std::string_view name;
  std::string value;
  Field(std::string_view field_name, std::string field_value)
      : name(field_name), value(std::move(field_value)) {}
  Field(std::string_view field_name, std::string_view field_value)
      : name(field_name), value(field_value) {}
  Field(std::string_view field_name, const char* field_value)
      : name(field_name), value(field_value) {}
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  Field(std::string_view field_name, Number number)
      : name(field_name), value(std::to_string(number)) {}
};

void configure(Level level, Format format);
bool is_enabled(Level level);
void write(Level level, std::string_view message, std::initializer_list<Field> fields);

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  if (is_enabled(Level::kDebug)) write(Level::kDebug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
  if (is_enabled(Level::kInfo)) write(Level::kInfo, message, fields);
}
inline void warning(std::string_view message, std::initializer_list<Field> fields = {}) {
  if (is_enabled(Level::kWarning)) write(Level::kWarning, message, fields);
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
  if (is_enabled(Level::kError)) write(Level::kError, message, fields);
}

}  // namespace reprise::log
