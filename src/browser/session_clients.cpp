// What a session's browser knows of the programs that are attached to it.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "browser/attached_client.h"
#include "browser/session_browser.h"

namespace reprise::browser {

void SessionBrowser::add_client(AttachedClient& client) {
  clients_.push_back(&client);
  had_clients_ = true;
}

void SessionBrowser::remove_client(AttachedClient& client) {
  std::erase(clients_, &client);
  note_use();
}

Result<Pool::Seat> SessionBrowser::seat() {
  if (!place_) return fail(Code::kNoBrowser, "the session has no browser");
  return place_->seat();
}

// Each goes when it has said goodbye; some at once.
void SessionBrowser::end_clients(std::uint16_t code, std::string_view reason) {
  for (AttachedClient* client : std::vector(clients_))
    client->end({.code = code, .reason = std::string(reason)});
}

void SessionBrowser::set_taken_over(bool is_taken_over) {
  is_taken_over_ = is_taken_over;
  if (context_ != nullptr) context_->set_taken_over(is_taken_over);
  note_change();
}

std::optional<model::TabId> SessionBrowser::tab_of_target(std::string_view target) const {
  const auto found = std::ranges::find_if(tabs_, [&](const auto& tab) {
    return tab->page != nullptr && tab->page->target() == target;
  });
  if (found != tabs_.end()) return (*found)->facts.id;
  const auto closed =
      std::ranges::find(closed_targets_, target, &std::pair<std::string, model::TabId>::first);
  return closed == closed_targets_.end() ? std::nullopt : std::optional(closed->second);
}

void SessionBrowser::flush_soon() {
  if (!std::exchange(is_flush_scheduled_, true))
    rt::spawn(flushing_, hold(shared_from_this(), flush_later()));
}

// A client that says goodbye may be the last to know a browser whose session has ended.
rt::Task<> SessionBrowser::hold(std::shared_ptr<SessionBrowser> self, rt::Task<> work) {
  co_await std::move(work);
  // In a later turn: this task is still inside the browser's own gate.
  rt::Loop& loop = around_.loop;
  loop.post([self = std::move(self)] {});
}

void SessionBrowser::touch() { rt::spawn(flushing_, hold(shared_from_this(), touch_session())); }

rt::Task<> SessionBrowser::touch_session() {
  (void)co_await around_.sessions.call(id_, {.action = session::Touch{}, .wants_view = false});
}

void SessionBrowser::lend_later(std::vector<std::string> artifacts, FilesFound found) {
  rt::spawn(flushing_, hold(shared_from_this(), lend_now(std::move(artifacts), std::move(found))));
}

rt::Task<> SessionBrowser::lend_now(std::vector<std::string> artifacts, FilesFound found) {
  const auto context = held_context();
  if (context == nullptr) {
    found(fail(Code::kNoBrowser, "the browser is gone"));
    co_return;
  }
  auto lent = co_await lender_.lend(*context, std::move(artifacts));
  if (!lent)
    lent = fail(lent.error().code, "Files are artifacts of the session: " + lent.error().detail);
  found(std::move(lent));
}

}  // namespace reprise::browser
