// /v1/agents: register, beat, read, list, delete.
//
// Agents are the whole server's. An id reads like a session's key: `app:name`, and a name alone is
// of the app `default`. A token that is limited to some apps may use and see only agents of those.
#pragma once

#include "http/router.h"
#include "session/agents.h"

namespace reprise::api {

void add_agent_routes(http::Router& router, session::AgentService& agents);

}  // namespace reprise::api
