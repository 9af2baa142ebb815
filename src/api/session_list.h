// GET /v1/sessions: a page of sessions, or with Accept: text/event-stream the live monitor.
#pragma once

#include "base/time.h"
#include "http/router.h"
#include "session/service.h"

namespace reprise::api {

class DevtoolsFeed;

void add_session_list_route(http::Router& router, session::SessionService& service,
                            Millis heartbeat, DevtoolsFeed* devtools = nullptr);

}  // namespace reprise::api
