#include "wire/headers.h"

#include <algorithm>

namespace reprise::wire {
namespace {

// Most messages have fewer and shorter ones.
constexpr std::size_t kUsualHeaders = 8;
constexpr std::size_t kUsualBytes = 240;
constexpr std::string_view kBetween = ": ";
constexpr std::string_view kBehind = "\r\n";

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

Header Headers::at(std::size_t index) const {
  const Place& place = places_[index];
  const std::string_view text = text_;
  return {text.substr(place.start, place.name_size),
          text.substr(place.start + place.name_size + kBetween.size(), place.value_size)};
}

std::optional<std::string_view> Headers::get(std::string_view lower_name) const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].name_size != lower_name.size()) continue;
    const Header header = at(i);
    if (header.name == lower_name) return header.value;
  }
  return std::nullopt;
}

std::size_t Headers::count(std::string_view lower_name) const {
  return static_cast<std::size_t>(std::count_if(
      begin(), end(), [&](const Header& header) { return header.name == lower_name; }));
}

void Headers::add(std::string_view name, std::string_view value) {
  value = trimmed(value);
  if (places_.empty()) {
    text_.reserve(kUsualBytes);
    places_.reserve(kUsualHeaders);
  }
  const std::size_t start = text_.size();
  places_.push_back({static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(name.size()),
                     static_cast<std::uint32_t>(value.size())});
  text_ += name;
  for (std::size_t i = start; i < text_.size(); ++i)
    if (text_[i] >= 'A' && text_[i] <= 'Z') text_[i] = static_cast<char>(text_[i] + 32);
  text_ += kBetween;
  text_ += value;
  text_ += kBehind;
}

void Headers::clear() {
  text_.clear();
  places_.clear();
}

}  // namespace reprise::wire
