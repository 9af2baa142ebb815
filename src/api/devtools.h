// GET /v1/devtools/events: the devtools feed (api/devtools_feed.h) as server-sent events.
#pragma once

#include <memory>
#include <string_view>

#include "api/devtools_feed.h"
#include "base/time.h"
#include "http/router.h"

namespace reprise::api {

inline constexpr std::string_view kDevtoolsPath = "/v1/devtools/events";

void add_devtools_routes(http::Router& router, DevtoolsFeed& feed, Millis heartbeat);

// Tells the feed of a client that is connected, and when this goes, that it is not any more. Does
// nothing without a feed.
class DevtoolsPresence {
 public:
  DevtoolsPresence(DevtoolsFeed* feed, DevtoolsClient client);
  ~DevtoolsPresence();
  DevtoolsPresence(const DevtoolsPresence&) = delete;
  DevtoolsPresence& operator=(const DevtoolsPresence&) = delete;

 private:
  DevtoolsFeed* feed_;
  DevtoolsClient client_;
};

}  // namespace reprise::api
