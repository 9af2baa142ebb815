// Real input, and pictures.
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/json_text.h"
#include "browser/chromium/json_access.h"
#include "browser/chromium/page.h"

namespace reprise::browser::chromium {
namespace {

std::string_view word(MouseAction action) {
  switch (action) {
    case MouseAction::kMove: return "mouseMoved";
    case MouseAction::kDown: return "mousePressed";
    case MouseAction::kUp: return "mouseReleased";
    case MouseAction::kWheel: return "mouseWheel";
  }
  return "mouseMoved";
}

std::string mouse_params(const MouseEvent& event) {
  return fmt::format(
      R"({{"type":"{}","x":{},"y":{},"button":"{}","buttons":{},"clickCount":{},"modifiers":{},)"
      R"("deltaX":{},"deltaY":{},"force":{}}})",
      word(event.action), event.at.x, event.at.y, event.button, event.buttons, event.click_count,
      event.modifiers, event.wheel.x, event.wheel.y,
      event.action == MouseAction::kDown || event.buttons != 0 ? 0.5 : 0.0);
}

std::string node_or_object(const std::string& handle) {
  constexpr std::string_view kNode = "node:";
  return handle.starts_with(kNode)
             ? fmt::format(R"("backendNodeId":{})", handle.substr(kNode.size()))
             : fmt::format(R"("objectId":{})", json_string(handle));
}

Result<std::string> bytes_of(const CdpReply& reply) {
  auto bytes = from_base64(reply.text("data"));
  if (!bytes) return fail(Code::kBrowserError, "the browser sent no picture");
  return std::move(*bytes);
}

}  // namespace

// The browser answers when the page has taken it. One that asks something has, but does not say so.
rt::Task<Result<>> ChromiumPage::input(std::string method, std::string params,
                                       rt::Deadline deadline) {
  auto reply = co_await call_until_asked(session_, std::move(method), std::move(params), deadline);
  if (!reply && reply.error().code == Code::kBrowserError && is_closed_)
    co_return Result<>{};  // the input closed the page
  if (!reply) co_return fail(std::move(reply).error());
  co_return Result<>{};
}

rt::Task<Result<>> ChromiumPage::mouse(std::vector<MouseEvent> gesture, rt::Deadline deadline) {
  REPRISE_CO_CHECK(co_await usable());
  for (std::size_t i = 0; i + 1 < gesture.size(); ++i)
    connection_.send(session_, "Input.dispatchMouseEvent", mouse_params(gesture[i]));
  if (gesture.empty()) co_return Result<>{};
  co_return co_await input("Input.dispatchMouseEvent", mouse_params(gesture.back()), deadline);
}

rt::Task<Result<>> ChromiumPage::key(KeyStroke stroke, bool is_down, rt::Deadline deadline) {
  REPRISE_CO_CHECK(co_await usable());
  const std::string_view type = !is_down ? "keyUp" : stroke.text.empty() ? "rawKeyDown" : "keyDown";
  std::string params = fmt::format(
      R"({{"type":"{}","key":{},"code":{},"windowsVirtualKeyCode":{},"modifiers":{},"location":{})",
      type, json_string(stroke.key), json_string(stroke.code), stroke.key_code, stroke.modifiers,
      stroke.location);
  if (is_down && !stroke.text.empty())
    params += fmt::format(R"(,"text":{0},"unmodifiedText":{0})", json_string(stroke.text));
  params += '}';
  co_return co_await input("Input.dispatchKeyEvent", std::move(params), deadline);
}

rt::Task<Result<>> ChromiumPage::insert_text(std::string text, rt::Deadline deadline) {
  REPRISE_CO_CHECK(co_await usable());
  co_return co_await input("Input.insertText", fmt::format(R"({{"text":{}}})", json_string(text)),
                           deadline);
}

rt::Task<Result<>> ChromiumPage::drop(Point at, DropData data, rt::Deadline deadline) {
  std::string items;
  for (const auto& [type, text] : data.items) {
    if (!items.empty()) items += ',';
    items += fmt::format(R"({{"mimeType":{},"data":{}}})", json_string(type), json_string(text));
  }
  std::string files;
  for (const std::string& path : data.files) {
    if (!files.empty()) files += ',';
    files += json_string(path);
  }
  for (const std::string_view type : {"dragEnter", "dragOver", "drop"})
    REPRISE_CO_CHECK(co_await input(
        "Input.dispatchDragEvent",
        fmt::format(R"({{"type":"{}","x":{},"y":{},"data":{{"items":[{}],"files":[{}],)"
                    R"("dragOperationsMask":1}}}})",
                    type, at.x, at.y, items, files),
        deadline));
  co_return Result<>{};
}

rt::Task<Result<>> ChromiumPage::set_files(Element element, std::vector<std::string> paths,
                                           rt::Deadline deadline) {
  std::string files;
  for (const std::string& path : paths) {
    if (!files.empty()) files += ',';
    files += json_string(path);
  }
  // A file chooser names the session it came from in place of a frame.
  const Frame* frame = frames_.find(element.frame);
  REPRISE_CO_CHECK(co_await connection_.call(
      frame == nullptr ? element.frame : frame->session, "DOM.setFileInputFiles",
      fmt::format(R"({{"files":[{}],{}}})", files, node_or_object(element.handle)), deadline));
  dismiss_file_chooser();
  co_return Result<>{};
}

rt::Task<Result<Picture>> ChromiumPage::picture(PictureOptions options, rt::Deadline deadline) {
  REPRISE_CO_CHECK(co_await usable());
  std::string params = fmt::format(R"({{"format":"{}","optimizeForSpeed":{})", options.format,
                                   options.format != "png");
  if (options.format != "png") params += fmt::format(R"(,"quality":{})", options.quality);
  const double scale = options.is_css_scale ? 1 / viewport_.scale : 1;
  if (options.is_full_page) {
    REPRISE_CO_TRY(const CdpReply metrics,
                   co_await connection_.call(session_, "Page.getLayoutMetrics", "{}", deadline));
    const auto size = metrics.result().find("cssContentSize");
    if (size)
      params += fmt::format(R"(,"captureBeyondViewport":true,)"
                            R"("clip":{{"x":0,"y":0,"width":{},"height":{},"scale":{}}})",
                            number_of(*size, "width"), number_of(*size, "height"), scale);
  } else if (options.clip_at) {
    params += fmt::format(R"(,"captureBeyondViewport":true,)"
                          R"("clip":{{"x":{},"y":{},"width":{},"height":{},"scale":{}}})",
                          options.clip_at->x, options.clip_at->y, options.clip_width,
                          options.clip_height, scale);
  }
  params += '}';
  REPRISE_CO_TRY(const CdpReply reply,
                 co_await connection_.call(session_, "Page.captureScreenshot", params, deadline));
  REPRISE_CO_TRY(std::string bytes, bytes_of(reply));
  co_return Picture{.bytes = std::move(bytes), .type = "image/" + options.format};
}

rt::Task<Result<std::string>> ChromiumPage::pdf(rt::Deadline deadline) {
  REPRISE_CO_CHECK(co_await usable());
  REPRISE_CO_TRY(
      const CdpReply reply,
      co_await connection_.call(session_, "Page.printToPDF",
                                R"({"printBackground":true,"preferCSSPageSize":true})", deadline));
  co_return bytes_of(reply);
}

rt::Task<Result<>> ChromiumPage::resize(Viewport viewport, rt::Deadline deadline) {
  REPRISE_CO_CHECK(co_await connection_.call(
      session_, "Emulation.setDeviceMetricsOverride",
      fmt::format(R"({{"width":{},"height":{},"deviceScaleFactor":{},"mobile":false}})",
                  viewport.width, viewport.height, viewport.scale),
      deadline));
  viewport_ = viewport;
  co_return Result<>{};
}

rt::Task<Result<>> ChromiumPage::emulate_media(std::string media, rt::Deadline deadline) {
  REPRISE_CO_CHECK(co_await connection_.call(session_, "Emulation.setEmulatedMedia",
                                             std::move(media), deadline));
  co_return Result<>{};
}

rt::Task<Result<std::string>> ChromiumPage::response_body(std::string request,
                                                          rt::Deadline deadline) {
  auto reply = co_await connection_.call(session_, "Network.getResponseBody",
                                         fmt::format(R"({{"requestId":{}}})", json_string(request)),
                                         deadline);
  if (!reply && reply.error().code == Code::kBrowserError)
    co_return fail(Code::kToolFailed, "the browser does not keep that body any more");
  if (!reply) co_return fail(std::move(reply).error());
  std::string body = reply->text("body");
  if (!is_set(reply->result(), "base64Encoded")) co_return body;
  auto bytes = from_base64(body);
  if (!bytes) co_return fail(Code::kBrowserError, "the browser sent a body that is no base64");
  co_return std::move(*bytes);
}

}  // namespace reprise::browser::chromium
