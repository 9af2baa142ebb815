// What subscribers are told, as JSON. Pure.
#pragma once

#include <string>

#include "base/time.h"
#include "stream/subscription/links.h"
#include "stream/subscription/subscription.h"

namespace reprise::stream {

// "-1" for a link of which nothing is acknowledged yet.
std::string acked_offset(const SubscriptionLink& link);
// "explicit" beats "glob".
std::string_view link_type(const SubscriptionLink& link);

// The streams of the wake that is out: those with something new at the tails of its snapshot, and,
// while there are few, the others too.
std::string streams_of_wake(const Subscription& subscription, const LinkTable& links);
std::string webhook_body(const Subscription& subscription, const LinkTable& links,
                         std::string_view token);
// What is appended to the wake stream of a pull-wake subscription.
std::string wake_event(const Subscription& subscription, TimePoint now);

}  // namespace reprise::stream
