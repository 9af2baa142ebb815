// Reading logs: catch-up, long-poll, and what is known without reading.
#include <fmt/format.h>

#include "api/log_reply.h"
#include "api/logs_internal.h"
#include "api/stream_watch.h"
#include "stream/hub.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

store::AsyncStore& store_for(const LogRoutes& routes) { return routes.logs.store_here(); }

Reply describe(const LogSource& source) {
  Reply reply = Reply::empty(200);
  reply.headers.add("Content-Type", source.content_type);
  reply.headers.add("Cache-Control", "no-store");
  add_log_state(reply, source.tail, source.is_closed);
  if (source.ttl_seconds) reply.headers.add("Stream-TTL", std::to_string(*source.ttl_seconds));
  if (source.expires_at) reply.headers.add("Stream-Expires-At", format_time(*source.expires_at));
  return reply;
}

std::string etag_of(const LogSource& source, Seq from, Seq to, bool is_end) {
  return fmt::format("\"{}:{}:{}{}\"", source.stream.to_string(), from.value, to.value,
                     is_end ? ":c" : "");
}

// An answer with what follows `after`.
rt::Task<Result<Reply>> answer_chunk(const LogRoutes& routes, Exchange& exchange,
                                     const LogSource& source, Seq after,
                                     std::optional<std::uint64_t> cursor) {
  REPRISE_CO_TRY(LogChunk chunk, co_await read_chunk(store_for(routes), source, after));
  const bool is_end = chunk.is_at_tail && source.is_closed;
  Reply reply = Reply::empty(200);
  const std::string etag = etag_of(source, after, chunk.next, is_end);
  const bool is_known = exchange.request.headers.get("if-none-match") == etag;
  reply.status = is_known ? 304 : 200;
  reply.headers.add("Content-Type", source.content_type);
  reply.headers.add("ETag", etag);
  // What is not the tail never changes; the tail is asked for again each time.
  reply.headers.add("Cache-Control", chunk.is_at_tail && !is_end
                                         ? "private, no-cache"
                                         : "private, max-age=60, stale-while-revalidate=300");
  add_log_state(reply, chunk.next, is_end);
  if (chunk.is_at_tail) reply.headers.add("Stream-Up-To-Date", "true");
  if (cursor) reply.headers.add("Stream-Cursor", std::to_string(*cursor));
  if (!is_known) reply.body = std::move(chunk.body);
  co_return reply;
}

Reply answer_tail(const LogSource& source) {
  Reply reply = Reply::empty(200);
  reply.headers.add("Content-Type", source.content_type);
  reply.headers.add("Cache-Control", "no-store");
  add_log_state(reply, source.tail, source.is_closed);
  reply.headers.add("Stream-Up-To-Date", "true");
  if (source.is_json()) reply.body = "[]";
  return reply;
}

// Nothing came, or nothing will.
Reply answer_nothing(const LogSource& source, std::uint64_t cursor) {
  Reply reply = Reply::empty(204);
  reply.headers.add("Cache-Control", "no-store");
  add_log_state(reply, source.tail, source.is_closed);
  reply.headers.add("Stream-Up-To-Date", "true");
  if (!source.is_closed) reply.headers.add("Stream-Cursor", std::to_string(cursor));
  return reply;
}

// Keeps a log from expiring while somebody waits for it.
struct Presence {
  stream::LogService& logs;
  std::string path;
  bool is_counted = false;
  ~Presence() {
    if (is_counted) logs.leave(path);
  }
};

// Where a reader begins; beyond the tail there is nothing to wait for.
Result<Seq> begin_of(const LogSource& source, const ReadLog& read) {
  if (read.from.is_tail) return source.tail;
  if (read.from.after > source.tail)
    return fail(Code::kBadParameter, "the offset is beyond the stream's tail");
  return std::max(read.from.after, source.start);
}

}  // namespace

rt::Task<Result<Reply>> get_log(const LogRoutes& routes, Exchange& exchange) {
  REPRISE_CO_TRY(std::string path, log_path(exchange));
  const bool is_head = exchange.request.method == wire::Method::kHead;
  if (is_head) {
    REPRISE_CO_TRY(const LogSource source,
                   co_await find_source(routes, exchange, std::move(path), false));
    co_return describe(source);
  }
  REPRISE_CO_TRY(ReadLog read, read_read(exchange));
  REPRISE_CO_TRY(LogSource source, co_await find_source(routes, exchange, std::move(path), true));
  if (read.live == LiveMode::kLongPoll)
    co_return co_await long_poll_log(routes, exchange, std::move(source), read);
  if (read.live == LiveMode::kSse)
    co_return co_await follow_log(routes, exchange, std::move(source), read);
  if (read.from.is_tail) co_return answer_tail(source);
  REPRISE_CO_TRY(const Seq after, begin_of(source, read));
  co_return co_await answer_chunk(routes, exchange, source, after, std::nullopt);
}

rt::Task<Result<Reply>> long_poll_log(const LogRoutes& routes, Exchange& exchange, LogSource source,
                                      ReadLog read) {
  const std::string path = source.path;
  REPRISE_CO_TRY(const Seq after, begin_of(source, read));
  Presence presence{routes.logs, path};
  if (!source.is_session) {
    REPRISE_CO_CHECK(co_await routes.logs.join(path));
    presence.is_counted = true;
  }
  stream::Hub& hub = routes.logs.hub_here();
  StreamWatch watch(hub, source.stream, source.home);
  if (!co_await watch.subscribe()) co_return fail(Code::kOverloaded, "the stream's loop is busy");
  const auto deadline = rt::Deadline::after(hub.loop(), routes.long_poll_timeout);
  for (;;) {
    watch.has_news = false;
    const StreamId watched = source.stream;
    REPRISE_CO_TRY(source, co_await find_source(routes, exchange, path, false));
    // Another of that name is not the one whose end the caller waits at.
    if (source.stream != watched)
      co_return fail(Code::kStreamNotFound, fmt::format("the stream '{}' was deleted", path));
    const std::uint64_t cursor = live_cursor(routes.logs.clock().now(), read.cursor);
    if (source.tail > after)
      co_return co_await answer_chunk(routes, exchange, source, after, cursor);
    if (source.is_closed || routes.is_draining || deadline.has_passed(hub.loop()))
      co_return answer_nothing(source, cursor);
    co_await watch.wait(exchange, deadline, routes.is_draining);
  }
}

}  // namespace reprise::api
