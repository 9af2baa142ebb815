// The limits of the API, each with a name.
#pragma once

#include <cstddef>

namespace reprise::api {

// What the events of one call may weigh together.
inline constexpr std::size_t kMaxAppendBytes = 8 * 1024 * 1024;
// Types one page of events may be filtered by.
inline constexpr std::size_t kMaxTypesFilter = 32;

}  // namespace reprise::api
