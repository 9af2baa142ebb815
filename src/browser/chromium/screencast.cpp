#include "browser/chromium/screencast.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "browser/chromium/json_access.h"

namespace reprise::browser::chromium {
namespace {

double real_of(wire::JsonValue value, std::string_view name, double otherwise) {
  const auto member = value.find(name);
  return member ? member->as_double().value_or(otherwise) : otherwise;
}

}  // namespace

ChromiumScreencast::ChromiumScreencast(CdpConnection& connection, std::string session)
    : connection_(connection), session_(std::move(session)) {}

void ChromiumScreencast::start(ScreencastOptions options, OnFrame told) {
  stop();
  if (is_gone_) return;
  told_ = std::move(told);
  unanswered_ = 0;
  connection_.send(session_, "Page.startScreencast",
                   fmt::format(R"({{"format":"jpeg","quality":{},"maxWidth":{},"maxHeight":{}}})",
                               options.quality, options.max_width, options.max_height));
}

void ChromiumScreencast::go_on() {
  if (is_gone_) return;
  for (; unanswered_ > 0; --unanswered_)
    connection_.send(session_, "Page.screencastFrameAck",
                     fmt::format(R"({{"sessionId":{}}})", cast_));
}

void ChromiumScreencast::stop() {
  if (!std::exchange(told_, nullptr) || is_gone_) return;
  connection_.send(session_, "Page.stopScreencast");
}

void ChromiumScreencast::gone() {
  is_gone_ = true;
  told_ = nullptr;
}

void ChromiumScreencast::take(wire::JsonValue params) {
  if (!told_) return;  // one that was under way when it was stopped
  const int cast = number_of(params, "sessionId");
  if (cast < cast_) return;  // of the one before a new start
  if (cast > cast_) unanswered_ = 0;
  cast_ = cast;
  ++unanswered_;
  const auto data = params.find("data");
  const auto metadata = params.find("metadata");
  auto picture = from_base64(data ? data->as_string().value_or("") : "");
  if (!picture || picture->empty() || !metadata) return;
  told_({.picture = std::move(*picture),
         .width = real_of(*metadata, "deviceWidth", 0),
         .height = real_of(*metadata, "deviceHeight", 0),
         .offset_top = real_of(*metadata, "offsetTop", 0),
         .scale = real_of(*metadata, "pageScaleFactor", 1),
         .scroll_x = real_of(*metadata, "scrollOffsetX", 0),
         .scroll_y = real_of(*metadata, "scrollOffsetY", 0)});
}

}  // namespace reprise::browser::chromium
