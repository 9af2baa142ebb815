#include "browser/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/json_text.h"
#include "browser/limits.h"
#include "wire/json.h"

namespace reprise::browser {
namespace {

constexpr int kMaxFrameDepth = 8;

// Where a frame's own lines belong.
struct FramePlace {
  std::string ref;
  std::size_t line = 0;
  std::size_t indent = 0;
};

struct FrameText {
  std::string text;
  std::vector<FramePlace> frames;
  bool is_truncated = false;
};

Result<FrameText> parse_frame(std::string json) {
  REPRISE_TRY(const auto document, wire::parse_json(std::move(json)));
  const wire::JsonValue root = document.root();
  FrameText frame;
  const auto text = root.find("text");
  frame.text = text ? text->as_string().value_or("") : "";
  const auto truncated = root.find("truncated");
  frame.is_truncated = truncated && truncated->as_bool().value_or(false);
  const auto frames = root.find("frames");
  for (const wire::JsonValue place : frames ? frames->elements() : std::vector<wire::JsonValue>{}) {
    const auto ref = place.find("ref");
    const auto line = place.find("line");
    const auto indent = place.find("indent");
    if (!ref || !line || !indent) continue;
    frame.frames.push_back({.ref = ref->as_string().value_or(""),
                            .line = line->as_uint().value_or(0),
                            .indent = indent->as_uint().value_or(0)});
  }
  return frame;
}

// The text with `inner` indented and put behind its line.
std::string splice(const std::string& outer,
                   std::vector<std::pair<FramePlace, std::string>> inner) {
  std::string out;
  out.reserve(outer.size());
  std::size_t number = 0;
  std::size_t start = 0;
  while (start < outer.size()) {
    const std::size_t end = std::min(outer.find('\n', start), outer.size());
    out.append(outer, start, end - start);
    const auto found = std::ranges::find_if(
        inner, [&](const auto& one) { return one.first.line == number && !one.second.empty(); });
    if (found != inner.end()) {
      if (!out.ends_with(':')) out += ':';
      const std::string indent(found->first.indent + 2, ' ');
      std::size_t from = 0;
      while (from < found->second.size()) {
        const std::size_t to = std::min(found->second.find('\n', from), found->second.size());
        out += '\n';
        out += indent;
        out.append(found->second, from, to - from);
        from = to + 1;
      }
    }
    if (end < outer.size()) out += '\n';
    start = end + 1;
    ++number;
  }
  return out;
}

class Taking {
 public:
  Taking(Page& page, const SnapshotOptions& options, rt::Deadline deadline)
      : page_(page), options_(options), deadline_(deadline) {
    left_ =
        options.max_bytes == 0 ? kMaxSnapshotBytes : std::min(options.max_bytes, kMaxSnapshotBytes);
  }

  rt::Task<Result<std::string>> frame(std::string id, int depth) {
    std::string prefix;
    for (const FrameInfo& info : page_.frames())
      if (info.id == id) prefix = info.ref_prefix;
    std::string argument = fmt::format(R"({{"prefix":{},"boxes":{},"maxBytes":{})",
                                       json_string(prefix), options_.wants_boxes, left_);
    if (options_.depth) argument += fmt::format(R"(,"depth":{})", *options_.depth);
    argument += '}';
    const bool has_root = depth == 0 && options_.root.has_value();
    auto json = has_root
                    ? co_await page_.call_on(
                          *options_.root,
                          "(api, element, options) => api.snapshot({...options, root: element})",
                          argument, deadline_)
                    : co_await page_.call(id, "(api, options) => api.snapshot(options)", argument,
                                          deadline_);
    if (!json) co_return fail(std::move(json).error());
    REPRISE_CO_TRY(FrameText taken, parse_frame(std::move(*json)));
    is_truncated = is_truncated || taken.is_truncated;
    left_ -= std::min(left_, taken.text.size());
    std::vector<std::pair<FramePlace, std::string>> inner;
    for (FramePlace& place : taken.frames) {
      if (depth >= kMaxFrameDepth || left_ == 0) break;
      auto text = co_await child(id, place.ref, depth);
      // A frame that goes meanwhile is simply not shown.
      if (text) inner.emplace_back(std::move(place), std::move(*text));
    }
    co_return inner.empty() ? std::move(taken.text) : splice(taken.text, std::move(inner));
  }

  bool is_truncated = false;

 private:
  rt::Task<Result<std::string>> child(const std::string& parent, const std::string& ref,
                                      int depth) {
    REPRISE_CO_TRY(Element owner, co_await page_.find(parent, "(api, ref) => api.resolve({ref})",
                                                      json_string(ref), deadline_));
    REPRISE_CO_TRY(std::string id, co_await page_.frame_of(std::move(owner), deadline_));
    if (id.empty()) co_return fail(Code::kToolFailed, "not_found: the frame shows nothing");
    co_return co_await frame(std::move(id), depth + 1);
  }

  Page& page_;
  const SnapshotOptions& options_;
  rt::Deadline deadline_;
  std::size_t left_ = 0;
};

bool is_moving(const Error& error) {
  return error.code == Code::kToolFailed && error.detail.starts_with("navigated:");
}

}  // namespace

rt::Task<Result<Snapshot>> take_snapshot(Page& page, SnapshotOptions options,
                                         rt::Deadline deadline) {
  for (int tries = 0;; ++tries) {
    Taking taking(page, options, deadline);
    const auto frames = page.frames();
    if (frames.empty()) co_return fail(Code::kToolFailed, "the page has no document");
    auto text = co_await taking.frame(options.root ? options.root->frame : frames.front().id, 0);
    // A page that went to another document meanwhile is looked at again.
    if (!text && is_moving(text.error()) && tries < 3 && !options.root) continue;
    if (!text) co_return fail(std::move(text).error());
    co_return Snapshot{.text = std::move(*text), .is_truncated = taking.is_truncated};
  }
}

}  // namespace reprise::browser
