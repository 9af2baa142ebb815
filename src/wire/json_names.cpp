#include "wire/json_names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace reprise::wire {
namespace {

constexpr std::uint32_t kFewNames = 8;
constexpr std::size_t kLongProbe = 48;

std::string_view inner_text(std::string_view text, const JsonToken& name) {
  return text.substr(name.start + 1, name.end - name.start - 2);
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t hash_name(std::string_view name) {
  constexpr std::uint64_t kFirst = 0x9e3779b97f4a7c15;
  constexpr std::uint64_t kSecond = 0xd6e8feb86659fd93;
  std::uint64_t hash = mix(name.size() + kFirst, kSecond);
  while (name.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, name.data(), 8);
    hash = mix(hash ^ word, kSecond);
    name.remove_prefix(8);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, name.data(), name.size());
  return mix(hash ^ word, kFirst);
}

}  // namespace

std::optional<std::uint32_t> DuplicateNames::find(std::string_view text,
                                                  const std::vector<JsonToken>& tokens,
                                                  std::uint32_t object) {
  const std::uint32_t count = tokens[object].count();
  if (count > kFewNames) {
    collect(text, tokens, object);
    return find_by_hash();
  }
  std::array<std::string_view, kFewNames> names;
  std::uint32_t name = object + 1;
  for (std::uint32_t i = 0; i < count; ++i, name = tokens[name + 1].next) {
    if (tokens[name].has_escapes()) {
      collect(text, tokens, object);
      return find_by_sorting();
    }
    names[i] = inner_text(text, tokens[name]);
    for (std::uint32_t j = 0; j < i; ++j)
      if (names[j] == names[i]) return name;
  }
  return std::nullopt;
}

void DuplicateNames::collect(std::string_view text, const std::vector<JsonToken>& tokens,
                             std::uint32_t object) {
  const std::uint32_t count = tokens[object].count();
  names_.clear();
  unescaped_.clear();
  // Unescaping never lengthens a name, so this much room keeps the views into it valid.
  std::size_t room = 0;
  std::uint32_t name = object + 1;
  for (std::uint32_t i = 0; i < count; ++i, name = tokens[name + 1].next)
    if (tokens[name].has_escapes()) room += tokens[name].end - tokens[name].start;
  unescaped_.reserve(room);
  names_.reserve(count);
  name = object + 1;
  for (std::uint32_t i = 0; i < count; ++i, name = tokens[name + 1].next) {
    std::string_view name_text = inner_text(text, tokens[name]);
    if (tokens[name].has_escapes()) {
      const std::size_t from = unescaped_.size();
      append_unescaped(unescaped_, name_text);
      name_text = std::string_view(unescaped_).substr(from);
    }
    names_.push_back({name_text, name});
  }
}

std::optional<std::uint32_t> DuplicateNames::find_by_hash() {
  const std::size_t size = std::bit_ceil(names_.size() * 2);
  slots_.assign(size, 0);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const std::uint64_t hash = hash_name(names_[i].text);
    const std::uint64_t high = hash & 0xffffffff00000000;
    std::size_t at = hash & (size - 1);
    for (std::size_t probes = 0; slots_[at] != 0; at = (at + 1) & (size - 1)) {
      if ((slots_[at] & 0xffffffff00000000) == high &&
          names_[(slots_[at] & 0xffffffff) - 1].text == names_[i].text)
        return names_[i].token;
      if (++probes > kLongProbe) return find_by_sorting();
    }
    slots_[at] = high | (i + 1);
  }
  return std::nullopt;
}

std::optional<std::uint32_t> DuplicateNames::find_by_sorting() {
  std::sort(names_.begin(), names_.end(), [](const Name& a, const Name& b) {
    if (a.text.size() != b.text.size()) return a.text.size() < b.text.size();
    const int order = a.text.compare(b.text);
    return order != 0 ? order < 0 : a.token < b.token;
  });
  std::optional<std::uint32_t> first;
  for (std::size_t i = 1; i < names_.size(); ++i)
    if (names_[i].text == names_[i - 1].text)
      first = std::min(first.value_or(UINT32_MAX), names_[i].token);
  return first;
}

}  // namespace reprise::wire
