// Reading members of DevTools messages, where what is missing is simply not there.
#pragma once

#include <string>
#include <string_view>

#include "wire/json.h"

namespace reprise::browser::chromium {

inline std::string text_of(wire::JsonValue value, std::string_view name) {
  const auto member = value.find(name);
  return member ? member->as_string().value_or("") : "";
}

inline int number_of(wire::JsonValue value, std::string_view name) {
  const auto member = value.find(name);
  return member ? static_cast<int>(member->as_double().value_or(0)) : 0;
}

inline bool is_set(wire::JsonValue value, std::string_view name) {
  const auto member = value.find(name);
  return member && member->as_bool().value_or(false);
}

}  // namespace reprise::browser::chromium
