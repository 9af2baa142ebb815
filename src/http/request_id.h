// Request ids: the client's own if it sent a sound one, else ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::http {

// Ours are unique across restarts: a random prefix of the process and a counter. Any thread.
std::string request_id(std::optional<std::string_view> from_client);

}  // namespace reprise::http
