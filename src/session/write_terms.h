// What comes with a call that changes something; see Call in session/actor.h.
#pragma once

#include <optional>

#include "base/ids.h"
#include "stream/idempotency.h"

namespace reprise::session {

struct WriteTerms {
  std::optional<stream::IdempotencyClaim> claim = std::nullopt;
  std::optional<Generation> lease = std::nullopt;
};

}  // namespace reprise::session
