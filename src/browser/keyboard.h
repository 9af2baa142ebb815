// Keys by the names people use: "a", "Enter", "ArrowLeft", "Control+Shift+K".
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "browser/driver.h"

namespace reprise::browser {

// What is pressed, in order; modifiers first. kToolFailed for a name that no key has.
Result<std::vector<KeyStroke>> parse_keys(std::string_view text);
// The bit of a modifier's name; 0 if it is none.
unsigned modifier_bit(std::string_view name);
// The stroke that types a character of a US keyboard; nullopt for any other character.
std::optional<KeyStroke> stroke_of(char character);

}  // namespace reprise::browser
