#include "resp_reader.h"

#include <algorithm>
#include <cstdlib>

namespace reprise::load {
namespace {

// An entry id, `1700000000000-12`, fits in this; payloads are longer and only counted.
constexpr std::int64_t kMaxKeptBulk = 41;

bool looks_like_entry_id(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos || dash == 0 || dash + 1 == text.size()) return false;
  return text.find_first_not_of("0123456789-") == std::string_view::npos;
}

}  // namespace

void put_command(std::string& out, std::initializer_list<std::string_view> words) {
  out += '*';
  out += std::to_string(words.size());
  out += "\r\n";
  for (const auto word : words) {
    out += '$';
    out += std::to_string(word.size());
    out += "\r\n";
    out += word;
    out += "\r\n";
  }
}

void RespReader::finish_value() {
  while (depth_ > 0) {
    if (depth_ == 1) ++elements_;
    if (--open_[depth_ - 1] > 0) return;
    --depth_;
  }
  ++completed_;
}

void RespReader::take_line() {
  const char kind = line_.empty() ? '\0' : line_[0];
  const auto number = line_.size() > 1 ? std::strtoll(line_.c_str() + 1, nullptr, 10) : 0;
  if (kind == '-') {
    ++errors_;
    if (first_error_.empty()) first_error_ = line_;
    finish_value();
  } else if (kind == '$' && number >= 0) {
    skip_ = number + 2;
    keep_bulk_ = number <= kMaxKeptBulk;
    bulk_.clear();
  } else if (kind == '*' && number > 0 && depth_ < 8) {
    open_[depth_++] = static_cast<std::uint64_t>(number);
  } else {
    finish_value();
  }
  line_.clear();
}

void RespReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (skip_ > 0) {
      const auto part = std::min<std::size_t>(static_cast<std::size_t>(skip_), bytes.size());
      if (keep_bulk_) bulk_.append(bytes.substr(0, part));
      skip_ -= static_cast<std::int64_t>(part);
      bytes.remove_prefix(part);
      if (skip_ > 0) return;
      if (keep_bulk_) {
        bulk_.resize(bulk_.size() - 2);
        if (looks_like_entry_id(bulk_)) last_entry_id_.swap(bulk_);
      }
      finish_value();
      continue;
    }
    const auto end = bytes.find('\n');
    const auto taken = end == std::string_view::npos ? bytes.size() : end;
    line_.append(bytes.substr(0, taken));
    bytes.remove_prefix(std::min(taken + 1, bytes.size()));
    if (end == std::string_view::npos) return;
    if (line_.ends_with('\r')) line_.pop_back();
    take_line();
  }
}

}  // namespace reprise::load
