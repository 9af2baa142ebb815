// McpEndpoint: the server as a Model Context Protocol server, at /mcp (streamable HTTP).
//
//     McpEndpoint mcp(loops, host, clock, random, {.server_version = "1.0"});
//     add_mcp_routes(router, mcp);
//
// A client posts one JSON-RPC message at a time and gets one answer: JSON, or server-sent events
// (api/mcp/call.h). There is nothing that the server would say without being asked, so a GET is
// refused with 405, as the protocol has it. DELETE ends the transport's session and nothing else.
//
// Which browser session a tool works in is said by its argument `session`; else by `?session=` in
// the endpoint's address; else it is the one that belongs to the transport's session. So a client
// without a transport session, of whichever revision, works as well as one with.
//
// Threads: as said at the members.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "api/mcp/answers.h"
#include "api/mcp/call.h"
#include "api/mcp/limits.h"
#include "api/mcp/plan.h"
#include "api/mcp/sessions.h"
#include "api/mcp/tool_host.h"
#include "http/router.h"
#include "rt/gate.h"

namespace reprise::api {

struct McpOptions {
  std::string server_version;
  Millis heartbeat{15'000};
  McpSessions::Options sessions = {};
  std::size_t max_calls_per_loop = kMaxMcpCallsPerLoop;
};

struct McpProbe {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> failed{0};     // the tool failed, or the host
  std::atomic<std::uint64_t> cancelled{0};  // by the client, or because it was gone
  std::atomic<std::uint64_t> refused{0};    // too many were running
  std::atomic<std::uint64_t> running{0};
};

class McpEndpoint {
 public:
  // The first loop is the home of the transport's sessions.
  McpEndpoint(const std::vector<rt::Loop*>& loops, ToolHost& host, const Clock& clock,
              Random& random, McpOptions options);
  ~McpEndpoint();

  // Handlers, on the loop of their connection.
  rt::Task<Result<http::Reply>> post(http::Exchange& exchange);
  rt::Task<Result<http::Reply>> end(http::Exchange& exchange);

  // After the connections: waits for the calls that nobody waits for any more. On any of the loops.
  rt::Task<> close();

  const McpProbe& probe() const { return probe_; }
  const McpSessionProbe& session_probe() const { return sessions_.probe(); }

 private:
  struct Place {
    explicit Place(rt::Loop& on) : loop(on) {}
    rt::Loop& loop;
    rt::Gate gate;
  };
  struct Asked;

  Place& here();
  rt::Task<http::Reply> answer_request(Asked asked);
  rt::Task<http::Reply> take_note(Asked asked);
  rt::Task<http::Reply> initialize(Asked asked);
  http::Reply listen(const Asked& asked) const;
  rt::Task<http::Reply> call_tool(Asked asked);
  rt::Task<http::Reply> start_call(Asked asked, PlannedCall planned);
  rt::Task<> run(std::shared_ptr<McpCall> call, std::shared_ptr<McpCancel> reach,
                 ToolHost::Caller caller, PlannedCall planned, std::string session_id);

  ToolHost& host_;
  const McpOptions options_;
  const McpAnswers answers_;
  McpSessions sessions_;
  McpProbe probe_;
  std::vector<std::unique_ptr<Place>> places_;
};

void add_mcp_routes(http::Router& router, McpEndpoint& endpoint);

}  // namespace reprise::api
