// SHA-256, by OpenSSL: for idempotency bodies, tokens and audit chains.
#pragma once

#include <string>
#include <string_view>

namespace reprise {

// 32 bytes.
std::string sha256(std::string_view bytes);

// Compares without telling by its duration where the difference is.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace reprise
