// Files that go to a server and come from it, piece by piece; "-" is standard input or output.
#pragma once

#include <string>

#include "server/cli/client.h"
#include "server/cli/outcome.h"

namespace reprise::server::cli {

// The response, if it is a 2xx.
rt::Task<Outcome<wire::Response>> upload_file(Client& client, ClientRequest request,
                                              std::string file);

// A file gets its name when it is whole.
rt::Task<Outcome<>> download_file(Client& client, ClientRequest request, std::string output);

}  // namespace reprise::server::cli
