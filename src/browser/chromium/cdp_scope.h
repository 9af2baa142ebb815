// CdpClient: a DevTools client's view of one session in a browser that many sessions share.
//
// Playwright (connectOverCDP), Puppeteer (connect) and others attach to a session's own browser
// context and see nothing else: no target, context, event or session of anybody else, whatever they
// ask for. A client has one WebSocket to us and one of its own to the browser's loopback DevTools
// port; between the two stands one CdpClient. It reads messages and writes messages; sockets,
// timers and files are its caller's.
//
//     auto scope = std::make_shared<SessionScope>(context_id);         // one for each session
//     CdpGate gate({.start_timer = …, .stranded = …});                 // one for each browser
//     CdpClient client(gate, scope, {.to_client = …, .to_browser = …, …});
//     client.from_client(text);    // each text message of the client, in order
//     client.from_browser(text);   // each message of the browser, in order
//     client.leave();              // the client's socket is gone, or the session has ended
//     client.closed();             // the browser's socket is gone
//
// How it is called:
//   - The upstream socket is connected before the first message is handed in. It asks for no
//     compression and accepts messages of any size (wire/limits.h, kMaxCdpMessageBytes).
//   - What to_client() and to_browser() are given is sent in the order of the calls. They, and the
//     other hooks, must not call back into the client, except for answering a question.
//   - While is_waiting(), messages of the client stay behind a question that is not answered yet.
//     Stop reading its socket; readable() says when to go on. (Messages that come nevertheless are
//     kept up to kMaxWaitingCdpMessages and then refused.)
//   - Browser.close is answered with {} and never reaches the browser. Then close_asked() is
//     called: flush and close the socket, and end the session if its policy says so.
//   - When the client goes away, call leave() and go on handing in what the browser says until
//     finished() is called, or for a second at most. Then close the browser's socket and call
//     closed(). Otherwise popups of other sessions, to which Chromium has just attached this
//     connection, might wait for it for ever.
//   - When closed() has returned no hook is called any more, and messages are dropped. The
//     destructor calls it. Clients are destroyed before their gate.
//   - When the session ends, its sub_contexts() are to be disposed as its own context is. Those
//     that were made with disposeOnDetach vanish by themselves, and from the scope.
//
// What it does with each command is the table in cdp_rules.h. Ids of the client pass through; for a
// command whose reply must be looked at, an id of our own is put in its place (from kFirstOwnCdpId
// on, which clients may not use), so that no choice of ids leads a reply past us. Ids of targets
// that the client has not been shown are looked up with the browser before they are let through.
//
// Threads: everything that belongs to one browser's gate runs on one loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "browser/chromium/cdp_gate.h"
#include "browser/chromium/cdp_rules.h"

namespace reprise::browser {

// What a session owns in its browser; shared by all clients of the session.
class SessionScope {
 public:
  explicit SessionScope(std::string context_id) : context_id_(std::move(context_id)) {}

  const std::string& context_id() const { return context_id_; }
  // Contexts that clients have made for themselves.
  const std::set<std::string, std::less<>>& sub_contexts() const { return sub_contexts_; }
  bool owns(std::string_view context_id) const {
    return context_id == context_id_ || sub_contexts_.contains(context_id);
  }
  void add_sub_context(std::string context_id) { sub_contexts_.insert(std::move(context_id)); }
  void remove_sub_context(const std::string& context_id) { sub_contexts_.erase(context_id); }

  // How many clients it has, counted by whoever makes them.
  bool has_clients() const { return clients_ > 0; }
  void add_client() { ++clients_; }
  void remove_client() { --clients_; }

  // While a person has taken over, Input.* of every client is refused.
  bool is_taken_over() const { return is_taken_over_; }
  void set_taken_over(bool is_taken_over) { is_taken_over_ = is_taken_over; }

 private:
  std::string context_id_;
  std::set<std::string, std::less<>> sub_contexts_;
  std::size_t clients_ = 0;
  bool is_taken_over_ = false;
};

// Something a command names that only the server can give: paths of a client mean nothing here.
struct CdpQuestion {
  enum class Kind : std::uint8_t {
    kInputFiles,  // DOM.setFileInputFiles: `paths`
    kDragFiles,   // Input.dispatchDragEvent: `paths`
    kDownloads,   // setDownloadBehavior: `behavior`, and `paths` holds its path, if it has one
    kNewContext   // Target.createBrowserContext: its `proxy_server` and `proxy_bypass_list`
  };
  Kind kind = Kind::kInputFiles;
  std::string target_id;   // the page, where it is asked in one
  std::string context_id;  // of that page, or the one whose downloads are meant
  std::vector<std::string> paths;
  std::string behavior;
  std::string proxy_server;
  std::string proxy_bypass_list;
};
struct CdpAnswer {
  // As many as were asked for, of the files that the browser may read; for kDownloads the
  // directory it may write, or nothing with the behavior "deny".
  std::vector<std::string> paths;
  std::string behavior;           // kDownloads: another one; empty as it was
  std::string proxy_server;       // kNewContext; empty: none
  std::string proxy_bypass_list;  // likewise
};
// May be called at once or later, on the same loop, also when the client is gone; once. An error is
// told to the client by its detail.
using CdpAnswered = std::function<void(Result<CdpAnswer>)>;

// A command for the record. The views hold until the hook returns; `params` may hold what was
// typed.
struct AuditNote {
  std::uint64_t number = 0;  // rising, per client
  AuditKind kind = AuditKind::kNone;
  std::string_view method;
  std::string_view target_id;  // of the page it was sent to; empty at the browser's level
  std::string_view params;     // JSON as it was sent, or empty
};
// How it ended. Input has none unless it was refused.
struct AuditOutcome {
  std::uint64_t number = 0;
  bool is_ok = false;
  std::string_view error;   // the message told to the client
  std::string_view result;  // JSON, where it was ok
};

struct CdpHooks {
  std::function<void(std::string message)> to_client;
  std::function<void(std::string message)> to_browser;
  // Before a command navigates: what to tell the client instead, if it may not.
  std::function<std::optional<std::string>(std::string_view url)> check_url;
  std::function<void(CdpQuestion question, CdpAnswered answered)> ask;
  std::function<void(const AuditNote& note)> audit;
  std::function<void(const AuditOutcome& outcome)> audit_outcome;
  std::function<void(std::string_view context_id, bool is_created)> context_changed;
  std::function<void()> close_asked;
  std::function<void()> readable;
  std::function<void()> finished;
};

class CdpClient {
 public:
  // All hooks must be set.
  CdpClient(CdpGate& gate, std::shared_ptr<SessionScope> scope, CdpHooks hooks);
  ~CdpClient();
  CdpClient(const CdpClient&) = delete;
  CdpClient& operator=(const CdpClient&) = delete;

  void from_client(std::string message);
  void from_browser(std::string message);
  void leave();
  void closed();

  bool is_waiting() const;
  // What it holds, for metrics and tests.
  struct Holdings {
    std::size_t sessions = 0;         // visible ones, the root's included
    std::size_t hidden_sessions = 0;  // attached to others' targets, about to be detached
    std::size_t tracked_commands = 0;
    std::size_t waiting_messages = 0;
  };
  Holdings holdings() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace reprise::browser
