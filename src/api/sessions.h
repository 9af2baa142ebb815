// /v1/sessions: create, get or create, read, patch, move, list, delete.
#pragma once

#include "http/router.h"
#include "session/service.h"

namespace reprise::api {

void add_session_routes(http::Router& router, session::SessionService& service);

}  // namespace reprise::api
