// Rules for short texts of clients that several checks of the model share. Private to src/model.
#pragma once

#include <string_view>

namespace reprise::model {

// Whether UTF-8 text holds a character of Unicode's category Cc (U+0000-001F, U+007F-009F). Such
// text would break log lines, headers and terminals wherever a key or an identifier is shown.
bool has_control_character(std::string_view text);

}  // namespace reprise::model
