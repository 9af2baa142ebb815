// How programs that speak the browser's own protocol are let in.
#include <memory>
#include <string>
#include <utility>

#include "browser/attached_client.h"
#include "browser/service.h"

namespace reprise::browser {

rt::Task<Result<std::shared_ptr<AttachedClient>>> BrowserService::attach(
    session::SessionRef session, ClientCall call) {
  REPRISE_CO_TRY(session::SessionView view, co_await around_.sessions.get(std::move(session)));
  if (model::is_terminal(view.state.status))
    co_return fail(Code::kSessionEnded,
                   "the session is " + std::string(model::word(view.state.status)));
  REPRISE_CO_CHECK(co_await around_.sessions.call(
      view.state.id, {.action = session::Touch{}, .lease = call.lease, .wants_view = false}));
  rt::Loop& origin = *rt::Loop::current();
  if (!co_await rt::switch_to(around_.loop))
    co_return fail(Code::kOverloaded, "the browsers' loop has too much waiting");
  auto attached = co_await attach_here(std::move(view), std::move(call.by));
  co_await rt::return_to(origin);
  co_return attached;
}

rt::Task<Result<std::shared_ptr<AttachedClient>>> BrowserService::attach_here(
    session::SessionView view, std::string by) {
  if (is_closed_) co_return fail(Code::kShuttingDown, "the server is stopping");
  REPRISE_CO_TRY(const Held browser, co_await browser_of(view));
  REPRISE_CO_TRY(const rt::Turns::Turn turn, co_await browser->turns().take(scope_));
  REPRISE_CO_CHECK(co_await browser->need_active(scope_));
  const auto address = browser->context()->protocol_address();
  if (!address)
    co_return fail(Code::kUnsupportedBrowser, "the session's browser has no DevTools endpoint");
  REPRISE_CO_TRY(Pool::Seat seat, browser->seat());
  // Callers may drop it on their own loops.
  co_return std::shared_ptr<AttachedClient>(
      new AttachedClient(browser, *address, std::move(seat), redactor_, std::move(by)),
      [&loop = around_.loop](AttachedClient* client) {
        if (loop.is_current())
          delete client;
        else
          loop.post([client] { delete client; });
      });
}

}  // namespace reprise::browser
