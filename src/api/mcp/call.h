// A tool call that is running, and how its client is answered.
//
// A call that ends soon is answered with JSON on a connection that lives on. One that takes longer
// than kMcpPatience is answered with a stream: server-sent events if the client takes them, and
// otherwise its JSON, later, after blanks. The stream beats, so that proxies keep it, progress is
// told to whom it was promised, and a client that has gone is noticed: nobody waits for the answer
// then, and the call is cancelled.
//
// Threads: a call belongs to the loop of its connection.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/mcp/answers.h"
#include "api/mcp/sessions.h"
#include "base/time.h"
#include "http/exchange.h"

namespace reprise::api {

struct McpCall {
  explicit McpCall(rt::Loop& loop) : finished(loop) {}
  rt::CancelScope scope;
  rt::Signal finished;
  std::optional<Result<ToolHost::Outcome>> outcome;
};

// What is answered, to what, and how.
struct McpAsked {
  const McpAnswers& answers;
  McpTerms terms;
  std::string request_id;  // JSON text
  std::string tool;
  Millis heartbeat;
};

// Waits for the call, as long as that is reasonable, and gives the answer or the beginning of one.
rt::Task<http::Reply> answer_call(http::Exchange& exchange, std::shared_ptr<McpCall> call,
                                  McpAsked asked);

// A whole event stream of which the frames are to be written.
http::Reply event_reply();
// A message for a client that may take JSON, or server-sent events only.
http::Reply one_message(const http::Exchange& exchange, int status, std::string message);

}  // namespace reprise::api
