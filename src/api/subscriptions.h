// /v1/stream/__ds: subscriptions to Durable Streams (docs/durable-streams.md).
#pragma once

#include "http/router.h"
#include "stream/subscription/service.h"

namespace reprise::api {

struct SubscriptionRoutes {
  stream::SubscriptionService& subscriptions;
  bool is_tls = false;
};

// `routes` must outlive the router.
void add_subscription_routes(http::Router& router, const SubscriptionRoutes& routes);

}  // namespace reprise::api
