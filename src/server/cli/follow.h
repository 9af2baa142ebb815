// Following a session: replay, then live, over as many connections as it takes.
#pragma once

#include <string>
#include <string_view>

#include "rt/task.h"
#include "server/cli/client.h"
#include "server/cli/commands.h"
#include "server/cli/outcome.h"

namespace reprise::server::cli {

// Who is shown what is followed.
class FollowSink {
 public:
  virtual ~FollowSink() = default;
  // An event, as JSON.
  virtual void on_event(const std::string& json) = 0;
  // What follows happens now. Again after each lost connection.
  virtual void on_replay_complete() {}
  // After all the frames of one read; a failure ends it.
  virtual Outcome<> flush() = 0;
  // What a person may want to know about the connection or the end.
  virtual void on_note(std::string_view text) = 0;
};

// Until the session ends (or, if it is not followed, until live would begin). A failure if the
// first connection fails, the session is gone, or nothing helps for minutes.
rt::Task<Outcome<>> follow(Client& client, TailOptions options, FollowSink& sink);

// "   12  18:13:02.117  message  {"text":"hello"}" and a newline.
std::string event_line(const std::string& json, bool is_coloured);

}  // namespace reprise::server::cli
