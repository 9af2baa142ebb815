// What the Asio-facing files of this folder share. Never included outside src/rt.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "rt/real_loop.h"

namespace reprise::rt {

struct RealLoop::Native {
  boost::asio::io_context context{1};
  boost::asio::steady_timer wake{context};
  Nanos wake_at = Nanos::max();
};

}  // namespace reprise::rt
