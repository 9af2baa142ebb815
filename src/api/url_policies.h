// URL policies of apps: GET, PUT and DELETE /v1/apps/{id}/url-policy.
#pragma once

#include "http/router.h"
#include "session/service.h"

namespace reprise::api {

void add_url_policy_routes(http::Router& router, session::SessionService& service);

}  // namespace reprise::api
