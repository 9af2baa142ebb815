#include "api/devtools.h"

#include <fmt/format.h>

#include "api/access.h"
#include "api/outlet.h"
#include "api/parameters.h"
#include "base/json_text.h"
#include "wire/sse.h"

namespace reprise::api {
namespace {

using http::Exchange;
using http::Reply;

// When a loop had no room for a question, it is asked again after this.
constexpr std::chrono::milliseconds kAskAgain{50};

// What one listener's connection owns.
struct OpenFeed {
  DevtoolsFeed& feed;
  http::StreamWriter writer;
  rt::Loop& loop;
  DevtoolsFilter filter;
  const Millis heartbeat;
  std::shared_ptr<DevtoolsListener> listener = nullptr;
  std::uint64_t position = 0;
  OpenFeed(DevtoolsFeed& from, Exchange& exchange, DevtoolsFilter what, Millis beat)
      : feed(from),
        writer(*exchange.socket, *exchange.flusher),
        loop(exchange.flusher->loop()),
        filter(std::move(what)),
        heartbeat(beat) {}
  ~OpenFeed() {
    if (listener) feed.leave(std::move(listener));
  }
};

rt::Task<Result<>> push(http::StreamWriter& writer, std::string frames, rt::CancelScope& scope) {
  const auto bytes = std::make_shared<const std::string>(std::move(frames));
  while (!writer.push(bytes)) REPRISE_CO_CHECK(co_await writer.wait_for_room(scope));
  co_return Result<>{};
}

// The place it has come to, for a client whose filter lets nothing through: a frame without data is
// not dispatched, but its id is remembered (WHATWG, "dispatch the event").
std::string place(const OpenFeed& open) {
  return fmt::format("id: {}\n\n", open.feed.id(open.position));
}

std::string opening(const OpenFeed& open, bool is_gap) {
  if (!is_gap) return place(open);
  std::string frame;
  wire::append_sse_frame(
      frame, "gap", open.feed.id(open.position),
      fmt::format("{{\"n\":{},\"at\":\"{}\"}}", open.position, format_time(open.feed.now())));
  return frame;
}

// Everything there is by now.
rt::Task<Result<>> catch_up(OpenFeed& open, rt::CancelScope& scope) {
  for (bool has_more = true; has_more;) {
    open.listener->has_news = false;
    auto read = co_await open.feed.read(open.listener, open.position, open.filter);
    if (!read) {
      REPRISE_CO_CHECK(co_await rt::sleep_for(open.loop, kAskAgain, scope));
      continue;
    }
    if (scope.is_cancelled()) co_return fail(scope.reason());
    if (read->is_too_late) {
      open.feed.count_cut();
      co_return fail(Code::kCursorTooOld, "the listener was slower than what is kept for it");
    }
    open.position = read->position;
    has_more = read->has_more;
    if (!read->frames.empty())
      REPRISE_CO_CHECK(co_await push(open.writer, std::move(read->frames), scope));
  }
  co_return Result<>{};
}

rt::Task<Result<>> run(OpenFeed& open, rt::CancelScope& scope, bool is_gap) {
  REPRISE_CO_CHECK(co_await push(open.writer, opening(open, is_gap), scope));
  auto heartbeat_due = rt::Deadline::after(open.loop, open.heartbeat);
  for (;;) {
    if (open.listener->has_news) REPRISE_CO_CHECK(co_await catch_up(open, scope));
    if (heartbeat_due.has_passed(open.loop)) {
      REPRISE_CO_CHECK(co_await push(open.writer, ": heartbeat\n" + place(open), scope));
      heartbeat_due = rt::Deadline::after(open.loop, open.heartbeat);
    }
    if (open.listener->has_news) continue;
    (void)co_await open.listener->news.wait(scope, heartbeat_due);
    if (scope.is_cancelled()) co_return fail(scope.reason());
    if (open.writer.is_broken()) co_return fail(Code::kClosed, "the listener is gone");
  }
}

rt::Task<> follow(std::shared_ptr<OpenFeed> open, rt::CancelScope& scope, bool is_gap) {
  const auto outcome = co_await run(*open, scope, is_gap);
  co_await say_goodbye(open->writer, outcome);
}

rt::Task<> nothing(rt::CancelScope&) { co_return; }

Result<DevtoolsFilter> filter_of(const Exchange& exchange) {
  DevtoolsFilter filter;
  filter.apps = exchange.principal.apps;
  REPRISE_TRY(const auto types, exchange.query("types"));
  if (types) {
    REPRISE_TRY(filter.types, parse_devtools_types(*types));
  }
  REPRISE_TRY(filter.app, exchange.query("app"));
  if (filter.app) {
    REPRISE_CHECK(model::check_app(*filter.app));
    REPRISE_CHECK(check_app_access(exchange, *filter.app));
  }
  REPRISE_TRY(const auto session, exchange.query("session"));
  if (!session) return filter;
  REPRISE_TRY(const auto ref, parse_session_ref(*session));
  if (const auto* key = std::get_if<model::SessionKey>(&ref)) {
    REPRISE_CHECK(check_app_access(exchange, key->app));
    filter.session = key->to_string();
  } else {
    filter.session = std::get<SessionId>(ref).to_string();
  }
  return filter;
}

rt::Task<Result<Reply>> listen(DevtoolsFeed& feed, Exchange& exchange, Millis heartbeat) {
  REPRISE_CO_CHECK(exchange.check_query({"types", "app", "session"}));
  REPRISE_CO_TRY(auto filter, filter_of(exchange));
  std::optional<std::string> cursor;
  if (const auto header = exchange.request.headers.get("last-event-id");
      header && !header->empty()) {
    cursor = std::string(*header);
    REPRISE_CO_CHECK(parse_devtools_id(*cursor));
  }
  // HEAD asks what a stream would be, and listens to none.
  if (exchange.request.method == wire::Method::kHead) co_return event_stream(nothing);
  auto open = std::make_shared<OpenFeed>(feed, exchange, std::move(filter), heartbeat);
  REPRISE_CO_TRY(auto opened, co_await feed.listen(std::move(cursor)));
  open->listener = std::move(opened.listener);
  open->position = opened.start.after;
  const bool is_gap = opened.start.is_gap;
  co_return event_stream(
      [open, is_gap](rt::CancelScope& scope) { return follow(open, scope, is_gap); });
}

}  // namespace

DevtoolsPresence::DevtoolsPresence(DevtoolsFeed* feed, DevtoolsClient client)
    : feed_(feed), client_(std::move(client)) {
  if (feed_ != nullptr) feed_->on_client(DevtoolsType::kClientConnected, client_);
}

DevtoolsPresence::~DevtoolsPresence() {
  if (feed_ != nullptr) feed_->on_client(DevtoolsType::kClientDisconnected, client_);
}

void add_devtools_routes(http::Router& router, DevtoolsFeed& feed, Millis heartbeat) {
  router.add(wire::Method::kGet, std::string(kDevtoolsPath), http::Scope::kRead,
             [&feed, heartbeat](Exchange& exchange) { return listen(feed, exchange, heartbeat); },
             {"text/event-stream"});
}

}  // namespace reprise::api
