#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace reprise {

void assertion_failed(const char* condition, const char* file, int line,
                      const std::string& values) {
  std::fprintf(stderr, "assertion failed: %s at %s:%d; values:%s\n", condition, file, line,
               values.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace reprise
