// Which frame of a page an element is in, and how it is named so that it is found again.
//
// A selector may begin with parts that enter frames. Each names the element that shows one, in the
// document that the part before led into; in quotes, as a JSON string, it may have parts of its
// own. A star stands for whichever frame it is, the page's own included, as long as it is one.
//
//     frame=#payment >> role=button[name="Pay"]
//     frame="my-shop >> iframe" >> frame=iframe[title=Card] >> #number
//     frame=* >> role=button[name="Pay"]
//
// Threads: belongs to the browsers' loop; parsing is pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "browser/driver.h"

namespace reprise::browser {

struct FramedSelector {
  std::vector<std::string> frames;  // what shows them, outermost first
  bool is_anywhere = false;
  std::string inner;  // in the last of them
};
// kToolFailed with `invalid:` for one that enters frames and then names nothing.
Result<FramedSelector> parse_framed(std::string_view selector);

// The one element that it names; kToolFailed as the page script's resolve() says.
rt::Task<Result<Element>> find_framed(Page& page, FramedSelector selector, rt::Deadline deadline);

// The element that has the focus, in whichever frame.
rt::Task<Result<Element>> find_focused(Page& page, rt::Deadline deadline);

// What shows a frame and those around it, outermost first: [{role, name, nth, selector}], or
// nothing for the page's own and for one that goes meanwhile.
rt::Task<std::string> describe_frames(Page& page, std::string frame, rt::Deadline deadline);
// An element's description (page/describe.js) with that as its member `frames`.
std::string with_frames(std::string description, std::string_view frames);

}  // namespace reprise::browser
