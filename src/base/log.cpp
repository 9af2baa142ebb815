#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>

#include "base/json_text.h"
#include "base/time.h"

namespace reprise::log {
namespace {

std::atomic<Level> configured_level{Level::kInfo};
std::atomic<Format> configured_format{Format::kText};

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("reprise",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

std::string_view level_name(Level level) {
  switch (level) {
    case Level::kDebug: return "debug";
    case Level::kInfo: return "info";
    case Level::kWarning: return "warning";
    case Level::kError: return "error";
    case Level::kOff: return "off";
  }
  return "off";
}

// A text value stands bare when it is one plain word and is quoted as JSON otherwise, so that a
// line can be split again and a newline in a value cannot forge a second line.
void append_text_value(std::string& line, std::string_view value) {
  const bool is_plain = !value.empty() && value.find_first_of(" \"=\\") == std::string_view::npos &&
                        std::none_of(value.begin(), value.end(), [](char c) {
                          return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                        });
  if (is_plain)
    line += value;
  else
    append_json_string(line, value);
}

}  // namespace

void configure(Level level, Format format) {
  configured_level = level;
  configured_format = format;
}

bool is_enabled(Level level) { return level >= configured_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  std::string line;
  const std::string at = format_time(SystemClock{}.now());
  if (configured_format.load(std::memory_order_relaxed) == Format::kJson) {
    line =
        "{\"at\":\"" + at + "\",\"level\":\"" + std::string(level_name(level)) + "\",\"message\":";
    append_json_string(line, message);
    for (const Field& field : fields) {
      line += ',';
      append_json_string(line, field.name);
      line += ':';
      append_json_string(line, field.value);
    }
    line += '}';
  } else {
    line = at + ' ' + std::string(level_name(level)) + ' ';
    line += message;
    for (const Field& field : fields) {
      line += ' ';
      line += field.name;
      line += '=';
      append_text_value(line, field.value);
    }
  }
  logger().info(line);
}

}  // namespace reprise::log
