#include "server/cli/line_reader.h"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace reprise::server::cli {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

// Appends what there is; 0 at the end.
Result<std::size_t> read_more(int descriptor, std::string& text) {
  const std::size_t before = text.size();
  text.resize(before + kReadBytes);
  for (;;) {
    const ssize_t count = ::read(descriptor, text.data() + before, kReadBytes);
    if (count < 0 && errno == EINTR) continue;
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count >= 0) return static_cast<std::size_t>(count);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc's strerror is safe
    return fail(Code::kIo, fmt::format("cannot read the input: {}", std::strerror(errno)));
  }
}

}  // namespace

bool LineReader::has_input() const {
  pollfd waiting{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, 0) > 0;
}

Result<> LineReader::fill() {
  REPRISE_TRY(const std::size_t count, read_more(descriptor_, rest_));
  if (count == 0) is_at_end_ = true;
  return {};
}

Result<std::vector<std::string>> LineReader::next(const LineBatchLimits& limits) {
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  std::size_t used = 0;  // of rest_; erased once, at the end
  while (lines.size() < limits.lines && bytes < limits.bytes) {
    std::size_t end = rest_.find('\n', std::max(used, searched_));
    if (end == std::string::npos) {
      searched_ = rest_.size();
      if (rest_.size() - used > limits.line_bytes)
        return fail(Code::kBodyTooLarge, fmt::format("line {} is longer than {} bytes",
                                                     line_number_ + 1, limits.line_bytes));
      if (!is_at_end_) {
        if (!lines.empty() && !has_input()) break;
        REPRISE_CHECK(fill());
        continue;
      }
      if (used == rest_.size()) break;
      end = rest_.size();
    }
    std::string line = rest_.substr(used, end - used);
    used = std::min(end + 1, rest_.size());
    ++line_number_;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    bytes += line.size();
    lines.push_back(std::move(line));
  }
  rest_.erase(0, used);
  searched_ = searched_ > used ? searched_ - used : 0;
  return lines;
}

Result<std::string> read_to_end(int descriptor, std::size_t max_bytes) {
  std::string text;
  for (;;) {
    REPRISE_TRY(const std::size_t count, read_more(descriptor, text));
    if (text.size() > max_bytes)
      return fail(Code::kBodyTooLarge, fmt::format("the input is larger than {} bytes", max_bytes));
    if (count == 0) return text;
  }
}

}  // namespace reprise::server::cli
