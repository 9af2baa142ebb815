// /v1/sessions/{s}/checkpoints: what an agent saves to go on from.
#pragma once

#include "http/router.h"
#include "session/checkpoints.h"

namespace reprise::api {

struct CheckpointRoutes {
  session::Checkpoints& checkpoints;
};

// `routes` must outlive the router.
void add_checkpoint_routes(http::Router& router, const CheckpointRoutes& routes);

}  // namespace reprise::api
