// The moves people ask for by name: what each takes in its body, and what it asks of the session.
#pragma once

#include <string_view>
#include <vector>

#include "api/body.h"
#include "base/error.h"
#include "session/actor.h"

namespace reprise::api {

using MoveDecoder = Result<session::Action> (*)(Body&);

struct NamedMove {
  std::string_view name;  // the last part of the path
  MoveDecoder decode;
};

// status, pause, resume, cancel, close, touch. (reset also looks after the key: api/sessions.cpp.)
const std::vector<NamedMove>& named_moves();

}  // namespace reprise::api
