// The programs that Chromium comes as, where they are, and whom to run them as.
//
// Threads: any; looking for files and users may wait for a disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "rt/process.h"

namespace reprise::browser::chromium {

enum class BinaryKind : std::uint8_t {
  // The browser without its user interface: half the memory, a third of it per context, a session's
  // life four times as fast. The default.
  kHeadlessShell,
  // All of it, with `--headless`: extensions, the PDF viewer, windows that behave like windows.
  kChromium,
};

// The program itself. (Debian's /usr/bin/chromium is a script that adds flags of its own and 45
// ms.) kNotFound names the package to install. `root` is for tests.
Result<std::filesystem::path> find_browser(BinaryKind kind,
                                           const std::filesystem::path& root = "/");

// The user of that name. kNotFound.
Result<rt::Identity> find_user(const std::string& name);
// Somebody without privileges to run browsers as: the user `reprise-browser` if there is one, else
// `nobody`. One who owns nothing else is better: processes of one user can disturb each other.
Result<rt::Identity> unprivileged_user();

}  // namespace reprise::browser::chromium
