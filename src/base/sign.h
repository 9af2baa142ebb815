// Signatures: Ed25519 for what strangers check, HMAC for what only we do.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace reprise {

// 32 bytes from `seed` (32 random bytes, kept secret) and back: the key pair of Ed25519.
Result<std::string> ed25519_public_key(std::string_view seed);
Result<std::string> ed25519_sign(std::string_view seed, std::string_view message);
bool ed25519_verify(std::string_view public_key, std::string_view message,
                    std::string_view signature);

std::string hmac_sha256(std::string_view key, std::string_view message);

}  // namespace reprise
