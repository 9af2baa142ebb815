// What the parts of ArtifactService share. Private to src/session.
#pragma once

#include "session/artifacts.h"
#include "session/holds.h"

namespace reprise::session {

// What belongs to one loop.
struct ArtifactService::Home {
  explicit Home(rt::Loop& of) : loop(of), holds(of) {}
  rt::Loop& loop;
  // Sessions whose artifacts are being changed: no other change of them begins meanwhile.
  Holds holds;
  // Ended sessions whose temporary files could not be removed yet.
  std::vector<SessionId> left_over;
  rt::Gate gate;
};

}  // namespace reprise::session
