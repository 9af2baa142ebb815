// ToolHost: what the MCP face needs of whoever runs tools.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "http/auth.h"
#include "rt/cancel.h"
#include "rt/task.h"

namespace reprise::api {

class ToolHost {
 public:
  struct Image {
    std::string mime_type;
    std::string base64;  // as browsers give it
  };
  struct Outcome {
    std::string text;
    std::vector<Image> images = {};
    bool is_error = false;
    std::string structured = {};  // a JSON object, or empty
  };
  struct Caller {
    http::Principal principal;
    // The handle that the client gave: a UUID, or a key, which is made on first use. Well-formed;
    // whether the caller may use it is the host's to say.
    std::optional<std::string> session;
    // Names the transport's session, which stands for one session of ours where no handle is given.
    // A UUID, and not what the client shows as Mcp-Session-Id: it may be stored. Empty: there is
    // none, and then there is a handle wherever the tool needs one.
    std::string transport_session;
    // What the client says that it is, "name version"; nobody has checked it.
    std::string client;
  };
  virtual ~ToolHost() = default;

  // Runs a tool of the catalogue (browser/tools/catalogue.h) with arguments that have passed its
  // check. An error is told to the model as a failed call, with its code and detail. Called on any
  // of the loops, and ends on the same one; the scope belongs to it, and is cancelled when the
  // client has cancelled the call or is gone.
  virtual rt::Task<Result<Outcome>> call(Caller caller, std::string tool, std::string arguments,
                                         rt::CancelScope& scope) = 0;
};

}  // namespace reprise::api
