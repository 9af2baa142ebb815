#include "api/outlet.h"

#include "base/log.h"
#include "wire/sse.h"

namespace reprise::api {

http::Reply event_stream(http::Reply::Stream run) {
  http::Reply reply;
  reply.status = 200;
  reply.headers.add("Content-Type", "text/event-stream");
  reply.headers.add("Cache-Control", "no-cache");
  // Proxies that buffer would hold events back.
  reply.headers.add("X-Accel-Buffering", "no");
  reply.stream = std::move(run);
  return reply;
}

rt::Task<> say_goodbye(http::StreamWriter& writer, const Result<>& outcome) {
  if (!outcome && outcome.error().code == Code::kClosed) co_return;
  if (!outcome) {
    std::string frame;
    if (outcome.error().code == Code::kShuttingDown) {
      // Come back soon; the id of the last event says from where.
      frame = "retry: 1000\n";
      wire::append_sse_comment(frame, "server is stopping");
    } else {
      log::warning("stream ended with an error", {{"code", error_row(outcome.error().code).name},
                                                  {"detail", outcome.error().detail}});
      wire::append_sse_comment(frame, error_row(outcome.error().code).name);
    }
    writer.push(std::make_shared<const std::string>(std::move(frame)));
  }
  // The stream's own scope may be cancelled by now; the last bytes have a moment of their own.
  rt::CancelScope last_words;
  (void)co_await writer.drain(last_words);
}

}  // namespace reprise::api
