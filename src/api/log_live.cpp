// Following a log by server-sent events.
//
// Every append is a `data` event followed by its own `control` event; a reader that has everything
// is told so, and one whose log is closed gets a last control event and the connection ends.
#include <fmt/format.h>

#include "api/log_reply.h"
#include "api/logs_internal.h"
#include "api/outlet.h"
#include "base/bytes.h"
#include "base/json_text.h"
#include "stream/log/offset.h"
#include "stream/tail.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

// Connections end after this, so that load spreads and caches may collapse readers; clients come
// back by themselves.
constexpr std::chrono::seconds kLongestFollow{60};

// Lines end at CRLF, CR or LF; clients drop one space behind the colon.
void append_data_lines(std::string& out, std::string_view text) {
  for (;;) {
    const std::size_t end = text.find_first_of("\r\n");
    const std::string_view line = text.substr(0, end);
    out += line.starts_with(' ') ? "data: " : "data:";
    out += line;
    out += '\n';
    if (end == std::string_view::npos) return;
    const bool is_pair = text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n';
    text.remove_prefix(end + (is_pair ? 2 : 1));
  }
}

class LogFormat final : public stream::FrameFormat {
 public:
  LogFormat(LogSource source, const Clock& clock, std::optional<std::uint64_t> cursor)
      : source_(std::move(source)), clock_(clock), cursor_(cursor) {}

  void append_entry(std::string& out, Seq seq, std::string_view entry) const override {
    append_numbered(out, Seq{source_.base + seq.value}, entry);
  }
  void finish_batch(std::string& out, Seq) const override { mark_up_to_date(out); }
  // Readers of one stream differ in nothing but the cursor they brought.
  bool writes_like(const FrameFormat& other) const override {
    const auto* log = dynamic_cast<const LogFormat*>(&other);
    if (log == nullptr) return false;
    return cursor_ == log->cursor_ || (!cursor_counts() && !log->cursor_counts());
  }
  // Each data event has one control event: the last one says that nothing follows for now.
  static void mark_up_to_date(std::string& out) {
    constexpr std::string_view kEnd = "}\n\n";
    out.resize(out.size() - kEnd.size());
    out += ",\"upToDate\":true}\n\n";
  }
  void append_numbered(std::string& out, Seq number, std::string_view entry) const {
    out += "event: data\n";
    if (source_.is_json()) {
      out += "data:[";
      source_.append_content(out, number, entry);
      out += "]\n";
    } else {
      std::string content;
      source_.append_content(content, number, entry);
      if (source_.is_text())
        append_data_lines(out, content);
      else
        out += "data:" + to_base64(content) + '\n';
    }
    out += '\n';
    append_control(out, number);
  }
  void append_control(std::string& out, Seq at) const {
    out += "event: control\ndata:{\"streamNextOffset\":\"";
    stream::append_offset(out, at);
    out += "\",\"streamCursor\":\"";
    append_number(out, live_cursor(clock_.now(), cursor_));
    out += "\"}\n\n";
  }

 private:
  // One from a time gone by is answered like none.
  bool cursor_counts() const {
    return cursor_ && *cursor_ >= live_cursor(clock_.now(), std::nullopt);
  }

  const LogSource source_;  // its kind and base
  const Clock& clock_;
  const std::optional<std::uint64_t> cursor_;
};

class LogFrames final : public stream::TailFrames {
 public:
  LogFrames(LogSource source, const Clock& clock, std::optional<std::uint64_t> cursor)
      : base_(source.base), format_(std::move(source), clock, cursor) {}
  const stream::FrameFormat& format() const override { return format_; }
  const LogFormat& log_format() const { return format_; }
  void replay_complete(std::string& out, Seq at) const override {
    if (is_closed) return;  // the end says more
    if (out.empty()) format_.append_control(out, Seq{base_ + at.value});
    LogFormat::mark_up_to_date(out);
  }
  std::string ephemeral(std::string_view) const override { return {}; }
  // `reason` is the offset of the end, or "deleted".
  std::string end(std::string_view reason) const override {
    if (reason == "deleted") return {};
    return fmt::format(
        "event: control\ndata:{{\"streamNextOffset\":\"{}\",\"upToDate\":true,\"streamClosed\":"
        "true}}\n\n",
        reason);
  }
  std::string heartbeat() const override { return ": heartbeat\n\n"; }
  bool is_closed = false;  // when the reader came

 private:
  const std::uint64_t base_;
  LogFormat format_;
};

// What one reader's connection owns.
struct OpenLog {
  const LogRoutes& routes;
  LogSource source;
  Seq after;
  http::StreamWriter writer;
  WriterOutlet outlet;
  LogFrames frames;
  stream::Tail tail;
  bool is_counted = false;
  OpenLog(const LogRoutes& of, Exchange& exchange, LogSource from,
          std::optional<std::uint64_t> cursor)
      : routes(of),
        source(std::move(from)),
        writer(*exchange.socket, *exchange.flusher),
        outlet(writer),
        frames(source, of.logs.clock(), cursor),
        tail(of.logs.hub_here(), of.logs.store_here(), outlet, frames,
             {.stream = source.stream,
              .home = source.home,
              .after = {},
              .replay_until = {},
              .heartbeat_interval = of.heartbeat,
              .is_endless = source.is_session}) {}
  ~OpenLog() {
    if (is_counted) routes.logs.leave(source.path);
  }
};

// Frames of inherited appends, pushed as the connection takes them.
class Pusher final : public stream::AppendVisitor {
 public:
  explicit Pusher(const LogFormat& format) : format_(format) {}
  bool visit(Seq number, std::string_view entry) override {
    format_.append_numbered(*frames, number, entry);
    last = number;
    return true;
  }
  std::shared_ptr<std::string> frames = std::make_shared<std::string>();
  Seq last;

 private:
  const LogFormat& format_;
};

rt::Task<Result<>> push_inherited(OpenLog& open, rt::CancelScope& scope) {
  constexpr std::size_t kChunk = 256 * 1024;
  while (open.after.value < open.source.base) {
    REPRISE_CO_CHECK(co_await open.writer.wait_for_room(scope));
    Pusher pusher(open.frames.log_format());
    REPRISE_CO_CHECK(co_await stream::read_parts(open.routes.logs.store_here(), open.source.parts,
                                                 open.after, kChunk, pusher));
    if (pusher.last.value == 0) break;
    open.after = pusher.last;
    open.writer.push(std::move(pusher.frames));
  }
  co_return Result<>{};
}

rt::Task<> follow(std::shared_ptr<OpenLog> open, rt::CancelScope& parent) {
  rt::CancelScope scope(parent);
  rt::Timer timer(open->routes.logs.hub_here().loop().timers());
  timer.arm(open->routes.logs.hub_here().loop().now() + kLongestFollow,
            [&scope] { scope.cancel(Error{Code::kClosed, "long enough"}); });
  auto outcome = co_await push_inherited(*open, scope);
  if (outcome) {
    const std::uint64_t base = open->source.base;
    const auto own = [base](Seq number) {
      return Seq{number.value > base ? number.value - base : 0};
    };
    open->tail.set_replay(own(open->after), own(open->source.tail),
                          open->source.is_closed
                              ? std::optional(stream::offset_text(open->source.tail))
                              : std::nullopt);
    outcome = co_await open->tail.follow(scope);
  }
  // An end that was planned is told by nothing but the end.
  if (!outcome && outcome.error().code == Code::kClosed && !parent.is_cancelled()) outcome = {};
  co_await say_goodbye(open->writer, outcome);
}

}  // namespace

rt::Task<Result<Reply>> follow_log(const LogRoutes& routes, Exchange& exchange, LogSource source,
                                   ReadLog read) {
  if (!read.from.is_tail && read.from.after > source.tail)
    co_return fail(Code::kBadParameter, "the offset is beyond the stream's tail");
  const std::string path = source.path;
  const bool is_session = source.is_session;
  auto open = std::make_shared<OpenLog>(routes, exchange, std::move(source), read.cursor);
  if (!is_session) {
    REPRISE_CO_CHECK(co_await routes.logs.join(path));
    open->is_counted = true;
  }
  if (!co_await open->tail.subscribe())
    co_return fail(Code::kOverloaded, "the stream's loop is too busy");
  // Only now: whatever happens after this look reaches the reader through the hub.
  REPRISE_CO_TRY(LogSource now, co_await find_source(routes, exchange, path, false));
  if (now.stream != open->source.stream)
    co_return fail(Code::kStreamNotFound, "the stream was replaced just now");
  open->source.tail = now.tail;
  open->source.is_closed = open->frames.is_closed = now.is_closed;
  open->after = read.from.is_tail ? now.tail : std::max(read.from.after, now.start);
  Reply reply = event_stream([open](rt::CancelScope& scope) { return follow(open, scope); });
  if (!open->source.is_json() && !open->source.is_text())
    reply.headers.add("Stream-SSE-Data-Encoding", "base64");
  co_return reply;
}

}  // namespace reprise::api
