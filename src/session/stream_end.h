// What an entry of a session's stream says about the stream's end.
//
// A reader usually hears of the end with the batch that brings it. One that had to go back to the
// store (its batch was lost with a failed commit that was written after all, or came from another
// node) learns it from the entries themselves.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::session {

// Sets the reason where this stored entry ends the session, clears it where the entry opens it
// again, and leaves it alone otherwise.
void note_end(std::string_view entry, std::optional<std::string>& end_reason);

}  // namespace reprise::session
