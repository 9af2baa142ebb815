// Sealing: bytes that only the holder of a key can read or change, by AES-256-GCM (OpenSSL).
//
//     const std::string sealed = seal(key, session.view(), secret, random);
//     REPRISE_TRY(std::string secret, unseal(key, session.view(), sealed));
//
//     sealed = byte 1 (the format), 12 random bytes (the nonce), the encrypted bytes, 16 bytes tag
//
// What it is bound to must be given again to unseal it: a sealed record that is moved to another
// place is no longer accepted. A nonce is random, so that one key may seal 2^32 messages: whoever
// has more to seal derives keys (hmac_sha256), one for each thing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"

namespace reprise {

inline constexpr std::size_t kSealKeyBytes = 32;

// The key has kSealKeyBytes bytes.
std::string seal(std::string_view key, std::string_view bound_to, std::string_view plain,
                 Random& random);
// kCorrupt for what was not sealed with this key, or bound to something else, or changed since.
Result<std::string> unseal(std::string_view key, std::string_view bound_to,
                           std::string_view sealed);

}  // namespace reprise
