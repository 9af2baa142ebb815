// Removes a directory with all it holds, although somebody hostile may have filled it.
//
// A browser that a page has taken over owns its profile: it can put links into it, exchange
// directories while they are walked, nest them ten thousand deep, and it may still be writing. We,
// perhaps as root, must remove that profile and nothing else. So no path is ever walked: everything
// is named by one name in a directory that is open, links are never followed, and a directory
// inside another is not entered but moved up to the top first, so that neither depth nor
// descriptors are needed.
//
// Threads: any; it waits for the disk.
#pragma once

#include <string>

#include "base/error.h"

namespace reprise::browser {

// Removes `name` from the open directory `parent`. What is not there is removed. kIo if something
// cannot be removed (now: it may be worth another try), and after two seconds.
Result<> remove_tree(int parent, const std::string& name);

}  // namespace reprise::browser
