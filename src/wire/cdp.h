// DevTools messages from outside: what a message is, and where its parts stand, without reading
// what they hold. Chromium's results reach many megabytes, and whoever passes them on needs only
// the id, the method and the session.
//
//     {"id":7,"method":"Page.navigate","params":{"url":"…"},"sessionId":"5F…"}     a command
//     {"id":7,"result":{…},"sessionId":"5F…"}   {"id":7,"error":{…}}               its reply
//     {"method":"Page.loadEventFired","params":{…},"sessionId":"5F…"}              an event
//
// scan_cdp() is for what a stranger sends. It checks no more of a value's inside than brackets and
// strings, yet it cannot be led to see another message than Chromium will: a text that Chromium
// accepts is JSON, and in JSON brackets and strings say where each member stands. Comments, which
// older parsers of Chromium skipped, are refused, and so are escapes in the names of members and in
// the method, a member that stands twice, and ids that are not written as plain integers.
//
// Nothing is copied or allocated: the views point into the message. Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace reprise::wire {

enum class CdpFault : std::uint8_t {
  kNone,
  kNotJson,    // the text breaks off, goes on behind its end, or holds what no JSON holds
  kNotObject,  // JSON perhaps, but no object
  kDuplicate,  // a member stands twice
  kEscaped,    // an escape in a member's name or in the method
  kBadId,      // not an integer of 32 bits
  kBadMethod,  // not a string
  kBadSession  // not a string
};

struct CdpHead {
  CdpFault fault = CdpFault::kNone;
  bool has_other_member = false;     // besides those below
  bool has_escaped_session = false;  // no session's id has an escape: it is nobody's
  std::optional<std::int32_t> id;    // known even with some of the faults, for the answer
  std::string_view id_text;          // as it was written
  std::string_view method;           // without its quotes
  std::string_view session_id;       // without its quotes; empty where there is none
  std::string_view params;           // each as it was written; empty where there is none
  std::string_view result;
  std::string_view error;

  bool is_ok() const { return fault == CdpFault::kNone; }
};

CdpHead scan_cdp(std::string_view message);

// The same for what the browser has written, which is one valid JSON object with its members in
// Chromium's order and the session's id at its end. Of a long message only its ends are read. (The
// last `"}` of a valid object closes a string and the object; a run of hexadecimal digits before it
// that a `:"` precedes is all of that string; and `,"sessionId` before that is the name of the
// object's own last member. So no result can hold something that would be taken for it.)
CdpHead scan_browser_cdp(std::string_view message);

// Reading what the browser has written a level deeper, where the whole is known to be valid JSON
// (a page cannot make it otherwise) and parsing it would cost more than the answer is worth:
// the text of an object's member of that name, the first if there were two, or an empty view;
std::string_view cdp_member(std::string_view object, std::string_view name);
// what stands between the quotes of a string without escapes, as all ids are; for all else nothing;
std::optional<std::string_view> cdp_plain_string(std::string_view value);
// the texts of an array's elements.
std::vector<std::string_view> cdp_elements(std::string_view array);

// Where a view that scan_cdp() returned begins in its message.
inline std::size_t offset_in(std::string_view message, std::string_view part) {
  return static_cast<std::size_t>(part.data() - message.data());
}

}  // namespace reprise::wire
