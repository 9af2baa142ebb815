// The metrics page, in Prometheus' text format.
#pragma once

#include <string>

#include "api/system.h"

namespace reprise::api {

std::string metrics_page(const SystemContext& context);

}  // namespace reprise::api
