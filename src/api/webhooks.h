// /v1/apps/{id}/webhooks: who is told of what happens in an app's sessions.
#pragma once

#include "http/router.h"
#include "session/webhooks/service.h"

namespace reprise::api {

void add_webhook_routes(http::Router& router, session::WebhookService& webhooks);

}  // namespace reprise::api
