// What the tests of this folder share. Included by *_test.cpp only.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/assert.h"

namespace reprise::browser::testing {

// In memory where the system has such a place. (Programs cannot always be run from there.)
inline std::filesystem::path quick_place() {
  std::error_code ignored;
  const std::filesystem::path memory = "/dev/shm";
  return std::filesystem::is_directory(memory, ignored) ? memory
                                                        : std::filesystem::temp_directory_path();
}

// A directory that everybody may pass through, as a browser that runs as somebody else must.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::filesystem::path& place = quick_place()) {
    std::string pattern = (place / "reprise-browser-XXXXXX").string();
    REPRISE_ASSERT(::mkdtemp(pattern.data()) != nullptr, pattern);
    path_ = pattern;
    std::filesystem::permissions(path_, std::filesystem::perms(0711));
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace reprise::browser::testing
