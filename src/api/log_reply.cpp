#include "api/log_reply.h"

#include "stream/log/offset.h"

namespace reprise::api {

void add_log_state(http::Reply& reply, Seq tail, bool is_closed) {
  reply.headers.add("Stream-Next-Offset", stream::offset_text(tail));
  if (is_closed) reply.headers.add("Stream-Closed", "true");
}

}  // namespace reprise::api
