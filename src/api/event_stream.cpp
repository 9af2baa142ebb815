#include <fmt/format.h>

#include <limits>

#include "api/access.h"
#include "api/devtools.h"
#include "api/events.h"
#include "api/outlet.h"
#include "api/parameters.h"
#include "base/json_text.h"
#include "model/event.h"
#include "session/limits.h"
#include "session/stream_end.h"
#include "stream/tail.h"
#include "wire/sse.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;
using session::SessionService;

// A stored event as an unnamed frame whose id is its number. Payloads are stored minified, so it is
// one data line.
class EventFrames final : public stream::FrameFormat {
 public:
  void append_entry(std::string& out, Seq seq, std::string_view bytes) const override {
    const auto entry = model::decode_entry(bytes);
    if (!entry) return;  // the store's own checksums make this impossible short of damage in memory
    out += "id: ";
    append_number(out, seq.value);
    out += "\ndata: ";
    model::append_event_json(out, seq, *entry);
    out += "\n\n";
  }
};

class SessionTailFrames final : public stream::TailFrames {
 public:
  const stream::FrameFormat& format() const override { return format_; }
  void replay_complete(std::string& out, Seq at) const override {
    out += fmt::format("event: replayComplete\ndata: {{\"lastSeq\":{}}}\n\n", at.value);
  }
  std::string ephemeral(std::string_view event_json) const override {
    return fmt::format("data: {}\n\n", event_json);
  }
  std::string end(std::string_view reason) const override {
    return fmt::format("event: end\ndata: {{\"reason\":{}}}\n\n", json_string(reason));
  }
  std::string heartbeat() const override { return ": heartbeat\n\n"; }
  void note_end(std::string_view entry, std::optional<std::string>& end_reason) const override {
    session::note_end(entry, end_reason);
  }

 private:
  EventFrames format_;
};

const SessionTailFrames& frames() {
  static const SessionTailFrames instance;
  return instance;
}

// What one reader's connection owns.
struct OpenStream {
  SessionService& service;
  SessionId session;
  std::string client_id;
  http::StreamWriter writer;
  WriterOutlet outlet;
  stream::Tail tail;
  bool has_joined = false;
  std::optional<DevtoolsPresence> presence = std::nullopt;
  OpenStream(SessionService& to, Exchange& exchange, const session::SessionView& view,
             Millis heartbeat)
      : service(to),
        session(view.state.id),
        writer(*exchange.socket, *exchange.flusher),
        outlet(writer),
        tail(to.hub_here(), to.store_here(), outlet, frames(),
             {.stream = view.stream,
              .home = to.home_index(view.state.id),
              .after = {},
              .replay_until = {},
              .heartbeat_interval = heartbeat}) {}
  ~OpenStream() {
    if (has_joined) service.leave(session, client_id);
  }
};

rt::Task<> follow(std::shared_ptr<OpenStream> open, rt::CancelScope& scope) {
  const auto outcome = co_await open->tail.follow(scope);
  co_await say_goodbye(open->writer, outcome);
}

rt::Task<> nothing(rt::CancelScope&) { co_return; }

struct Position {
  Seq after;
  bool is_reconnect = false;  // by Last-Event-ID
};

Result<Position> position(const Exchange& exchange) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  REPRISE_TRY(const auto after, number_parameter(exchange, "after", 0, kMost));
  const auto header = exchange.request.headers.get("last-event-id");
  if (!header || header->empty()) return Position{Seq{after.value_or(0)}, false};
  REPRISE_TRY(const std::uint64_t seq, parse_number("Last-Event-ID", *header, 0, kMost));
  return Position{Seq{seq}, true};
}

Result<std::string> client_id(const Exchange& exchange, bool& is_named) {
  REPRISE_TRY(const auto named, exchange.query("clientId"));
  is_named = named.has_value();
  if (!named) return "anonymous-" + exchange.request_id;
  const bool has_control = std::any_of(named->begin(), named->end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (named->empty() || named->size() > session::kMaxClientIdBytes || has_control)
    return fail(Code::kBadParameter, fmt::format("clientId must have 1 to {} printable bytes",
                                                 session::kMaxClientIdBytes));
  return *named;
}

rt::Task<Result<Reply>> open_stream(SessionService& service, Exchange& exchange, Millis heartbeat,
                                    DevtoolsFeed* devtools) {
  REPRISE_CO_CHECK(exchange.check_query({"after", "clientId"}));
  REPRISE_CO_TRY(const Position from, position(exchange));
  bool is_named = false;
  REPRISE_CO_TRY(std::string client, client_id(exchange, is_named));
  REPRISE_CO_TRY(const auto ref, co_await session_of(service, exchange));
  REPRISE_CO_TRY(const auto found, co_await service.get(ref));

  auto open = std::make_shared<OpenStream>(service, exchange, found, heartbeat);
  if (!co_await open->tail.subscribe())
    co_return fail(Code::kOverloaded, "the session's loop is too busy");
  // Only now: whatever happens after this look reaches the reader through the hub.
  REPRISE_CO_TRY(const auto view, co_await service.get(SessionId(found.state.id)));
  const Seq head = view.state.head;
  if (from.after > head)
    co_return fail(Code::kCursorBeyondHead, fmt::format("the cursor is {} but the last event is {}",
                                                        from.after.value, head.value));
  const bool has_ended = model::is_terminal(view.state.status);
  if (has_ended && from.is_reconnect && from.after == head) co_return Reply::empty(204);

  // HEAD asks what a stream would be, and reads none.
  if (exchange.request.method == wire::Method::kHead) co_return event_stream(nothing);
  open->client_id = std::move(client);
  REPRISE_CO_CHECK(co_await service.join(open->session, open->client_id, is_named));
  open->has_joined = true;
  open->presence.emplace(devtools, DevtoolsClient{.stream = "events",
                                                  .client = open->client_id,
                                                  .address = exchange.socket->peer_address(),
                                                  .session = open->session,
                                                  .app = view.state.app,
                                                  .name = view.state.name});
  open->tail.set_replay(
      std::max(from.after, view.state.visible_after), head,
      has_ended ? std::optional(std::string(model::word(view.state.status))) : std::nullopt);
  co_return event_stream([open](rt::CancelScope& scope) { return follow(open, scope); });
}

}  // namespace

void add_event_stream_route(http::Router& router, SessionService& service, Millis heartbeat,
                            DevtoolsFeed* devtools) {
  router.add(wire::Method::kGet, "/v1/sessions/{s}/events/stream", http::Scope::kRead,
             [&service, heartbeat, devtools](Exchange& exchange) {
               return open_stream(service, exchange, heartbeat, devtools);
             },
             {"text/event-stream"});
}

}  // namespace reprise::api
