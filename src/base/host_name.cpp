#include "base/host_name.h"

#include <algorithm>
#include <cstddef>

namespace reprise {
namespace {

// RFC 1035, section 2.3.4.
constexpr std::size_t kMaxNameBytes = 253;
constexpr std::size_t kMaxLabelBytes = 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kMaxLabelBytes && std::ranges::all_of(label, [](char c) {
    return is_digit(c) || is_letter(c) || c == '-' || c == '_';
  });
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
  });
}

}  // namespace

bool is_number_label(std::string_view label) {
  if (label.starts_with("0x") || label.starts_with("0X"))
    return std::all_of(label.begin() + 2, label.end(), [](char c) {
      return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    });
  return std::ranges::all_of(label, is_digit);
}

bool is_host_name(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty() || host.size() > kMaxNameBytes) return false;
  for (;;) {
    const std::size_t dot = host.find('.');
    const std::string_view label = host.substr(0, dot);
    if (!is_label(label)) return false;
    if (dot == std::string_view::npos) return !is_number_label(label);
    host.remove_prefix(dot + 1);
  }
}

bool is_loopback_name(std::string_view host) {
  constexpr std::string_view kName = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < kName.size()) return false;
  const std::size_t start = host.size() - kName.size();
  return equals_ignoring_case(host.substr(start), kName) && (start == 0 || host[start - 1] == '.');
}

}  // namespace reprise
