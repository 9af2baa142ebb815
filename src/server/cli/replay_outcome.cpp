#include "server/cli/replay_outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/json_text.h"
#include "model/redact.h"
#include "wire/json.h"

namespace reprise::server::cli {
namespace {

// A capture is cut at 64 KiB: what is about as long may lack its end.
constexpr std::size_t kWholeSnapshotBytes = 60 * 1024;
// Lines that are told of on each side; the rest is counted.
constexpr std::size_t kToldLines = 5;

// `button "Save"`, from behind the dash of a line; empty: a text or a property.
std::string role_and_name(std::string_view line) {
  const bool is_quoted = line.starts_with('\'');
  if (is_quoted) line.remove_prefix(1);
  const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  const std::string_view role = line.substr(0, end);
  if (role.empty() || role == "generic") return {};
  const std::string_view rest = end == std::string_view::npos ? "" : line.substr(end);
  if (role == "text" && rest.starts_with(':')) return {};
  if (!rest.starts_with(" \"")) return std::string(role);
  std::size_t close = 2;
  while (close < rest.size() && rest[close] != '"') close += rest[close] == '\\' ? 2 : 1;
  std::string name(rest.substr(1, close));
  // YAML doubles an apostrophe in apostrophes.
  for (std::size_t at = 0; is_quoted && (at = name.find("''", at)) != std::string::npos; ++at)
    name.erase(at, 1);
  return fmt::format("{} {}", role, name);
}

std::string element_text(const std::string& json) {
  const auto element = wire::parse_json(json);
  if (!element) return {};
  const std::string role = text_member(element->root(), "role");
  if (role.empty()) return {};
  return fmt::format("{} {}", role, json_string(text_member(element->root(), "name")));
}

// What is in one list more often than in the other.
std::vector<std::string> only_in(std::vector<std::string> one, std::vector<std::string> other) {
  std::ranges::sort(one);
  std::ranges::sort(other);
  std::vector<std::string> left;
  std::ranges::set_difference(one, other, std::back_inserter(left));
  return left;
}

std::string listed(const std::vector<std::string>& lines) {
  const std::size_t told = std::min(lines.size(), kToldLines);
  std::string text = fmt::format(
      "{}", fmt::join(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(told), ", "));
  if (lines.size() > told) text += fmt::format(" and {} more", lines.size() - told);
  return text;
}

void compare_snapshots(std::vector<Difference>& told, const std::string& before,
                       const std::string& now) {
  if (std::max(before.size(), now.size()) >= kWholeSnapshotBytes) return;
  const auto were = roles_and_names(before);
  const auto are = roles_and_names(now);
  const auto gone = only_in(were, are);
  const auto come = only_in(are, were);
  if (gone.empty() && come.empty()) return;
  std::string words = "shows";
  if (!come.empty()) words += ' ' + listed(come);
  if (!gone.empty()) words += (come.empty() ? " no " : ", and no ") + listed(gone);
  told.push_back({.kind = "snapshot",
                  .recorded = listed(gone),
                  .replayed = listed(come),
                  .words = std::move(words)});
}

// What was redacted compares with nothing.
bool is_other(const std::optional<std::string>& before, const std::string& now) {
  return before && before->find(model::kRedactedMark) == std::string::npos && *before != now;
}

}  // namespace

std::vector<std::string> roles_and_names(std::string_view snapshot) {
  std::vector<std::string> lines;
  while (!snapshot.empty()) {
    const std::size_t end = std::min(snapshot.find('\n'), snapshot.size());
    std::string_view line = snapshot.substr(0, end);
    snapshot.remove_prefix(std::min(end + 1, snapshot.size()));
    const std::size_t dash = line.find_first_not_of(' ');
    if (dash == std::string_view::npos || !line.substr(dash).starts_with("- ")) continue;
    if (std::string said = role_and_name(line.substr(dash + 2)); !said.empty())
      lines.push_back(std::move(said));
  }
  return lines;
}

std::vector<Difference> differences(const RecordedCommand& recorded,
                                    const ReplayedCommand& replayed,
                                    const std::optional<std::string>& snapshot) {
  std::vector<Difference> told;
  if (recorded.is_ok != replayed.is_ok) {
    told.push_back(
        {.kind = "outcome",
         .recorded = recorded.is_ok ? "ok" : recorded.error_code,
         .replayed = replayed.is_ok ? "ok" : replayed.error_code,
         .words = recorded.is_ok
                      ? fmt::format("failed with {} ({})", replayed.error_code, replayed.error)
                      : fmt::format("succeeded, where it failed with {}", recorded.error_code)});
    return told;
  }
  // What failed in the protocol's words has no code of a tool.
  const bool is_comparable = recorded.source != "cdp";
  if (!recorded.is_ok && is_comparable && recorded.error_code != replayed.error_code)
    told.push_back({.kind = "error",
                    .recorded = recorded.error_code,
                    .replayed = replayed.error_code,
                    .words = fmt::format("failed with {} instead of {}", replayed.error_code,
                                         recorded.error_code)});
  if (is_other(recorded.url, replayed.url))
    told.push_back({.kind = "url",
                    .recorded = *recorded.url,
                    .replayed = replayed.url,
                    .words = fmt::format("is at {} instead of {}", replayed.url, *recorded.url)});
  if (is_other(recorded.title, replayed.title))
    told.push_back(
        {.kind = "title",
         .recorded = *recorded.title,
         .replayed = replayed.title,
         .words = fmt::format("has the title {} instead of {}", json_string(replayed.title),
                              json_string(*recorded.title))});
  const std::string was = element_text(recorded.target);
  const std::string is = element_text(replayed.target);
  if (!was.empty() && !is.empty() && was != is)
    told.push_back({.kind = "element",
                    .recorded = was,
                    .replayed = is,
                    .words = fmt::format("acted on {} instead of {}", is, was)});
  if (snapshot && replayed.snapshot) compare_snapshots(told, *snapshot, *replayed.snapshot);
  return told;
}

}  // namespace reprise::server::cli
