#include "model/redact_credentials.h"

#include <algorithm>
#include <string>

#include "base/bytes.h"

namespace reprise::model {
namespace {

constexpr std::size_t kMaxPortDigits = 5;
// How much of a long word is decoded: whole groups of four.
constexpr std::size_t kMostDecoded = 512;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_number(std::string_view text) { return std::ranges::all_of(text, is_digit); }

}  // namespace

bool is_user_option(std::string_view option) {
  return option == "-u" || option == "-U" || option == "--user" || option == "--proxy-user";
}

bool is_user_and_password(std::string_view value, bool is_of_curl) {
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos || colon + 1 == value.size()) return false;
  const std::string_view user = value.substr(0, colon);
  const std::string_view password = value.substr(colon + 1);
  // An address of the web or a path of Windows.
  if (password.starts_with("//") || (user.size() == 1 && password.starts_with('\\'))) return false;
  if (is_of_curl) return true;
  const bool is_group = user == password || (is_number(user) && is_number(password));
  const bool is_port = user.empty() || user.contains('.') || user == "localhost";
  return !is_group && !(is_port && is_number(password) && password.size() <= kMaxPortDigits);
}

bool is_basic_credentials(std::string_view text) {
  while (text.ends_with('=') || text.ends_with('.')) text.remove_suffix(1);
  std::string url_form(text.substr(0, kMostDecoded));
  std::ranges::replace(url_form, '+', '-');
  std::ranges::replace(url_form, '/', '_');
  const auto bytes = from_base64url(url_form);
  return bytes && bytes->contains(':') &&
         std::ranges::all_of(*bytes, [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_version(std::string_view value) {
  constexpr std::size_t kMaxVersionBytes = 16;
  if (value.starts_with('^') || value.starts_with('~')) value.remove_prefix(1);
  return value.size() <= kMaxVersionBytes && std::ranges::count(value, '.') == 2 &&
         std::ranges::all_of(value, [](char c) { return is_digit(c) || c == '.'; }) &&
         !value.starts_with('.') && !value.ends_with('.') && !value.contains("..");
}

}  // namespace reprise::model
