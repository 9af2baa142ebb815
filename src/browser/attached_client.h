// AttachedClient: a program that is attached to a session's browser by the browser's own protocol.
//
// It sees its session's context and nothing else (browser/protocol_client.h). What it does there is
// work on the session: it counts as activity, keeps the context from being put to sleep, and is put
// on record, written behind and in order. What is not stored yet is bounded: then is_waiting() says
// that the program's messages have to wait. Leaving ends nothing.
//
//     REPRISE_CO_TRY(auto client, co_await browsers.attach(session, {.by = …}));  // on any loop
//     ... on the browsers' loop, where it belongs:
//     client->start({.to_client = …, .to_browser = …, …});   // once its socket is connected
//     client->from_client(…); client->from_browser(…);
//     client->leave(); … client->closed();
//
// When the session ends, or its browser goes, ended() is called once, with what to tell the
// program; from then on it is as if it had left.
//
// Threads: belongs to the browsers' loop; dropped on any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "browser/pool.h"
#include "browser/protocol_client.h"
#include "browser/session_browser.h"
#include "model/redact.h"
#include "rt/loop.h"
#include "rt/timer_queue.h"

namespace reprise::browser {

// Why a program was sent away, by the code of a WebSocket's close (4000 and up are the server's).
struct ClientEnd {
  std::uint16_t code = 0;
  std::string reason;
};
inline constexpr std::uint16_t kSessionEndedClose = 4001;
inline constexpr std::uint16_t kBrowserReleasedClose = 4002;
inline constexpr std::uint16_t kBrowserGoneClose = 4003;
inline constexpr std::uint16_t kTooSlowClose = 4008;

class AttachedClient {
 public:
  struct Sockets {
    std::function<void(std::string message)> to_client;
    std::function<void(std::string message)> to_browser;
    std::function<void()> readable;
    std::function<void()> finished;
    std::function<void()> close_asked;
    std::function<void(ClientEnd end)> ended;
  };

  AttachedClient(std::shared_ptr<SessionBrowser> browser, ProtocolAddress address, Pool::Seat seat,
                 const model::Redactor& redactor, std::string by);
  ~AttachedClient();
  AttachedClient(const AttachedClient&) = delete;
  AttachedClient& operator=(const AttachedClient&) = delete;

  // Where its socket to the browser goes.
  const ProtocolAddress& address() const { return address_; }
  void start(Sockets sockets);
  void from_client(std::string message);
  void from_browser(std::string message);
  void leave();
  void closed();
  bool is_waiting() const;
  // It has waited for long: tries again to store what could not be.
  void try_again() { browser_->flush_soon(); }

  // From the session's browser.
  void end(ClientEnd end);
  void stored();  // something that was told has been

 private:
  ProtocolHooks hooks();
  void record(ProtocolCommand command);
  void note_activity();
  // A command under way is work, however long it takes.
  void stay_awake();

  const std::shared_ptr<SessionBrowser> browser_;
  const ProtocolAddress address_;
  const Pool::Seat seat_;
  const model::Redactor& redactor_;
  const std::string by_;
  Sockets sockets_;
  std::optional<ClientEnd> end_;
  std::unique_ptr<ProtocolClient> client_;
  rt::Nanos touched_at_{0};
  rt::Nanos heard_at_{0};
  std::size_t unanswered_ = 0;  // commands of the program
  rt::Timer awake_;
};

}  // namespace reprise::browser
