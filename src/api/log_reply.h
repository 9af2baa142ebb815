// What answers of /v1/stream have in common (inside src/api).
#pragma once

#include "base/ids.h"
#include "http/exchange.h"

namespace reprise::api {

// Stream-Next-Offset and, where it is, Stream-Closed.
void add_log_state(http::Reply& reply, Seq tail, bool is_closed);

}  // namespace reprise::api
