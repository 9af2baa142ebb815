#include "stream/subscription/glob.h"

#include <vector>

namespace reprise::stream {
namespace {

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string_view literal_prefix(std::string_view pattern) {
  std::size_t end = 0;  // of the parts before the first star
  for (const std::string_view part : parts_of(pattern)) {
    // "a/**" is also "a" itself, so that the slash before a star does not count.
    if (part == "*" || part == "**") return pattern.substr(0, end > 0 ? end - 1 : 0);
    end += part.size() + 1;
  }
  return pattern;
}

// The last `**` is where to go back to when what follows does not match: never more than the
// product of the two lengths.
bool matches_glob(std::string_view pattern, std::string_view path) {
  const auto wanted = parts_of(pattern);
  const auto given = parts_of(path);
  std::size_t at = 0;
  std::size_t next = 0;
  std::size_t star = wanted.size();  // the last `**` seen, if any
  std::size_t resume = 0;
  while (next < given.size()) {
    if (at < wanted.size() && wanted[at] == "**") {
      star = at++;
      resume = next;
    } else if (at < wanted.size() && (wanted[at] == "*" || wanted[at] == given[next])) {
      ++at;
      ++next;
    } else if (star < wanted.size()) {
      at = star + 1;
      next = ++resume;
    } else {
      return false;
    }
  }
  while (at < wanted.size() && wanted[at] == "**") ++at;
  return at == wanted.size();
}

}  // namespace reprise::stream
