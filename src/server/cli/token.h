// Making a bearer token: the secret for its user, and the entry for the server's tokens file, which
// holds only the secret's SHA-256.
#pragma once

#include <string>

#include "base/error.h"
#include "base/ids.h"
#include "server/cli/commands.h"

namespace reprise::server::cli {

struct MadeToken {
  std::string secret;  // rp_ and 32 random bytes in base64url
  std::string entry;   // {"name":"ci","sha256":"…","scopes":["read"],"apps":["*"]}: http/auth.h
};

// kBadParameter for an empty name or an unknown scope.
Result<MadeToken> make_token(const NewToken& token, Random& random);

}  // namespace reprise::server::cli
