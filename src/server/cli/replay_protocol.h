// What `reprise replay` calls for what a program did over the DevTools protocol. Pure.
//
// On record is the method and a few of its parameters (browser/chromium/cdp_audit.h). What a tool
// does too is done by that tool: going somewhere, tabs, dialogs, the mouse by its points, keys in
// their order. What is typed is told by its length alone, and is a secret. A press of the mouse
// with its release elsewhere is a drag, and presses that count up are one double click. For the
// rest nothing is done, and the plan says why.
#pragma once

#include <cstddef>
#include <vector>

#include "server/cli/recorded_command.h"
#include "server/cli/replay_plan.h"
#include "wire/json.h"

namespace reprise::server::cli {

Plan plan_protocol(const std::vector<RecordedCommand>& commands, std::size_t index,
                   const Secrets& secrets);

// The mouse to {x, y}, and its wheel by {deltaX, deltaY}.
Attempt wheel_at(wire::JsonValue args);

}  // namespace reprise::server::cli
