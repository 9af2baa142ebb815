#include "browser/download_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "browser/limits.h"
#include "wire/json.h"

namespace reprise::browser {

std::string download_name(std::string_view suggested) {
  std::string name;
  for (const char c : suggested) {
    const auto byte = static_cast<unsigned char>(c);
    name += byte < 0x20 || byte == 0x7f || c == '/' || c == '\\' ? '_' : c;
  }
  if (!wire::is_utf8(name))
    std::ranges::replace_if(
        name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '_');
  // A character is not cut in two.
  if (name.size() > kMaxDownloadNameBytes) name.resize(kMaxDownloadNameBytes);
  while (!name.empty() && !wire::is_utf8(name)) name.pop_back();
  const std::size_t first = name.find_first_not_of(" .");
  name = first == std::string::npos ? std::string() : name.substr(first);
  while (!name.empty() && (name.back() == ' ' || name.back() == '.')) name.pop_back();
  return name.empty() ? std::string("download") : name;
}

std::string download_path(std::string_view suggested, unsigned number) {
  std::string name = download_name(suggested);
  if (number > 1) {
    const std::size_t dot = name.rfind('.');
    name.insert(dot == std::string::npos ? name.size() : dot, fmt::format(" ({})", number));
  }
  return "downloads/" + name;
}

DownloadBook::DownloadBook(std::uint64_t max_bytes)
    : max_bytes_(std::min(max_bytes, kMaxDownloadBytes)) {}

DownloadBook::Step DownloadBook::take(const DownloadNews& news) {
  if (news.state == DownloadState::kBegun) return begin(news);
  if (news.state == DownloadState::kRefused) {
    ended(news.id, fmt::format("not downloaded: {}: too many go on in the browser",
                               download_name(news.suggested_name)));
    return Step::kNothing;
  }
  const auto found = going_.find(news.id);
  if (found == going_.end()) return Step::kNothing;
  Going& going = found->second;
  if (news.state == DownloadState::kCancelled) {
    const std::string why = going.refused.empty() ? "it did not come to its end" : going.refused;
    ended(news.id, fmt::format("not downloaded: {}: {}", download_name(going.name), why));
    return Step::kNothing;
  }
  if (std::max(news.received_bytes, news.total_bytes) > max_bytes_)
    return refuse(going, fmt::format("it has more than {} bytes", max_bytes_));
  if (news.state == DownloadState::kGoing) return Step::kNothing;
  if (going.refused.empty()) return Step::kKeep;
  ended(news.id, fmt::format("not downloaded: {}: {}", download_name(going.name), going.refused));
  return Step::kNothing;
}

DownloadBook::Step DownloadBook::begin(const DownloadNews& news) {
  if (going_.contains(news.id)) return Step::kNothing;
  const bool has_room = going_.size() < kMaxDownloadsAtOnce;
  Going& going = going_[news.id];
  going = {.number = ++begun_, .name = news.suggested_name, .refused = {}};
  if (has_room) return Step::kNothing;
  return refuse(going, fmt::format("{} downloads go on already", kMaxDownloadsAtOnce));
}

DownloadBook::Step DownloadBook::refuse(Going& going, std::string why) {
  if (!going.refused.empty()) return Step::kNothing;
  going.refused = std::move(why);
  return Step::kCancel;
}

void DownloadBook::ended(const std::string& id, std::string note) {
  going_.erase(id);
  if (!note.empty() && notes_.size() < kMaxDownloadNotes) notes_.push_back(std::move(note));
}

bool DownloadBook::has_new(std::uint64_t since) const {
  return std::ranges::any_of(going_,
                             [&](const auto& entry) { return entry.second.number > since; });
}

std::string DownloadBook::name_of(const std::string& id) const {
  const auto found = going_.find(id);
  return found == going_.end() ? std::string() : found->second.name;
}

std::vector<std::string> DownloadBook::take_notes() {
  std::vector<std::string> notes = std::exchange(notes_, {});
  for (const auto& [id, going] : going_)
    if (going.refused.empty())
      notes.push_back(fmt::format("downloading: {}", download_name(going.name)));
  return notes;
}

}  // namespace reprise::browser
