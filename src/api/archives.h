// /v1/sessions/{s}/export and /v1/sessions/import: whole sessions as files.
#pragma once

#include "http/router.h"
#include "session/archives.h"

namespace reprise::api {

struct ArchiveRoutes {
  session::SessionService& sessions;
  session::ArchiveService& archives;
};

// `routes` must outlive the router.
void add_archive_routes(http::Router& router, const ArchiveRoutes& routes);

}  // namespace reprise::api
