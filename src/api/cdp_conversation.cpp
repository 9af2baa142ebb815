#include "api/cdp_conversation.h"

#include <utility>

#include "api/limits.h"
#include "browser/timing.h"

namespace reprise::api {

using browser::ClientEnd;

CdpConversation::CdpConversation(rt::RealLoop& loop,
                                 std::shared_ptr<browser::AttachedClient> client,
                                 std::unique_ptr<http::WebSocket> to_browser)
    : loop_(loop),
      client_(std::move(client)),
      to_browser_(std::move(to_browser)),
      readable_(loop),
      finished_(loop),
      over_(loop) {}

void CdpConversation::stop(std::optional<ClientEnd> why) {
  if (std::exchange(is_over_, true)) return;
  why_ = std::move(why);
  over_.notify();
}

rt::Task<> CdpConversation::run(http::WebSocket& to_client, rt::CancelScope& scope) {
  to_client_ = &to_client;
  client_->start({
      .to_client =
          [this](std::string message) {
            to_client_->push_anyway({.is_text = true, .data = std::move(message)});
          },
      .to_browser =
          [this](std::string message) {
            to_browser_->push_anyway({.is_text = true, .data = std::move(message)});
          },
      .readable = [this] { readable_.notify(); },
      .finished =
          [this] {
            is_finished_ = true;
            finished_.notify();
          },
      .close_asked = [this] { stop(std::nullopt); },
      .ended = [this](ClientEnd end) { stop(std::move(end)); },
  });
  rt::spawn(readers_, read_browser());
  rt::spawn(readers_, read_client());
  // The server stops, or the client has gone.
  while (!is_over_ && co_await over_.wait(scope)) continue;
  is_over_ = true;
  talking_.cancel();
  co_await say_goodbye();
  browser_scope_.cancel();
  co_await readers_.empty();
  client_->closed();
  client_.reset();
  to_browser_.reset();
  if (why_) co_await to_client.close(why_->code, why_->reason);
}

rt::Task<> CdpConversation::read_client() {
  for (;;) {
    auto message = co_await to_client_->read(talking_);
    if (is_over_) co_return;
    if (!message || !*message) co_return stop(std::nullopt);
    client_->from_client(std::move((*message)->data));
    while (!is_over_ && client_->is_waiting()) {
      const auto deadline = rt::Deadline::after(loop_, browser::kMaxClientPause);
      if (!co_await readable_.wait(talking_, deadline) && !is_over_) client_->try_again();
    }
    if (to_browser_->is_full() && !co_await to_browser_->wait_for_room(talking_)) co_return;
    // What we answer ourselves is not more than the client takes, either.
    if (to_client_->is_full() && !co_await to_client_->wait_for_room(talking_)) co_return;
  }
}

// Goes on when the client has left, until everything is in order behind it.
rt::Task<> CdpConversation::read_browser() {
  for (;;) {
    auto message = co_await to_browser_->read(browser_scope_);
    if (!message || !*message) break;
    client_->from_browser(std::move((*message)->data));
    if (is_over_) continue;
    if (!to_client_->is_full()) {
      is_slow_ = false;
      continue;
    }
    if (!co_await wait_for_client())
      stop(ClientEnd{browser::kTooSlowClose, "the client does not take what it is sent"});
  }
  stop(ClientEnd{browser::kBrowserGoneClose, "the browser closed the connection"});
  is_finished_ = true;
  finished_.notify();
}

// Whoever is slow is waited for once; then the browser is listened to, as long as what waits is not
// too much.
rt::Task<bool> CdpConversation::wait_for_client() {
  if (!std::exchange(is_slow_, true) && co_await has_room_within(browser::kMaxClientPause))
    is_slow_ = false;
  const auto deadline = rt::Deadline::after(loop_, browser::kMaxClientStall);
  while (!is_over_ && to_client_->waiting_bytes() >= kMaxCdpBacklogBytes) {
    if (deadline.has_passed(loop_)) co_return false;
    if (co_await has_room_within(browser::kLookAgain)) break;
  }
  co_return true;
}

rt::Task<bool> CdpConversation::has_room_within(rt::Nanos patience) {
  rt::CancelScope scope(talking_);
  rt::Timer timer(loop_.timers());
  timer.arm(loop_.now() + patience, [&scope] { scope.cancel(); });
  co_return static_cast<bool>(co_await to_client_->wait_for_room(scope));
}

rt::Task<> CdpConversation::say_goodbye() {
  client_->leave();
  const auto deadline = rt::Deadline::after(loop_, browser::kMaxClientGoodbye);
  rt::CancelScope scope;
  while (!is_finished_ && co_await finished_.wait(scope, deadline)) continue;
}

}  // namespace reprise::api
