// `reprise serve`: wires everything, runs until a signal, stops in order.
#pragma once

#include "server/config.h"

namespace reprise::server {

// The process's exit status: 0 after a drained stop, 1 if it could not start (the reason is on
// standard error).
int serve(const Config& config);

}  // namespace reprise::server
