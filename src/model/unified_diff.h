// The difference of two texts as a unified diff, found with a bounded effort. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::model {

// With `--- a/name`, `+++ b/name` and three lines of context, as diff -u writes it; empty where the
// texts are equal. None where a text is no UTF-8 or has a NUL, or where the limits (model/limits.h)
// of size, of lines, of edits or of what would be written are passed: then whoever wants the
// difference can read both versions.
std::optional<std::string> unified_diff(std::string_view before, std::string_view after,
                                        std::string_view name);

}  // namespace reprise::model
