// reprise tail and attach: replay, then live, over as many connections as it takes.
#include "server/cli/follow.h"

#include <charconv>

#include "rt/cancel.h"
#include "server/cli/call.h"
#include "server/cli/table.h"
#include "server/cli/tail_progress.h"

namespace reprise::server::cli {
namespace {

// Colours by what an event means to a reader; a type of the client's own gets none.
std::string_view colour_of(std::string_view type) {
  if (type == "status_change" || type.starts_with("session_")) return "\x1b[35m";
  if (type == "message") return "\x1b[32m";
  if (type.starts_with("input_")) return "\x1b[33m";
  if (type.starts_with("tool_") || type == "command") return "\x1b[36m";
  if (type == "log") return "\x1b[2m";
  return "";
}

class FrameReader final : public StreamReader {
 public:
  FrameReader(TailProgress& progress, FollowSink& sink) : progress_(progress), sink_(sink) {}

  void on_open() override {
    if (progress_.failures() > 0) sink_.on_note("connected again");
    progress_.on_open();
  }

  bool on_bytes(std::string_view bytes) override {
    for (const wire::SseEvent& frame : decoder_.feed(bytes)) {
      const auto step = progress_.on_frame(frame);
      if (step == TailProgress::Step::kPrint) sink_.on_event(frame.data);
      if (frame.type == "replayComplete") sink_.on_replay_complete();
      if (step != TailProgress::Step::kFinished) continue;
      is_finished_ = true;
      if (frame.type == "end") end_data_ = frame.data;
      break;
    }
    output_ = sink_.flush();
    return !is_finished_ && output_ && !decoder_.has_overflowed();
  }

  // Why on_bytes had enough.
  const Outcome<>& output() const { return output_; }
  bool is_finished() const { return is_finished_; }
  const std::optional<std::string>& end_data() const { return end_data_; }
  Millis server_asks() const { return Millis{decoder_.retry_ms().value_or(0)}; }

 private:
  TailProgress& progress_;
  FollowSink& sink_;
  wire::SseDecoder decoder_;
  Outcome<> output_;
  bool is_finished_ = false;
  std::optional<std::string> end_data_;
};

ClientRequest stream_request(const std::string& session, const TailProgress& progress) {
  ClientRequest request{.target = session_target(session, "/events/stream") +
                                  fmt::format("?after={}", progress.after())};
  request.headers.emplace_back("Accept", "text/event-stream");
  if (const auto id = progress.last_event_id()) request.headers.emplace_back("Last-Event-ID", *id);
  return request;
}

bool is_worth_another_try(int status) { return status >= 500 || status == 429 || status == 408; }

Millis retry_after(const wire::Response& response) {
  const auto value = response.headers.get("retry-after");
  std::int64_t seconds = 0;
  if (value) std::from_chars(value->data(), value->data() + value->size(), seconds);
  return Millis{std::clamp<std::int64_t>(seconds, 0, 3600) * 1000};
}

void note_end(FollowSink& sink, const std::optional<std::string>& end_data) {
  if (!end_data) return;
  const auto document = wire::parse_json(*end_data);
  const std::string reason = document ? member_text(document->root(), "reason") : "";
  sink.on_note(reason.empty() ? "the session has ended"
                              : fmt::format("the session has ended: {}", printable(reason)));
}

}  // namespace

// "   12  18:13:02.117  message  {"text":"hello"}"
std::string event_line(const std::string& text, bool is_coloured) {
  const auto document = wire::parse_json(text);
  if (!document) return printable(text) + "\n";
  const wire::JsonValue root = document->root();
  const std::string seq = member_text(root, "seq");
  const std::string at = member_text(root, "at");
  const std::string type = printable(member_text(root, "type"));
  const auto data = root.find("data");
  const std::string by = member_text(root, "by");
  const std::string_view colour = is_coloured ? colour_of(type) : "";
  return fmt::format("{:>6}  {}  {}{}{}  {}{}\n", seq.empty() ? "~" : seq,
                     printable(at.size() == 24 ? at.substr(11, 12) : at), colour, type,
                     colour.empty() ? "" : "\x1b[0m", data ? printable(data->minified()) : "",
                     by.empty() ? "" : printable(fmt::format("  (by {})", by)));
}

rt::Task<Outcome<>> follow(Client& client, TailOptions options, FollowSink& sink) {
  TailProgress progress(
      {.after = options.after, .types = options.types, .is_following = options.is_following});
  SystemRandom random;
  rt::CancelScope scope;
  for (;;) {
    FrameReader reader(progress, sink);
    const auto response = co_await client.stream(stream_request(options.session, progress), reader);
    if (!reader.output()) co_return reader.output();
    if (reader.is_finished()) {
      note_end(sink, reader.end_data());
      co_return Outcome<>{};
    }
    if (response && response->status == 204) co_return Outcome<>{};  // ended, and all was read
    if (response && response->status == 200)
      co_return failed(Error{Code::kInternal, "the server sent a frame that is too large"});
    const Failure failure = response ? Failure(*response) : Failure(response.error());
    // A first try that fails is most likely a wrong address: say so instead of waiting.
    const bool is_lost =
        progress.was_open() && (!response || is_worth_another_try(response->status));
    if (!is_lost) co_return std::unexpected(failure);
    const Millis server_asks = response ? retry_after(*response) : reader.server_asks();
    const auto delay = progress.delay_after_loss(random, server_asks);
    if (!delay) co_return std::unexpected(failure);
    sink.on_note(fmt::format("{}; trying again in {} ms", failure.line, delay->count()));
    (void)co_await rt::sleep_for(client.loop(), *delay, scope);
  }
}

}  // namespace reprise::server::cli
