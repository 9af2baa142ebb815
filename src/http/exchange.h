// Exchange: one request being answered, and Reply: its answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/auth.h"
#include "http/stream_writer.h"
#include "rt/cancel.h"
#include "rt/task.h"
#include "wire/http.h"
#include "wire/target.h"

namespace reprise::http {

// A body that is not in memory, read as fast as the client takes it.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // Puts the next bytes into the buffer, at least one. An error ends the connection: the client
  // sees that the body is cut off.
  virtual rt::Task<Result<std::size_t>> read(std::span<char> buffer) = 0;
};

// The body of a request, read as fast as the handler takes it.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // The next bytes, as they come; empty at the end. After an error it is of no use any more.
  virtual rt::Task<Result<std::string>> read() = 0;
};

struct WebSocketUpgrade;

struct Reply {
  // Runs after the head is sent, until it ends, the scope is cancelled or the peer is gone; then
  // the connection closes.
  using Stream = std::move_only_function<rt::Task<>(rt::CancelScope&)>;
  int status = 200;
  wire::Headers headers;
  std::string body;
  Stream stream;                       // set for a reply that streams
  std::unique_ptr<BodySource> source;  // instead of `body`, with its length
  std::uint64_t source_bytes = 0;
  // Set for a 101 that makes the connection a WebSocket (http/websocket_upgrade.h).
  std::shared_ptr<WebSocketUpgrade> websocket;

  static Reply json(int status, std::string body);
  static Reply empty(int status);
};

struct Route;

// What a request turned out to be about; filled in by handlers, for who observes requests.
struct RequestSubject {
  std::string session;  // its id; empty: none
  std::string app;
  std::string key;
};

// What a handler works on. Lives until the reply has been sent.
struct Exchange {
  wire::Request request;
  wire::Target target;
  std::vector<std::string> captured;  // what `{...}` parts of the route matched
  Principal principal;
  std::string request_id;
  // For replies that stream: what a StreamWriter is made of.
  rt::Socket* socket = nullptr;
  Flusher* flusher = nullptr;
  std::size_t* in_flight = nullptr;  // what this request is counted in
  // For routes that stream bodies; nullptr if the body came whole and is in the request.
  BodyReader* body = nullptr;
  const Route* route = nullptr;  // nullptr: none was found
  // There only while somebody observes requests (http/observer.h).
  std::unique_ptr<RequestSubject> subject = nullptr;

  // Query parameters by name; a repeated one is kBadParameter, and check_query refuses unknown
  // names.
  Result<std::optional<std::string>> query(std::string_view name) const;
  Result<> check_query(std::initializer_list<std::string_view> known) const;
  // Whether the Accept header allows this media type (no header allows all).
  bool accepts(std::string_view media_type) const { return acceptance(media_type) > 0; }
  // Whether it names this type itself, rather than allowing it by a wildcard, and likes it no less
  // than the other.
  bool prefers(std::string_view media_type, std::string_view other) const;
  // The next bytes of the body, streamed or not; empty at the end.
  rt::Task<Result<std::string>> read_body();

 private:
  int acceptance(std::string_view media_type) const;  // its weight in thousandths
};

// A request that waits for something to happen does not count as being answered meanwhile.
class OffDuty {
 public:
  explicit OffDuty(Exchange& exchange) : in_flight_(exchange.in_flight) {
    if (in_flight_ != nullptr) --*in_flight_;
  }
  ~OffDuty() {
    if (in_flight_ != nullptr) ++*in_flight_;
  }
  OffDuty(const OffDuty&) = delete;
  OffDuty& operator=(const OffDuty&) = delete;

 private:
  std::size_t* in_flight_;
};

// An error as application/problem+json, with Retry-After, WWW-Authenticate, Upgrade where they
// belong.
Reply problem(const Error& error, std::string_view instance);

}  // namespace reprise::http
