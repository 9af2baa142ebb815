#include "browser/frame_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/json_text.h"
#include "browser/limits.h"
#include "wire/json.h"

namespace reprise::browser {
namespace {

constexpr std::string_view kPart = "frame=";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Behind a text in quotes that begins at `at`; `at` itself if it does not end.
std::size_t behind_quotes(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text[at])
      return i + 1;
  }
  return at;
}

// Where the first ">>" outside of quotes is, as page/resolve.js reads it; npos: there is none.
std::size_t end_of_part(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const bool is_quote = text[i] == '"' || text[i] == '\'';
    const std::size_t next = is_quote ? behind_quotes(text, i) : i;
    if (next != i) {
      i = next;
      continue;
    }
    if (text.substr(i).starts_with(">>")) return i;
    ++i;
  }
  return std::string_view::npos;
}

std::unexpected<Error> invalid_selector(std::string_view selector, std::string_view what) {
  return fail(Code::kToolFailed,
              fmt::format("invalid: the selector {} {}", json_string(selector), what));
}

std::string query_of(std::string_view selector) {
  return fmt::format(R"({{"selector":{}}})", json_string(selector));
}

constexpr const char* kResolve = "(api, query) => api.resolve(query)";

bool is_not_there(const Error& error) {
  return error.code == Code::kToolFailed && error.detail.starts_with("not_found:");
}
// The document went while it was asked.
bool is_gone(const Error& error) {
  return error.code == Code::kToolFailed &&
         (error.detail.starts_with("stale_ref:") || error.detail.starts_with("navigated:"));
}

std::optional<FrameInfo> info_of(const Page& page, const std::string& frame) {
  for (FrameInfo& info : page.frames())
    if (info.id == frame) return std::move(info);
  return std::nullopt;
}

rt::Task<Result<Element>> find_anywhere(Page& page, std::string query, rt::Deadline deadline) {
  std::optional<Element> found;
  std::optional<Error> missing;
  for (const FrameInfo& info : page.frames()) {
    auto one = co_await page.find(info.id, kResolve, query, deadline);
    if (one && found)
      co_return fail(Code::kToolFailed,
                     fmt::format("not_unique: {} is in more than one frame", query));
    if (one) {
      found = std::move(*one);
    } else if (is_not_there(one.error())) {
      missing = std::move(one).error();
    } else if (!is_gone(one.error())) {
      co_return fail(std::move(one).error());
    }
  }
  if (found) co_return std::move(*found);
  co_return fail(missing.value_or(Error{Code::kToolFailed, "not_found: the page has no frame"}));
}

// The frame that an element shows.
rt::Task<Result<std::string>> enter(Page& page, std::string frame, std::string shown_by,
                                    rt::Deadline deadline) {
  REPRISE_CO_TRY(Element owner,
                 co_await page.find(std::move(frame), kResolve, query_of(shown_by), deadline));
  REPRISE_CO_TRY(std::string inner, co_await page.frame_of(std::move(owner), deadline));
  // One that is about to load is not there yet.
  if (inner.empty() || !info_of(page, inner))
    co_return fail(Code::kToolFailed,
                   fmt::format("not_found: {} shows no document", json_string(shown_by)));
  co_return inner;
}

}  // namespace

Result<FramedSelector> parse_framed(std::string_view selector) {
  FramedSelector framed;
  std::string_view rest = trimmed(selector);
  while (rest.starts_with(kPart)) {
    const std::size_t end = end_of_part(rest);
    const std::string_view name = trimmed(rest.substr(0, end).substr(kPart.size()));
    rest = end == std::string_view::npos ? std::string_view() : trimmed(rest.substr(end + 2));
    if (name.empty() || rest.empty())
      return invalid_selector(selector, "enters a frame for nothing");
    if (framed.is_anywhere || framed.frames.size() >= kMaxFrameSteps)
      return invalid_selector(selector, "enters too many frames");
    if (name == "*" && framed.frames.empty()) {
      framed.is_anywhere = true;
      continue;
    }
    std::optional<std::string> quoted;
    if (name.front() == '"')
      if (const auto document = wire::parse_json(std::string(name)))
        quoted = document->root().as_string();
    framed.frames.push_back(quoted ? std::move(*quoted) : std::string(name));
  }
  framed.inner = std::string(rest);
  return framed;
}

rt::Task<Result<Element>> find_framed(Page& page, FramedSelector selector, rt::Deadline deadline) {
  if (selector.is_anywhere)
    co_return co_await find_anywhere(page, query_of(selector.inner), deadline);
  const auto frames = page.frames();
  if (frames.empty()) co_return fail(Code::kToolFailed, "the page has no document");
  std::string frame = frames.front().id;
  for (const std::string& shown_by : selector.frames) {
    REPRISE_CO_TRY(frame, co_await enter(page, std::move(frame), shown_by, deadline));
  }
  co_return co_await page.find(std::move(frame), kResolve, query_of(selector.inner), deadline);
}

rt::Task<Result<Element>> find_focused(Page& page, rt::Deadline deadline) {
  const auto frames = page.frames();
  if (frames.empty()) co_return fail(Code::kToolFailed, "the page has no document");
  std::string frame = frames.front().id;
  for (std::size_t step = 0;; ++step) {
    REPRISE_CO_TRY(Element element,
                   co_await page.find(frame, "(api) => api.focused()", "null", deadline));
    REPRISE_CO_TRY(std::string inner, co_await page.frame_of(element, deadline));
    if (inner.empty() || !info_of(page, inner) || step >= kMaxFrameSteps) co_return element;
    frame = std::move(inner);
  }
}

rt::Task<std::string> describe_frames(Page& page, std::string frame, rt::Deadline deadline) {
  std::string steps;
  for (std::size_t step = 0; step < kMaxFrameSteps; ++step) {
    auto info = info_of(page, frame);
    if (!info) co_return std::string();
    if (info->parent.empty()) break;
    auto owner = co_await page.owner_of(std::move(frame), deadline);
    if (!owner) co_return std::string();
    auto told = co_await page.call_on(
        std::move(*owner),
        "(api, element) => { const { role, name, nth, selector } = api.describe(element);"
        " return { role, name, nth, selector }; }",
        "null", deadline);
    if (!told) co_return std::string();
    steps = steps.empty() ? std::move(*told) : std::move(*told) + ',' + steps;
    frame = std::move(info->parent);
  }
  co_return steps.empty() ? steps : '[' + steps + ']';
}

std::string with_frames(std::string description, std::string_view frames) {
  if (frames.empty() || !description.ends_with('}') || description.size() < 3) return description;
  description.insert(description.size() - 1, fmt::format(",\"frames\":{}", frames));
  return description;
}

}  // namespace reprise::browser
