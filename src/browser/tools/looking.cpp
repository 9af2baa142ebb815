// Tools that look: snapshots, pictures, what the page said and loaded.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "browser/settle.h"
#include "browser/snapshot.h"
#include "browser/timing.h"
#include "browser/tools/functions.h"
#include "model/artifact.h"
#include "model/limits.h"
#include "model/unified_diff.h"

namespace reprise::browser {
namespace {

// What a tool found goes into the answer, or into an artifact of that name.
rt::Task<Result<>> give(ToolRun& run, std::string content, std::string_view type,
                        std::string_view member) {
  const auto file = run.text("filename");
  if (!file) {
    run.outcome.text = content;
    run.outcome.result = fmt::format(R"({{"{}":{}}})", member, json_string(content));
    co_return Result<>{};
  }
  REPRISE_CO_CHECK(model::check_artifact_path(*file));
  REPRISE_CO_CHECK(co_await run.browser.keep(*file, std::string(type), std::move(content)));
  run.outcome.text = fmt::format("saved as artifact {}", *file);
  run.outcome.result = fmt::format(R"({{"artifact":{}}})", json_string(*file));
  co_return Result<>{};
}

// What has changed since the last snapshot of the same kind, if that was asked for and is the
// shorter thing to say. A snapshot is remembered however it was asked for.
bool tell_difference(ToolRun& run, const std::string& text) {
  SeenSnapshot now{.asked = fmt::format("{}|{}|{}|{}", run.text("target").value_or(""),
                                        run.number("depth").value_or(0),
                                        run.number("maxBytes").value_or(0), run.flag("boxes")),
                   .text = text};
  auto before = std::exchange(run.tab->seen, std::nullopt);
  if (text.size() <= model::kMaxDiffedBytes) run.tab->seen = std::move(now);
  const bool is_wanted = run.flag("diff") && !run.text("filename") && run.tab->seen;
  if (!is_wanted || !before || before->asked != run.tab->seen->asked) return false;
  const auto difference = model::unified_diff(before->text, text, "snapshot");
  if (!difference || difference->size() >= text.size()) return false;
  run.outcome.text =
      difference->empty() ? "nothing has changed since the last snapshot" : *difference;
  run.outcome.result = fmt::format(R"({{"diff":{}}})", json_string(*difference));
  return true;
}

int rank(std::string_view level) {
  return level == "error" ? 0 : level == "warning" ? 1 : level == "info" ? 2 : 3;
}

bool is_static(const NetworkRequest& request) {
  return request.kind == "image" || request.kind == "font" || request.kind == "stylesheet" ||
         request.kind == "script" || request.kind == "media";
}

std::string request_line(std::size_t index, const NetworkRequest& request) {
  const std::string status = request.error.empty()
                                 ? request.status == 0 ? "pending" : fmt::to_string(request.status)
                                 : request.error;
  return fmt::format("[{}] [{}] {} => {}\n", index, request.method, request.url, status);
}

}  // namespace

rt::Task<Result<>> tool_snapshot(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  SnapshotOptions options{.depth = std::nullopt, .wants_boxes = run.flag("boxes"), .root = {}};
  if (const auto depth = run.number("depth"))
    options.depth = static_cast<std::uint64_t>(std::max(*depth, 0.0));
  if (const auto bytes = run.number("maxBytes"))
    options.max_bytes = static_cast<std::size_t>(std::max(*bytes, 1.0));
  if (run.text("target")) {
    REPRISE_CO_TRY(options.root, co_await run.element(*page));
  }
  REPRISE_CO_TRY(Snapshot snapshot,
                 co_await take_snapshot(*page, std::move(options), run.within(kSnapshotTimeout)));
  if (tell_difference(run, snapshot.text)) co_return Result<>{};
  co_return co_await give(run, std::move(snapshot.text), "text/yaml; charset=utf-8", "snapshot");
}

rt::Task<Result<>> tool_find(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  std::string argument = "{";
  if (const auto text = run.text("text")) argument += "\"text\":" + json_string(*text);
  if (const auto regex = run.text("regex")) {
    if (argument.size() > 1) argument += ',';
    argument += "\"regex\":" + json_string(*regex);
  }
  argument += '}';
  std::string found;
  for (const FrameInfo& frame : page->frames()) {
    auto matches = co_await page->call(
        frame.id,
        "(api, query) => api.find(query).matches.map(match => [...match.context, match.line]"
        ".join('\\n')).join('\\n---\\n')",
        argument, run.within(kSnapshotTimeout));
    if (!matches && frame.parent.empty()) co_return fail(std::move(matches).error());
    if (!matches) continue;
    const auto document = wire::parse_json(*matches);
    const std::string lines = document ? document->root().as_string().value_or("") : "";
    if (lines.empty()) continue;
    if (!found.empty()) found += '\n';
    found += lines;
  }
  if (found.empty()) found = "nothing found";
  co_return co_await give(run, std::move(found), "text/plain; charset=utf-8", "matches");
}

rt::Task<Result<>> tool_evaluate(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  std::optional<Element> element;
  if (run.text("target")) {
    REPRISE_CO_TRY(element, co_await run.element(*page));
  }
  run.outcome.changes_page = true;
  Settling settling = co_await Settling::begin(*page, run.within(kActionTimeout));
  std::string function = run.text("function").value_or("");
  // An expression is as good as a function.
  const bool is_function = function.find("=>") != std::string::npos ||
                           function.starts_with("function") || function.starts_with("async");
  if (!is_function) function = fmt::format("() => ({})", function);
  REPRISE_CO_TRY(std::string value,
                 co_await page->evaluate(std::move(function), std::move(element), run.scope,
                                         run.within(kNavigationTimeout)));
  co_await settling.wait(run.loop(), run.within(kToolTimeout));
  if (run.text("filename"))
    co_return co_await give(run, std::move(value), "application/json", "value");
  run.outcome.text = value;
  run.outcome.result = std::move(value);
  co_return Result<>{};
}

rt::Task<Result<>> tool_take_screenshot(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  PictureOptions options{.format = run.text("type").value_or("png"),
                         .is_full_page = run.flag("fullPage"),
                         .is_css_scale = run.text("scale").value_or("css") == "css",
                         .clip_at = std::nullopt};
  if (run.text("target")) {
    REPRISE_CO_TRY(const Element element, co_await run.element(*page));
    REPRISE_CO_TRY(
        const std::string json,
        co_await page->call_on(
            element,
            "(api, element) => api.prepare(element, {action: 'screenshot', timeout: 5000})"
            ".then(found => found.box)",
            "null", run.within(kNavigationTimeout)));
    REPRISE_CO_TRY(const auto box, wire::parse_json(json));
    const auto member = [&](std::string_view name) {
      const auto value = box.root().find(name);
      return value ? value->as_double().value_or(0) : 0;
    };
    REPRISE_CO_TRY(const Point origin,
                   co_await page->origin_of(element.frame, run.within(kActionTimeout)));
    options.clip_at = Point{member("x") + origin.x, member("y") + origin.y};
    options.clip_width = member("width");
    options.clip_height = member("height");
  }
  REPRISE_CO_TRY(Picture picture, co_await page->picture(options, run.within(kNavigationTimeout)));
  const std::string file =
      run.text("filename")
          .value_or(fmt::format("screenshots/page-{}.{}", run.browser.around().clock.now().ms,
                                options.format));
  REPRISE_CO_CHECK(model::check_artifact_path(file));
  REPRISE_CO_CHECK(co_await run.browser.keep(file, picture.type, picture.bytes));
  run.outcome.result =
      fmt::format(R"({{"artifact":{},"bytes":{}}})", json_string(file), picture.bytes.size());
  run.outcome.text = fmt::format("saved as artifact {}", file);
  run.outcome.pictures.push_back(std::move(picture));
  co_return Result<>{};
}

rt::Task<Result<>> tool_pdf_save(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  REPRISE_CO_TRY(std::string pdf, co_await page->pdf(run.within(kNavigationTimeout)));
  const std::string file =
      run.text("filename")
          .value_or(fmt::format("pdf/page-{}.pdf", run.browser.around().clock.now().ms));
  REPRISE_CO_CHECK(model::check_artifact_path(file));
  const std::size_t size = pdf.size();
  REPRISE_CO_CHECK(co_await run.browser.keep(file, "application/pdf", std::move(pdf)));
  run.outcome.result = fmt::format(R"({{"artifact":{},"bytes":{}}})", json_string(file), size);
  run.outcome.text = fmt::format("saved as artifact {}", file);
  co_return Result<>{};
}

rt::Task<Result<>> tool_console_messages(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  const int most = rank(run.text("level").value_or("info"));
  std::string lines;
  for (const ConsoleMessage& message : page->console())
    if (rank(message.level) <= most)
      lines += fmt::format("[{}] {} @ {}\n", message.level, message.text, message.place);
  co_return co_await give(run, std::move(lines), "text/plain; charset=utf-8", "messages");
}

rt::Task<Result<>> tool_network_requests(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  const std::string filter = run.text("filter").value_or("");
  std::string lines;
  std::size_t index = 0;
  for (const NetworkRequest& request : page->requests()) {
    ++index;
    const bool is_boring = is_static(request) && request.error.empty() && request.status < 400;
    if (is_boring && !run.flag("static")) continue;
    if (request.url.find(filter) == std::string::npos) continue;
    lines += request_line(index, request);
  }
  co_return co_await give(run, std::move(lines), "text/plain; charset=utf-8", "requests");
}

rt::Task<Result<>> tool_network_request(ToolRun& run) {
  REPRISE_CO_TRY(Page* const page, co_await run.page());
  const double index = run.number("index").value_or(0);
  const auto& requests = page->requests();
  if (index < 1 || index > static_cast<double>(requests.size()))
    co_return fail(Code::kToolFailed,
                   fmt::format("there is no request {}: {} are known", index, requests.size()));
  const NetworkRequest request = requests[static_cast<std::size_t>(index) - 1];
  const std::string part = run.text("part").value_or("");
  if (part == "request-headers")
    co_return co_await give(run, request.request_headers, "application/json", "content");
  if (part == "request-body")
    co_return co_await give(run, request.post_data, "text/plain; charset=utf-8", "content");
  if (part == "response-headers")
    co_return co_await give(run, request.response_headers, "application/json", "content");
  if (part == "response-body") {
    REPRISE_CO_TRY(std::string body,
                   co_await page->response_body(request.id, run.within(kActionTimeout)));
    co_return co_await give(run, std::move(body), "text/plain; charset=utf-8", "content");
  }
  std::string text = request_line(static_cast<std::size_t>(index), request);
  text += fmt::format("type: {}\nrequest headers: {}\nresponse headers: {}\n", request.type,
                      request.request_headers, request.response_headers);
  co_return co_await give(run, std::move(text), "text/plain; charset=utf-8", "content");
}

}  // namespace reprise::browser
