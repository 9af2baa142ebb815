// MetricsPage: metrics as text, in Prometheus' format.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace reprise::api {

class MetricsPage {
 public:
  void head(std::string_view name, std::string_view kind, std::string_view help) {
    fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, kind);
  }
  void value(std::string_view name, std::string_view labels, double number) {
    fmt::format_to(std::back_inserter(text), "{}{} {}\n", name, labels, number);
  }
  void counter(std::string_view name, std::string_view help, std::uint64_t number) {
    head(name, "counter", help);
    value(name, "", static_cast<double>(number));
  }
  void gauge(std::string_view name, std::string_view help, std::uint64_t number) {
    head(name, "gauge", help);
    value(name, "", static_cast<double>(number));
  }
  std::string text;
};

}  // namespace reprise::api
