// Secrets in XML and HTML: <password>…</password>, <add key="ApiKey" value="…"/>.
//
// A tag is looked at when its < is reached, up to its > and never beyond the next <: every byte
// once. Its attributes are then read as assignments.
#include "model/redact_names.h"
#include "model/redact_text.h"

namespace reprise::model {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name_char(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || std::string_view("_-.:").contains(c);
}
bool is_space(char c) { return kSpaces.contains(c); }

// What these hold is shown to people: <label name="password">Password</label>.
bool is_caption(std::string_view element) {
  return element == "a" || element == "button" || element == "label" || element == "option";
}

}  // namespace

// Gives where the attribute that begins here ends.
std::size_t TextRedaction::look_at_attribute(std::size_t begin, bool& names_secret) const {
  std::size_t end = begin;
  while (is_name_char(at(end))) ++end;
  const std::string_view name = text_.substr(begin, end - begin);
  std::size_t value = end;
  while (value < text_.size() && is_space(text_[value])) ++value;
  if (at(value) != '=') return end;
  ++value;
  while (value < text_.size() && (is_space(text_[value]) || text_[value] == '\\')) ++value;
  const char quote = at(value) == '"' || at(value) == '\'' ? at(value) : '\0';
  if (quote != '\0') ++value;
  end = value;
  while (end < text_.size() && text_[end] != '<' && text_[end] != quote &&
         (quote != '\0' || (!is_space(text_[end]) && text_[end] != '>')))
    ++end;
  const std::string_view text = text_.substr(value, end - value);
  const bool is_password_input = name == "type" && normalised_name(text) == "password";
  names_secret = names_secret || is_password_input ||
                 ((is_naming(name) || name == "property") && redactor_.is_secret_name(text));
  return quote != '\0' && at(end) == quote ? end + 1 : end;
}

void TextRedaction::look_at_tag() {
  const std::size_t begin = position_ + 1;
  if (!is_letter(at(begin))) return;
  std::size_t end = begin;
  while (is_name_char(at(end))) ++end;
  const std::string_view element = text_.substr(begin, end - begin);
  bool names_secret = false;
  while (end < text_.size() && text_[end] != '>' && text_[end] != '<')
    end = is_letter(text_[end]) ? look_at_attribute(end, names_secret) : end + 1;
  if (at(end) != '>') return;
  if (names_secret) secret_tag_end_ = end;
  const std::string_view local = element.substr(element.rfind(':') + 1);
  if (text_[end - 1] == '/') return;
  if (redactor_.is_secret_name(local) || (names_secret && !is_caption(element))) {
    secret_content_ = end + 1;
    secret_element_ = element;
  }
}

// Text up to the end of its element; elements within are looked at by themselves. A <password>
// that is not closed is a word of a manual.
bool TextRedaction::take_content() {
  constexpr std::string_view kOpen = "<![CDATA[";
  constexpr std::string_view kClose = "]]>";
  const std::size_t begin = text_.find_first_not_of(kSpaces, position_);
  secret_content_ = std::string_view::npos;
  if (begin == std::string_view::npos) return false;
  if (text_.substr(begin).starts_with(kOpen)) {
    const std::size_t close = text_.find(kClose, begin + kOpen.size());
    replace(begin + kOpen.size(), close == std::string_view::npos ? text_.size() : close);
    return true;
  }
  std::size_t end = text_.find('<', begin);
  if (end == std::string_view::npos || end == begin || at(end + 1) != '/' ||
      !text_.substr(end + 2).starts_with(secret_element_))
    return false;
  end = text_.find_last_not_of(kSpaces, end - 1) + 1;
  if (is_literal(text_.substr(begin, end - begin))) return false;
  replace(begin, end);
  return true;
}

}  // namespace reprise::model
