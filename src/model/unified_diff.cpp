// The shortest edit script by Myers' algorithm ("An O(ND) Difference Algorithm and Its Variations",
// 1986): the furthest point on each diagonal after d edits, kept for every d so that the way back
// can be walked. At most kMaxDiffEdits edits are looked for, so the effort and the memory (the
// square of it, a few megabytes) are bounded whatever the texts are.
#include "model/unified_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/limits.h"
#include "wire/json.h"

namespace reprise::model {
namespace {

constexpr int kContext = 3;

using Lines = std::vector<std::string_view>;

// Each with its newline; the last one perhaps without.
Lines split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

enum class Step : std::uint8_t { kKeep, kRemove, kAdd };

// Diagonals are counted from both sides of 0, places in a row from 0 on.
std::size_t index(int place) { return static_cast<std::size_t>(place); }

// The edits that turn `before` into `after`, in order; none if they are too many.
std::optional<std::vector<Step>> edit_script(const Lines& before, const Lines& after) {
  const int n = static_cast<int>(before.size());
  const int m = static_cast<int>(after.size());
  const int most = std::min(n + m, static_cast<int>(kMaxDiffEdits));
  // reached[d][k + d]: how far into `before` d edits lead on diagonal k.
  std::vector<std::vector<int>> reached;
  int edits = -1;
  for (int d = 0; d <= most && edits < 0; ++d) {
    std::vector<int> row(2 * index(d) + 1, 0);
    const auto previous = [&](int k) { return reached.back()[index(k + d - 1)]; };
    for (int k = -d; k <= d; k += 2) {
      int x = 0;
      if (d > 0) {
        const bool goes_down = k == -d || (k != d && previous(k - 1) < previous(k + 1));
        x = goes_down ? previous(k + 1) : previous(k - 1) + 1;
      }
      while (x < n && x - k < m && before[index(x)] == after[index(x - k)]) ++x;
      row[index(k + d)] = x;
      if (k == n - m && x >= n) {
        edits = d;
        break;
      }
    }
    reached.push_back(std::move(row));
  }
  if (edits < 0) return std::nullopt;

  std::vector<Step> backwards;
  int x = n;
  int y = m;
  for (int d = edits; d > 0; --d) {
    const auto previous = [&](int k) { return reached[index(d - 1)][index(k + d - 1)]; };
    const int k = x - y;
    const bool goes_down = k == -d || (k != d && previous(k - 1) < previous(k + 1));
    const int from_k = goes_down ? k + 1 : k - 1;
    const int from_x = previous(from_k);
    const int from_y = from_x - from_k;
    const int edited_x = goes_down ? from_x : from_x + 1;
    for (; x > edited_x; --x) backwards.push_back(Step::kKeep);
    backwards.push_back(goes_down ? Step::kAdd : Step::kRemove);
    x = from_x;
    y = from_y;
  }
  for (; x > 0; --x) backwards.push_back(Step::kKeep);
  std::reverse(backwards.begin(), backwards.end());
  return backwards;
}

void append_line(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

// "12", "12,3" or, for nothing, the line before it: as diff -u says it.
std::string place(std::size_t first, std::size_t count) {
  if (count == 1) return fmt::format("{}", first + 1);
  return fmt::format("{},{}", count == 0 ? first : first + 1, count);
}

// The parts of the script that have changes, with their context.
struct Hunk {
  std::size_t begin;  // steps
  std::size_t end;
};

std::vector<Hunk> hunks_of(const std::vector<Step>& steps) {
  std::vector<Hunk> hunks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == Step::kKeep) continue;
    const std::size_t begin = i < kContext ? 0 : i - kContext;
    const std::size_t end = std::min(steps.size(), i + 1 + kContext);
    if (!hunks.empty() && begin <= hunks.back().end)
      hunks.back().end = end;
    else
      hunks.push_back({begin, end});
  }
  return hunks;
}

}  // namespace

std::optional<std::string> unified_diff(std::string_view before, std::string_view after,
                                        std::string_view name) {
  if (before == after) return std::string();
  for (const std::string_view text : {before, after})
    if (text.size() > kMaxDiffedBytes || text.find('\0') != std::string_view::npos ||
        !wire::is_utf8(text))
      return std::nullopt;
  const Lines old_lines = split(before);
  const Lines new_lines = split(after);
  if (old_lines.size() > kMaxDiffedLines || new_lines.size() > kMaxDiffedLines) return std::nullopt;
  const auto steps = edit_script(old_lines, new_lines);
  if (!steps) return std::nullopt;

  std::string out = fmt::format("--- a/{0}\n+++ b/{0}\n", name);
  std::size_t at = 0;  // steps passed
  std::size_t old_line = 0;
  std::size_t new_line = 0;
  for (const Hunk& hunk : hunks_of(*steps)) {
    for (; at < hunk.begin; ++at, ++old_line, ++new_line) {
    }
    std::string body;
    const std::size_t old_begin = old_line;
    const std::size_t new_begin = new_line;
    for (; at < hunk.end; ++at) {
      const Step step = (*steps)[at];
      if (step == Step::kAdd)
        append_line(body, '+', new_lines[new_line++]);
      else
        append_line(body, step == Step::kKeep ? ' ' : '-', old_lines[old_line++]);
      if (step == Step::kKeep) ++new_line;
    }
    out += fmt::format("@@ -{} +{} @@\n", place(old_begin, old_line - old_begin),
                       place(new_begin, new_line - new_begin));
    out += body;
    if (out.size() > kMaxDiffBytes) return std::nullopt;
  }
  return out;
}

}  // namespace reprise::model
