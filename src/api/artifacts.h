// /v1/sessions/{s}/artifacts: the files of a session.
#pragma once

#include "http/router.h"
#include "session/artifacts.h"

namespace reprise::api {

struct ArtifactRoutes {
  session::SessionService& sessions;
  session::ArtifactService& artifacts;
};

// `routes` must outlive the router.
void add_artifact_routes(http::Router& router, const ArtifactRoutes& routes);

}  // namespace reprise::api
