// The tables that the catalogue is made of, one for each kind of work.
#pragma once

#include <vector>

#include "browser/tools/catalogue.h"

namespace reprise::browser {

std::vector<Tool> page_tools();     // go somewhere, look, wait
std::vector<Tool> action_tools();   // click, type, choose
std::vector<Tool> pointer_tools();  // the mouse, by coordinates
std::vector<Tool> storage_tools();  // cookies, local and session storage
std::vector<Tool> session_tools();  // sessions and their tabs

}  // namespace reprise::browser
