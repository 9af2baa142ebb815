// CdpConnection: commands and events of one Chromium, over the pipe it was started with.
//
//     REPRISE_CO_TRY(auto reply, co_await connection.call("", "Browser.getVersion", "{}", soon));
//     reply.result().find("product") ...
//     connection.listen(session_id, this);     // CdpListener: events of that session
//
// Messages are JSON texts that end in NUL. A session id names what was attached to (a page, a frame
// of another process, a worker); the empty one is the browser itself. Replies come in the order of
// the commands of a session, and whoever waits for one continues in a later turn of the loop.
//
// Threads: belongs to its loop. It must outlive its calls: close() ends them, and they have ended
// when the gate they run in is empty.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "rt/cancel.h"
#include "rt/gate.h"
#include "rt/loop.h"
#include "rt/socket.h"
#include "rt/task.h"
#include "wire/cdp_pipe.h"
#include "wire/json.h"

namespace reprise::browser::chromium {

class CdpReply {
 public:
  explicit CdpReply(wire::JsonDocument document);
  wire::JsonValue result() const { return result_; }
  // A member of the result; empty if it is not there or is no text.
  std::string text(std::string_view name) const;

 private:
  wire::JsonDocument document_;
  wire::JsonValue result_;
};

class CdpListener {
 public:
  virtual ~CdpListener() = default;
  // `session` is the one that the event came from.
  virtual void on_event(const std::string& session, std::string_view method,
                        wire::JsonValue params) = 0;
  // Nothing comes any more.
  virtual void on_closed() = 0;
};

class CdpConnection {
 public:
  CdpConnection(rt::Loop& loop, std::unique_ptr<rt::Socket> pipe);
  ~CdpConnection();
  CdpConnection(const CdpConnection&) = delete;
  CdpConnection& operator=(const CdpConnection&) = delete;

  // Reads until the pipe ends. Runs in a gate of the owner's.
  rt::Task<> run();
  // Every call fails with kBrowserGone, and run() returns.
  void close();
  bool is_open() const { return is_open_; }

  // kBrowserError with the browser's words, kBrowserGone, kDeadline, or the scope's reason.
  rt::Task<Result<CdpReply>> call(std::string session, std::string method, std::string params,
                                  rt::Deadline deadline, rt::CancelScope* scope = nullptr);
  // The same without waiting for the reply.
  void send(std::string_view session, std::string_view method, std::string_view params = "{}");

  // The same; `told` hears the result if there is one, and nothing if not.
  using OnResult = std::function<void(wire::JsonValue result)>;
  void ask(std::string_view session, std::string_view method, std::string_view params,
           OnResult told);

  // Events of a session go to its listener, which leaves with forget(). One listener may have many
  // sessions.
  void listen(const std::string& session, CdpListener* listener);
  // The session has ended: calls that wait for it fail with kBrowserError (a browser does not
  // answer for what it has closed).
  void forget(const std::string& session);

  rt::Loop& loop() { return loop_; }

 private:
  struct Pending;
  std::uint64_t write(std::string_view session, std::string_view method, std::string_view params);
  void flush();
  rt::Task<> write_rest();
  void take(std::string message);
  void finish(std::uint64_t id, Result<CdpReply> outcome);

  rt::Loop& loop_;
  std::unique_ptr<rt::Socket> pipe_;
  rt::Gate writing_;
  bool is_open_ = true;
  bool is_writing_ = false;
  std::uint64_t last_id_ = 0;
  wire::CdpPipeDecoder input_;
  std::string output_;
  std::unordered_map<std::uint64_t, Pending*> pending_;
  std::unordered_map<std::uint64_t, OnResult> asked_;
  std::unordered_map<std::string, CdpListener*> listeners_;
};

// Replaces escapes of lone surrogates, which pages can make and JSON texts in UTF-8 cannot hold.
std::string without_lone_surrogates(std::string text);

}  // namespace reprise::browser::chromium
