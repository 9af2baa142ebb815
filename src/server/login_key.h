// The key logins are signed with: a file of the data directory, so that a restart logs nobody out.
#pragma once

#include <string>

#include "base/error.h"
#include "base/ids.h"

namespace reprise::server {

// Reads `directory`/login.key, or makes it, for the owner's eyes only. A file of another length is
// refused: it was not written by this.
Result<std::string> load_login_key(const std::string& directory, Random& random);

}  // namespace reprise::server
