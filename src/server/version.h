// The version of this build; the same as project(VERSION) in CMakeLists.txt.
#pragma once

#include <string_view>

namespace reprise::server {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace reprise::server
