// Exchange: one request being answered, and Reply: its answer.
#pragma once

#include <functional>
#include <memory>
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

struct Reply {
  // Runs after the head is sent, until it ends, the scope is cancelled or the peer is gone; then
  // the connection closes.
  using Stream = std::move_only_function<rt::Task<>(rt::CancelScope&)>;
  int status = 200;
  wire::Headers headers;
  std::string body;
  Stream stream;  // set for a reply that streams

  static Reply json(int status, std::string body);
  static Reply empty(int status);
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

  // Query parameters by name; a repeated one is kBadParameter, and check_query refuses unknown
  // names.
  Result<std::optional<std::string>> query(std::string_view name) const;
  Result<> check_query(std::initializer_list<std::string_view> known) const;
  // Whether the Accept header allows this media type (no header allows all).
  bool accepts(std::string_view media_type) const { return acceptance(media_type) > 0; }
  // Whether it names this type itself, rather than allowing it by a wildcard, and likes it no less
  // than the other.
  bool prefers(std::string_view media_type, std::string_view other) const;

 private:
  int acceptance(std::string_view media_type) const;  // its weight in thousandths
};

// An error as application/problem+json, with Retry-After, WWW-Authenticate where they belong.
Reply problem(const Error& error, std::string_view instance);

}  // namespace reprise::http
