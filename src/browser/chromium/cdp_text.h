// DevTools messages as text: changing a few bytes of one, and writing replies of our own as
// Chromium would. A message is never taken apart and put together again: what we do not understand
// passes unchanged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "wire/cdp.h"

namespace reprise::browser {

// Edits of one text, applied together. Parts are views into the text; they must not overlap.
class CdpEdit {
 public:
  explicit CdpEdit(std::string_view text) : text_(text) {}

  CdpEdit& replace(std::string_view part, std::string_view with);
  CdpEdit& insert(std::size_t at, std::string with);
  std::string text() const;

 private:
  struct Change {
    std::size_t at;
    std::size_t bytes;
    std::string with;
  };
  void add(Change change);
  std::string_view text_;
  std::vector<Change> changes_;  // by their places
};

// Adds a member (`"name":value`) to a command's params, which have none of that name.
void add_param(CdpEdit& edit, std::string_view command, const wire::CdpHead& head,
               std::string_view member);
// Sends a command to another session; the empty one is the browser's.
void set_session(CdpEdit& edit, std::string_view command, const wire::CdpHead& head,
                 std::string_view session_id);

// Replies. The session is left out where it is empty, the id too.
std::string cdp_result(std::string_view id, std::string_view session_id, std::string_view result);
std::string cdp_error(std::string_view id, std::string_view session_id, int code,
                      std::string_view message);
// The reply of the browser under another id and from another session.
std::string relayed_reply(const wire::CdpHead& reply, std::string_view id,
                          std::string_view session_id);
// A command of ours. `params` is JSON, or empty.
std::string cdp_command(std::int32_t id, std::string_view session_id, std::string_view method,
                        std::string_view params);

}  // namespace reprise::browser
