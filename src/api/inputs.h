// /v1/sessions/{s}/inputs: work given to a session, also while it is busy.
#pragma once

#include <atomic>

#include "http/router.h"
#include "session/inputs.h"

namespace reprise::api {

struct InputRoutes {
  session::Inputs& inputs;
  const std::atomic<bool>& is_draining;
};

// `routes` must outlive the router.
void add_input_routes(http::Router& router, const InputRoutes& routes);

}  // namespace reprise::api
