// The command line: what was written becomes a call of a command (commands.h) or of serve().
#pragma once

namespace reprise::server::cli {

// Runs the command that the arguments name and gives the exit status: 0 done, 1 failed, 2 wrong
// usage, 3 what was asked for does not exist. A token in the arguments is overwritten in place as
// soon as it has been read, so that a list of processes does not show it.
int run(int count, char** arguments);

}  // namespace reprise::server::cli
