// /v1/sessions/{s}/events: append, page, follow.
#pragma once

#include "base/time.h"
#include "http/router.h"
#include "session/service.h"

namespace reprise::api {

class DevtoolsFeed;

void add_event_routes(http::Router& router, session::SessionService& service);
void add_event_stream_route(http::Router& router, session::SessionService& service,
                            Millis heartbeat, DevtoolsFeed* devtools = nullptr);

}  // namespace reprise::api
