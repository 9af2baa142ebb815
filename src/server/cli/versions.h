// What this program was built with and runs on.
#pragma once

#include <string>

namespace reprise::server::cli {

struct Versions {
  std::string reprise;
  std::string compiler;
  std::string rocksdb;  // of the library that is loaded
  std::string openssl;
  std::string kernel;
};

Versions installed_versions();

}  // namespace reprise::server::cli
