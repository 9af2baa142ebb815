// CdpConversation: one DevTools client between its own socket and one to the browser.
//
// Messages go both ways in order, and each side is read only as fast as the other one takes. A
// client that takes nothing is not waited for too long: the browser tells every client of new pages
// of all sessions, and a page may wait until each of them has answered.
//
// Threads: belongs to the browsers' loop.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "browser/attached_client.h"
#include "http/websocket.h"
#include "http/websocket_client.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/task.h"

namespace reprise::api {

class CdpConversation {
 public:
  CdpConversation(rt::RealLoop& loop, std::shared_ptr<browser::AttachedClient> client,
                  std::unique_ptr<http::WebSocket> to_browser);

  // Until one of the two has gone, or the session's browser; then the client's socket is closed.
  rt::Task<> run(http::WebSocket& to_client, rt::CancelScope& scope);

 private:
  rt::Task<> read_client();
  rt::Task<> read_browser();
  // Whether the client has taken enough to be sent more; false: it is given up.
  rt::Task<bool> wait_for_client();
  rt::Task<bool> has_room_within(rt::Nanos patience);
  rt::Task<> say_goodbye();
  void stop(std::optional<browser::ClientEnd> why);

  rt::RealLoop& loop_;
  std::shared_ptr<browser::AttachedClient> client_;
  std::unique_ptr<http::WebSocket> to_browser_;
  http::WebSocket* to_client_ = nullptr;
  rt::CancelScope talking_;  // cancelled when it is over
  rt::CancelScope browser_scope_;
  rt::Signal readable_;
  rt::Signal finished_;
  rt::Signal over_;
  bool is_over_ = false;
  bool is_finished_ = false;
  bool is_slow_ = false;  // the client; it was waited for already
  std::optional<browser::ClientEnd> why_;
  rt::Gate readers_;
};

}  // namespace reprise::api
