#include "api/live.h"

#include <fmt/format.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "api/access.h"
#include "api/body.h"
#include "base/json_text.h"
#include "browser/limits.h"
#include "browser/live_service.h"
#include "http/websocket_upgrade.h"

namespace reprise::api {
namespace {

using browser::LiveService;
using browser::LiveTicket;
using browser::SharedText;
using http::Exchange;
using http::Reply;
using http::WebSocket;

std::string caller(const Exchange& exchange) {
  return exchange.principal.name == "anonymous" ? std::string() : exchange.principal.name;
}

// One viewer's socket. The browsers' loop hands it things through LiveSink, which go to the
// socket's own loop one by one; LiveService never has more than a few under way, so nothing is
// dropped here. Everything else belongs to the socket's loop.
class LiveSocket final : public browser::LiveSink, public std::enable_shared_from_this<LiveSocket> {
 public:
  LiveSocket(rt::Loop& loop, LiveService& live, std::string by, bool may_write)
      : loop_(loop), live_(live), by_(std::move(by)), may_write_(may_write), changed_(loop) {}

  // Until the peer has gone, the session has ended or the server stops. `self` is this socket.
  rt::Task<> run(std::shared_ptr<LiveSocket> self, SessionId session, WebSocket& socket,
                 rt::CancelScope& scope) {
    auto ticket = co_await live_.watch(session, self);
    if (!ticket) {
      co_await socket.close(browser::kLiveRefused,
                            std::string(error_row(ticket.error().code).name));
      co_return;
    }
    ticket_ = *ticket;
    rt::spawn(writing_, write(socket, scope));
    co_await read(socket, scope);
    live_.leave(ticket_);
    is_over_ = true;
    changed_.notify();
    co_await writing_.empty();
  }

  void show(SharedText picture) override { hand_over({.picture = std::move(picture)}); }
  void tell(SharedText state) override { hand_over({.state = std::move(state)}); }
  void answer(browser::LiveAnswer answer) override {
    // Whoever gave no number wants to hear of failures alone.
    const bool is_silent = !answer.id && !answer.error;
    hand_over({.answer = is_silent ? std::string() : browser::live_answer_json(answer)});
  }
  void end(std::uint16_t code, std::string reason) override {
    hand_over({.close_code = code, .close_reason = std::move(reason)});
  }

 private:
  // One of these.
  struct Item {
    SharedText picture = nullptr;
    SharedText state = nullptr;
    std::optional<std::string> answer = std::nullopt;
    std::uint16_t close_code = 0;
    std::string close_reason = {};
  };

  void hand_over(Item item) {
    loop_.post([self = shared_from_this(), item = std::move(item)]() mutable {
      if (self->is_over_) return;
      self->items_.push_back(std::move(item));
      self->changed_.notify();
    });
  }

  rt::Task<> write(WebSocket& socket, rt::CancelScope& scope) {
    while (!is_over_) {
      if (items_.empty()) {
        if (!co_await changed_.wait(scope)) break;
        continue;
      }
      Item item = std::move(items_.front());
      items_.pop_front();
      if (item.close_code != 0) {
        co_await socket.close(item.close_code, std::move(item.close_reason));
        break;
      }
      if (!co_await send(socket, scope, std::move(item))) break;
    }
    is_over_ = true;
    changed_.notify();
  }

  rt::Task<bool> send(WebSocket& socket, rt::CancelScope& scope, Item item) {
    if (!co_await socket.wait_for_room(scope)) co_return false;
    if (item.picture) {
      ++unacknowledged_;
      co_return socket.push(false, std::move(item.picture));
    }
    if (item.answer) {
      --unanswered_;
      changed_.notify();
      if (item.answer->empty()) co_return true;
      co_return socket.push({.is_text = true, .data = std::move(*item.answer)});
    }
    if (!socket.push(true, std::move(item.state))) co_return false;
    // The next state comes when this one has left.
    if (!co_await socket.wait_for_room(scope)) co_return false;
    live_.state_taken(ticket_);
    co_return true;
  }

  rt::Task<> read(WebSocket& socket, rt::CancelScope& scope) {
    while (!is_over_) {
      // What a person does faster than it can be done stays with them.
      if (unanswered_ >= browser::kMaxLiveInputs) {
        if (!co_await changed_.wait(scope)) co_return;
        continue;
      }
      auto message = co_await socket.read(scope);
      if (!message || !*message) co_return;
      take(std::move(**message));
    }
  }

  void take(WebSocket::Message message) {
    auto parsed = message.is_text
                      ? browser::parse_live_message(std::move(message.data))
                      : Result<browser::LiveMessage>(fail(Code::kInvalid, "messages are text"));
    if (parsed && std::holds_alternative<browser::LiveAck>(*parsed)) {
      if (unacknowledged_ == 0) return;  // of nothing
      --unacknowledged_;
      return live_.picture_taken(ticket_);
    }
    ++unanswered_;
    if (!parsed) return refuse(std::nullopt, std::move(parsed).error());
    const auto* claim = std::get_if<browser::LiveClaim>(&*parsed);
    if (claim != nullptr && !may_write_)
      return refuse(claim->id, Error{Code::kForbidden, "the token may look, and not take over"});
    if (claim != nullptr) return live_.claim(ticket_, *claim, by_);
    live_.input(ticket_, std::get<browser::LiveInput>(std::move(*parsed)));
  }

  void refuse(std::optional<std::uint64_t> id, Error error) {
    items_.push_back({.answer = browser::live_answer_json({.id = id, .error = std::move(error)})});
    changed_.notify();
  }

  rt::Loop& loop_;
  LiveService& live_;
  const std::string by_;
  const bool may_write_;
  LiveTicket ticket_;
  std::deque<Item> items_;
  std::size_t unanswered_ = 0;      // what was read, and not answered
  std::size_t unacknowledged_ = 0;  // pictures
  bool is_over_ = false;
  rt::Signal changed_;
  rt::Gate writing_;
};

rt::Task<> converse(std::shared_ptr<LiveSocket> viewer, SessionId session, WebSocket& socket,
                    rt::CancelScope& scope) {
  co_await viewer->run(viewer, session, socket, scope);
}

rt::Task<Result<Reply>> open_live(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_TRY(const auto view, co_await routes.browsers.sessions().get(std::move(ref)));
  if (model::is_terminal(view.state.status))
    co_return fail(Code::kSessionEnded,
                   fmt::format("the session is {}", model::word(view.state.status)));
  auto viewer = std::make_shared<LiveSocket>(exchange.flusher->loop(), routes.browsers.live(),
                                             caller(exchange),
                                             exchange.principal.scope >= http::Scope::kWrite);
  co_return http::accept_websocket(
      exchange,
      [viewer = std::move(viewer), session = view.state.id](WebSocket& socket,
                                                            rt::CancelScope& scope) {
        return converse(viewer, session, socket, scope);
      },
      {.max_message_bytes = browser::kMaxLiveMessageBytes, .subprotocols = {}});
}

rt::Task<Result<Reply>> take_over(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  if (!exchange.request.body.empty()) {
    REPRISE_CO_TRY(Body body, Body::parse(exchange));
    REPRISE_CO_CHECK(body.done());
  }
  REPRISE_CO_TRY(const browser::TakeOver taken,
                 co_await routes.browsers.live().take_over(std::move(ref), caller(exchange)));
  co_return Reply::json(
      201,
      fmt::format(R"({{"leaseId":{},"by":{},"takenAt":"{}","expiresAt":"{}","pausesSession":{}}})",
                  json_string(taken.lease), taken.by.empty() ? "null" : json_string(taken.by),
                  format_time(taken.taken_at), format_time(taken.expires_at), taken.is_pausing));
}

rt::Task<Result<Reply>> hand_back(const BrowserRoutes& routes, Exchange& exchange) {
  REPRISE_CO_CHECK(exchange.check_query({}));
  REPRISE_CO_TRY(auto ref, co_await session_of(routes.browsers.sessions(), exchange));
  REPRISE_CO_CHECK(co_await routes.browsers.live().hand_back(std::move(ref)));
  co_return Reply::empty(204);
}

}  // namespace

void add_live_routes(http::Router& router, const BrowserRoutes& routes) {
  using enum wire::Method;
  using http::Scope;
  using Handler = rt::Task<Result<Reply>> (*)(const BrowserRoutes&, Exchange&);
  const auto add = [&](wire::Method method, std::string path, Scope scope, Handler handler) {
    router.add(method, "/v1/sessions/{s}" + std::move(path), scope,
               [&routes, handler](Exchange& exchange) { return handler(routes, exchange); });
  };
  add(kGet, "/live", Scope::kRead, open_live);
  add(kPost, "/browser/takeover", Scope::kWrite, take_over);
  add(kDelete, "/browser/takeover", Scope::kWrite, hand_back);
}

}  // namespace reprise::api
