// The handlers of /v1/stream (inside src/api).
#pragma once

#include "api/log_request.h"
#include "api/log_source.h"
#include "api/logs.h"

namespace reprise::api {

rt::Task<Result<http::Reply>> put_log(const LogRoutes& routes, http::Exchange& exchange);
rt::Task<Result<http::Reply>> post_log(const LogRoutes& routes, http::Exchange& exchange);
rt::Task<Result<http::Reply>> delete_log(const LogRoutes& routes, http::Exchange& exchange);
rt::Task<Result<http::Reply>> get_log(const LogRoutes& routes, http::Exchange& exchange);
rt::Task<Result<http::Reply>> long_poll_log(const LogRoutes& routes, http::Exchange& exchange,
                                            LogSource source, ReadLog read);
rt::Task<Result<http::Reply>> follow_log(const LogRoutes& routes, http::Exchange& exchange,
                                         LogSource source, ReadLog read);

}  // namespace reprise::api
