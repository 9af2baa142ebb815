#include "browser/command_log.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/json_text.h"
#include "browser/limits.h"

namespace reprise::browser {
namespace {

// A document that is its own address says little by its end.
constexpr std::size_t kMaxDataUrlBytes = 128;

// The part of an address that says where, and not what.
std::string_view origin_of(std::string_view url) {
  const std::size_t scheme = url.find(':');
  if (scheme == std::string_view::npos) return {};
  if (!url.substr(scheme).starts_with("://")) return url.substr(0, scheme + 1);
  return url.substr(0, url.find_first_of("/?#", scheme + 3));
}

class Writing {
 public:
  Writing(const CommandLog& log, const model::Redactor& redactor)
      : log_(log), redactor_(redactor) {}

  std::string console() {
    return list(log_.part.console, log_.part.lost_messages, "console",
                [this](const ConsoleMessage& message) {
                  return fmt::format(R"({{"level":{},"text":{},"place":{}}})",
                                     json_string(message.level), said(message.text),
                                     address(message.place));
                });
  }

  std::string requests() {
    return list(
        log_.part.requests, log_.part.lost_requests, "requests", [this](const JournalRequest& one) {
          return fmt::format(R"({{"method":{},"url":{},"kind":{},"status":{},"type":{},"error":{},)"
                             R"("durationMs":{}}})",
                             json_string(one.method), address(one.url), json_string(one.kind),
                             one.status == 0 ? "null" : fmt::to_string(one.status),
                             one.type.empty() ? "null" : shown(one.type, kMaxLoggedTextBytes),
                             one.error.empty() ? "null" : shown(one.error, kMaxLoggedTextBytes),
                             one.duration ? fmt::to_string(one.duration->count()) : "null");
        });
  }

 private:
  // Secrets are looked for in the whole text: half of one may not look like one.
  std::string shown(std::string_view text, std::size_t max_bytes) const {
    return json_string(redactor_.text(text).cut_to(max_bytes).view());
  }
  std::string said(std::string_view text) const {
    return log_.hides_text ? json_string(model::kRedactedMark) : shown(text, kMaxLoggedTextBytes);
  }
  std::string address(std::string_view url) const {
    if (log_.hides_text)
      return shown(fmt::format("{}{}", origin_of(url), model::kRedactedMark), kMaxLoggedTextBytes);
    return shown(url, url.starts_with("data:") ? kMaxDataUrlBytes : kMaxLoggedTextBytes);
  }

  // The newest that there is room for, in their order.
  template <typename T, typename Write>
  static std::string list(const std::vector<T>& all, std::uint64_t lost, std::string_view name,
                          Write write) {
    std::vector<std::string> lines;
    std::size_t bytes = 0;
    for (auto one = all.rbegin(); one != all.rend(); ++one) {
      std::string line = write(*one);
      bytes += line.size() + 1;
      if (bytes > kMaxCommandLogBytes / 2) break;
      lines.push_back(std::move(line));
    }
    std::string json = fmt::format("\"{}\":[", name);
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
      json += fmt::format("{}{}", line == lines.rbegin() ? "" : ",", *line);
    return fmt::format("{}],\"{}Omitted\":{}", json, name, lost + all.size() - lines.size());
  }

  const CommandLog& log_;
  const model::Redactor& redactor_;
};

}  // namespace

JournalMark JournalMarks::of(const std::shared_ptr<Page>& page) const {
  for (const auto& [known, mark] : marks_)
    if (known.lock() == page) return mark;
  return {};
}

std::string command_log_json(const CommandLog& log, const model::Redactor& redactor) {
  Writing writing(log, redactor);
  return fmt::format("{{{},{}}}", writing.console(), writing.requests());
}

}  // namespace reprise::browser
