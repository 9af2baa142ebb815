// Query parameters, headers and path parts as typed values.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/exchange.h"
#include "model/status.h"
#include "session/list.h"
#include "session/service.h"

namespace reprise::api {

// A UUID, or a key; kBadKey.
Result<session::SessionRef> parse_session_ref(std::string_view text);

Result<std::uint64_t> parse_number(std::string_view name, std::string_view text,
                                   std::uint64_t least, std::uint64_t most);
Result<std::optional<std::uint64_t>> number_parameter(const http::Exchange& exchange,
                                                      std::string_view name, std::uint64_t least,
                                                      std::uint64_t most);
Result<std::optional<bool>> boolean_parameter(const http::Exchange& exchange,
                                              std::string_view name);
Result<model::Vocabulary> vocabulary_parameter(const http::Exchange& exchange);

// The parameters a list and a monitor share.
Result<session::Filter> filter_parameters(const http::Exchange& exchange);

// If-Match as a revision; nullopt without one and for `*`. One that can never match is
// kPreconditionFailed.
Result<std::optional<std::uint64_t>> if_match(const http::Exchange& exchange);

}  // namespace reprise::api
