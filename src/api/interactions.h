// /v1/sessions/{s}/interactions: questions to people.
#pragma once

#include <atomic>

#include "http/router.h"
#include "session/service.h"

namespace reprise::api {

struct InteractionRoutes {
  session::SessionService& sessions;
  const std::atomic<bool>& is_draining;
};

// `routes` must outlive the router.
void add_interaction_routes(http::Router& router, const InteractionRoutes& routes);

// The open questions of a session, as its record shows them: who, what, until when.
std::string open_interactions_json(const model::SessionState& state);

}  // namespace reprise::api
